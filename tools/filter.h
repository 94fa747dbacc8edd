/*
 * Which samples a report counts: all those that meet every condition.
 */
#ifndef TOOLS_FILTER_H
#define TOOLS_FILTER_H

#include "tbrw/profile/reader.h"
#include "tools/functions.h"
#include <stdbool.h>
#include <stddef.h>

enum filter_key {
	FILTER_PROCESS, /* name */
	FILTER_PID,
	FILTER_THREAD, /* name */
	FILTER_TID,
	FILTER_MODULE,   /* name or path; of the function that the sample's time belongs to */
	FILTER_FUNCTION, /* short or full name; likewise */
};

struct filter_condition {
	enum filter_key key;
	const char *value; /* borrowed */
	uint32_t number;   /* of FILTER_PID and FILTER_TID */
};

struct filter { /* all zero: everything */
	struct filter_condition *conditions;
	size_t count;
};

/* Adds "KEY=VALUE", which is borrowed. Returns NULL, or what is wrong with it (static text). */
const char *filter_add(struct filter *filter, const char *condition);
void filter_finish(struct filter *filter);

/* True if a condition is about functions or modules: it then needs the sample's stack. */
bool filter_needs_function(const struct filter *filter);

/* Conditions on process and thread; texts "" where not known. */
bool filter_takes_thread(const struct filter *filter, uint32_t pid, const char *process,
			 uint32_t tid, const char *thread);
/* Conditions on function and module. */
bool filter_takes_function(const struct filter *filter, const struct function *function,
			   const struct module *module);

#endif
