/*
 * Finds the tb5 file of a result.
 */
#ifndef TOOLS_CLI_FIND_RESULT_H
#define TOOLS_CLI_FIND_RESULT_H

#include <stdbool.h>

enum find_result_status {
	FIND_RESULT_FOUND,
	FIND_RESULT_MISSING,   /* no such file or directory */
	FIND_RESULT_DENIED,    /* no permission to look, or to read the tb5 file */
	FIND_RESULT_NO_TB5,    /* a directory without a tb5 file */
	FIND_RESULT_AMBIGUOUS, /* a directory with several, none of them named like it */
	FIND_RESULT_NO_RESULT, /* none asked for, and none in the current directory */
};

/*
 * argument: a tb5 file; or a result directory, whose tb5 file is DIR.tb5 in it or else the only
 * one; or NULL for the newest directory r@@@xx (digits, then letters) with a tb5 file in the
 * current directory: the one changed last, of equal times the one with the highest number. *path is
 * for the caller to free.
 */
enum find_result_status find_result(const char *argument, char **path);

/* Whether a directory of that name is a result: r@@@xx as above. */
bool find_result_is_name(const char *name);

/* What to tell the user about a status that is not LOCATE_FOUND: "why; what to do". */
const char *find_result_explain(enum find_result_status status);

#endif
