#include "tests/tools/render_report.h"

#include "tools/report/report_options.h"
#include "tools/stacks/sampled_result.h"
#include <check.h>
#include <stdlib.h>
#include <string.h>

const struct build_sample render_example_samples[RENDER_EXAMPLE_SAMPLES] = {
	{.stack = "app:_start libc:start libc:call_main app:main app:work",
	 .count = 4,
	 .cpu_ms = 10},
	{.stack = "app:_start libc:start libc:call_main app:main libc:read libc:lock",
	 .count = 2,
	 .cpu_ms = 10,
	 .thread = 1},
	{.stack = "lib:run,\"fast\"",
	 .count = 3,
	 .cpu_ms = 5,
	 .state = PROFILE_STACK_SKIPPED,
	 .reason = PROFILE_SKIP_TRUNCATED,
	 .thread = 2},
	{.stack = "?", .count = 1, .cpu_ms = 1},
};

const struct build_result render_example = {.samples = render_example_samples,
					    .count = RENDER_EXAMPLE_SAMPLES,
					    .rest_ms = 4,
					    .is_finalized = true};

char *render_file_as(const char *path, const char *name, render_print *print, unsigned tally_by,
		     const char *const *arguments)
{
	const char *const names[] = {name, NULL};
	char *argv[32] = {(char *)(uintptr_t) "tbreport", (char *)(uintptr_t)name};
	int argc = 2;
	struct report_options options;
	char *problem;
	for (; arguments && *arguments; arguments++)
		argv[argc++] = (char *)(uintptr_t)*arguments;
	ck_assert_int_eq(report_options_parse(argc, argv, names, &options, &problem),
			 REPORT_OPTIONS_RUN);
	struct sampled_result result;
	ck_assert_int_eq(sampled_result_open(&result, path, &options.filter,
					     tally_by | report_tally_by(options.group),
					     options.with_inlined),
			 0);
	uint32_t *rank = report_rank_functions(result.functions);
	struct report_input input = {.reader = result.reader,
				     .path = path,
				     .options = &options,
				     .functions = result.functions,
				     .rank = rank,
				     .tally = result.tally};
	char *text = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);
	ck_assert_uint_eq(print(&input, stream, options.width), VT_SUCCESS);
	fclose(stream);
	free(rank);
	sampled_result_close(&result);
	report_options_finish(&options);
	return text;
}

char *render_file(const char *path, render_print *print, unsigned tally_by,
		  const char *const *arguments)
{
	return render_file_as(path, "hotspots", print, tally_by, arguments);
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

void render_expect(char *text, const char *const *parts)
{
	/* check has no room for all of it. */
	for (; *parts; parts++)
		ck_assert_msg(strstr(text, *parts), "'%s' is not in:\n%.3000s", *parts, text);
	free(text);
}
