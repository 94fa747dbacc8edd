/*
 * Arguments of commands: options, a result, an output. After a failure the functions print a
 * message and return the exit status; else 0.
 */
#ifndef TOOLS_CLI_ARGUMENTS_H
#define TOOLS_CLI_ARGUMENTS_H

#include "profile/read/reader.h"
#include "tools/cli/output.h"

/* Finds the tb5 file of a result; NULL: the newest in the current directory. doubt: the message if
 * there is no such file and its name is not like a result's; NULL: the usual one. The caller frees
 * *path. */
int arguments_find_result(const char *result, const char *doubt, char **path);

/* The same for the remaining arguments, none or one result. */
int arguments_find_remaining(int argc, char **argv, char **path);

/* Opens the tb5 file; name: for messages. */
int arguments_open_result(const char *path, const char *name, struct profile_reader **reader);

/* output_open and output_finish (output.h). */
int arguments_open_output(struct output *output, const char *path);
int arguments_finish_output(struct output *output, const char *path);

/* Reports an option for which getopt_long returned ':' or '?', and names the help: "tbconvert
 * --help". Returns EXIT_USAGE. */
int arguments_bad_option(int option, char **argv, const char *help);

#endif
