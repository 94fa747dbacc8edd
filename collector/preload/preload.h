/*
 * The library that --preload puts into the program: where it is, the memory that it shares with us
 * (agent/channel.h), and the environment that makes it come.
 *
 * The program sees LD_PRELOAD and TBCOLLECT_CHANNEL in its environment: its children need them,
 * whichever way they are started.
 */
#ifndef COLLECTOR_PRELOAD_PRELOAD_H
#define COLLECTOR_PRELOAD_PRELOAD_H

#include "collector/message/failure.h"
#include <stdint.h>

struct channel;

struct preload {
	struct channel *channel; /* NULL: not open */
	char **environment;      /* of the program, NULL-terminated */
	const char *obstacle;    /* why the program cannot load the library; NULL: none known */
	char *library;           /* LD_PRELOAD=... */
	char *variable;          /* TBCOLLECT_CHANNEL=... */
	int fd;
};

/* Finds the library, makes the memory, and looks at the program. stack_ns: shorter waits get no
 * stack; stack_bytes: of each copy. 0, or -1 and *preload is empty. */
int preload_open(struct preload *preload, const char *program, uint64_t stack_ns,
		 uint64_t stack_bytes, struct failure *failure);
/* From now on the program's processes record nothing; what they wrote stays. Accepts an empty one.
 */
void preload_end(struct preload *preload);
void preload_close(struct preload *preload); /* ends it too; accepts an empty one */

/* Waits shorter than this are only counted. */
#define PRELOAD_RECORD_NS 1000ull

#endif
