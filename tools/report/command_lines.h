/*
 * The command lines of a result's processes.
 */
#ifndef TOOLS_REPORT_COMMAND_LINES_H
#define TOOLS_REPORT_COMMAND_LINES_H

#include "profile/read/reader.h"

/* The command line of each process, "" if not noted. The texts are the reader's, the array is for
 * the caller to free. */
const char **command_lines_collect(const struct profile_reader *reader);

#endif
