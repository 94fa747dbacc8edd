/*
 * Readers of other tools' files, which become results. To add one: a room or a file with its two
 * functions, a row in the table of tools/convert/command_import.c.
 */
#ifndef TOOLS_IMPORT_IMPORTER_H
#define TOOLS_IMPORT_IMPORTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { IMPORT_HEAD_SIZE = 4096 };

/* The file to read: regular, hostile. All is borrowed. */
struct import_input {
	int fd;           /* at the file's start; the reader may seek */
	const char *name; /* for messages */
	uint64_t size;
	const uint8_t *head; /* the file's first bytes, at most IMPORT_HEAD_SIZE */
	size_t head_size;
	const char *event;    /* the wanted event (--event); NULL: the reader chooses by ... */
	size_t rank;          /* ... the events' ranks, 0 the first; below import_events.count */
	bool keeps_recursion; /* does not collapse it (--no-collapse) */
	/* For the reader to call now and then: how much of the work is done, of how much. */
	void (*see)(uint64_t done, uint64_t total, void *user);
	void *user;
};

static inline void import_see(const struct import_input *input, uint64_t done, uint64_t total)
{
	if (input->see)
		input->see(done, total, input->user);
}

/* The events of a file whose events become results of their own, by rank. Zeros: it has none. */
struct import_events {
	char **names; /* and the array: for the caller to free */
	size_t count;
};

struct importer {
	const char *name; /* of the format, for messages */

	/* Whether the file's first bytes are the format's; size is that of the whole head. */
	bool (*recognizes)(const uint8_t *head, size_t size);

	/* Writes a new tb5 file at path, which messages call name, whole or not at all. Losses and
	 * whatever was not understood become notes of the result. events: zeros before. Returns 0,
	 * or the exit status after a message; the caller removes an unfinished file. */
	int (*read)(const struct import_input *input, const char *path, const char *name,
		    struct import_events *events);

	bool has_symbols; /* the reader writes all symbols: no finalization follows */
};

#endif
