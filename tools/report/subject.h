/*
 * The FUNCTION that a report is about: those of the result that have the name asked for.
 */
#ifndef TOOLS_REPORT_SUBJECT_H
#define TOOLS_REPORT_SUBJECT_H

#include "tools/report/report.h"
#include <stdbool.h>

/* By function of input->functions: whether it is one of them. The caller frees the array. */
bool *subject_functions(const struct report_input *input);

/* As subject_functions, of the functions in source files of the name, by path or without its
 * directories. */
bool *subject_functions_of_file(const struct report_input *input);

/* Whether there is one. */
bool subject_has_any(const struct report_input *input, const bool *is_subject);

/* That no function has the name, for the caller to free; NULL: one has. report.refuse of reports
 * about a function. */
char *subject_refuse(const struct report_input *input);

#endif
