/*
 * Functions in which threads wait, or with which they wake others: the C library's, and those of
 * runtimes. By their names, since a lock is known by what locks it.
 */
#ifndef TOOLS_WAITS_WAIT_FUNCTIONS_H
#define TOOLS_WAITS_WAIT_FUNCTIONS_H

#include "tools/waits/wait_type.h"
#include <stdint.h>

struct functions;
struct profile_reader;

/* Each function is looked up once. The reader and its functions outlive it. */
struct wait_functions;
struct wait_functions *wait_functions_create(const struct profile_reader *reader,
					     const struct functions *functions);
void wait_functions_destroy(struct wait_functions *functions); /* accepts NULL */

/* What a stack of a wait, or of a waker, says. */
struct wait_site {
	/* The innermost function that is neither the system's nor a library's of locks: the
	 * program's own that waits, or wakes. Of a stack without one: that which told the type,
	 * else the leaf. */
	uint32_t function;
	enum wait_type type; /* of the object; UNKNOWN: the functions say nothing */
	/* By glibc's function alone, whatever runtime calls it: whose word it is. Of another C
	 * library, or of a static program, UNKNOWN but for condition variables: one has two words,
	 * wherever it comes from. */
	enum wait_type inner;
};

/* node: of the leaf, 0 for none. */
struct wait_site wait_site_of(struct wait_functions *functions, uint32_t node);

#endif
