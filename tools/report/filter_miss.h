/*
 * The message for a user whose filter leaves no samples.
 */
#ifndef TOOLS_REPORT_FILTER_MISS_H
#define TOOLS_REPORT_FILTER_MISS_H

struct report_input;

/* One line, "why; what to do", for the caller to free; NULL: no filter is set, or samples meet
 * it. */
char *filter_miss_explain(const struct report_input *input);

#endif
