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
	FIND_RESULT_AMBIGUOUS, /* a directory with several, none of them DIR.tb5 */
	FIND_RESULT_NO_RESULT, /* none asked for, and none in the current directory */
};

/*
 * argument: a tb5 file; a result directory DIR with a file DIR.tb5, or with only one tb5 file; or
 * NULL for the newest directory r@@@xx (digits, then letters) with a tb5 file in the current
 * directory: the one changed last, of equal times the one with the highest number. The caller frees
 * *path.
 */
enum find_result_status find_result(const char *argument, char **path);

/* Whether the name is one of a result directory: r@@@xx as above. */
bool find_result_is_name(const char *name);

/* The message for any status but FIND_RESULT_FOUND: "why; what to do". */
const char *find_result_explain(enum find_result_status status);

#endif
