/*
 * A result's contents beyond the TBRW guide: the records of the custom streams.
 *
 * Stream 0 is the guide's sampling stream. Every stream below is a TBRW_CUSTOM_STREAM with its name
 * here as its comment; readers find streams by name, never by number. Records are little-endian,
 * fixed-size, naturally aligned, and described field by field by data descriptors: any TBRW reader
 * can list them. A record refers to another stream's record by its index.
 *
 *   name                 one record per                            written
 *   tbcollect.strings    byte of text (UTF-8, no terminators)      when a text is first used
 *   tbcollect.images     file or other source of code              when first mapped
 *   tbcollect.frames     distinct (image, rva)                     when first seen in a stack
 *   tbcollect.nodes      distinct (parent node, frame)             when first seen in a stack
 *   tbcollect.stacks     sample: record i belongs to sample i      with the sample
 *   tbcollect.mappings   LOADED record of the module section       with the module
 *   tbcollect.threads    thread instance                           when it ends, or at the end
 *   tbcollect.clock      sync point                                at the ends and each second
 *   tbcollect.notes      event or count                            when it happens
 *   tbcollect.unwinding  unwound thread instance or image          with the thread, at the end
 *   tbcollect.objects    what threads waited for                   before its first wait
 *   tbcollect.slices     stretch of a thread on a CPU              at its end
 *   tbcollect.waits      wait of a thread, where it is known       when the thread runs again
 *   tbcollect.symbols    function at a frame (inlined ones too)    by finalization
 *   tbcollect.symtext    byte of text of the symbols               by finalization
 *   tbcollect.exttext    byte of text of the external data         by an import
 *   tbcollect.series     kind of intervals, or counter             by an import
 *   tbcollect.sources    imported file                             by an import
 *   tbcollect.intervals  task or frame                             by an import
 *   tbcollect.counters   value of a counter                        by an import
 *
 * A symtext stream and the symbols stream right behind it are appended together; the last pair in
 * the file counts. The last five streams are appended together, too, by each import: all of them
 * count, but for sources with the name of a later source.
 */
#ifndef TBRW_PROFILE_PROFILE_H
#define TBRW_PROFILE_PROFILE_H

#include <stdint.h>

/* In the order of the table in streams.c: records refer to streams before their own, and to earlier
 * ones of their own. */
enum profile_stream {
	PROFILE_STREAM_STRINGS,
	PROFILE_STREAM_IMAGES,
	PROFILE_STREAM_FRAMES,
	PROFILE_STREAM_NODES,
	PROFILE_STREAM_STACKS,
	PROFILE_STREAM_MAPPINGS,
	PROFILE_STREAM_THREADS,
	PROFILE_STREAM_CLOCK,
	PROFILE_STREAM_NOTES,
	PROFILE_STREAM_UNWINDING,
	PROFILE_STREAM_OBJECTS,
	PROFILE_STREAM_SLICES,
	PROFILE_STREAM_WAITS,
	PROFILE_STREAM_COLLECTED, /* those before are written while collecting, ... */
	PROFILE_STREAM_SYMTEXT = PROFILE_STREAM_COLLECTED, /* ... the others by finalization */
	PROFILE_STREAM_SYMBOLS,
	PROFILE_STREAM_EXTERNAL, /* those from here on are data of others, by an import */
	PROFILE_STREAM_EXTTEXT = PROFILE_STREAM_EXTERNAL,
	PROFILE_STREAM_SERIES,
	PROFILE_STREAM_SOURCES,
	PROFILE_STREAM_INTERVALS,
	PROFILE_STREAM_COUNTERS,
	PROFILE_STREAM_COUNT
};

#define PROFILE_NONE UINT32_MAX /* no such record */

/* A text in tbcollect.strings (in tbcollect.symtext for symbols). length 0: no text. */
struct profile_text {
	uint32_t offset; /* bytes */
	uint32_t length; /* bytes */
};

enum profile_image_kind {
	PROFILE_IMAGE_UNKNOWN = 0, /* code in no known mapping; record 0 of every result */
	PROFILE_IMAGE_FILE = 1,    /* an ELF file; rva is an ELF virtual address */
	PROFILE_IMAGE_VDSO = 2,    /* rva is an ELF virtual address in the vdso */
	PROFILE_IMAGE_JIT = 3, /* anonymous executable memory; rva is the address in the process */
	PROFILE_IMAGE_KERNEL = 4, /* rva is the kernel address */
};

struct profile_image {
	/* The name in the target's maps without " (deleted)"; for JIT the perf-map file with
	 * possible names of the code, or no text. */
	struct profile_text path;
	uint32_t kind;      /* enum profile_image_kind */
	uint32_t owner_uid; /* effective user of the process: who may own a perf-map file */
	uint64_t inode;
	uint32_t device_major;
	uint32_t device_minor;
	uint8_t build_id[20];
	uint32_t build_id_size; /* 0: none known */
	uint32_t pid;           /* of the first process seen with this image */
	uint32_t flags;         /* PROFILE_IMAGE_DELETED ... */
};

#define PROFILE_IMAGE_DELETED       1u  /* the file was already unlinked when first seen */
#define PROFILE_IMAGE_NOT_OPEN      2u  /* the collector could not read the file */
#define PROFILE_IMAGE_NO_DESCRIPTOR 4u  /* ... because of the limit of open files */
#define PROFILE_IMAGE_GONE          8u  /* ... because the file was gone when the collector tried */
#define PROFILE_IMAGE_CHANGED       16u /* ... because the file was changed after the mapping */

/* Finalization may add records of the same image and rva: generated code that lay there at other
 * times. rva is the address for symbol lookup: a caller's lies inside the call; a signal
 * trampoline, which calls nobody, has its first byte; code interrupted by a signal has the very
 * address. */
struct profile_frame {
	uint32_t image; /* record of tbcollect.images */
	uint32_t flags; /* PROFILE_FRAME_ ... */
	uint64_t rva;
};

#define PROFILE_FRAME_POINTER 1u /* found through frame pointers, not unwind information */
/* Not verified: taken over from other stacks of the thread. The same frame verified elsewhere is
 * another record. In a stack, guessed frames are the outermost ones. */
#define PROFILE_FRAME_GUESSED 2u
/* Not code: the address of a variable, see profile_object.variable. */
#define PROFILE_FRAME_DATA 4u
/* Beside PROFILE_FRAME_GUESSED: not taken over, but read from the thread's stack before the sample
 * and after it (PROFILE_GUESS_LATE). */
#define PROFILE_FRAME_LATE 8u

/* Calling-context tree. Node 0 is the root: parent PROFILE_NONE, frame PROFILE_NONE. A parent's
 * index is always smaller than its child's. */
struct profile_node {
	uint32_t parent;
	uint32_t frame; /* record of tbcollect.frames */
};

enum profile_stack_state {
	PROFILE_STACK_COMPLETE = 0,
	PROFILE_STACK_SKIPPED = 1, /* the frames up to the root are missing; reason says why */
	PROFILE_STACK_GUESSED = 2, /* whole, but its PROFILE_FRAME_GUESSED frames are not verified;
				      reason says why */
	PROFILE_STACK_NONE = 3,    /* stacks were not asked for: the leaf only */
};

enum profile_skip_reason {
	PROFILE_SKIP_NOT_SKIPPED = 0,
	PROFILE_SKIP_BUDGET = 1,       /* to keep the collector's own cost down */
	PROFILE_SKIP_TRUNCATED = 2,    /* the stack is larger than the copy */
	PROFILE_SKIP_NOT_RESIDENT = 3, /* a page of the stack was not in memory: on disk, or as
					  PROFILE_SKIP_UNTOUCHED if nobody could tell */
	PROFILE_SKIP_NO_INFO = 4,      /* no unwind information for a frame */
	PROFILE_SKIP_OTHER_STACK = 5,  /* continues on a stack that was not copied */
	PROFILE_SKIP_DEPTH = 6,        /* deeper than the collector follows */
	PROFILE_SKIP_BAD_INFO = 7,     /* unwind information or memory contradicts itself */
	/* The kernel had no user registers, or the code's width is not unwound (32 bits on another
	 * machine than x86). */
	PROFILE_SKIP_NO_REGS = 8,
	PROFILE_SKIP_NO_MEMORY = 9, /* the collector ran out of memory */
	/* The way to the caller lies below the stack pointer, the start of a kernel's copy. */
	PROFILE_SKIP_RED_ZONE = 10,
	/* Of an imported recording: its frame pointers, or its file, say no more. */
	PROFILE_SKIP_CHAIN_ENDS = 11,
	/* A page of the stack, as of a large local array, had never been touched: the kernel's copy
	 * ends there. Older results: PROFILE_SKIP_NOT_RESIDENT. */
	PROFILE_SKIP_UNTOUCHED = 12,
	PROFILE_SKIP_REASON_COUNT
};

/* The evidence for guessed frames. */
enum profile_guess_level {
	PROFILE_GUESS_NONE = 0, /* nothing is guessed, or the evidence was not recorded */
	/* Whole stacks of the thread had the last verified frame at the same place in the code and
	 * on the stack, all of them with these callers. */
	PROFILE_GUESS_AGREED = 1,
	/* The copy ended at a page that was not in memory. What lies beyond was read from the
	 * thread before the sample and after it, each time with these callers; the last verified
	 * frame was at the same place on the stack from before the first reading on, and a call
	 * that can have led to the next frame precedes each return address. Older results have no
	 * such stacks. */
	PROFILE_GUESS_LATE = 2,
	PROFILE_GUESS_LEVEL_COUNT
};

/* Goes with the sample of the same index in stream 0. */
struct profile_stack {
	/* The sample's weight. Samples of a fixed period: CPU time of the thread since its previous
	 * one. Samples at random times (enum profile_sampling): the mean distance of samples plus
	 * kernel_us; the sample's user time is in proportion to the distance. */
	uint64_t cpu_ns;
	uint32_t node;      /* of the leaf; node 0: not even the leaf is known */
	uint8_t state;      /* enum profile_stack_state */
	uint8_t reason;     /* enum profile_skip_reason */
	uint16_t collapsed; /* frames left out by recursion collapsing, 65535: or more */
	/* Of a guessed stack, else 0. Older results do not have these: 0. */
	uint16_t verified;   /* the split: number of verified innermost frames, counted before
				recursion collapses; all others are guessed. 65535: or more */
	uint8_t guess_level; /* enum profile_guess_level */
	uint8_t guess_hits;  /* AGREED: whole stacks in agreement, 255: or more. LATE: 0 */
	/* us of cpu_ns that the thread spent in the kernel, unseen: no part of the stack's own use.
	 * PROFILE_KERNEL_ALL: all of cpu_ns; the sample hit the kernel, no user code stands for the
	 * time, and node is 0. */
	uint32_t kernel_us;
};

#define PROFILE_KERNEL_ALL UINT32_MAX

/* Facts that tbrw's module record lacks. Record i belongs to the i-th LOADED module record. */
struct profile_mapping {
	uint32_t module_index; /* of the record in the module section */
	uint32_t image;
	uint64_t pgoff; /* file offset of the first byte of the mapping */
	uint32_t pid;
	uint32_t reserved; /* 0 */
	/* The first byte of the mapping in the terms of its frames' rva. Older results do not have
	 * it: 0. */
	uint64_t rva;
};

/*
 * One life of one thread: its account of CPU time.
 *
 * Samples of a fixed period: cpu_ns = sampled_ns + kernel_ns + rest_ns. Samples at random times
 * give the proportions of functions, not the amount of time: a thread with a life of a tenth of the
 * interval has a sample of a whole interval, or none. The thread's user code used cpu_ns -
 * kernel_ns - rest_ns; its samples and those of other short threads share this time
 * (tools/samples/calibration.h).
 */
struct profile_thread {
	uint32_t pid;
	uint32_t tid;
	uint64_t start_tsc; /* 0: before the collection */
	uint64_t end_tsc;   /* all ones: lived on */
	uint64_t cpu_ns;    /* CPU time during the collection by the event's own count */
	/* The part in no sample: after the last one, or of lost ones. With samples at random times
	 * only the time of this part spent in the kernel, unseen (kernel_us of no sample). */
	uint64_t rest_ns;
	struct profile_text name;
	uint32_t flags; /* PROFILE_THREAD_... */
	uint32_t samples;
	/* Older results do not have these: 0. */
	uint64_t sampled_ns; /* its samples' weights without their kernel_us */
	uint64_t kernel_ns;  /* its samples' kernel_us, and cpu_ns of PROFILE_KERNEL_ALL */
	/* The expected lack of cpu_ns. Threads share the CPU time in no account
	 * (PROFILE_NOTE_UNATTRIBUTED) in proportion to it. 0: no part. */
	uint64_t unseen_ns;
};

/* cpu_ns is from the scheduler's accounting, since the kernel gives no count with the samples. */
#define PROFILE_THREAD_CPU_BY_CLOCK 1u
/* Nobody recorded the thread: its times are its samples' weights. Set for threads deduced by a
 * reader, and in recovered files. */
#define PROFILE_THREAD_DEDUCED 2u

/* The TSC values of a result are a linear map of CLOCK_MONOTONIC_RAW fixed by the first sync point:
 *   tsc = first.tsc + (raw - first.raw_ns) * first.tsc_per_ns_q32 / 2^32
 * rounded down; results end up between 1 and all ones minus 1. Later sync points hold the true
 * values of counter and clocks, to check the map and to turn times into dates. */
struct profile_clock {
	uint64_t tsc;
	uint64_t raw_ns;  /* CLOCK_MONOTONIC_RAW */
	uint64_t real_ns; /* CLOCK_REALTIME */
	uint64_t tsc_per_ns_q32;
	/* CLOCK_MONOTONIC: that of dumps of generated code. Older results, and those without such
	 * a clock, do not have it: 0. */
	uint64_t monotonic_ns;
};

/* Kinds are stable; value and text as stated. Counts of one kind add up unless "last counts". */
enum profile_note_kind {
	PROFILE_NOTE_COMMAND = 1,    /* text: command line; pid: the target. At the start */
	PROFILE_NOTE_INTERVAL = 2,   /* value: ns */
	PROFILE_NOTE_STACK_SIZE = 3, /* value: bytes of stack asked for per sample */
	PROFILE_NOTE_COLLECTOR = 4,  /* text: program and version */
	PROFILE_NOTE_ANALYSIS = 5,   /* text: hotspots, ... */
	/* value: how many; cpu ring in tid. Of ticks that were still to be drawn, an estimate */
	PROFILE_NOTE_SAMPLES_LOST = 6,
	PROFILE_NOTE_RECORDS_LOST = 7,   /* value: other records, or of unknown kind */
	PROFILE_NOTE_THROTTLED = 8,      /* value 1: the kernel stopped the event; cpu in tid */
	PROFILE_NOTE_UNTHROTTLED = 9,    /* value 1 */
	PROFILE_NOTE_NOT_FOLLOWED = 10,  /* pid, text: program the kernel does not let us follow */
	PROFILE_NOTE_MAPS_REREAD = 11,   /* pid: after loss */
	PROFILE_NOTE_PAUSED = 12,        /* value: ns of pause that ended now */
	PROFILE_NOTE_EXIT_STATUS = 13,   /* value: exit status as a shell shows it (128 + signal) */
	PROFILE_NOTE_ELAPSED = 14,       /* value: ns from start to end. At the end; last counts */
	PROFILE_NOTE_COLLECTOR_CPU = 15, /* value: ns of CPU time of the collector. Last counts */
	PROFILE_NOTE_COLLECTOR_RSS = 16, /* value: peak resident bytes. Last counts */
	PROFILE_NOTE_STACK_COPY = 17, /* value: bytes of stack copied by the kernel. Last counts */
	PROFILE_NOTE_UNATTRIBUTED = 18, /* value: ns of CPU time in no thread's account */
	PROFILE_NOTE_ATTACHED = 19,     /* pid: attached to; text: its command line */
	PROFILE_NOTE_WARNING = 20,      /* text: one sentence for the summary */
	PROFILE_NOTE_RUSAGE_CPU = 21,   /* value: ns, user + system of the launched tree by wait4 */
	/* Only in older results; newer ones have records of tbcollect.unwinding. The cost of
	 * unwinding over the whole run. At the end; last counts. A walk is an attempt to unwind one
	 * sample (deep copies are no samples and not among them); frames are as the walks found
	 * them, before recursion collapses. */
	PROFILE_NOTE_UNWIND_WALKS = 22,             /* value: walks */
	PROFILE_NOTE_UNWIND_FRAMES = 23,            /* value: frames, the leaves among them */
	PROFILE_NOTE_UNWIND_FRAMES_BY_INFO = 24,    /* value: callers by unwind information */
	PROFILE_NOTE_UNWIND_FRAMES_BY_POINTER = 25, /* value: callers by frame pointers */
	PROFILE_NOTE_UNWIND_FRAMES_REUSED = 26, /* value: frames as in the thread's last stack */
	PROFILE_NOTE_UNWIND_LOOKUPS = 27,      /* value: frames whose unwind rule was in no cache */
	PROFILE_NOTE_UNWIND_TIMED = 28,        /* value: timed walks, 1 in 64 */
	PROFILE_NOTE_UNWIND_TIMED_FRAMES = 29, /* value: frames of these */
	PROFILE_NOTE_UNWIND_TIMED_NS = 30,     /* value: ns of these */
	/* Guessing is tested on whole stacks with a part hidden: of deep copies the part beyond a
	 * sample's copy, else the part beyond copies that ended too early, or half of the stack if
	 * none has. Likewise. */
	PROFILE_NOTE_GUESSES_TESTED = 31,  /* value: stacks with a hidden part */
	PROFILE_NOTE_GUESSES_COVERED = 32, /* value: of these, a guess was made */
	PROFILE_NOTE_GUESSES_WRONG = 33,   /* value: of these, the guess was wrong */
	/* Deep copies, from which guesses are made. Likewise. */
	PROFILE_NOTE_UNWIND_DEEP_WALKS = 34,  /* value: walks */
	PROFILE_NOTE_UNWIND_DEEP_FRAMES = 35, /* value: frames of these */
	/* value: bytes of records, samples among them, given up since the bytes before them could
	 * not be read */
	PROFILE_NOTE_BYTES_LOST = 36,
	PROFILE_NOTE_OUT_OF_ORDER = 37, /* value: records applied after younger ones */
	PROFILE_NOTE_STACK_SOURCE = 38, /* value: enum profile_stack_source. Older results: none */
	PROFILE_NOTE_KERNEL_TIME = 39,  /* value: enum profile_kernel_time. Older results: none */
	/* pid, text: command line of a process with samples, at its first one, and again at the end
	 * if the process lives on; at most 4095 bytes. Last counts. Older results: none */
	PROFILE_NOTE_PROCESS_COMMAND = 42,
	/* pid: process with generated code; value: date of its start, ns since 1970; text: the path
	 * of its image (JIT). None for a process that ended too early for a look, and in older
	 * results. */
	PROFILE_NOTE_JIT_STARTED = 44,
	PROFILE_NOTE_SAMPLING = 45, /* value: enum profile_sampling. Older results: none */
	PROFILE_NOTE_TICK = 46,     /* value: mean ns between ticks; samples are drawn from ticks */
	PROFILE_NOTE_SEED = 47,     /* value: seed of this run's draws */
	/* value: ns of PROFILE_NOTE_UNATTRIBUTED spent by threads in the kernel, unseen: more than
	 * can lie between ticks. Divided among the threads as the rest is. */
	PROFILE_NOTE_UNATTRIBUTED_KERNEL = 48,
	/* text: command line; value: its steps that failed. At the end */
	PROFILE_NOTE_CUSTOM_COLLECTOR = 49,
	/* value: ns in the threads' times during which the hypervisor ran something else: a task
	 * clock goes on, and its ticks come late. None where the times are the scheduler's, which
	 * leave it out. */
	PROFILE_NOTE_STOLEN = 50,
	/* text: name of the event whose samples the result has; value: 1: all CPU times of the
	 * result are numbers of this event, no times. None: CPU time */
	PROFILE_NOTE_EVENT = 51,
	/* Threads' times on and off the CPUs were recorded (tbcollect.slices). value: bits of
	 * enum profile_states. At the start */
	PROFILE_NOTE_STATES = 52,
	/* Waits were recorded (tbcollect.waits). value: ns; shorter ones have no record. tid: enum
	 * profile_wait_source. One of each source, at the start */
	PROFILE_NOTE_WAITS = 53,
	/* value: logical CPUs that the target may use, in thousandths: by affinity and cgroup
	 * quota. At the start */
	PROFILE_NOTE_TARGET_CPUS = 54,
	/* value: waits of a source without a record, by losses. tid: enum profile_wait_source */
	PROFILE_NOTE_WAITS_LOST = 55,
	/* pid; text: why nobody may look at its waits */
	PROFILE_NOTE_WAITS_HIDDEN = 56,
	/* value: switches of threads on a CPU for which its ring had no room, at most; cpu in tid.
	 * Some time before: see PROFILE_SLICE_AFTER_LOSS */
	PROFILE_NOTE_SWITCHES_LOST = 57,
	/* An event whose samples the result has beside those of CPU time, or instead. text: its
	 * name; value: the eventIndex of its samples in stream 0, from 1 to PROFILE_EVENTS_MAX;
	 * cpu_ns of their stacks is how many events they stand for. tid: events between two
	 * samples; 0: as the kernel found it good. At the start */
	PROFILE_NOTE_EVENT_ADDED = 58,
	/* value: number of such an event by the kernel's count; tid: its eventIndex. At the end */
	PROFILE_NOTE_EVENT_COUNT = 59,
	/* value: lost samples of such an event; tid: its eventIndex. At the end */
	PROFILE_NOTE_EVENT_LOST = 60,
};

enum { PROFILE_EVENTS_MAX = 8 }; /* beside CPU time */

/* What is known of threads off the CPU. */
enum profile_states {
	PROFILE_STATES_SWITCHES = 1, /* whether they could run */
	PROFILE_STATES_WAKES = 2,    /* since when (profile_slice.ready_ns) */
};

/* When samples are taken. The interval (PROFILE_NOTE_INTERVAL) is their mean distance. */
enum profile_sampling {
	/* Whenever a thread has used an interval on a CPU. */
	PROFILE_SAMPLING_FIXED = 1,
	/* Whenever a thread has used a tick on a CPU, if the tick was drawn. */
	PROFILE_SAMPLING_THREADS = 2,
	/* Whenever a CPU's clock has advanced by a tick, if one of the threads runs there and the
	 * tick was drawn. */
	PROFILE_SAMPLING_CPUS = 3,
	/* Never: CPU time is in the threads' accounts alone. No PROFILE_NOTE_INTERVAL. */
	PROFILE_SAMPLING_NONE = 4,
};

/* The place of the threads' CPU time in the kernel (system calls and faults). Older results have
 * this time in the next sample, or as PROFILE_KERNEL_TIME_FRAMES. */
enum profile_kernel_time {
	/* Kernel mode was not sampled: profile_stack.kernel_us. */
	PROFILE_KERNEL_TIME_APART = 1,
	/* Samples in kernel mode are at the user code that entered the kernel. */
	PROFILE_KERNEL_TIME_AT_CALLS = 2,
	/* These samples have the kernel's frames too (tbcollect --kernel). */
	PROFILE_KERNEL_TIME_FRAMES = 3,
};

/* Who copies stacks. */
enum profile_stack_source {
	PROFILE_STACKS_BY_KERNEL = 0, /* a fixed number of bytes with each sample */
	PROFILE_STACKS_BY_BPF = 1,    /* their used part, as far as there is room */
};

struct profile_note {
	uint64_t tsc;
	uint64_t value;
	uint32_t kind; /* enum profile_note_kind */
	uint32_t pid;
	uint32_t tid;
	struct profile_text text;
	uint32_t reserved; /* 0 */
};

enum profile_unwinding_kind {
	PROFILE_UNWINDING_THREAD = 1,
	PROFILE_UNWINDING_IMAGE = 2, /* walks and tests of stacks with their leaf there */
	PROFILE_UNWINDING_RUN = 3,   /* the whole run. Older results: notes */
	PROFILE_UNWINDING_DEEP = 4,  /* deep copies: walks and frames. Older results: notes */
};

/* The cost of unwinding, by subject. When the way of testing guesses changed during the run, a
 * thread written before may hold tests missing in the run's record. */
struct profile_unwinding {
	uint32_t kind;    /* enum profile_unwinding_kind */
	uint32_t subject; /* record of tbcollect.threads or of tbcollect.images; else 0 */
	uint64_t walks;
	uint64_t frames;
	uint64_t frames_by_info;
	uint64_t frames_by_pointer;
	uint64_t frames_reused;
	uint64_t lookups;
	uint64_t timed_walks;
	uint64_t timed_frames;
	uint64_t timed_ns;
	uint64_t guesses_tested;
	uint64_t guesses_covered;
	uint64_t guesses_wrong;
	/* Late frames (PROFILE_GUESS_LATE), tested on whole stacks of threads that had stacks with
	 * absent pages, as if pages were absent there too. Older results do not have these: 0. */
	uint64_t late_tested;
	uint64_t late_covered; /* of these, the frames were found */
	uint64_t late_wrong;   /* of these, others than the stack had */
};

/* Adds all counts of `more` to `sum`, whose kind and subject stay. */
void profile_unwinding_add(struct profile_unwinding *sum, const struct profile_unwinding *more);

/* What a thread does, by the kernel's scheduler. */
enum profile_state {
	PROFILE_STATE_UNKNOWN = 0, /* records of switches were lost */
	PROFILE_STATE_RUNNING = 1, /* on a CPU */
	PROFILE_STATE_READY = 2,   /* it could run: preempted, yielded, new, or woken */
	PROFILE_STATE_BLOCKED = 3, /* it waits */
	PROFILE_STATE_STOPPED = 4, /* by a signal or a debugger */
};

/*
 * A thread's time on a CPU, from one switch to the next, and how the thread got there: the life of
 * a thread is its slices and the times between them. In the order of their ends. A long stretch has
 * several records, the later ones with before = RUNNING.
 *
 * A thread that waits at the collection's end has a last slice of 0 ns there. Before the first
 * slice of a thread known from the collection's start, its state is `before` since that start.
 */
struct profile_slice {
	uint64_t start_tsc;
	uint32_t run_ns; /* at most PROFILE_SLICE_NS_MAX */
	/* The last part of the time since the slice before in which the thread could run (READY),
	 * if `before` is BLOCKED or STOPPED; 0: not known. UINT32_MAX: or more. */
	uint32_t ready_ns;
	uint32_t tid;
	uint16_t cpu;
	uint8_t before; /* enum profile_state: the time since the thread's slice before */
	uint8_t flags;  /* PROFILE_SLICE_... */
};

#define PROFILE_SLICE_NS_MAX 1000000000u
/* Switches of some CPU were lost since the slice before, or shortly before that was known:
 * `before` is the best guess, and there may have been other slices. */
#define PROFILE_SLICE_AFTER_LOSS 1u
/* The CPU's switches were lost before the end, which is a guess: the CPU's last record before the
 * loss, or the end of the slice before this one, whichever is later. */
#define PROFILE_SLICE_CUT 2u

/* What a wait's object is to the kernel. Its name for users follows from the waits' stacks. */
enum profile_object_kind {
	PROFILE_OBJECT_UNKNOWN = 0, /* record 0 of every result */
	PROFILE_OBJECT_FUTEX = 1,   /* address: of the word */
	PROFILE_OBJECT_FILE = 2,  /* number: the descriptor; name: what it leads to, as in /proc */
	PROFILE_OBJECT_CALL = 3,  /* a system call without an object (sleep, poll): number */
	PROFILE_OBJECT_FAULT = 4, /* a page fault */
	PROFILE_OBJECT_CHILD = 5, /* number: the pid waited for; 0: any */
	/* By the preloaded library: address of the object in the program */
	PROFILE_OBJECT_SYNC = 6,
	PROFILE_OBJECT_UNSEEN = 7, /* not known: nobody looked in time while the wait lasted */
};

/* The type of an object where the source of the wait knows it. */
enum profile_sync_type {
	PROFILE_SYNC_UNKNOWN = 0, /* to be told from the stacks of its waits */
	PROFILE_SYNC_MUTEX = 1,
	PROFILE_SYNC_RWLOCK = 2,
	PROFILE_SYNC_CONDITION = 3,
	PROFILE_SYNC_BARRIER = 4,
	PROFILE_SYNC_SEMAPHORE = 5,
	PROFILE_SYNC_JOIN = 6,
	PROFILE_SYNC_SPIN = 7,
	PROFILE_SYNC_ONCE = 8,
};

/* Distinct ones: those of a process that ended are others than those of a later one. */
struct profile_object {
	uint64_t address; /* 0: none */
	uint32_t kind;    /* enum profile_object_kind */
	uint32_t pid;
	struct profile_text name;
	/* The node, right below the root, of the frame (PROFILE_FRAME_DATA) at `address`, if that
	 * lies in a mapped file: a global variable. 0: in none. */
	uint32_t variable;
	uint32_t created; /* node of the code that made the object; 0: not seen */
	uint32_t number;
	uint32_t type; /* enum profile_sync_type */
};

enum profile_wait_source {
	PROFILE_WAIT_BY_OBSERVER = 1, /* looked at while it lasted (/proc, process_vm_readv) */
	PROFILE_WAIT_BY_BPF = 2,
	PROFILE_WAIT_BY_LIBRARY = 3, /* the preloaded one */
};

/* A wait: from the moment that a thread blocks to the end of its call. Slices have its pieces. */
struct profile_wait {
	uint64_t start_tsc; /* blocked from here on, for the first time */
	uint64_t wait_ns;   /* blocked: until woken if that is known, else until it ran */
	uint64_t ready_ns;  /* woken, and not yet on a CPU; 0: not known */
	uint32_t tid;
	uint32_t object;     /* record of tbcollect.objects */
	uint32_t node;       /* of the leaf of its stack; node 0: not even the leaf is known */
	uint32_t waker_tid;  /* 0: not known, or no thread (a timer, a device) */
	uint32_t waker_node; /* of the waker's stack; 0: not known */
	uint32_t spin_ns;    /* on the CPU in the call, before it blocked; 0: not known */
	uint16_t syscall;    /* number of the machine's 64-bit calls; PROFILE_NO_SYSCALL */
	uint16_t blocks;     /* times it blocked; 65535: or more */
	uint16_t collapsed;  /* as in profile_stack */
	uint8_t state;       /* enum profile_stack_state; never GUESSED */
	uint8_t reason;      /* enum profile_skip_reason */
	uint8_t source;      /* enum profile_wait_source */
	uint8_t flags;       /* PROFILE_WAIT_... */
	uint8_t waker_state; /* as state and reason, of the waker's stack; NONE: no stack */
	uint8_t waker_reason;
	uint32_t reserved; /* 0 */
};

#define PROFILE_NO_SYSCALL UINT16_MAX

#define PROFILE_WAIT_TIMED_OUT   1u
#define PROFILE_WAIT_INTERRUPTED 2u  /* by a signal, at least once */
#define PROFILE_WAIT_STOPPED     4u  /* part of it the thread was stopped (SIGSTOP, a debugger) */
#define PROFILE_WAIT_UNENDED     8u  /* it lasted beyond the collection, its thread, or a loss */
#define PROFILE_WAIT_BEFORE      16u /* it went on when the collection began: start_tsc is then */

/* A function at a frame. Frames with inlined calls have several records in a row, innermost first:
 * depth 0, 1, ...; the last one is the function with machine code of its own. */
struct profile_symbol {
	uint32_t frame;
	uint16_t depth;
	uint16_t flags;           /* PROFILE_SYMBOL_... */
	struct profile_text name; /* short, demangled without parameters: a::b<int>::c */
	struct profile_text full; /* demangled in full; no text: same as name */
	struct profile_text file; /* source file, no text: not known */
	uint32_t line; /* in file, of the address (depth 0) or of the inlined call; 0: not known */
	uint32_t reserved; /* 0 */
	uint64_t start;    /* rva where the function starts */
	uint64_t size;     /* bytes; 0: not known */
};

struct profile_symbol_text { /* of a symbol, in its order */
	const char *name;
	const char *full; /* NULL: same as name */
	const char *file; /* NULL: not known */
};

#define PROFILE_SYMBOL_INLINED 1u
#define PROFILE_SYMBOL_PSEUDO  2u /* no symbol: name is func@0xRVA of the function's start */
#define PROFILE_SYMBOL_PLT     4u /* import stub */

/* What a series is of. */
enum profile_series_kind {
	PROFILE_SERIES_FRAME = 1, /* intervals of a process, or of all processes */
	PROFILE_SERIES_TASK = 2,  /* intervals of threads */
	PROFILE_SERIES_COUNT = 3, /* a counter; values are totals so far */
	PROFILE_SERIES_INST = 4,  /* a counter; values are of a moment */
};

/* The intervals of one name, or the values of one counter, in one source. */
struct profile_series {
	uint32_t kind;   /* enum profile_series_kind */
	uint32_t source; /* record of tbcollect.sources, written behind it, of the same import */
	struct profile_text name;
};

/* The clock of a source's times, as the source has it. All times are turned into TSC values. */
enum profile_source_clock {
	PROFILE_CLOCK_RAW = 1,  /* CLOCK_MONOTONIC_RAW, ns */
	PROFILE_CLOCK_TSC = 2,  /* the machine's own counter */
	PROFILE_CLOCK_DATE = 3, /* UTC */
};

/* A file whose data was imported. */
struct profile_source {
	struct profile_text name; /* without directories */
	struct profile_text host; /* where it was made, by its name; no text: not said */
	uint64_t size;            /* bytes */
	uint64_t checksum;        /* of its bytes; tells changed files apart */
	uint64_t rows;            /* imported ones */
	uint64_t bad_rows;        /* left out, since they could not be read */
	uint32_t clock;           /* enum profile_source_clock */
	uint32_t flags;           /* PROFILE_SOURCE_... */
};

/* Of another host, or nobody knows of which: ids of processes and threads are left out, and times
 * may be none of the collection's. */
#define PROFILE_SOURCE_FOREIGN 1u

/* pid and tid: 0 where not said. A task has a tid. */
struct profile_interval {
	uint64_t start_tsc;
	uint64_t end_tsc; /* not before the start */
	uint32_t series;  /* record of tbcollect.series: a frame or a task */
	uint32_t pid;
	uint32_t tid;
	uint32_t reserved; /* 0 */
};

struct profile_counter {
	uint64_t tsc;
	uint64_t value;  /* int64_t, with PROFILE_COUNTER_REAL the bits of a double */
	uint32_t series; /* record of tbcollect.series: a counter */
	uint32_t pid;
	uint32_t tid;
	uint32_t flags; /* PROFILE_COUNTER_... */
};

#define PROFILE_COUNTER_REAL 1u

_Static_assert(sizeof(struct profile_image) == 64, "");
_Static_assert(sizeof(struct profile_frame) == 16, "");
_Static_assert(sizeof(struct profile_node) == 8, "");
_Static_assert(sizeof(struct profile_stack) == 24, "");
_Static_assert(sizeof(struct profile_mapping) == 32, "");
_Static_assert(sizeof(struct profile_thread) == 80, "");
_Static_assert(sizeof(struct profile_clock) == 40, "");
_Static_assert(sizeof(struct profile_note) == 40, "");
_Static_assert(sizeof(struct profile_unwinding) == 128, "");
_Static_assert(sizeof(struct profile_slice) == 24, "");
_Static_assert(sizeof(struct profile_object) == 40, "");
_Static_assert(sizeof(struct profile_wait) == 64, "");
_Static_assert(sizeof(struct profile_symbol) == 56, "");
_Static_assert(sizeof(struct profile_series) == 16, "");
_Static_assert(sizeof(struct profile_source) == 56, "");
_Static_assert(sizeof(struct profile_interval) == 32, "");
_Static_assert(sizeof(struct profile_counter) == 32, "");

#endif
