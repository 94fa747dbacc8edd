/*
 * One process image: its executable mappings over time, and its address space for unwinding. An
 * exec ends one image's life and begins the next under the same pid.
 *
 * A process is written to the result lazily: most children fork and exec at once, and what they
 * mapped before says nothing. From its first sample on (process_commit) its module loads are
 * written as they happen.
 */
#ifndef COLLECTOR_MODEL_PROCESS_H
#define COLLECTOR_MODEL_PROCESS_H

#include "collector/perf/record.h"
#include "collector/proc/mapping.h"
#include "unwind/unwind.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct asker;
struct emit;
struct image_table;

enum { PROCESS_NAME_MAX = 64, PROCESS_WIDTHS = 2 };

/* What processes share. All borrowed. */
struct process_context {
	struct emit *emit;
	struct image_table *images;
	struct uw_space *family; /* whose siblings the processes' address spaces are */
	struct asker *asker;     /* NULL: what is asked is asked by us */
};

struct process {
	const struct process_context *context; /* borrowed */
	uint32_t pid;
	uint64_t start_ns; /* of this image's life */
	char name[PROCESS_NAME_MAX];
	struct ranges mappings;
	struct uw_space *spaces[PROCESS_WIDTHS]; /* of 64-bit and of 32-bit code; NULL until its
						  * first walk */
	uint32_t owner;           /* effective user when last seen, PERF_MAP_NO_OWNER: never */
	uint32_t main_image;      /* the program's; 0: not known yet */
	uint32_t anonymous_image; /* that of its anonymous code; 0: not known yet */
	uint32_t thread_count;    /* live ones */
	bool first_ended;         /* its first thread did, and no exec took over the id yet */
	uint32_t tried_image;     /* the last one whose file was tried to be opened; 0: none */
	uint64_t read_ns; /* when the maps were read last; 0: never, or an older record has since
			     put something in a mapping's place */
	uint64_t map_version; /* changes where something else takes a mapping's place */
	bool committed;
	bool any_written;  /* of its module records: the next one is not the first */
	bool stale;        /* the maps must be read before use: records were lost, or unread */
	bool unread;       /* what it mapped before it was attached to is not known */
	bool exec_pending; /* an exec was seen and nothing mapped since */
	bool starting;     /* it ran no code of its own yet, as far as was seen */
};

/* A process without mappings. NULL: out of memory. */
struct process *process_create(const struct process_context *context, uint32_t pid,
			       const char *name, uint64_t start_ns);

/* A child as fork makes it: same mappings and name. Where the parent's are unread, the child's are.
 */
struct process *process_fork(const struct process *parent, uint32_t pid, uint64_t time_ns);

void process_destroy(struct process *process); /* accepts NULL; writes nothing */

void process_rename(struct process *process, const char *name);

/* exec: ends this life (if it was written) and begins another, without mappings. */
void process_exec(struct process *process, const char *name, uint64_t time_ns);

/* Applies an MMAP2 record. 0, or -1 when out of memory. */
int process_map(struct process *process, const struct record_mmap *map, uint64_t time_ns);

/* A process that is attached to: its maps are read when a sample or a child needs them, not before,
 * as these may be many. */
void process_attach(struct process *process);

/* Records were lost at a time, one of a mapping perhaps: the maps are to be read, unless they were
 * since then. The kernel says so once for each ring, and we may read that long after. */
void process_lose(struct process *process, uint64_t time_ns);

/* Adds what /proc/PID/maps shows, loaded at time_ns; where they were unread, when it began. They
 * stay unread if there are none. 0, or -1 with errno (the process is gone). */
int process_read_maps(struct process *process, uint64_t time_ns);

/* Writes the modules that are not written yet; later ones are written at once. */
void process_commit(struct process *process);

/* Writes the life's end: its modules' unloading and the process record; once per life.
 * PROFILE_TIME_NEVER: it lives on, its modules stay loaded. */
void process_end(struct process *process, uint64_t time_ns);

/* The address space as code of that width sees it, made on first use: which one a process runs is
 * only known from its samples, and some run both. NULL: out of memory. */
struct uw_space *process_space(struct process *process, bool is_32bit);

#endif
