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
	const char *event;    /* the wanted event (--event); NULL: the reader chooses */
	bool keeps_recursion; /* does not collapse it (--no-collapse) */
};

struct importer {
	const char *name; /* of the format, for messages */

	/* Whether the file's first bytes are the format's; size is that of the whole head. */
	bool (*recognizes)(const uint8_t *head, size_t size);

	/* Writes a new tb5 file at path, which messages call name, whole or not at all. Losses and
	 * whatever was not understood become notes of the result. Returns 0, or the exit status
	 * after a message; the caller removes an unfinished file. */
	int (*read)(const struct import_input *input, const char *path, const char *name);

	bool has_symbols; /* the reader writes all symbols: no finalization follows */
};

#endif
