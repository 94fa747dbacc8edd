/*
 * The one place where the collector hands data to the result (profile/). Times are
 * CLOCK_MONOTONIC_RAW ns; 0: before the collection, all ones: not ended.
 *
 * The first failure of the file is kept (emit_failed) and later calls do nothing, so that callers
 * on the sampling path need not check each call: the session looks once per round.
 */
#ifndef COLLECTOR_RESULT_EMIT_H
#define COLLECTOR_RESULT_EMIT_H

#include "collector/machine/failure.h"
#include "collector/proc/mapping.h"
#include "profile/profile.h"
#include <stdbool.h>
#include <stdint.h>

struct emit;
struct host;

#define EMIT_TIME_BEFORE 0u
#define EMIT_TIME_NEVER  UINT64_MAX

/* Creates the result file at path; name is what messages call it. */
int emit_create(const char *path, const char *name, const struct profile_clock *clock,
		uint64_t interval_ns, struct emit **emit, struct failure *failure);

/* Describes the machine. */
void emit_host(struct emit *emit, struct host *host);

/* Returns the image's index. */
uint32_t emit_image(struct emit *emit, const struct profile_image *image, const char *path);

/* Frames and nodes are numbered by the order of the calls; node 0 exists. */
void emit_frame(struct emit *emit, const struct profile_frame *frame);
void emit_node(struct emit *emit, const struct profile_node *node);

struct emit_sample {
	uint64_t time_ns;
	uint64_t ip;
	uint64_t processor_flags;
	uint32_t pid;
	uint32_t tid;
	uint32_t cpu;
	uint16_t code_segment;
	bool is_32bit;
	struct profile_stack stack;
};
void emit_sample(struct emit *emit, const struct emit_sample *sample);

/* path: as the target's maps name it. is_first: the first module record of its process. */
void emit_module_load(struct emit *emit, uint32_t pid, const struct mapping *mapping,
		      const char *path, bool is_first);
void emit_module_unload(struct emit *emit, uint32_t pid, const struct mapping *mapping,
			const char *path, uint64_t time_ns);

void emit_process(struct emit *emit, uint32_t pid, const char *name, const char *path,
		  uint64_t start_ns, uint64_t end_ns);

struct emit_thread {
	uint32_t pid;
	uint32_t tid;
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t cpu_ns;
	uint64_t rest_ns;
	uint64_t sampled_ns;
	uint64_t kernel_ns;
	uint64_t unseen_ns;
	uint32_t samples;
	bool by_clock; /* cpu_ns is not from the event's count */
	const char *name;
	const struct profile_unwinding *unwinding; /* NULL: no stack of it was unwound */
};
void emit_thread(struct emit *emit, const struct emit_thread *thread);

/* What unwinding took for stacks whose leaf lies in the image. */
void emit_image_unwinding(struct emit *emit, uint32_t image,
			  const struct profile_unwinding *unwinding);

void emit_clock(struct emit *emit, const struct profile_clock *clock);

/* text may be NULL. */
void emit_note(struct emit *emit, enum profile_note_kind kind, uint64_t time_ns, uint64_t value,
	       uint32_t pid, uint32_t tid, const char *text);

/* 0, or -1 with what went wrong with the file. */
int emit_failed(const struct emit *emit, struct failure *failure);

/* Ends, binds and closes the file, which analysis made. Destroys emit in any case. */
int emit_finish(struct emit *emit, const char *analysis, const char *command_line,
		const struct profile_clock *clock, struct failure *failure);

/* Gives up: what was written stays readable as an incomplete result. Accepts NULL. */
void emit_abandon(struct emit *emit);

#endif
