/*
 * The page of two sides of results, compared: tools/diff/ has what is known of differences.
 */
#ifndef TOOLS_PAGE_PAGE_DIFF_H
#define TOOLS_PAGE_PAGE_DIFF_H

struct report_options;

/* Writes the page of the options' results: the rows of tbreport diff by function, and the stacks of
 * both sides as one tree. Needs page_is_built (page.h), and two sides. Returns the exit status of
 * tbreport diff, after a message where it is not 0. */
int page_diff_run(const struct report_options *options);

#endif
