#include "collector/options/options.h"

#include "collector/options/option_values.h"
#include "collector/options/options_file.h"
#include <getopt.h>
#include <string.h>
#include <unistd.h>

#define NS_PER_S  1000000000ull
#define NS_PER_MS 1000000ull

enum { ANALYSIS_NAMES_MAX = 256 };

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
	       "                           states too; locks-and-waits: what they wait for too; "
	       "FILE:\n"
	       "                           a custom analysis, see tbcollect-analysis(5)\n"
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

/* A file is named by a path, or it is there and no analysis has its name. */
static int parse_analysis(struct options *options, const char *text, struct failure *failure)
{
	char names[ANALYSIS_NAMES_MAX];
	options->analysis = analysis_find(text);
	if (options->analysis)
		return 0;
	if (strchr(text, '/') || access(text, F_OK) == 0)
		return options_file_apply(options, text, failure);
	analysis_list(names, sizeof(names));
	return failure_set(failure, FAILURE_EXIT_USAGE,
			   "unknown analysis '%s': there is %s, and no file of that name", text,
			   names);
}

double options_overhead_limit(uint64_t interval_ns)
{
	double rate = (double)NS_PER_MS / (double)interval_ns; /* samples in each ms */
	double more = (rate < 10 ? rate : 10) - 1;
	return 0.05 + (more > 0 ? more / 9 * 0.10 : 0);
}

/* Options about waits that would do nothing. */
static int check_waits(const struct options *options, struct failure *failure)
{
	if (options->preload && (!options->program || !options->analysis->waits))
		return failure_set(failure, FAILURE_EXIT_USAGE,
				   "--preload sees waits of a program from its start: give a "
				   "program "
				   "and -c locks-and-waits");
	if (options->wait_option && !options->analysis->waits)
		return failure_set(failure, FAILURE_EXIT_USAGE,
				   "--%s is about waits, and %s records none: leave it out, or use "
				   "-c locks-and-waits",
				   options->wait_option, options->analysis->name);
	enum wakers_conflict conflict = option_values_wakers(options);
	if (conflict == WAKERS_UNSEEN)
		return failure_set(failure, FAILURE_EXIT_USAGE,
				   "all wakers' stacks are asked for, and the observer sees no "
				   "wakers: leave out --wait-source observer, or give "
				   "--waker-stacks sampled");
	if (conflict == WAKERS_WITHOUT_STACKS)
		return failure_set(failure, FAILURE_EXIT_USAGE,
				   "all wakers' stacks are asked for, and --unwind none has no "
				   "stacks: leave out one of them");
	return 0;
}

static int check_options(struct options *options, int argc, char **argv, struct failure *failure)
{
	if (options->action != OPTIONS_COLLECT)
		return 0;
	if (options->overhead_limit < 0)
		options->overhead_limit = options_overhead_limit(options->interval_ns);
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
	if (check_waits(options, failure) < 0)
		return -1;
	if (options->result_dir && options->result_dir[0] == '\0')
		return failure_set(failure, FAILURE_EXIT_USAGE,
				   "empty result directory name: give -r DIR");
	if (options->custom_collector && options->custom_collector[0] == '\0')
		return failure_set(failure, FAILURE_EXIT_USAGE,
				   "empty command of --custom-collector: give a command line");
	return 0;
}

/* The next option of the command line, as getopt_long returns it; *index: its place. */
static int next_option(int argc, char **argv, int *index)
{
	/* '+': the program's own options are not ours. ':' tells a missing argument apart. */
	*index = optind > 0 ? optind : 1;
	return getopt_long(argc, argv, "+:c:r:i:d:p:qvh", option_table, NULL);
}

/* The analysis comes first: the other options override what its file says. */
static int find_analysis(struct options *options, int argc, char **argv, struct failure *failure)
{
	const char *name = NULL;
	int index;
	int option;
	optind = 0; /* glibc: forget the state of an earlier parse */
	while ((option = next_option(argc, argv, &index)) != -1) {
		if (option == 'c')
			name = optarg;
		/* Nothing is collected, or the command line is wrong. */
		if (option == 'h' || option == OPT_VERSION || option == '?' || option == ':')
			return 0;
	}
	return name ? parse_analysis(options, name, failure) : 0;
}

static bool is_about_waits(int option)
{
	return option == OPT_WAIT_THRESHOLD || option == OPT_WAIT_SOURCE ||
	       option == OPT_WAKER_STACKS;
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
	opterr = 0;
	if (find_analysis(options, argc, argv, failure) < 0)
		return -1;
	optind = 0;
	for (;;) {
		int index;
		int option = next_option(argc, argv, &index);
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
		if (is_about_waits(option))
			options->wait_option = option_values_name(option);
		if (option_values_take(options, option, optarg, failure) < 0)
			return -1;
	}
}
