/*
 * One failure, said once: what failed, why, the remedy. Functions of the collector whose failure
 * concerns the user take a struct failure, fill it in and return -1; only main prints it.
 */
#ifndef COLLECTOR_MESSAGE_FAILURE_H
#define COLLECTOR_MESSAGE_FAILURE_H

struct failure {
	int exit_status; /* of tbcollect */
	char text[1024]; /* one line without the program's name and newline */
};

enum {
	FAILURE_EXIT = 1,
	FAILURE_EXIT_USAGE = 2,
	FAILURE_EXIT_CANNOT_EXECUTE = 126, /* as shells do, POSIX 2.8.2 */
	FAILURE_EXIT_NOT_FOUND = 127
};

/* Keeps the first failure: does nothing when one is set already. Always returns -1. */
int failure_set(struct failure *failure, int exit_status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* As failure_set, with "what: why" by the errno value of a failed call, and the remedy if it met a
 * limit: of open files, of processes. */
int failure_set_error(struct failure *failure, int error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
