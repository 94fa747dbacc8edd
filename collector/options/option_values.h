/* The options of tbcollect one by one: their names, and what their values do to struct options. */
#ifndef COLLECTOR_OPTIONS_OPTION_VALUES_H
#define COLLECTOR_OPTIONS_OPTION_VALUES_H

#include "collector/message/failure.h"
#include <getopt.h>

struct options;

enum {
	OPT_STACK_SIZE = 256,
	OPT_UNWIND,
	OPT_OVERHEAD_LIMIT,
	OPT_SAMPLING,
	OPT_SWITCHES,
	OPT_WAIT_THRESHOLD,
	OPT_WAIT_SOURCE,
	OPT_WAKER_STACKS,
	OPT_NO_CHILDREN,
	OPT_KERNEL,
	OPT_NO_FINALIZE,
	OPT_NO_COLLAPSE,
	OPT_CUSTOM_COLLECTOR,
	OPT_PRELOAD,
	OPT_VERSION
};

/* For getopt_long(3). */
extern const struct option option_table[];

/* The long name of an option that has one, by its number. Lives as long as the program. */
const char *option_values_name(int option);

/* Takes the value of an option, by its number in the table; -1: it is a bad one. */
int option_values_take(struct options *options, int option, const char *value,
		       struct failure *failure);

/* The same for the long option of that name, which there is. */
int option_values_take_named(struct options *options, const char *name, const char *value,
			     struct failure *failure);

/* What all wakers' stacks contradict. */
enum wakers_conflict { WAKERS_GOOD, WAKERS_UNSEEN, WAKERS_WITHOUT_STACKS };
enum wakers_conflict option_values_wakers(const struct options *options);

#endif
