/*
 * Imports a CSV file with external data into a result: the file's rows become intervals and values
 * of counters (profile/read/external.h), with the file as their source. The file is imported whole,
 * but for bad rows, or not at all; the result stays as it was until the end.
 */
#ifndef TOOLS_EXTERNAL_EXTERNAL_IMPORT_H
#define TOOLS_EXTERNAL_EXTERNAL_IMPORT_H

#include "profile/read/external.h"
#include "tbrw/tbrw.h"
#include <stdbool.h>
#include <stdint.h>

/* Bad rows that are shown one by one. */
#define EXTERNAL_PROBLEMS_MAX 20u

/* More names or counters than that in a file are no kinds of tasks, but parameters in their names;
 * rows with further ones are bad. */
#define EXTERNAL_SERIES_MAX 1000000u

struct external_import {
	/* The caller's to set. */
	struct profile_reader *reader; /* of the result */
	const char *result;            /* path of its tb5 file */
	const char *name;              /* of the CSV file; its last component tells the host */
	int fd;                        /* at its start, to be read */
	/* Called now and then with the bytes read so far; NULL: nobody asks. */
	void (*on_progress)(uint64_t bytes, void *user);
	void *user;
	/* What became of it. */
	uint64_t rows; /* imported */
	uint64_t bad_rows;
	uint64_t rows_outside; /* of rows, with no part of their time in the collection's */
	uint64_t rows_bound;   /* of a foreign file, left out: of a process or thread there */
	uint64_t tasks, frames, values;
	uint32_t series;
	bool is_unchanged; /* imported before with the very same content: nothing was done */
	bool is_foreign;   /* PROFILE_SOURCE_FOREIGN */
	bool is_replaced;  /* an earlier file of this name */
	TBRW_U32 code;     /* of a failed write */
};

/* Messages about bad rows and failures go to diagnose. Returns 0, or the exit status: no table, no
 * good row in the file, or a failure of reading or writing. */
int external_import(struct external_import *import);

/* The host in a file's name NAME-hostname-HOST.csv, for the caller to free; NULL: none. */
char *external_host_of(const char *name);

/* Whether two names can be of one host: equal but for case, or one is the other's first part. */
bool external_is_host(const char *name, const char *other);

#endif
