/* The settings of a custom analysis (tbcollect-analysis(5)) as options. */
#ifndef COLLECTOR_OPTIONS_OPTIONS_FILE_H
#define COLLECTOR_OPTIONS_OPTIONS_FILE_H

#include "collector/message/failure.h"

struct options;

/* Reads the file at path and sets the options that it names, and options->analysis, whose name is
 * the file's. -1: it cannot be read, or one of its lines is wrong: "PATH:LINE: why". */
int options_file_apply(struct options *options, const char *path, struct failure *failure);

#endif
