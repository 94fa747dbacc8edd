/*
 * The command line of tbreport.
 */
#ifndef TOOLS_REPORT_REPORT_OPTIONS_H
#define TOOLS_REPORT_REPORT_OPTIONS_H

#include "tools/functions/filter.h"
#include "tools/stacks/weighted_stacks.h"
#include "tools/table/table_format.h"
#include <stdbool.h>
#include <stdint.h>

enum report_group {
	REPORT_GROUP_FUNCTION,
	REPORT_GROUP_MODULE,
	REPORT_GROUP_PROCESS, /* by program name */
	REPORT_GROUP_PID,
	REPORT_GROUP_THREAD,
	REPORT_GROUP_SOURCE_FILE,
	REPORT_GROUP_SOURCE_LINE,
	REPORT_GROUP_CALL_SITE, /* line of a caller, and the function called there */
	REPORT_GROUP_TASK,
	REPORT_GROUP_OBJECT, /* that threads waited for */
	REPORT_GROUP_WAKER,  /* function that ended waits */
	REPORT_GROUP_TYPE,   /* of the object */
	REPORT_GROUP_STACK,  /* of functions */
	REPORT_GROUP_COUNT
};

/* --sort: rows of a table in the order of a column (tools/table/table.h). */
struct report_sort {
	char *column;     /* name; NULL: as the report has them */
	bool is_directed; /* else numbers have the most first, texts the first letter */
	bool is_ascending;
	uint32_t limit; /* of the sorted rows, for tables that are no trees; the report makes
			   all rows then. 0: all */
};

struct report_options {
	const char *report;    /* name, NULL: none given */
	struct filter subject; /* one condition: the FUNCTION of a report about one; else none */
	const char *result;    /* as an argument, or by --result-dir; NULL: none given */
	/* Of the report diff: the results compared, the bases first; else none. The array is the
	 * options'. */
	const char **runs;
	size_t run_count;
	size_t base_count; /* given with --base; 0: none */
	bool has_fail_above;
	uint32_t fail_above; /* parts of 10^6 */
	const char *event;   /* NULL: none given */
	const char *output;  /* NULL: standard output */
	const struct table_format *format;
	bool is_page; /* --format html: a page of all reports; format is then text */
	enum call_path_mode mode;
	enum report_group group;
	bool with_watch; /* the report again and again; of text, on standard output */
	bool is_grouped; /* --group-by was given */
	bool with_inlined;
	bool with_stacks; /* of waits */
	uint32_t limit;   /* rows; 0: all */
	struct report_sort sort;
	uint32_t width; /* columns of text; 0: not given */
	bool has_least_share;
	uint32_t least_share; /* of the CPU time, of the rows shown; parts of 10^6 */
	bool has_threshold;
	uint64_t threshold_ns; /* --slower-than: of the report tasks */
	uint32_t target;       /* --target-concurrency: thousandths of a CPU; 0: the result's */
	bool by_threads;       /* --by threads: of the report utilization, in data */
	uint64_t bucket_ns;    /* --bucket: of the report timeline; 0: not given */
	uint32_t buckets;      /* --buckets: likewise */
	/* --source-dir: directories of source files, NULL behind the last one; NULL: none. The
	 * array is the options'. */
	const char **source_dirs;
	size_t source_dir_count;
	bool has_syntax;
	bool with_intel_syntax; /* --syntax intel: of the report assembly */
	struct filter filter;
};

enum report_options_status {
	REPORT_OPTIONS_RUN,
	REPORT_OPTIONS_HELP,
	REPORT_OPTIONS_VERSION,
	REPORT_OPTIONS_BAD, /* see *problem */
};

/* Texts of the options are borrowed from argv. problem is for the caller to free.
 * reports: their names, NULL behind the last one; anything else is a result. */
enum report_options_status report_options_parse(int argc, char **argv, const char *const *reports,
						struct report_options *options, char **problem);

/* The message for options->result without such a file, if the name may be meant for a report; the
 * caller frees the text. NULL: none, or a path. */
char *report_options_doubt(const struct report_options *options, const char *const *reports);
void report_options_finish(struct report_options *options);

#endif
