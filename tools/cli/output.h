/*
 * Where a tool's product goes: standard output, or a file that is replaced only when the new
 * content is whole. A terminal gets it without what would steer it (tools/cli/terminal.h), anything
 * else exactly as it is written.
 */
#ifndef TOOLS_CLI_OUTPUT_H
#define TOOLS_CLI_OUTPUT_H

#include "tools/cli/terminal.h"
#include <stdbool.h>
#include <stdio.h>

struct output {
	FILE *stream;    /* write here */
	int fd;          /* below it */
	int error;       /* errno value of the first write that failed; 0: none */
	int folder;      /* that of a file (O_PATH), wherever its name leads by now; -1: none */
	char *path;      /* in the folder, behind links; NULL: standard output */
	char *temporary; /* likewise; NULL: written in place (a device, a pipe) */
	bool is_terminal;
	struct terminal_filter filter; /* of a terminal */
};

/* What to call it in a message. */
const char *output_name(const char *path);

/* path NULL or "-": standard output. A symbolic link stays, and what it leads to is written; an
 * open file (/dev/fd/N) gets it appended. Returns 0 or an errno value; EACCES too where another
 * user has put a symbolic link or a FIFO. A new file is for its owner only, whatever the umask; one
 * that is replaced keeps its permissions. The output stays where it is until it is finished or
 * abandoned: its stream refers to it. */
int output_open(struct output *output, const char *path);

/* Flushes and, for a file, moves it into place. Returns 0 or the errno value of the first write
 * that failed; EPIPE is none: who reads has seen enough. The output is closed in any case. */
int output_finish(struct output *output);

/* Leaves a file that was there before as it was. */
void output_abandon(struct output *output);

/* Columns to fit text in: what COLUMNS says, wherever the output goes; else those of the terminal
 * that it is; 0 (no limit) where it is none. */
unsigned output_width(const struct output *output);

#endif
