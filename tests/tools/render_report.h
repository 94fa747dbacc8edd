/*
 * A report of a result that is built for it, as tbreport would print it.
 */
#ifndef TESTS_TOOLS_RENDER_REPORT_H
#define TESTS_TOOLS_RENDER_REPORT_H

#include "tests/tools/build_result.h"
#include "tools/report/report.h"

typedef TBRW_U32 render_print(const struct report_input *input, FILE *stream, unsigned width);

/* The report as text, for the caller to free. arguments: "--option", "value", ..., NULL. A failure
 * fails the test. */
char *render_report(const struct build_result *result, render_print *print, unsigned tally_by,
		    const char *const *arguments);

/* Of a file that is there. */
char *render_file(const char *path, render_print *print, unsigned tally_by,
		  const char *const *arguments);

/* Of a report whose options are not those of hotspots. */
char *render_file_as(const char *path, const char *name, render_print *print, unsigned tally_by,
		     const char *const *arguments);

/* Fails the test unless each of the parts, NULL behind the last, is in the text. Frees the text. */
void render_expect(char *text, const char *const *parts);

#define RENDER_EXAMPLE_SAMPLES 4u

/* A result of a whole stack, one that ends in a system library, a skipped one, and an unknown one.
 */
extern const struct build_sample render_example_samples[RENDER_EXAMPLE_SAMPLES];
extern const struct build_result render_example;

#endif
