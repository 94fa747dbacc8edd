/*
 * What a thread waits for, as users name it: told from the library function on a wait's stack, from
 * the system call, and from what the object is to the kernel.
 */
#ifndef TOOLS_WAITS_WAIT_TYPE_H
#define TOOLS_WAITS_WAIT_TYPE_H

#include <stdbool.h>
#include <stdint.h>

struct profile_object;
struct profile_reader;
struct wait_site;

enum wait_type {
	WAIT_TYPE_UNKNOWN,
	WAIT_TYPE_MUTEX,
	WAIT_TYPE_RWLOCK,
	WAIT_TYPE_CONDITION,
	WAIT_TYPE_BARRIER,
	WAIT_TYPE_SEMAPHORE,
	WAIT_TYPE_JOIN,
	WAIT_TYPE_SPIN,
	WAIT_TYPE_ONCE,
	WAIT_TYPE_PARK, /* a thread that its runtime put aside: Java, Go, Rust */
	WAIT_TYPE_MONITOR,
	WAIT_TYPE_GIL,
	WAIT_TYPE_FUTEX, /* a lock of no known kind */
	WAIT_TYPE_SLEEP,
	WAIT_TYPE_POLL,
	WAIT_TYPE_STREAM,
	WAIT_TYPE_SOCKET,
	WAIT_TYPE_PIPE,
	WAIT_TYPE_TERMINAL,
	WAIT_TYPE_DEVICE, /* a descriptor of the kernel's own: eventfd, timerfd, io_uring */
	WAIT_TYPE_FILE_LOCK,
	WAIT_TYPE_IPC,
	WAIT_TYPE_SIGNAL,
	WAIT_TYPE_CHILD,
	WAIT_TYPE_FAULT,
	WAIT_TYPE_CALL, /* another system call */
	WAIT_TYPE_COUNT
};

/* "Mutex" ...; for users, and stable in data. */
const char *wait_type_name(enum wait_type type);

/* The type by the object and the call, of a wait of a stack that says `site`. */
enum wait_type wait_type_of(const struct profile_reader *reader,
			    const struct profile_object *object, uint32_t syscall,
			    const struct wait_site *site);

#endif
