/*
 * A recording of perf (perf.data: the form of files and the one of pipes) as a source of records
 * for the collector's chain: tracker, images, unwinding, calling-context tree, result. Nothing of
 * this machine's processes is asked; files of code are found by name and build-id.
 */
#ifndef COLLECTOR_RECORDING_RECORDING_H
#define COLLECTOR_RECORDING_RECORDING_H

#include "collector/message/failure.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All borrowed. */
struct recording_request {
	int fd;              /* a regular file, hostile */
	const char *name;    /* of the file, for messages */
	const char *event;   /* the wanted one; NULL: by rank */
	size_t rank;         /* among the events by samples; 0: the one with most */
	const char *path;    /* of the result's file, to be made; ... */
	const char *result;  /* ... its name for messages */
	const char *version; /* of this program, for the result */
	bool collapse;       /* recursion */
	/* Called now and then with how much of the work is done; NULL: nobody looks. */
	void (*see)(uint64_t done, uint64_t total, void *user);
	void *user;
};

/* A function of the kernel's half of addresses, named by the recording. */
struct recording_symbol {
	uint64_t start;
	uint64_t size;
	char *name;
};

struct recording_summary {
	uint64_t samples;
	uint64_t samples_lost;
	char event[128]; /* the imported one */
	char told[1024]; /* lines' ends are '\n': what the user should know; "": nothing */
	char **events;   /* all that have samples, by rank */
	size_t event_count;
	struct recording_symbol *symbols;
	size_t symbol_count;
};

/* Whether a file with these first bytes is a recording, of whatever version. */
bool recording_is_recognized(const uint8_t *head, size_t size);

/* Writes the result; a failed one is left for the caller to remove. 0, or -1. */
int recording_import(const struct recording_request *request, struct recording_summary *summary,
		     struct failure *failure);

void recording_summary_finish(struct recording_summary *summary);

#endif
