#include "tools/report/report_options.h"

#include "tools/memory/xalloc.h"
#include "tools/text/suggest.h"
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

enum {
	OPTION_FORMAT = 256,
	OPTION_LIMIT,
	OPTION_SORT,
	OPTION_WIDTH,
	OPTION_MIN_PERCENT,
	OPTION_BASE,
	OPTION_FAIL_ABOVE,
	OPTION_FILTER,
	OPTION_FROM,
	OPTION_TO,
	OPTION_MODE,
	OPTION_INLINE,
	OPTION_GROUP,
	OPTION_STACKS,
	OPTION_EVENT,
	OPTION_SLOWER_THAN,
	OPTION_TARGET,
	OPTION_BY,
	OPTION_BUCKET,
	OPTION_BUCKETS,
	OPTION_SOURCE_DIR,
	OPTION_SYNTAX,
	OPTION_WATCH,
	OPTION_VERSION,
};

static const struct option long_options[] = {
	{"format", required_argument, NULL, OPTION_FORMAT},
	{"limit", required_argument, NULL, OPTION_LIMIT},
	{"sort", required_argument, NULL, OPTION_SORT},
	{"width", required_argument, NULL, OPTION_WIDTH},
	{"min-percent", required_argument, NULL, OPTION_MIN_PERCENT},
	{"base", required_argument, NULL, OPTION_BASE},
	{"fail-above", required_argument, NULL, OPTION_FAIL_ABOVE},
	{"filter", required_argument, NULL, OPTION_FILTER},
	{"from", required_argument, NULL, OPTION_FROM},
	{"to", required_argument, NULL, OPTION_TO},
	{"call-stack-mode", required_argument, NULL, OPTION_MODE},
	{"inline", required_argument, NULL, OPTION_INLINE},
	{"group-by", required_argument, NULL, OPTION_GROUP},
	{"stacks", no_argument, NULL, OPTION_STACKS},
	{"event", required_argument, NULL, OPTION_EVENT},
	{"slower-than", required_argument, NULL, OPTION_SLOWER_THAN},
	{"target-concurrency", required_argument, NULL, OPTION_TARGET},
	{"by", required_argument, NULL, OPTION_BY},
	{"bucket", required_argument, NULL, OPTION_BUCKET},
	{"buckets", required_argument, NULL, OPTION_BUCKETS},
	{"source-dir", required_argument, NULL, OPTION_SOURCE_DIR},
	{"syntax", required_argument, NULL, OPTION_SYNTAX},
	{"watch", no_argument, NULL, OPTION_WATCH},
	{"result-dir", required_argument, NULL, 'r'},
	{"output", required_argument, NULL, 'o'},
	{"help", no_argument, NULL, 'h'},
	{"version", no_argument, NULL, OPTION_VERSION},
	{0},
};

static const char *const modes[] = {
	[CALL_PATH_USER_PLUS_ONE] = "user-plus-one",
	[CALL_PATH_USER_ONLY] = "user-only",
	[CALL_PATH_ALL] = "all",
	NULL,
};

static const char *const groups[] = {
	[REPORT_GROUP_FUNCTION] = "function",
	[REPORT_GROUP_MODULE] = "module",
	[REPORT_GROUP_PROCESS] = "process",
	[REPORT_GROUP_PID] = "pid",
	[REPORT_GROUP_THREAD] = "thread",
	[REPORT_GROUP_SOURCE_FILE] = "source-file",
	[REPORT_GROUP_SOURCE_LINE] = "source-line",
	[REPORT_GROUP_CALL_SITE] = "call-site",
	[REPORT_GROUP_TASK] = "task",
	[REPORT_GROUP_OBJECT] = "object",
	[REPORT_GROUP_WAKER] = "waker",
	[REPORT_GROUP_TYPE] = "type",
	[REPORT_GROUP_STACK] = "stack",
	NULL,
};

static const char *const levels[] = {[false] = "cpus", [true] = "threads", NULL};

static const char *const syntaxes[] = {[false] = "att", [true] = "intel", NULL};

static const char *const switches[] = {[false] = "off", [true] = "on", NULL};

#define FORMATS_MAX 16

static char *choose_format(struct report_options *options, const char *name)
{
	const char *names[FORMATS_MAX + 1] = {NULL};
	size_t chosen;
	size_t count = 0;
	for (; count + 1 < FORMATS_MAX && table_format_at(count); count++)
		names[count] = table_format_at(count)->name;
	names[count] = "html";
	char *problem = suggest_choose("format", "format", names, name, &chosen);
	if (problem)
		return problem;
	options->is_page = chosen == count;
	options->format = table_format_at(options->is_page ? TABLE_FORMAT_TEXT : chosen);
	return NULL;
}

static bool parse_count(const char *text, uint32_t *count)
{
	if (text[0] == '\0' || strspn(text, "0123456789") != strlen(text))
		return false;
	errno = 0;
	unsigned long long value = strtoull(text, NULL, 10);
	if (errno || value == 0 || value > UINT32_MAX)
		return false;
	*count = (uint32_t)value;
	return true;
}

/* In parts of 10^6. */
static bool parse_percent(const char *text, uint32_t *share)
{
	char *end;
	if (!strchr("0123456789.", text[0]))
		return false;
	double percent = strtod(text, &end);
	if (end == text || (*end != '\0' && strcmp(end, "%") != 0) || !(percent <= 100))
		return false;
	*share = (uint32_t)(percent * 1e4 + 0.5);
	return true;
}

/* In thousandths. */
static bool parse_target(const char *text, uint32_t *target)
{
	char *end;
	if (!strchr("0123456789.", text[0]))
		return false;
	double cpus = strtod(text, &end);
	if (end == text || *end != '\0' || !(cpus >= 0.001 && cpus <= 1e6))
		return false;
	*target = (uint32_t)(cpus * 1000 + 0.5);
	return true;
}

/* Takes the value of an option for reports of states. Likewise. */
static char *take_states_option(struct report_options *options, int option, const char *value)
{
	size_t chosen = 0;
	char *problem = NULL;
	bool is_good = true;
	switch (option) {
	case OPTION_TARGET:
		return parse_target(value, &options->target)
			       ? NULL
			       : xalloc_printf("--target-concurrency %s: no number of logical "
					       "CPUs; use e.g. 4 or 1.5",
					       value);
	case OPTION_BY:
		problem = suggest_choose("by", "choice", levels, value, &chosen);
		options->by_threads = chosen;
		return problem;
	case OPTION_BUCKET:
		is_good = filter_parse_time(value, &options->bucket_ns) && options->bucket_ns > 0;
		return is_good ? NULL
			       : xalloc_printf("--bucket %s: no time; use e.g. 10ms or 1s", value);
	default:
		return parse_count(value, &options->buckets)
			       ? NULL
			       : xalloc_printf("--buckets %s: not a number of buckets; use 1 or "
					       "more",
					       value);
	}
}

/* Takes a condition on samples. Likewise. */
static char *take_condition(struct report_options *options, int option, const char *value)
{
	static const char *const names[] = {"filter", "from", "to"};
	char *problem = option == OPTION_FROM ? filter_set_from(&options->filter, value)
			: option == OPTION_TO ? filter_set_to(&options->filter, value)
					      : filter_add(&options->filter, value);
	char *whole = problem ? xalloc_printf("--%s %s: %s", names[option - OPTION_FILTER], value,
					      problem)
			      : NULL;
	free(problem);
	return whole;
}

static void add_run(struct report_options *options, const char *result)
{
	options->runs =
		xalloc_resize(options->runs, options->run_count + 1, sizeof(*options->runs));
	options->runs[options->run_count++] = result;
}

/* Takes an option of the report diff. Likewise. */
static char *take_diff_option(struct report_options *options, int option, const char *value)
{
	if (option == OPTION_BASE) {
		add_run(options, value);
		options->base_count++;
		return NULL;
	}
	options->has_fail_above = parse_percent(value, &options->fail_above);
	return options->has_fail_above
		       ? NULL
		       : xalloc_printf("--fail-above %s: no percentage; use 0 to 100", value);
}

/* Takes an option of the reports source and assembly. Likewise. */
static char *take_code_option(struct report_options *options, int option, const char *value)
{
	size_t chosen = 0;
	char *problem;
	if (option == OPTION_SOURCE_DIR) {
		options->source_dirs =
			xalloc_resize(options->source_dirs, options->source_dir_count + 2,
				      sizeof(*options->source_dirs));
		options->source_dirs[options->source_dir_count++] = value;
		options->source_dirs[options->source_dir_count] = NULL;
		return NULL;
	}
	problem = suggest_choose("syntax", "syntax", syntaxes, value, &chosen);
	options->has_syntax = true;
	options->with_intel_syntax = chosen;
	return problem;
}

/* "COLUMN", "COLUMN:asc" or "COLUMN:desc": titles have colons too. */
static char *take_sort(struct report_sort *sort, const char *value)
{
	const char *colon = strrchr(value, ':');
	sort->is_ascending = colon && strcmp(colon, ":asc") == 0;
	sort->is_directed = sort->is_ascending || (colon && strcmp(colon, ":desc") == 0);
	free(sort->column);
	sort->column = sort->is_directed ? xalloc_text_of(value, (size_t)(colon - value))
					 : xalloc_text(value);
	return sort->column[0] ? NULL
			       : xalloc_text("--sort: no column; use e.g. \"CPU Time\" or "
					     "Function:asc");
}

/* Takes an option's value. Returns NULL, or the problem's text. */
static char *take_option(struct report_options *options, int option, const char *value)
{
	size_t chosen = 0;
	char *problem;
	switch (option) {
	case OPTION_FORMAT:
		return choose_format(options, value);
	case OPTION_LIMIT:
		return parse_count(value, &options->limit)
			       ? NULL
			       : xalloc_printf("--limit %s: not a number of rows; use 1 or more",
					       value);
	case OPTION_SORT:
		return take_sort(&options->sort, value);
	case OPTION_WIDTH:
		return parse_count(value, &options->width)
			       ? NULL
			       : xalloc_printf("--width %s: not a number of columns; use 1 or more",
					       value);
	case OPTION_MIN_PERCENT:
		options->has_least_share = parse_percent(value, &options->least_share);
		return options->has_least_share
			       ? NULL
			       : xalloc_printf("--min-percent %s: no percentage; use 0 to 100",
					       value);
	case OPTION_BASE:
	case OPTION_FAIL_ABOVE:
		return take_diff_option(options, option, value);
	case OPTION_FILTER:
	case OPTION_FROM:
	case OPTION_TO:
		return take_condition(options, option, value);
	case OPTION_MODE:
		problem = suggest_choose("call-stack-mode", "mode", modes, value, &chosen);
		options->mode = (enum call_path_mode)chosen;
		return problem;
	case OPTION_INLINE:
		problem = suggest_choose("inline", "choice", switches, value, &chosen);
		options->with_inlined = chosen;
		return problem;
	case OPTION_GROUP:
		problem = suggest_choose("group-by", "grouping", groups, value, &chosen);
		options->group = (enum report_group)chosen;
		options->is_grouped = true;
		return problem;
	case OPTION_STACKS:
		options->with_stacks = true;
		return NULL;
	case OPTION_EVENT:
		options->event = value;
		return NULL;
	case OPTION_SLOWER_THAN:
		options->has_threshold = filter_parse_time(value, &options->threshold_ns);
		return options->has_threshold
			       ? NULL
			       : xalloc_printf("--slower-than %s: no time; use e.g. 16ms or 1.5s",
					       value);
	case 'o':
		options->output = value;
		return NULL;
	case 'r':
		options->result = value;
		return NULL;
	case OPTION_WATCH:
		options->with_watch = true;
		return NULL;
	case OPTION_SOURCE_DIR:
	case OPTION_SYNTAX:
		return take_code_option(options, option, value);
	default:
		return take_states_option(options, option, value);
	}
}

static bool is_report(const char *name, const char *const *reports)
{
	while (*reports && strcmp(*reports, name) != 0)
		reports++;
	return *reports != NULL;
}

static char *unknown_report(const char *name, const char *what, const char *const *reports)
{
	char *advice = suggest_advise(name, reports, "tbreport --help");
	char *problem = xalloc_printf("%s: %s; %s", name, what, advice);
	free(advice);
	return problem;
}

char *report_options_doubt(const struct report_options *options, const char *const *reports)
{
	const char *name = options->result;
	if (options->report || !name || strchr(name, '/') || strchr(name, '.'))
		return NULL;
	return unknown_report(name, "neither a report nor a result", reports);
}

/* Whether --min-percent can leave rows out; NULL: the summary. */
static bool has_shares(const char *report)
{
	static const char *const without[] = {"summary",  "quality",     "tasks",
					      "counters", "utilization", "timeline",
					      "diff",     "source",      "assembly"};
	for (size_t i = 0; report && i < sizeof(without) / sizeof(without[0]); i++)
		if (strcmp(report, without[i]) == 0)
			return false;
	return report != NULL;
}

#define HAS(group) (1u << REPORT_GROUP_##group)

/* Which reports have groups, and which ones. */
static const struct {
	const char *report;
	unsigned groups;
} grouped[] = {
	{"hotspots", HAS(FUNCTION) | HAS(MODULE) | HAS(PROCESS) | HAS(PID) | HAS(THREAD) |
			     HAS(SOURCE_FILE) | HAS(SOURCE_LINE) | HAS(CALL_SITE) | HAS(TASK)},
	{"diff", HAS(FUNCTION) | HAS(MODULE) | HAS(THREAD) | HAS(STACK)},
	{"waits", HAS(OBJECT) | HAS(FUNCTION) | HAS(THREAD) | HAS(WAKER) | HAS(TYPE)},
};

static char *check_group(const struct report_options *options)
{
	const char *other = NULL; /* a report with this group */
	if (!options->is_grouped)
		return NULL;
	for (size_t i = 0; i < sizeof(grouped) / sizeof(grouped[0]); i++) {
		bool has_group = grouped[i].groups & 1u << options->group;
		bool is_chosen = options->report && strcmp(options->report, grouped[i].report) == 0;
		if (has_group && is_chosen)
			return NULL;
		if (has_group && !other)
			other = grouped[i].report;
	}
	return xalloc_printf("--group-by %s: not of this report; use tbreport %s",
			     groups[options->group], other);
}

static bool is_one_of(const char *report, const char *const *reports)
{
	while (*reports && strcmp(*reports, report ? report : "summary") != 0)
		reports++;
	return *reports != NULL;
}

/* The options of take_code_option. The code of a function has what was inlined into it. */
static char *check_code_options(struct report_options *options)
{
	static const char *const with_source[] = {"source", "assembly", NULL};
	static const char *const with_syntax[] = {"assembly", NULL};
	if (options->source_dirs && !options->is_page && !is_one_of(options->report, with_source))
		return xalloc_text("--source-dir: only source, assembly and --format html have it; "
				   "use tbreport source FUNCTION");
	if (options->has_syntax && !is_one_of(options->report, with_syntax))
		return xalloc_text("--syntax: only assembly has it; use tbreport assembly "
				   "FUNCTION");
	if (options->limit > 0 && is_one_of(options->report, with_source))
		return xalloc_printf("--limit: %s has a row for each line of code; use "
				     "--group-by source-line of tbreport hotspots",
				     options->report);
	if (is_one_of(options->report, with_syntax))
		options->with_inlined = false;
	return NULL;
}

/* Reports in an order of their own, or of several tables, have no --sort. Of trees the heaviest
 * rows are shown, in whatever order; of other tables the first ones of the order. */
static char *check_sort(struct report_options *options)
{
	static const char *const without[] = {"summary", "quality",  "utilization", "timeline",
					      "source",  "assembly", NULL};
	static const char *const trees[] = {"top-down", "bottom-up", "wall", NULL};
	if (!options->sort.column)
		return NULL;
	if (is_one_of(options->report, without))
		return xalloc_printf("--sort: %s has an order of its own; use another report",
				     options->report ? options->report : "summary");
	if (is_one_of(options->report, trees) || options->with_stacks)
		return NULL;
	options->sort.limit = options->limit;
	options->limit = 0;
	return NULL;
}

/* Reports that a collection's first seconds fill, and that are read from the top. */
static char *check_watch(const struct report_options *options)
{
	static const char *const with_watch[] = {"hotspots", "top-down", "bottom-up", "callers",
						 "threads",  "modules",  NULL};
	if (!options->with_watch)
		return NULL;
	if (options->is_page || options->output || options->format->id != TABLE_FORMAT_TEXT)
		return xalloc_text("--watch: draws text on a terminal; leave out --format and -o");
	if (!is_one_of(options->report, with_watch))
		return xalloc_text("--watch: only hotspots, top-down, bottom-up, callers, threads "
				   "and modules have it; use tbreport hotspots --watch");
	return NULL;
}

/* The options of take_states_option, each for some reports. */
static char *check_states_options(const struct report_options *options)
{
	static const char *const with_target[] = {"summary", "hotspots", "utilization", NULL};
	static const char *const with_levels[] = {"utilization", NULL};
	static const char *const with_buckets[] = {"timeline", NULL};
	if (options->target > 0 && !is_one_of(options->report, with_target))
		return xalloc_text("--target-concurrency: only summary, hotspots and utilization "
				   "have it; use tbreport utilization");
	if (options->by_threads && !is_one_of(options->report, with_levels))
		return xalloc_text("--by: only the utilization report has it; use tbreport "
				   "utilization");
	if ((options->bucket_ns > 0 || options->buckets > 0) &&
	    !is_one_of(options->report, with_buckets))
		return xalloc_text("--bucket, --buckets: only the timeline report has them; use "
				   "tbreport timeline");
	if (options->bucket_ns > 0 && options->buckets > 0)
		return xalloc_text("--bucket and --buckets: one sets the other; use one of them");
	return NULL;
}

/* Takes the FUNCTION behind the report's name out of the arguments. */
static char *take_subject(struct report_options *options, int *argc, char **argv, int report)
{
	static const char *const with_subject[] = {"callers", "source", "assembly", NULL};
	if (!options->report || !is_one_of(options->report, with_subject))
		return NULL;
	if (report + 1 >= *argc)
		return xalloc_printf("%s: its function is missing; use tbreport %s FUNCTION",
				     options->report, options->report);
	const char *name = argv[report + 1];
	for (int i = report + 1; i + 1 < *argc; i++)
		argv[i] = argv[i + 1];
	--*argc;
	char *problem = filter_add_value(&options->subject, FILTER_FUNCTION, name);
	char *whole = problem ? xalloc_printf("%s %s: %s", options->report, name, problem) : NULL;
	free(problem);
	return whole;
}

static bool is_diff(const struct report_options *options)
{
	return options->report && strcmp(options->report, "diff") == 0;
}

/* Takes the results of the report diff, all arguments but its name. */
static char *take_runs(struct report_options *options, int argc, char **argv, int report)
{
	if (!is_diff(options) && (options->base_count > 0 || options->has_fail_above))
		return xalloc_text("--base, --fail-above: only the report diff has them; use "
				   "tbreport diff");
	if (!is_diff(options))
		return NULL;
	for (int i = 0; i < argc; i++)
		if (i != report)
			add_run(options, argv[i]);
	if (options->run_count - options->base_count < (options->base_count > 0 ? 1 : 2))
		return xalloc_text("diff: a result is missing; use tbreport diff BASE RESULT, or "
				   "--base BASE ... RESULT ...");
	if (options->is_page && options->is_grouped)
		return xalloc_text("--format html: the page of diff has functions and stacks; "
				   "leave out --group-by");
	if (options->is_page && options->base_count == 0 && options->run_count > 2)
		return xalloc_text("--format html: needs two sides; name those of the first with "
				   "--base");
	if (options->has_fail_above && options->base_count == 0 && options->run_count > 2)
		return xalloc_text("--fail-above: needs two sides; name those of the first with "
				   "--base");
	return NULL;
}

/* The result, which may be an option's. */
static char *take_result(struct report_options *options, int argc, char **argv, int report)
{
	int own = options->report ? 1 : 0;
	if (is_diff(options)) {
		if (options->result)
			return xalloc_text("--result-dir: diff compares results that are "
					   "arguments; use tbreport diff BASE RESULT");
		return NULL;
	}
	if (argc > own + (options->result ? 0 : 1))
		return xalloc_printf("%s: one argument too many; name one result", argv[argc - 1]);
	if (argc > own)
		options->result = argv[own ? 1 - report : 0];
	return NULL;
}

/* Options that some reports have. */
static char *check_options(struct report_options *options)
{
	if (options->is_page && options->report && !is_diff(options))
		return xalloc_printf("--format html: the page has all reports; leave out %s",
				     options->report);
	if (options->has_least_share && !has_shares(options->report))
		return xalloc_printf("--min-percent: %s has rows of any share; use another report",
				     options->report ? options->report : "summary");
	if (options->has_threshold && (!options->report || strcmp(options->report, "tasks") != 0))
		return xalloc_text("--slower-than: only the tasks report has it; use tbreport "
				   "tasks");
	if (options->with_stacks && (!options->report || strcmp(options->report, "waits") != 0))
		return xalloc_text("--stacks: only the waits report has it; use tbreport waits");
	char *problem = check_states_options(options);
	if (!problem)
		problem = check_code_options(options);
	if (!problem)
		problem = check_sort(options);
	if (!problem)
		problem = check_watch(options);
	return problem ? problem : check_group(options);
}

/* A report and a result, in either order; or one of them, or none. */
static char *take_arguments(struct report_options *options, int argc, char **argv,
			    const char *const *reports)
{
	int report =
		argc > 0 && !is_report(argv[0], reports) && argc > 1 && is_report(argv[1], reports);
	if (argc > 0 && is_report(argv[report], reports))
		options->report = argv[report];
	char *problem = take_subject(options, &argc, argv, report);
	if (!problem)
		problem = take_runs(options, argc, argv, report);
	if (!problem && argc > 1 && argc <= 2 && !options->report)
		problem = unknown_report(argv[0], "no such report", reports);
	if (!problem)
		problem = take_result(options, argc, argv, report);
	if (problem)
		return problem;
	if (options->with_watch && !options->is_page && !options->report)
		options->report = "hotspots";
	return check_options(options);
}

enum report_options_status report_options_parse(int argc, char **argv, const char *const *reports,
						struct report_options *options, char **problem)
{
	int option;
	*problem = NULL;
	*options =
		(struct report_options){.format = table_format_find("text"), .with_inlined = true};
	optind = 0; /* also after an earlier parse */
	while ((option = getopt_long(argc, argv, ":o:r:h", long_options, NULL)) != -1) {
		if (option == 'h')
			return REPORT_OPTIONS_HELP;
		if (option == OPTION_VERSION)
			return REPORT_OPTIONS_VERSION;
		if (option == ':')
			*problem = xalloc_printf("%s: its value is missing; see tbreport --help",
						 argv[optind - 1]);
		else if (option == '?')
			*problem = xalloc_printf("%s: %s; see tbreport --help", argv[optind - 1],
						 optopt && argv[optind - 1][1] == '-'
							 ? "it takes no value"
							 : "no such option");
		else
			*problem = take_option(options, option, optarg);
		if (*problem)
			return REPORT_OPTIONS_BAD;
	}
	*problem = take_arguments(options, argc - optind, argv + optind, reports);
	return *problem ? REPORT_OPTIONS_BAD : REPORT_OPTIONS_RUN;
}

void report_options_finish(struct report_options *options)
{
	filter_finish(&options->filter);
	filter_finish(&options->subject);
	free(options->sort.column);
	options->sort.column = NULL;
	free(options->runs);
	free(options->source_dirs);
	options->runs = NULL;
	options->source_dirs = NULL;
}
