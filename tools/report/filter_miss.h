/*
 * What to tell a user whose filter leaves nothing.
 */
#ifndef TOOLS_REPORT_FILTER_MISS_H
#define TOOLS_REPORT_FILTER_MISS_H

struct report_input;

/* One line, "why; what to do", for the caller to free; NULL: there are samples that meet the
 * filter, or there is no filter. */
char *filter_miss_explain(const struct report_input *input);

#endif
