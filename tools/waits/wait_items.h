/*
 * The names of what threads waited for.
 */
#ifndef TOOLS_WAITS_WAIT_ITEMS_H
#define TOOLS_WAITS_WAIT_ITEMS_H

struct functions;
struct profile_reader;
struct waits;

/* Finds the function that waits, the one that wakes and the type of each entry, and enters its
 * item. All waits of an object have one type: the one that most of them tell; but what is locked as
 * a mutex once is a mutex, also where a condition variable's wait ends with locking it. */
void wait_items_name(struct waits *waits, const struct profile_reader *reader,
		     const struct functions *functions);

#endif
