/*
 * A profile in the pprof format (profile.proto, in gzip), written part by part: protobuf joins the
 * fields of messages that follow each other. Memory grows with distinct texts and functions alone.
 * Without memory the program ends (tools/memory/xalloc.h). Texts are well-formed UTF-8, NULL is "".
 */
#ifndef TOOLS_PPROF_PPROF_H
#define TOOLS_PPROF_PPROF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct pprof;

/* What samples are numbers of. The first two are in every profile. */
enum pprof_value {
	PPROF_SAMPLES, /* samples/count */
	PPROF_CPU,     /* cpu/nanoseconds, or numbers of an event */
	PPROF_WAITS,   /* waits/count */
	PPROF_WAIT,    /* wait/nanoseconds */
	PPROF_WALL,    /* wall/nanoseconds */
	PPROF_VALUE_COUNT
};

struct pprof_run {
	uint64_t start_ns; /* since 1970, 0: not known */
	uint64_t duration_ns;
	uint64_t period_ns;     /* CPU time a sample stands for, 0: not known */
	const char *event;      /* whose numbers CPU times are; NULL: they are ns */
	bool has_waits;         /* it has all values */
	enum pprof_value shown; /* first: the default sample type */
};

/* "wait", ...; "nanoseconds" or "count". */
const char *pprof_value_name(const struct pprof_run *run, enum pprof_value value);
const char *pprof_value_unit(const struct pprof_run *run, enum pprof_value value);

/* Errors of the stream show in its ferror. */
struct pprof *pprof_create(FILE *stream, const struct pprof_run *run);
/* Writes the end, and frees; the stream stays open. */
void pprof_finish(struct pprof *pprof);

/* Of a file's own addresses: it reaches over all of them. */
struct pprof_mapping {
	const char *file; /* [name] for no file */
	const char *build_id;
	bool has_files; /* of functions, some at least; likewise below */
	bool has_lines;
	bool has_inlined;
};

/* Returns the id, from 1 on. The first mapping is the program's. */
uint64_t pprof_add_mapping(struct pprof *pprof, const struct pprof_mapping *mapping);

struct pprof_line {
	const char *name;
	const char *full; /* with parameters */
	const char *file;
	uint32_t line; /* 0: not known */
};

/* Lines: innermost first. mapping 0: none. Returns the id, from 1 on. */
uint64_t pprof_add_location(struct pprof *pprof, uint64_t mapping, uint64_t address,
			    const struct pprof_line *lines, size_t count);

struct pprof_label {
	const char *key;
	const char *text;
	uint64_t number; /* without a text */
};

#define PPROF_LABELS_MAX 8u

struct pprof_sample {
	const uint64_t *locations; /* the leaf first */
	size_t count;
	uint64_t values[PPROF_VALUE_COUNT];
	const struct pprof_label *labels; /* at most PPROF_LABELS_MAX */
	size_t label_count;
};

void pprof_add_sample(struct pprof *pprof, const struct pprof_sample *sample);

void pprof_add_comment(struct pprof *pprof, const char *text);

#endif
