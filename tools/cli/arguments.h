/*
 * What the commands of tbconvert make of their arguments.
 */
#ifndef TOOLS_CLI_ARGUMENTS_H
#define TOOLS_CLI_ARGUMENTS_H

/* The tb5 file for the remaining arguments, none or one result: in *path, for the caller to free.
 * Returns 0, or the exit status after saying what is wrong. */
int arguments_locate(int argc, char **argv, char **path);

/* Says that getopt_long returned ':' or '?', and where help is: "tbconvert --help". Returns
 * EXIT_USAGE. */
int arguments_bad_option(int option, char **argv, const char *help);

#endif
