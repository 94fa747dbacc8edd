/*
 * The text of a custom analysis (tbcollect-analysis(5)): lines `key = value`, and comments behind
 * `#`. What the values mean is the session's business.
 */
#ifndef COLLECTOR_OPTIONS_ANALYSIS_FILE_H
#define COLLECTOR_OPTIONS_ANALYSIS_FILE_H

#include "collector/message/failure.h"
#include <stddef.h>

enum analysis_key {
	ANALYSIS_KEY_BASE,
	ANALYSIS_KEY_SAMPLING,
	ANALYSIS_KEY_INTERVAL,
	ANALYSIS_KEY_SWITCHES,
	ANALYSIS_KEY_WAITS,
	ANALYSIS_KEY_WAIT_THRESHOLD,
	ANALYSIS_KEY_WAIT_SOURCE,
	ANALYSIS_KEY_WAKER_STACKS,
	ANALYSIS_KEY_IO_WAITS,
	ANALYSIS_KEY_STACKS,
	ANALYSIS_KEY_EVENT, /* may be given several times */
	ANALYSIS_KEY_COUNT
};

/* The key's name. */
const char *analysis_key_name(enum analysis_key key);

struct analysis_setting {
	enum analysis_key key;
	unsigned line; /* counted from 1 */
	const char *value;
};

enum { ANALYSIS_FILE_SIZE_MAX = 16384, ANALYSIS_SETTINGS_MAX = 32 };

/* In the order of the lines. */
struct analysis_file {
	struct analysis_setting settings[ANALYSIS_SETTINGS_MAX];
	size_t count;
	char text[ANALYSIS_FILE_SIZE_MAX + 1]; /* the values' place */
};

/* Reads the file at path. -1: it cannot be read, or analysis_file_parse fails. */
int analysis_file_read(const char *path, struct analysis_file *file, struct failure *failure);

/* Takes size bytes of file->text apart, which changes them; path: for messages. -1: a line is no
 * setting, its key is unknown or was there before (but for events), or it has no value: "PATH:LINE:
 * why". */
int analysis_file_parse(struct analysis_file *file, size_t size, const char *path,
			struct failure *failure);

/* The setting of a key; NULL: there is none. */
const struct analysis_setting *analysis_file_find(const struct analysis_file *file,
						  enum analysis_key key);

#endif
