/*
 * OpenTelemetry profiles (otlp.proto): one ProfilesData message, written part by part, since
 * protobuf joins the parts of an embedded message, the dictionary. Memory grows with distinct
 * texts, functions, stacks and attributes alone. Without memory the program ends
 * (tools/memory/xalloc.h). Texts are well-formed UTF-8, NULL is "".
 */
#ifndef TOOLS_OTLP_OTLP_H
#define TOOLS_OTLP_OTLP_H

#include "tools/pprof/pprof.h"
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct otlp;

/* Errors of the stream show in its ferror. */
struct otlp *otlp_create(FILE *stream);
/* Frees; the stream stays open. */
void otlp_finish(struct otlp *otlp);

/* Each returns the item's index in its table of the dictionary, from 1 on. Distinct mappings,
 * locations and stacks are the caller's to tell apart; equal attributes are one. */
uint32_t otlp_add_mapping(struct otlp *otlp, const struct pprof_mapping *mapping);
/* Lines: innermost first. mapping 0: none. */
uint32_t otlp_add_location(struct otlp *otlp, uint32_t mapping, uint64_t address,
			   const struct pprof_line *lines, size_t count);
/* Locations: the leaf first. */
uint32_t otlp_add_stack(struct otlp *otlp, const uint64_t *locations, size_t count);

struct otlp_attribute {
	const char *key;
	const char *text;
	uint64_t number; /* without a text */
};

uint32_t otlp_enter_attribute(struct otlp *otlp, const struct otlp_attribute *attribute);

#define OTLP_SAMPLE_ATTRIBUTES 4u

struct otlp_sample {
	uint32_t stack;
	uint32_t attributes[OTLP_SAMPLE_ATTRIBUTES]; /* 0: none */
	uint32_t is_wait; /* the wall-clock time was waited, and the count is of waits */
	uint64_t count;   /* of samples */
	uint64_t cpu_ns;
	uint64_t wall_ns;
};

/* Of a process, or what else the samples come from. */
struct otlp_resource {
	const struct otlp_attribute *attributes;
	size_t attribute_count;
	const struct otlp_sample *samples;
	size_t sample_count;
};

/* What goes with the profiles of all resources. */
struct otlp_run {
	struct pprof_run time;
	const char *scope; /* who made the profiles */
	const char *scope_version;
	const char *const *comments;
	size_t comment_count;
};

/* Writes a profile of the resource for each of the run's values (enum pprof_value): first the one
 * to be shown. The run is the same in all calls. */
void otlp_add_resource(struct otlp *otlp, const struct otlp_run *run,
		       const struct otlp_resource *resource);

#endif
