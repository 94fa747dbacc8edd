/*
 * A result's waits as rows: by object, by function that waits, by thread, by function that wakes,
 * by type.
 */
#ifndef TOOLS_REPORT_WAIT_ROWS_H
#define TOOLS_REPORT_WAIT_ROWS_H

#include "tools/report/report_options.h"
#include "tools/waits/wall.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct report_input;

/* Waits whose waker is known, and its stack was not taken: tbcollect's --waker-stacks, or it is of
 * another program. */
#define WAIT_ROWS_NO_STACK "[No stack of the waker]"

struct wait_row {
	const char *label; /* borrowed of the waits, or of the result */
	/* Of an item, a function, a thread, or a type; PROFILE_NONE: [Short waits], and no known
	 * thread or waker; of WAIT_ROWS_NO_STACK another one. */
	uint32_t index;
	bool is_short; /* blocked time without a record of a wait */
	struct waits_sum sum;
	uint32_t function;       /* that waits, for most of the time */
	uint32_t waker_function; /* that ends most of the time; FUNCTION_UNKNOWN: none is known */
};

struct wait_rows {
	struct wait_row *rows; /* by wait time, most first */
	size_t count;
	uint32_t *row_of_entry; /* of wall.waits */
	struct wall wall;
	enum report_group group;
};

/* Returns the reader's code. Rows of short waits only without conditions on functions and times. */
TBRW_U32 wait_rows_make(struct wait_rows *rows, const struct report_input *input);
void wait_rows_finish(struct wait_rows *rows);

/* For the group thread, what the thread's account says; NULL: no known thread. */
const struct wall_thread *wait_rows_account(const struct wait_rows *rows,
					    const struct wait_row *row);

#endif
