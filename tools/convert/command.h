/*
 * The commands of tbconvert. To add one: a file with its run function, a row in tbconvert.c.
 */
#ifndef TOOLS_CONVERT_COMMAND_H
#define TOOLS_CONVERT_COMMAND_H

#define COMMAND_HELP "tbconvert --help"

struct command {
	const char *name;
	const char *usage; /* behind the name */
	const char *what;  /* for --help */
	/* argv[0] is the command's name. Returns the exit status, after a message unless 0. */
	int (*run)(int argc, char **argv);
};

int command_export_run(int argc, char **argv);
/* For --help. */
void command_export_print_options(void);
int command_finalize_run(int argc, char **argv);
int command_import_run(int argc, char **argv);
/* For --help. */
void command_import_print_options(void);
int command_recover_run(int argc, char **argv);

#endif
