#include "tests/tools/render_report.h"

#include "tools/report/report_options.h"
#include <check.h>
#include <stdlib.h>
#include <string.h>

char *render_file(const char *path, render_print *print, unsigned tally_by,
		  const char *const *arguments)
{
	/* The only report that takes all options. */
	static const char *const names[] = {"hotspots", NULL};
	char *argv[32] = {(char *)(uintptr_t) "tbreport", (char *)(uintptr_t) "hotspots"};
	int argc = 2;
	struct report_options options;
	char *problem;
	for (; arguments && *arguments; arguments++)
		argv[argc++] = (char *)(uintptr_t)*arguments;
	ck_assert_int_eq(report_options_parse(argc, argv, names, &options, &problem),
			 REPORT_OPTIONS_RUN);
	struct report_input input = {.path = path, .options = &options};
	ck_assert_uint_eq(profile_reader_open(path, &input.reader), VT_SUCCESS);
	ck_assert_uint_eq(tally_collect(input.reader, &options.filter,
					tally_by | report_tally_by(options.group), &input.tally),
			  VT_SUCCESS);
	struct functions *functions = functions_create(input.reader, options.with_inlined);
	uint32_t *rank = report_rank_functions(functions);
	input.functions = functions;
	input.rank = rank;
	char *text = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);
	print(&input, stream, options.width);
	fclose(stream);
	free(rank);
	functions_destroy(functions);
	tally_finish(&input.tally);
	profile_reader_close(input.reader);
	report_options_finish(&options);
	return text;
}

char *render_report(const struct build_result *result, render_print *print, unsigned tally_by,
		    const char *const *arguments)
{
	char directory[32];
	char path[64];
	build_directory(directory);
	snprintf(path, sizeof(path), "%s/r.tb5", directory);
	build_result_write(path, result);
	char *text = render_file(path, print, tally_by, arguments);
	build_directory_remove(directory);
	return text;
}
