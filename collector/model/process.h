/*
 * One process image: its executable mappings over time, and its address space for unwinding. An
 * exec ends one image's life and begins the next under the same pid.
 *
 * A process is written to the result lazily: most children fork and exec at once, with mappings of
 * no interest. From its first sample on (process_commit) its module loads are written as they
 * happen.
 */
#ifndef COLLECTOR_MODEL_PROCESS_H
#define COLLECTOR_MODEL_PROCESS_H

#include "collector/model/code_memory.h"
#include "collector/model/mapping.h"
#include "collector/perf/record.h"
#include "unwind/unwind.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct asker;
struct emit;
struct image_table;

enum { PROCESS_NAME_MAX = 64, PROCESS_WIDTHS = 2 };

/* Shared by all processes. All borrowed. */
struct process_context {
	struct emit *emit;
	struct image_table *images;
	struct uw_space *family; /* the processes' address spaces are its siblings */
	struct asker *asker;     /* NULL: we ask the kernel ourselves */
	bool is_recorded;        /* processes of a recording: the kernel knows nothing of them */
};

struct process {
	const struct process_context *context; /* borrowed */
	uint32_t pid;
	uint64_t start_ns; /* of this image's life */
	char name[PROCESS_NAME_MAX];
	struct ranges mappings;
	struct uw_space *spaces[PROCESS_WIDTHS]; /* of 64-bit and of 32-bit code; NULL until its
						  * first walk */
	struct code_memory memory;               /* through which they read generated code */
	uint32_t owner;           /* effective user when last seen, ASKER_NO_OWNER: never */
	uint32_t main_image;      /* the program's; 0: not known yet */
	uint32_t anonymous_image; /* of its anonymous code; 0: not known yet */
	uint32_t thread_count;    /* live ones */
	bool first_ended;         /* its first thread ended, and no exec took over the id yet */
	uint32_t tried_image;     /* the last one tried to open; 0: none */
	uint64_t read_ns;     /* last reading of the maps; 0: never, or an older record has since
				 replaced a mapping */
	uint64_t map_version; /* changes when a mapping is replaced */
	bool committed;
	bool any_written;  /* the next module record is not the first */
	bool stale;        /* the maps must be read before use: records were lost, or unread */
	bool unread;       /* mappings from before the attach are not known */
	bool exec_pending; /* an exec was seen, and no mapping since */
	bool starting;     /* no code of its own was seen running yet */
};

/* A process without mappings. NULL: out of memory. */
struct process *process_create(const struct process_context *context, uint32_t pid,
			       const char *name, uint64_t start_ns);

/* A child as fork makes it: same mappings and name, unread if the parent's mappings are unread. */
struct process *process_fork(const struct process *parent, uint32_t pid, uint64_t time_ns);

void process_destroy(struct process *process); /* accepts NULL; writes nothing */

void process_rename(struct process *process, const char *name);

/* exec: ends this life (if it was written) and begins another, without mappings. */
void process_exec(struct process *process, const char *name, uint64_t time_ns);

/* Applies an MMAP2 record. 0, or -1 when out of memory. */
int process_map(struct process *process, const struct record_mmap *map, uint64_t time_ns);

/* Marks a process as attached: its maps are read when a sample or a child needs them, not before,
 * as they may be many. */
void process_attach(struct process *process);

/* Records were lost at time_ns, perhaps a mapping: the maps are to be read, unless they were read
 * since then. The kernel reports a loss once for each ring, and we may read that long after. */
void process_lose(struct process *process, uint64_t time_ns);

/* Adds the mappings of /proc/PID/maps, loaded at time_ns; at the process's start if they were
 * unread, and they stay unread if there are none. 0, or -1 with errno (the process is gone). */
int process_read_maps(struct process *process, uint64_t time_ns);

/* Writes the modules that are not written yet; later ones are written at once. */
void process_commit(struct process *process);

/* Writes the life's end: its modules' unloading and the process record; once per life.
 * PROFILE_TIME_NEVER: it lives on, its modules stay loaded. */
void process_end(struct process *process, uint64_t time_ns);

/* Where an address lies in the variables of a mapped file: the image, and the address in its terms.
 * false: in none. After tracker_prepare. */
bool process_find_variable(const struct process *process, uint64_t address, uint32_t *image,
			   uint64_t *rva);

/* The address space for code of that width, made on first use: only samples show the widths, and
 * some processes run both. NULL: out of memory. */
struct uw_space *process_space(struct process *process, bool is_32bit);

#endif
