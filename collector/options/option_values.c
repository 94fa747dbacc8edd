#include "collector/options/option_values.h"

#include "collector/options/options.h"
#include "profile/base/stack_size.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_S 1000000000ull

const struct option option_table[] = {
	{"collect", required_argument, NULL, 'c'},
	{"result-dir", required_argument, NULL, 'r'},
	{"interval", required_argument, NULL, 'i'},
	{"duration", required_argument, NULL, 'd'},
	{"pid", required_argument, NULL, 'p'},
	{"stack-size", required_argument, NULL, OPT_STACK_SIZE},
	{"unwind", required_argument, NULL, OPT_UNWIND},
	{"overhead-limit", required_argument, NULL, OPT_OVERHEAD_LIMIT},
	{"sampling", required_argument, NULL, OPT_SAMPLING},
	{"switches", required_argument, NULL, OPT_SWITCHES},
	{"wait-threshold", required_argument, NULL, OPT_WAIT_THRESHOLD},
	{"wait-source", required_argument, NULL, OPT_WAIT_SOURCE},
	{"waker-stacks", required_argument, NULL, OPT_WAKER_STACKS},
	{"no-children", no_argument, NULL, OPT_NO_CHILDREN},
	{"kernel", no_argument, NULL, OPT_KERNEL},
	{"no-finalize", no_argument, NULL, OPT_NO_FINALIZE},
	{"no-collapse", no_argument, NULL, OPT_NO_COLLAPSE},
	{"custom-collector", required_argument, NULL, OPT_CUSTOM_COLLECTOR},
	{"preload", no_argument, NULL, OPT_PRELOAD},
	{"quiet", no_argument, NULL, 'q'},
	{"verbose", no_argument, NULL, 'v'},
	{"help", no_argument, NULL, 'h'},
	{"version", no_argument, NULL, OPT_VERSION},
	{NULL, 0, NULL, 0},
};

/* SEC or a number with unit s, ms, us. Returns 0 for what is not a positive time. */
static uint64_t parse_time(const char *text, double default_unit_ns)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = {{"s", 1e9}, {"ms", 1e6}, {"us", 1e3}};

	char *end;
	errno = 0;
	double value = strtod(text, &end);
	double unit = 0;
	if (end == text || errno != 0 || !isfinite(value) || value <= 0)
		return 0;
	if (*end == '\0')
		unit = default_unit_ns;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (strcmp(end, units[i].name) == 0)
			unit = units[i].ns;
	double ns = value * unit;
	return ns >= 1 && ns < 9e18 ? (uint64_t)llround(ns) : 0;
}

static int parse_interval(struct options *options, const char *text, struct failure *failure)
{
	options->interval_ns = parse_time(text, 1e6);
	if (options->interval_ns < 100000 || options->interval_ns > NS_PER_S)
		return failure_set(failure, FAILURE_EXIT_USAGE,
				   "bad interval '%s': give a number and a unit (us, ms or s) from "
				   "0.1ms to 1s, e.g. -i 1ms",
				   text);
	return 0;
}

static int parse_pids(struct options *options, const char *text, struct failure *failure)
{
	const char *p = text;
	for (;;) {
		char *end;
		errno = 0;
		long pid = strtol(p, &end, 10);
		if (end == p || errno != 0 || pid <= 0 || pid > 0x7fffffff ||
		    (*end != ',' && *end != '\0'))
			return failure_set(failure, FAILURE_EXIT_USAGE,
					   "bad process id in '%s': give numbers, e.g. -p 123,456",
					   text);
		bool seen = false;
		for (size_t i = 0; i < options->pid_count; i++)
			seen = seen || options->pids[i] == (pid_t)pid;
		if (!seen && options->pid_count == OPTIONS_PIDS_MAX)
			return failure_set(failure, FAILURE_EXIT_USAGE,
					   "more than %d process ids: attach in several runs",
					   (int)OPTIONS_PIDS_MAX);
		if (!seen)
			options->pids[options->pid_count++] = (pid_t)pid;
		if (*end == '\0')
			return 0;
		p = end + 1;
	}
}

static int parse_stack_size(struct options *options, const char *text, struct failure *failure)
{
	char *end;
	errno = 0;
	unsigned long size = strtoul(text, &end, 0);
	if (end == text || *end != '\0' || errno != 0 || size < 8 || size % 8 != 0 ||
	    size > PROFILE_STACK_SIZE_MAX)
		return failure_set(failure, FAILURE_EXIT_USAGE,
				   "bad stack size '%s': give bytes, a multiple of 8 up to %u",
				   text, PROFILE_STACK_SIZE_MAX);
	options->stack_size = (uint32_t)size;
	return 0;
}

/* The number of a word in a list that ends with NULL; -1: it is not there. */
static int find_word(const char *const *words, const char *text)
{
	for (int i = 0; words[i]; i++)
		if (strcmp(words[i], text) == 0)
			return i;
	return -1;
}

static int parse_unwind(struct options *options, const char *text, struct failure *failure)
{
	static const char *const words[] = {
		[OPTIONS_UNWIND_AUTO] = "auto",
		[OPTIONS_UNWIND_COPY] = "copy",
		[OPTIONS_UNWIND_BPF] = "bpf",
		[OPTIONS_UNWIND_NONE] = "none",
		NULL,
	};
	int found = find_word(words, text);
	if (found < 0)
		return failure_set(failure, FAILURE_EXIT_USAGE,
				   "unknown --unwind '%s': it is auto, copy, bpf or none", text);
	options->unwind = (enum options_unwind)found;
	return 0;
}

static int parse_sampling(struct options *options, const char *text, struct failure *failure)
{
	static const char *const words[] = {
		[OPTIONS_SAMPLING_AUTO] = "auto",
		[OPTIONS_SAMPLING_RANDOM] = "random",
		[OPTIONS_SAMPLING_FIXED] = "fixed",
		NULL, /* off is for custom analyses */
	};
	int found = find_word(words, text);
	if (found < 0)
		return failure_set(failure, FAILURE_EXIT_USAGE,
				   "unknown --sampling '%s': it is auto, random or fixed", text);
	options->sampling = (enum options_sampling)found;
	return 0;
}

static int parse_switches(struct options *options, const char *text, struct failure *failure)
{
	static const char *const words[] = {"off", "on", NULL};
	int found = find_word(words, text);
	if (found < 0)
		return failure_set(failure, FAILURE_EXIT_USAGE,
				   "unknown --switches '%s': it is on or off", text);
	options->switches = found > 0;
	options->has_switches = true;
	return 0;
}

static int parse_wait_threshold(struct options *options, const char *text, struct failure *failure)
{
	options->wait_threshold_ns = parse_time(text, 1e6);
	if (options->wait_threshold_ns < 1000 || options->wait_threshold_ns > NS_PER_S)
		return failure_set(failure, FAILURE_EXIT_USAGE,
				   "bad wait threshold '%s': give a number and a unit (us, ms or "
				   "s) from 1us to 1s, e.g. --wait-threshold 100us",
				   text);
	return 0;
}

static int parse_wait_source(struct options *options, const char *text, struct failure *failure)
{
	static const char *const words[] = {
		[OPTIONS_WAITS_AUTO] = "auto",
		[OPTIONS_WAITS_BPF] = "bpf",
		[OPTIONS_WAITS_OBSERVER] = "observer",
		NULL,
	};
	int found = find_word(words, text);
	if (found < 0)
		return failure_set(failure, FAILURE_EXIT_USAGE,
				   "unknown --wait-source '%s': it is auto, bpf or observer", text);
	options->wait_source = (enum options_waits)found;
	return 0;
}

static int parse_waker_stacks(struct options *options, const char *text, struct failure *failure)
{
	static const char *const words[] = {"sampled", "all", NULL};
	int found = find_word(words, text);
	if (found < 0)
		return failure_set(failure, FAILURE_EXIT_USAGE,
				   "unknown --waker-stacks '%s': it is sampled or all", text);
	options->all_wakers = found > 0;
	return 0;
}

static int parse_overhead_limit(struct options *options, const char *text, struct failure *failure)
{
	char *end;
	double percent = strtod(text, &end);
	if (end == text || (*end != '\0' && strcmp(end, "%") != 0) || !(percent >= 0) ||
	    percent > 1000)
		return failure_set(failure, FAILURE_EXIT_USAGE,
				   "bad overhead limit '%s': give a percentage from 0 to 1000, "
				   "e.g. 5",
				   text);
	options->overhead_limit = percent / 100;
	return 0;
}

int option_values_take(struct options *options, int option, const char *value,
		       struct failure *failure)
{
	switch (option) {
	case 'c': /* find_analysis */
		return 0;
	case 'r':
		options->result_dir = value;
		return 0;
	case 'i':
		return parse_interval(options, value, failure);
	case 'd':
		options->duration_ns = parse_time(value, 1e9);
		if (options->duration_ns == 0)
			return failure_set(failure, FAILURE_EXIT_USAGE,
					   "bad duration '%s': give seconds, e.g. -d 30", value);
		return 0;
	case 'p':
		return parse_pids(options, value, failure);
	case OPT_STACK_SIZE:
		return parse_stack_size(options, value, failure);
	case OPT_UNWIND:
		return parse_unwind(options, value, failure);
	case OPT_SWITCHES:
		return parse_switches(options, value, failure);
	case OPT_WAIT_THRESHOLD:
		return parse_wait_threshold(options, value, failure);
	case OPT_WAIT_SOURCE:
		return parse_wait_source(options, value, failure);
	case OPT_WAKER_STACKS:
		return parse_waker_stacks(options, value, failure);
	case OPT_OVERHEAD_LIMIT:
		return parse_overhead_limit(options, value, failure);
	case OPT_SAMPLING:
		return parse_sampling(options, value, failure);
	case OPT_NO_CHILDREN:
		options->children = false;
		return 0;
	case OPT_KERNEL:
		options->kernel = true;
		return 0;
	case OPT_NO_FINALIZE:
		options->finalize = false;
		return 0;
	case OPT_NO_COLLAPSE:
		options->collapse = false;
		return 0;
	case OPT_PRELOAD:
		options->preload = true;
		return 0;
	case OPT_CUSTOM_COLLECTOR:
		options->custom_collector = value;
		return 0;
	case 'q':
		options->quiet = true;
		return 0;
	case 'v':
		options->verbose = true;
		return 0;
	case 'h':
		options->action = OPTIONS_HELP;
		return 0;
	case OPT_VERSION:
		options->action = OPTIONS_VERSION;
		return 0;
	default:
		return 0;
	}
}

const char *option_values_name(int number)
{
	const struct option *option = option_table;
	while (option->val != number)
		option++;
	return option->name;
}

int option_values_take_named(struct options *options, const char *name, const char *value,
			     struct failure *failure)
{
	const struct option *option = option_table;
	while (strcmp(option->name, name) != 0)
		option++;
	return option_values_take(options, option->val, value, failure);
}

enum wakers_conflict option_values_wakers(const struct options *options)
{
	if (!options->all_wakers)
		return WAKERS_GOOD;
	/* The observer sees none. */
	if (options->wait_source == OPTIONS_WAITS_OBSERVER)
		return WAKERS_UNSEEN;
	return options->unwind == OPTIONS_UNWIND_NONE ? WAKERS_WITHOUT_STACKS : WAKERS_GOOD;
}
