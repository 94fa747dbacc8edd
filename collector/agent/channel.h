/*
 * The memory that the collector shares with the library in the target: its layout, and nothing
 * else.
 *
 * A header, the owners and the controls of the rings, then the rings' bytes. A ring belongs to one
 * thread, which writes records and moves `head`; the collector reads them, moves `tail`, and frees
 * rings of threads that ended. What finds no room is counted. Head and tail only grow; a byte's
 * place is its position modulo CHANNEL_RING_SIZE. Records may wrap around the end. All of it can
 * hold anything: the target can write to it as it likes.
 *
 * The memory is a sealed memfd, not a file on a disk: a writer of a mapped file's page waits while
 * the disk's file system has it, and dies of SIGBUS on a full disk.
 */
#ifndef COLLECTOR_AGENT_CHANNEL_H
#define COLLECTOR_AGENT_CHANNEL_H

#include <stddef.h>
#include <stdint.h>

#define CHANNEL_MAGIC    0x31746e6567616274ull /* "tbagent1" */
#define CHANNEL_VARIABLE "TBCOLLECT_CHANNEL"   /* in the environment: PATH:KEY, KEY in hex */

enum {
	CHANNEL_RINGS = 4096,
	CHANNEL_RING_SIZE = 128 * 1024, /* bytes, a power of two */
	CHANNEL_STACK_MAX = 32 * 1024,  /* bytes of a stack's copy, at most */
	CHANNEL_HEAD_SIZE = 32 * 1024,  /* bytes before the owners */
	CHANNEL_PAGE_MAX = 64 * 1024    /* bytes of a page, at most */
};

/* How the library came to a process or not. */
enum channel_count {
	CHANNEL_ATTACHED, /* images of processes that use the memory (an exec is another one) */
	CHANNEL_NO_ROOM,  /* processes with a limit of their address space (RLIMIT_AS) */
	CHANNEL_OTHER_NAMESPACE, /* processes of another pid namespace: their ids say nothing here
				  */
	/* Of threads without a ring: all were in use, or there was no room for one, or the thread
	 * needed none yet. The others count in theirs. */
	CHANNEL_WITHOUT_RING, /* records lost */
	CHANNEL_UNSEEN_NEWS,
	CHANNEL_BRIEF,
	CHANNEL_BRIEF_NS,
	CHANNEL_COUNTS
};

struct channel_header {
	uint64_t magic;
	uint64_t key;                    /* of this collection */
	uint64_t size;                   /* of all, bytes: CHANNEL_SIZE */
	uint64_t record_ns;              /* shorter waits are only counted */
	uint64_t stack_ns;               /* shorter waits have no stack and no waker */
	uint64_t stack_bytes;            /* of each copy, at most */
	uint64_t pid_namespace;          /* inode of the collector's */
	uint64_t is_over;                /* not 0: nobody reads any more */
	uint64_t counts[CHANNEL_COUNTS]; /* written by the library */
};

/* A ring's counters. Those of the thread and the collector's have a cache line each. */
struct channel_control {
	uint64_t head;        /* position behind the last whole record */
	uint64_t lost;        /* records that found no room */
	uint64_t nested;      /* records lost since a signal came while one was being written */
	uint64_t unseen_news; /* makings of objects without a record: there were too many */
	uint64_t brief;       /* waits shorter than record_ns */
	uint64_t brief_ns;    /* their sum */
	uint64_t reserved[2];
	uint64_t tail; /* position of the first record not yet read, moved by the collector */
	uint64_t reserved_tail[7];
};

struct channel {
	struct channel_header header;
	/* The rings lie on borders of the largest pages, and are mapped one by one. */
	uint8_t reserved[CHANNEL_HEAD_SIZE - sizeof(struct channel_header)];
	/* pid << 32 | tid; 0: free. CHANNEL_LEFT: of an image that an exec replaced; to be read. */
	uint64_t owners[CHANNEL_RINGS];
	struct channel_control controls[CHANNEL_RINGS];
	uint8_t rings[CHANNEL_RINGS][CHANNEL_RING_SIZE];
};

#define CHANNEL_LEFT (1ull << 31) /* Linux has at most 2^22 threads */

#define CHANNEL_SIZE        sizeof(struct channel)
#define CHANNEL_SHARED_SIZE offsetof(struct channel, rings) /* of all processes' */

enum channel_kind {
	CHANNEL_WAIT = 1, /* a thread waited for the object from begin to end */
	CHANNEL_WAKE = 2, /* a call that may end waits for the object, in between begin and end */
	CHANNEL_NEW = 3,  /* the object was made */
	CHANNEL_KINDS
};

/* The numbers of enum profile_sync_type. */
enum channel_type {
	CHANNEL_MUTEX = 1,
	CHANNEL_RWLOCK = 2,
	CHANNEL_CONDITION = 3,
	CHANNEL_BARRIER = 4,
	CHANNEL_SEMAPHORE = 5,
	CHANNEL_JOIN = 6,
	CHANNEL_SPIN = 7,
	CHANNEL_ONCE = 8,
	CHANNEL_TYPES
};

#define CHANNEL_TIMED_OUT   1u
#define CHANNEL_INTERRUPTED 2u
#define CHANNEL_FAILED      4u   /* the call ended with another error */
#define CHANNEL_STACK       8u   /* registers and stack follow */
#define CHANNEL_STACK_WHOLE 16u  /* the copy reaches the end of the thread's stack */
#define CHANNEL_CROWDED     32u  /* no stack, since the ring was half full */
#define CHANNEL_FOREIGN     64u  /* no stack, since it is not the thread's own */
#define CHANNEL_ALL         128u /* of a wake: for all who wait, not one of them */

/* 8-byte aligned in the ring, in order of end_ns, which is when it was written. */
struct channel_record {
	uint32_t size; /* bytes with all that follows, a multiple of 8 */
	uint8_t kind;  /* enum channel_kind */
	uint8_t type;  /* enum channel_type */
	uint16_t flags;
	uint64_t object; /* address; of a join the pthread_t */
	uint64_t begin_ns;
	uint64_t end_ns;
	uint64_t site;        /* where the call returns to */
	uint32_t joined;      /* of a join: the thread's id */
	uint32_t stack_bytes; /* behind the registers */
};

/* The registers that a caller's frame depends on, taken in the function of the library that was
 * called. */
enum {
#if defined(__x86_64__)
	CHANNEL_REGISTERS = 8 /* rip rsp rbp rbx r12 r13 r14 r15 */
#else
	CHANNEL_REGISTERS = 14 /* pc sp x19 ... x30 */
#endif
};

struct channel_registers {
	uint64_t value[CHANNEL_REGISTERS];
};

_Static_assert(sizeof(struct channel_header) <= 4096, "");
_Static_assert(sizeof(struct channel_control) == 128, "");
_Static_assert(sizeof(struct channel_record) == 48, "");
_Static_assert(CHANNEL_SHARED_SIZE % CHANNEL_PAGE_MAX == 0, "");
_Static_assert(CHANNEL_RING_SIZE % CHANNEL_PAGE_MAX == 0, "");

#endif
