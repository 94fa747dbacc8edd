/*
 * Finds the process, thread and module of a sample by time, for TBRW_dobind and the profile reader
 * by the same rules (tbrw/FORMAT.md, section 4). Of rules that once differed, these are right:
 *
 * - Exec: a process is a program. When the executable module of a pid changes and nobody recorded
 *   processes, one deduced process ends and the next begins. (As one process, the samples of a
 *   shell would be its child's program's.) No module outlives its process, deduced ones neither: an
 *   exec unmaps all of them.
 * - Gaps: each gap between lives holds at most one deduced process, or one for each program that
 *   execs make of it. A thread is deduced for its process, not for the gap between threads of its
 *   number: the same number in another process is another thread.
 * - Threads over execs belong to their process's last program: there they ended, and have their
 *   last name. A thread without an end stays with its process, whoever has the pid afterwards.
 *
 * Private to tbrw and profile/read. One thread at a time; TB5_BIND_NONE is no index.
 */
#ifndef TBRW_BINDER_H
#define TBRW_BINDER_H

#include "containers/hash.h"
#include "containers/hash_table.h"
#include "tbrw/bind/lives.h"
#include "tbrw/bind/module_index.h"

#define TB5_BIND_NONE TBRW_INDEX_NONE

/* An unrecorded process or thread. */
struct tb5_deduced {
	uint64_t owner; /* of a process: the number of its gap; of a thread: its process */
	uint64_t seen;  /* the earliest moment */
	uint32_t pid;
	uint32_t tid; /* of a thread */
};

struct tb5_deduction {
	uint64_t first; /* the number of the first: how many records there are */
	struct tb5_deduced *items;
	size_t count;
	size_t capacity;
	size_t memo;
	struct hash_table known;
	struct hash_key key;
};

struct tb5_binder {
	struct tb5_lives processes;
	struct tb5_lives threads;
	struct tb5_deduction deduced_processes;
	struct tb5_deduction deduced_threads;
	struct tb5_bind_module *modules; /* of each record */
	size_t module_count;
	size_t *programs; /* executable modules by pid and load time */
	size_t program_count;
	struct tb5_module_index index;
};

/* `binder` is zero but for the added lives, and both deductions' `first`. Seals the lives and takes
 * the modules; `records` may go afterwards. false: out of memory; finish is still to be called. */
bool tb5_binder_seal(struct tb5_binder *binder, const TBRW_MODULE *records, size_t count);
void tb5_binder_finish(struct tb5_binder *binder);

/* The process and the thread of a sample: numbers of creation records, or of deduced ones. Without
 * `deduce` the call finds only earlier deduced ones, else TB5_BIND_NONE, and needs no memory.
 * false: out of memory. */
bool tb5_binder_lives(struct tb5_binder *binder, uint32_t pid, uint32_t tid, uint64_t tsc,
		      bool deduce, uint64_t *process, uint64_t *thread);

/* The module record; `sample` is the sample's number, for modules timed by sample numbers. */
uint64_t tb5_binder_module(struct tb5_binder *binder, uint32_t pid, uint64_t ip, uint64_t tsc,
			   uint64_t sample);

/* The process of a thread's life, deduced if need be: the one alive at its start, else the first to
 * begin during it, or the last of its execs before the thread ends. false: out of memory. */
bool tb5_binder_process_of_thread(struct tb5_binder *binder, uint32_t pid, uint64_t start,
				  uint64_t end, uint64_t *process);

/* The process of a module, deduced if need be; TB5_BIND_NONE for a global one. false: out of
 * memory. */
bool tb5_binder_process_of_module(struct tb5_binder *binder, const struct tb5_bind_module *module,
				  uint64_t *process);

/* The longest life of a deduced process: from *start up to but without *end, UINT64_MAX for ever.
 */
void tb5_binder_span(const struct tb5_binder *binder, const struct tb5_deduced *process,
		     uint64_t *start, uint64_t *end);

/* The executable module of a deduced process: the one loaded at its begin, else the first loaded
 * during its life. TB5_BIND_NONE: none. */
uint64_t tb5_binder_program(struct tb5_binder *binder, const struct tb5_deduced *process);

#endif
