/*
 * The filter of a report: a sample counts if it meets every condition.
 */
#ifndef TOOLS_FUNCTIONS_FILTER_H
#define TOOLS_FUNCTIONS_FILTER_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct function;
struct dso;

enum filter_key {
	FILTER_PROCESS, /* name */
	FILTER_PID,
	FILTER_THREAD, /* name */
	FILTER_TID,
	/* Name, with its version or without (libc: libc.so.6, libc-2.36.so), or path; of the
	 * function owning the sample's time. */
	FILTER_MODULE,
	FILTER_FUNCTION, /* short or full name; likewise */
	FILTER_TASK,     /* name of a task or frame at the sample's time */
	FILTER_STACK,    /* as FILTER_FUNCTION, of any function in the stack */
};

struct filter_condition {
	enum filter_key key;
	const char *value; /* borrowed */
	uint32_t number;   /* of FILTER_PID and FILTER_TID */
	regex_t *regex;    /* of a value ~REGEX, to find in a name (or path); else NULL */
};

struct filter { /* all zero: everything */
	struct filter_condition *conditions;
	size_t count;
	uint64_t from_ns; /* since the start of the collection */
	uint64_t to_ns;   /* likewise, no longer taken; 0: to the end */
};

/* Adds "KEY=VALUE" or, but for numbers, "KEY=~REGEX" (POSIX extended); condition is borrowed.
 * Returns NULL, or the problem's text for the caller to free. */
char *filter_add(struct filter *filter, const char *condition);
/* The same of a key and its value. */
char *filter_add_value(struct filter *filter, enum filter_key key, const char *value);
void filter_finish(struct filter *filter);

/* Take samples from, or up to, this time since the start of the collection: "1.5s", "200ms",
 * "10us", or a number of seconds. Returns NULL, or the problem's text for the caller to free. */
char *filter_set_from(struct filter *filter, const char *time);
char *filter_set_to(struct filter *filter, const char *time);

/* Such a time by itself, in ns. */
bool filter_parse_time(const char *text, uint64_t *ns);

const char *filter_key_name(enum filter_key key);

/* Whether a name, or the other name of the same object (NULL: none), meets a condition on names. */
bool filter_takes_name(const struct filter_condition *condition, const char *name,
		       const char *other);

/* True if a condition is about functions or modules: the filter then needs samples' stacks. */
bool filter_needs_function(const struct filter *filter);

/* Whether a part of the time is left out, by a condition on tasks too. Then only samples count:
 * nobody knows when a thread used time in no sample. */
bool filter_has_times(const struct filter *filter);
bool filter_takes_time(const struct filter *filter, uint64_t since_start_ns);
/* Whether there is a condition on tasks. */
bool filter_has_tasks(const struct filter *filter);

/* Conditions on process and thread; unknown texts are "". */
bool filter_takes_thread(const struct filter *filter, uint32_t pid, const char *process,
			 uint32_t tid, const char *thread);
/* Conditions on function and module; those on the stack are left to whoever has it. */
bool filter_takes_function(const struct filter *filter, const struct function *function,
			   const struct dso *dso);
/* Whether a function meets a condition on the stack. */
bool filter_takes_on_stack(const struct filter_condition *condition,
			   const struct function *function);

#endif
