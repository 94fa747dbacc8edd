/*
 * What commands make of their arguments: options, a result, an output. Whatever is wrong they say,
 * and return the exit status; else 0.
 */
#ifndef TOOLS_CLI_ARGUMENTS_H
#define TOOLS_CLI_ARGUMENTS_H

#include "profile/read/reader.h"
#include "tools/cli/output.h"

/* The tb5 file for the remaining arguments, none or one result: in *path, for the caller to free.
 * Returns 0, or the exit status after saying what is wrong. */
int arguments_find_result(int argc, char **argv, char **path);

/* Opens the tb5 file; name: what messages call it. */
int arguments_open_result(const char *path, const char *name, struct profile_reader **reader);

/* output_open and output_finish (output.h). */
int arguments_open_output(struct output *output, const char *path);
int arguments_finish_output(struct output *output, const char *path);

/* Says that getopt_long returned ':' or '?', and where help is: "tbconvert --help". Returns
 * EXIT_USAGE. */
int arguments_bad_option(int option, char **argv, const char *help);

#endif
