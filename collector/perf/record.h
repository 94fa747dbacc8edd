/*
 * Typed views of perf_event records.
 *
 * Source of the layouts: linux/perf_event.h, enum perf_event_type. Records of one collection all
 * have one format, fixed by the event's attributes (event.h). Bytes come from the kernel's ring but
 * are checked like foreign ones: a record shorter than its header promises is refused.
 */
#ifndef COLLECTOR_PERF_RECORD_H
#define COLLECTOR_PERF_RECORD_H

#include "unwind/unwind.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event_ids;

/* The differences between formats. */
struct record_format {
	bool count;     /* samples carry the event's count (PERF_SAMPLE_READ, one event) */
	bool lost;      /* counts are followed by lost (PERF_FORMAT_LOST) */
	bool callchain; /* samples carry the kernel's callchain */
	bool registers; /* samples carry user registers */
	bool raw;       /* samples carry a raw field: empty, or a record of BPF (bpf/) */
	bool stack;     /* samples carry a stack copy; needs registers */
	/* Records carry the id of their event (PERF_SAMPLE_IDENTIFIER), and some are of these.
	 * NULL: no. */
	struct event_ids *ids;
	uint64_t deep_period_ns; /* of deep copies; 0: there are none */
};

enum record_kind {
	RECORD_OTHER, /* of no interest here */
	RECORD_SAMPLE,
	RECORD_EVENT, /* a sample of an added event (perf/event_ids.h) */
	RECORD_MMAP,
	RECORD_COMM,
	RECORD_FORK,
	RECORD_EXIT,
	RECORD_COUNT,   /* PERF_RECORD_READ: a thread's final count */
	RECORD_ACCOUNT, /* by BPF: the CPU time of a thread's whole life, some time after its end */
	RECORD_ENDING,  /* by BPF: a sample of an ending thread, after its RECORD_EXIT */
	RECORD_LOST,
	RECORD_THROTTLE,
	RECORD_UNTHROTTLE,
	RECORD_SWITCH,    /* a thread got or left its CPU */
	RECORD_LOOK,      /* by the observer (waits/observer.h): a thread's call while it blocks */
	RECORD_WAIT,      /* by BPF: the end of a call in which a thread blocked */
	RECORD_WAKE,      /* by BPF: the stack of a thread that ends another one's wait */
	RECORD_SYNC_WAIT, /* by the library in the target: a wait that ended */
	RECORD_SYNC_WAKE, /* ... a call that may have ended waits */
	RECORD_SYNC_NEW   /* ... an object made */
};

enum record_registers {
	RECORD_REGISTERS_NONE, /* a kernel thread, or a task without user code any more */
	RECORD_REGISTERS_32,
	RECORD_REGISTERS_64
};

/* The bytes' part of a copy of the stack (bpf/stack_chunk.h, assembly.h). */
struct record_part {
	uint32_t offset;
	uint32_t total;  /* size of the copy; 0: the sample came with its whole stack */
	uint16_t absent; /* bit n: page n of the part was not in memory */
	uint16_t below;  /* bytes from the copy's start to the stack pointer */
	/* Of a copy of two stacks; 0: there is one. */
	uint64_t outer_base;
	uint32_t outer_offset; /* the first byte of the outer stack in the copy */
};

/* Whether a record is a sample, and its stack is kept. */
enum record_choice {
	RECORD_UNDECIDED,
	RECORD_KEPT,
	RECORD_LEFT_OUT, /* without bytes of the stack */
	RECORD_TICK      /* no sample and no stack: only its thread's CPU time */
};

/* The user's part of a callchain that the kernel walked by frame pointers (a recording's, see
 * recording/recording.h). */
struct record_chain {
	const uint64_t *addresses; /* innermost first, callers as return addresses; NULL: none */
	size_t count;
	size_t guessed; /* its outermost ones, not verified */
	bool is_cut;    /* known to lack callers */
	bool is_whole;  /* known to lack none; neither: nothing is known */
};

struct record_sample {
	uint32_t event; /* EVENT: from 1 on */
	uint64_t ip;    /* address of the hit: user or kernel */
	uint64_t count;
	uint64_t period;
	/* The kernel's part of its callchain, innermost first, without the kernel's markers:
	 * callchain_length unaligned u64. User code's part is never asked for. */
	const uint8_t *callchain;
	uint64_t callchain_length;
	enum record_registers abi;
	uint64_t processor_flags;
	uint16_t code_segment;
	bool in_kernel;
	/* User code's, in DWARF numbering; valid unless abi is NONE. In the kernel: at the
	 * instruction that entered it. */
	struct uw_regs regs;
	struct uw_stack stack;
	struct uw_stack outer; /* the stack that a signal interrupted (uw_stack.outer), with its
				  bytes right behind those of `stack`; size 0: there is none */
	struct record_chain chain;
	struct record_part part;
	enum record_choice choice;
	bool stack_absent; /* the copy has gaps where pages were not in memory */
	bool is_deep;      /* a deep copy (copy_size.h), not a sample */
};

/* A system call in which a thread blocks. */
struct record_call {
	uint64_t begin_ns; /* no call before this time is meant */
	uint64_t arguments[6];
	uint16_t number; /* of the task's own machine: of 32-bit code, its own numbers;
			    PROFILE_NO_SYSCALL: it blocks in no call, but in a page fault */
};

/*
 * WAIT and WAKE are of the waiting thread, by pid and tid. A WAKE comes before its WAIT; it has
 * only `wake` and the waker. BPF sends those stacks that are worth it.
 */
struct record_wait {
	struct record_sample sample; /* registers and stack: WAIT: of the waiting thread,
					WAKE: of the waker */
	struct record_call call;     /* begin_ns: blocked from here on, for the first time */
	uint64_t blocked_ns;         /* until woken; where no wake was seen, until it ran */
	uint64_t ready_ns;           /* woken, and not yet on a CPU */
	uint64_t stopped_ns;         /* by a signal or a debugger, in neither of both */
	uint64_t woken_ns;           /* when, on the clock of time_ns; 0: no wake was seen */
	uint64_t wake;               /* the same in a WAIT and its WAKE; 0: likewise */
	int64_t result;              /* of the call, as the kernel returns it: -errno */
	uint32_t waker_pid;          /* 0: no thread (a timer, a device) */
	uint32_t waker_tid;
	uint64_t file_inode; /* of a descriptor in arguments[0], if it is one: st_ino and */
	uint32_t file_mode;  /* st_mode of stat(2); 0: there is no such file */
	uint32_t blocks;     /* times it blocked */
	bool is_interrupted; /* by a signal, at least once */
	bool is_unended;     /* the thread ends in its wait: result says nothing */
	bool is_before;      /* it went on when the thread was attached to: call.begin_ns is then */
	bool is_32bit;       /* a call of 32-bit code */
	bool is_of_any_call; /* nobody knows of which: `call` has the begin alone */
	bool is_away;        /* registers and stack are not those of the wait. In a page fault,
				arguments[0] is the address of the code */
};

/* What the preloaded library saw (agent/channel.h). The record's time is when the library wrote it.
 */
struct record_sync {
	struct record_sample sample; /* of this abi, regs and stack: of the call's thread, in the
					library's function; abi NONE: too short, or no room */
	uint64_t object;             /* address; of a join the pthread_t */
	uint64_t begin_ns;
	uint64_t end_ns;
	uint64_t site;   /* where the call returns to */
	uint32_t joined; /* of a join that ended: the thread's id */
	uint8_t type;    /* enum profile_sync_type */
	bool is_timed_out;
	bool is_interrupted;
	bool is_crowded; /* no stack, since its ring was half full */
	bool is_foreign; /* no stack, since it is not the thread's own */
	bool wakes_all;  /* all who wait, not one of them */
};

struct record_mmap {
	uint64_t start;
	uint64_t length;
	uint64_t pgoff;
	uint64_t inode; /* 0 with a build-id: the kernel gives one or the other */
	uint32_t device_major;
	uint32_t device_minor;
	uint8_t build_id[20];
	uint32_t build_id_size;
	const char *path; /* NUL-terminated inside the record */
};

/* Registers are the stack pointer and the program counter alone (sample.regs.unknown). */
struct record_look {
	struct record_sample sample; /* of this abi, regs and stack */
	struct record_call call;     /* read between begin_ns and the record's time */
	const char *file; /* what the descriptor in arguments[0] leads to, as in /proc; NULL: the
			     call has none, or nobody may know */
	bool is_stopped;  /* by a signal or a debugger */
	int error; /* not 0: nobody may look at the process (errno), and the rest says nothing */
};

struct record {
	enum record_kind kind;
	uint32_t source; /* index of its source (stream/source.h) */
	uint64_t time_ns;
	uint32_t pid;
	uint32_t tid;
	uint32_t cpu;
	union {
		struct record_sample sample; /* SAMPLE, EVENT and ENDING; of this in_kernel, period
						and, with kernel frames, the callchain */
		struct record_look look;     /* LOOK; `sample` is its sample too */
		struct record_wait wait;     /* WAIT and WAKE; `sample` is its sample too */
		struct record_sync sync;     /* SYNC_...; likewise */
		struct record_mmap mmap;
		struct {
			const char *name; /* NUL-terminated inside the record */
			bool exec;
		} comm;
		struct {
			uint32_t parent_pid;
			uint32_t parent_tid;
		} fork; /* FORK: pid and tid are the new task's */
		struct {
			uint64_t cpu_ns;
			bool is_renamed; /* no end: exec gave the thread the id of its process */
		} account;
		struct {
			bool out;       /* left it; else got it */
			bool preempted; /* still able to run; a yield too */
			bool stopped;   /* by a signal or a debugger; false where by_cpu is */
			bool by_cpu;    /* of whatever thread has perf events of whomever */
		} switched;
		uint64_t count;
		struct {
			uint64_t lost;
			/* Filled in by the drain. */
			uint64_t lost_switches; /* of them, an estimate */
			bool has_lost_switches; /* there may be some */
			bool only_switches;     /* the CPU's other records came */
		};
	};
};

/* The bytes of a record that say something, from its start. Switches may come in millions a second:
 * of these nothing else is cleared or copied. */
static inline size_t record_extent(const struct record *record)
{
	return record->kind == RECORD_SWITCH
		       ? offsetof(struct record, switched) + sizeof(record->switched)
		       : sizeof(*record);
}

/* Decodes the record at bytes, of header.size = size bytes. Pointers in *record point into bytes.
 * false: the bytes are no whole record of the format. */
bool record_decode(const struct record_format *format, const void *bytes, size_t size,
		   struct record *record);

/* Decodes a record that is no sample, of header.size = size bytes without what sample_id_all adds;
 * of time, task and CPU only what its kind has itself. false as above. */
bool record_decode_event(const void *bytes, size_t size, struct record *record);

/* A thread's switch or end, for those who watch a ring (ring_next_switch). */
enum record_switch_kind { RECORD_SWITCHED_IN, RECORD_BLOCKED, RECORD_PREEMPTED, RECORD_ENDED };
struct record_switch {
	uint64_t time_ns;
	uint32_t pid;
	uint32_t tid;
	enum record_switch_kind kind;
	uint32_t cpu;
};

/* Decodes a record of that kind by its type, its misc field and the last RECORD_TRAILER_SIZE bytes;
 * false: it is of another kind. */
enum { RECORD_TRAILER_SIZE = 24 };
bool record_decode_switch(uint32_t type, uint16_t misc,
			  const uint8_t trailer[static RECORD_TRAILER_SIZE],
			  struct record_switch *found);

/* Only the time, cheaply. false as above. */
bool record_time(const struct record_format *format, const void *bytes, size_t size,
		 uint64_t *time_ns);

/* Whether it is of a kind with registers and a stack of user code, in `sample`: SAMPLE, EVENT,
 * WAIT, WAKE. */
bool record_has_stack(const struct record *record);

/* Leaves such a record's stack out (RECORD_LEFT_OUT). Returns the stack's bytes. */
size_t record_leave_out(struct record *record);

#endif
