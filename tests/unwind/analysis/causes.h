/* The table of causes: functions whose rows by analysis may differ from their tables'. Each was
 * looked at in its code. Lines of the file, but for empty ones and those that begin with #:
 *
 *     FILE FUNCTION CAUSE
 *
 * FILE is a file's name in the table of shared objects (DT_SONAME), else in its folder; it may be a
 * pattern (glob(7)), with a slash one of paths. FUNCTION is a symbol, or shape-NUMBER: what the
 * tables and the code are, but for distances to other code and data; or contradictory: all
 * functions of the file in which the table gives the CFA the same distance to the stack pointer
 * before and after an instruction that moves it. CAUSE is the rest of the line. */
#ifndef TESTS_UNWIND_ANALYSIS_CAUSES_H
#define TESTS_UNWIND_ANALYSIS_CAUSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cause {
	char *file, *function, *text; /* owned */
	size_t files;                 /* looked at, of this name, */
	size_t excused;               /* and functions excused in them, */
	uint64_t bytes;               /* and their bytes */
};

struct causes {
	struct cause *items;
	size_t count, capacity;
};

#define CAUSE_CONTRADICTORY "contradictory"

/* Reads the table of the path; false, with a message: it cannot be read, or a line has no cause. */
bool causes_read(struct causes *causes, const char *path);
void causes_finish(struct causes *causes);

/* Counts a file that is looked at: its path, and its name as above. */
void causes_note_file(struct causes *causes, const char *path, const char *file);

/* The cause of a function of the file, by one of its names; NULL: none. */
struct cause *causes_find(struct causes *causes, const char *path, const char *file,
			  const char *function);

/* Prints what was excused, and the causes that excused nothing in files that were there. */
void causes_print(const struct causes *causes);

#endif
