/*
 * The command lines of a result's processes.
 */
#ifndef TOOLS_ANALYSIS_COMMAND_LINES_H
#define TOOLS_ANALYSIS_COMMAND_LINES_H

#include "profile/read/reader.h"

/* Of each process of the reader, whose texts they are; "" where none was noted. For the caller to
 * free. */
const char **command_lines_collect(const struct profile_reader *reader);

#endif
