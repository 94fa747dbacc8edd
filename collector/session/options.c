#include "collector/session/options.h"

#include "collector/session/budget.h"
#include "profile/base/stack_size.h"
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_S 1000000000ull

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

enum { ANALYSIS_NAMES_MAX = 256 };

static const struct option long_options[] = {
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

const char *options_help(void)
{
	return "Usage: tbcollect [options] [--] PROGRAM [ARGS]\n"
	       "       tbcollect [options] -p PID[,PID...]\n"
	       "Samples every thread of a program by its CPU time, with stacks, into a result "
	       "directory.\n"
	       "\n"
	       "  -p, --pid PID[,PID...]   attach to running processes; Ctrl-C detaches\n"
	       "  -c, --collect ANALYSIS   hotspots (default): where CPU time goes; concurrency: "
	       "the threads'\n"
	       "                           states too; locks-and-waits: what they wait for too\n"
	       "  -r, --result-dir DIR     result directory (default: the next free r@@@hs)\n"
	       "  -i, --interval TIME      CPU time between samples of a thread, 0.1ms..1s "
	       "(default 10ms)\n"
	       "      --sampling auto|random|fixed\n"
	       "                           when samples are taken: at random times, on average an "
	       "interval\n"
	       "                           apart (auto), or each time that an interval is used up\n"
	       "      --switches on|off    the threads' states over time too (off for hotspots, "
	       "else "
	       "on)\n"
	       "      --wait-threshold TIME\n"
	       "                           shorter waits are only counted (default 10us by BPF, "
	       "3ms else)\n"
	       "      --wait-source auto|bpf|observer\n"
	       "                           who sees the waits: BPF where permitted, or an "
	       "observer\n"
	       "      --waker-stacks sampled|all\n"
	       "                           stacks of the threads that end waits, by BPF\n"
	       "  -d, --duration SEC       stop collecting after SEC seconds; the program goes on\n"
	       "      --stack-size BYTES   stack copied per sample, a multiple of 8 up to 65528\n"
	       "      --unwind auto|copy|bpf|none\n"
	       "                           where stacks come from; none: the sampled address only\n"
	       "      --overhead-limit PERCENT\n"
	       "                           leave stacks out (never samples) while collecting takes "
	       "more\n"
	       "                           than this share of the program's CPU time (default 5, "
	       "for intervals\n"
	       "                           below 1 ms more, up to 15; 0: no limit)\n"
	       "      --no-children        do not follow child processes\n"
	       "      --kernel             show the kernel's functions too (needs privileges)\n"
	       "      --no-collapse        keep every level of recursive call chains\n"
	       "      --no-finalize        leave symbols to a later `tbconvert finalize`\n"
	       "      --custom-collector CMD\n"
	       "                           run CMD at start and end; it leaves CSV files in the "
	       "result\n"
	       "      --preload            load a library into the program: waits for locks with "
	       "who\n"
	       "                           ended them, short ones and spinning too\n"
	       "  -q, --quiet              print nothing but errors\n"
	       "  -v, --verbose            say what is chosen and what happens\n"
	       "  -h, --help               this text\n"
	       "      --version            print the version\n"
	       "\n"
	       "The exit status is the program's (128 + n for signal n); 127 and 126 when it "
	       "cannot be\n"
	       "started, 2 for a wrong command line, 1 for another failure.\n";
}

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
		NULL,
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

static int parse_analysis(struct options *options, const char *text, struct failure *failure)
{
	char names[ANALYSIS_NAMES_MAX];
	options->analysis = analysis_find(text);
	if (options->analysis)
		return 0;
	analysis_list(names, sizeof(names));
	return failure_set(failure, FAILURE_EXIT_USAGE, "unknown analysis '%s': there is %s", text,
			   names);
}

static int parse_option(struct options *options, int option, struct failure *failure)
{
	switch (option) {
	case 'c':
		return parse_analysis(options, optarg, failure);
	case 'r':
		options->result_dir = optarg;
		return 0;
	case 'i':
		return parse_interval(options, optarg, failure);
	case 'd':
		options->duration_ns = parse_time(optarg, 1e9);
		if (options->duration_ns == 0)
			return failure_set(failure, FAILURE_EXIT_USAGE,
					   "bad duration '%s': give seconds, e.g. -d 30", optarg);
		return 0;
	case 'p':
		return parse_pids(options, optarg, failure);
	case OPT_STACK_SIZE:
		return parse_stack_size(options, optarg, failure);
	case OPT_UNWIND:
		return parse_unwind(options, optarg, failure);
	case OPT_SWITCHES:
		return parse_switches(options, optarg, failure);
	case OPT_WAIT_THRESHOLD:
		return parse_wait_threshold(options, optarg, failure);
	case OPT_WAIT_SOURCE:
		return parse_wait_source(options, optarg, failure);
	case OPT_WAKER_STACKS:
		return parse_waker_stacks(options, optarg, failure);
	case OPT_OVERHEAD_LIMIT:
		return parse_overhead_limit(options, optarg, failure);
	case OPT_SAMPLING:
		return parse_sampling(options, optarg, failure);
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
		options->custom_collector = optarg;
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

static int check_options(struct options *options, int argc, char **argv, struct failure *failure)
{
	if (options->action != OPTIONS_COLLECT)
		return 0;
	if (options->overhead_limit < 0)
		options->overhead_limit = budget_default_limit(options->interval_ns);
	if (!options->has_switches)
		options->switches = options->analysis->switches;
	if (optind < argc)
		options->program = argv + optind;
	if (options->analysis->switches && !options->switches)
		return failure_set(failure, FAILURE_EXIT_USAGE,
				   "%s needs the threads' switches: leave out --switches off, or "
				   "use -c hotspots",
				   options->analysis->name);
	if (options->program && options->pid_count > 0)
		return failure_set(failure, FAILURE_EXIT_USAGE,
				   "both -p and a program were given: choose one");
	if (!options->program && options->pid_count == 0)
		return failure_set(failure, FAILURE_EXIT_USAGE,
				   "nothing to collect: give a program or -p PID; see tbcollect "
				   "--help");
	if (options->preload && (!options->program || !options->analysis->waits))
		return failure_set(failure, FAILURE_EXIT_USAGE,
				   "--preload sees waits of a program from its start: give a "
				   "program "
				   "and -c locks-and-waits");
	if (options->result_dir && options->result_dir[0] == '\0')
		return failure_set(failure, FAILURE_EXIT_USAGE,
				   "empty result directory name: give -r DIR");
	if (options->custom_collector && options->custom_collector[0] == '\0')
		return failure_set(failure, FAILURE_EXIT_USAGE,
				   "empty command of --custom-collector: give a command line");
	return 0;
}

int options_parse(struct options *options, int argc, char **argv, struct failure *failure)
{
	*options = (struct options){
		.action = OPTIONS_COLLECT,
		.analysis = analysis_at(0),
		.interval_ns = 10 * 1000000,
		.unwind = OPTIONS_UNWIND_AUTO,
		.overhead_limit = -1,
		.children = true,
		.collapse = true,
		.finalize = true,
	};
	optind = 0; /* glibc: forget the state of an earlier parse */
	opterr = 0;
	for (;;) {
		/* '+': the program's own options are not ours. ':' tells a missing argument apart.
		 */
		int index = optind > 0 ? optind : 1;
		int option = getopt_long(argc, argv, "+:c:r:i:d:p:qvh", long_options, NULL);
		if (option == -1)
			return check_options(options, argc, argv, failure);
		if (option == '?')
			return failure_set(failure, FAILURE_EXIT_USAGE,
					   optopt && argv[index][1] == '-'
						   ? "option '%s' takes no value: see tbcollect "
						     "--help"
						   : "unknown option '%s': see tbcollect --help",
					   argv[index]);
		if (option == ':')
			return failure_set(failure, FAILURE_EXIT_USAGE,
					   "option '%s' needs a value: see tbcollect --help",
					   argv[index]);
		if (parse_option(options, option, failure) < 0)
			return -1;
	}
}
