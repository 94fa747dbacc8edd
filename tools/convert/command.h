/*
 * The commands of tbconvert. To add one: a file with its run function, a row in tbconvert.c.
 */
#ifndef TOOLS_CONVERT_COMMAND_H
#define TOOLS_CONVERT_COMMAND_H

struct command {
	const char *name;
	const char *usage; /* behind the name */
	const char *what;  /* for --help */
	/* argv[0] is the command's name. Returns the exit status; has said why if it is not 0. */
	int (*run)(int argc, char **argv);
};

int command_export_run(int argc, char **argv);
int command_finalize_run(int argc, char **argv);
int command_recover_run(int argc, char **argv);

/* The tb5 file for the remaining arguments, none or one result: in *path, for the caller to free.
 * Returns 0, or the exit status after saying what is wrong. */
int command_locate(int argc, char **argv, char **path);

/* Checks that the result at path, which is to be changed, and its directory are the user's or
 * root's, and not reached through a symbolic link that another user made. *held is a path that
 * leads there whatever becomes of the directory's name, for the caller to free. Returns 0, or the
 * exit status after saying what is wrong. */
int command_hold_result(const char *path, char **held);

/* The same for what is to be made, without a look at whose the directory is. */
int command_hold_output(const char *path, char **held);

/* Says that getopt_long returned ':' or '?'; returns EXIT_USAGE. */
int command_bad_option(int option, char **argv);

#endif
