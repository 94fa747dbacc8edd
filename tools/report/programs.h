/*
 * What each program used, by the accounts of its threads: also of those that no sample found.
 */
#ifndef TOOLS_REPORT_PROGRAMS_H
#define TOOLS_REPORT_PROGRAMS_H

#include "tools/report/report.h"
#include <stdio.h>

/* A table under a title, at most `limit` rows (0: any). Nothing of one program alone, nor where the
 * filter asks for a part of them. */
void programs_print(const struct report_input *input, uint32_t limit, FILE *stream, unsigned width);

#endif
