/*
 * Small results with known content, written through the profile writer.
 */
#ifndef TESTS_TOOLS_BUILD_RESULT_H
#define TESTS_TOOLS_BUILD_RESULT_H

#include "profile/profile.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One or more samples with the same stack. */
struct build_sample {
	/* Outermost first, "image:function" separated by spaces; "image:outer>inner" has `inner`
	 * inlined into `outer`, "image:function.cold" is a part of that function, "image:function^"
	 * was found by a frame pointer, "image:function~" is guessed, "image:" is a frame without a
	 * symbol, "?" one of unknown code; "" not even the leaf. Images: app, lib
	 * (/opt/app/lib.so), libc, vdso, jit. All functions are in /src/app.c; those of the n-th
	 * frame to appear, counted from 1, are at line 10 n, the innermost, and those behind. */
	const char *stack;
	unsigned count;
	unsigned cpu_ms; /* each */
	enum profile_stack_state state;
	enum profile_skip_reason reason;
	unsigned thread; /* index; 0 and 1 are of the first process, others of the second */
	unsigned collapsed;
	/* Whole stacks that agreed, of a guessed stack; 0: it does not say what it is guessed from.
	 * Else it is split where its verified frames end. */
	unsigned guess_hits;
	bool is_late;        /* guessed, by level PROFILE_GUESS_LATE */
	unsigned kernel_ms;  /* of cpu_ms, in the kernel unseen */
	bool is_kernel_only; /* it hit the kernel, where no user code stands for it */
};

/* A slice of a thread. Times are us since the collection's start; slices come by their ends. */
struct build_slice {
	unsigned thread; /* as of samples */
	enum profile_state before;
	uint64_t start_us;
	unsigned run_us;
	unsigned ready_us;
	unsigned cpu;
	unsigned flags; /* PROFILE_SLICE_... */
};

struct build_object {
	enum profile_object_kind kind;
	enum profile_sync_type type;
	uint64_t address;
	uint32_t number;
	const char *name;     /* NULL: none */
	const char *variable; /* "image:name": its symbol; NULL: in no mapped file */
	const char *created;  /* stack, as of samples; NULL: not seen */
};

/* A wait of a thread. Waits come by their ends. */
struct build_wait {
	unsigned thread;
	unsigned object;   /* of the result's, counted from 1; 0: unknown */
	const char *stack; /* as of samples; NULL: not known */
	uint64_t start_us;
	unsigned wait_us;
	unsigned ready_us;
	unsigned spin_us;
	enum profile_stack_state state;
	enum profile_skip_reason reason;
	unsigned waker;          /* thread, counted from 1; 0: none */
	const char *waker_stack; /* NULL: not known */
	unsigned syscall;        /* 0: PROFILE_NO_SYSCALL */
	unsigned blocks;         /* 0: 1, without wait_us none */
	enum profile_wait_source source;
	unsigned flags; /* PROFILE_WAIT_... */
};

/* A thread's life, of those that have no samples too. us since the collection's start. */
struct build_life {
	unsigned thread;
	uint64_t start_us; /* 0: before the collection */
	uint64_t end_us;   /* 0: lived on */
};

struct build_result {
	const struct build_sample *samples;
	size_t count;
	unsigned states; /* noted, enum profile_states; 0: is not */
	const struct build_slice *slices;
	size_t slice_count;
	const struct build_object *objects;
	size_t object_count;
	const struct build_wait *waits;
	size_t wait_count;
	unsigned wait_sources;          /* noted: bits 1 << enum profile_wait_source */
	unsigned wait_threshold;        /* of these, us */
	unsigned waits_lost;            /* noted of the observer; 0: is not */
	unsigned target_cpus;           /* noted, thousandths; 0: is not */
	const struct build_life *lives; /* others: all of the collection, if it has samples */
	size_t life_count;
	uint64_t paused_us[2]; /* noted, a pause from the first to the second; 0, 0: is not */
	unsigned rest_ms;      /* of thread 0 */
	bool is_finalized;     /* with symbols */
	bool is_abandoned;     /* the collection did not end */
	bool is_unreadable;    /* lib.so could not be read when it was mapped */
	uint32_t unread;       /* ... PROFILE_IMAGE_...: why */
	bool has_unwinding;  /* notes on what unwinding took, and what it took for thread 0 and app
			      */
	bool has_run_record; /* in place of the notes, as newer collectors write it */
	const uint64_t *guess_tries; /* noted: tested, covered, wrong; NULL: are not */
	const uint64_t *late_tries;  /* in the run record: likewise, of late frames */
	unsigned stack_size;         /* noted; 0: is not */
	unsigned interval_ns;        /* noted instead of 10 ms; 0: is not */
	bool is_bpf;                 /* noted: BPF copied the stacks */
	bool has_losses;             /* 5 records, 640 bytes of records, 7 records out of order */
	bool has_twins;              /* both processes are named "app"; their command lines noted */
	bool is_lossless;            /* else 3 samples are noted as lost */
	unsigned kernel_time;        /* noted, enum profile_kernel_time; 0: is not */
	bool has_kernel;             /* an image of the kernel: its code was sampled too */
	unsigned throttled;          /* times, noted */
	unsigned unattributed_ms;    /* noted; 0: is not */
	unsigned stolen_ms;          /* likewise */
	unsigned rusage_ms;          /* likewise */
	bool is_not_followed;        /* noted, of a program */
	const char *app_path;        /* NULL: /opt/app/app */
	bool lacks_rvas;             /* of its mappings, as older results */
	const char *event; /* of the samples, no clock: ms are millions of it; NULL: CPU time */
};

#define BUILD_PID         100u /* of the first process, "app"; the second, "helper", has one more */
#define BUILD_JIT_PATH    "/tmp/perf-100.map" /* of has_twins: noted for the first process */
#define BUILD_JIT_STARTED UINT64_C(1700000000123456789)
#define BUILD_TID         100u /* of thread 0; the others follow */
#define BUILD_STEP                                                                    \
	16u /* distance of the functions of an image: the n-th one to appear, counted \
	       from 1, is at 0x1000 + n * BUILD_STEP, its frames lie 4 further on */

/* Fails the test on any error. */
void build_result_write(const char *path, const struct build_result *result);

/* A new directory; "DIR/NAME" in path. */
void build_directory(char directory[32]);
void build_directory_remove(const char *directory);

/* A checked fixture: a directory of its own, and the path for a result in it. */
extern char build_folder[32];
extern char build_path[64];
void build_set_up(void);
void build_tear_down(void);

#endif
