/*
 * The output of a tool: standard output, or a file that is replaced only by whole new content. For
 * a terminal, control characters are made visible (tools/terminal/terminal.h); any other output
 * gets every byte as written.
 */
#ifndef TOOLS_CLI_OUTPUT_H
#define TOOLS_CLI_OUTPUT_H

#include "tools/terminal/terminal.h"
#include <stdbool.h>
#include <stdio.h>

struct output {
	FILE *stream;        /* write here; seeks if the output does */
	int fd;              /* of the stream */
	int error;           /* errno value of the first write that failed; 0: none */
	int folder;          /* directory of a file (O_PATH), whatever is renamed; -1: none */
	char *path;          /* name in the folder, links followed; NULL: standard output */
	char *temporary;     /* likewise; NULL: written in place (a device, a pipe) */
	struct pager *pager; /* NULL: none */
	bool is_kept;        /* text goes to `kept`, to be taken */
	char *kept;
	size_t kept_size;
	size_t kept_capacity;
	struct output_exit *exit; /* takes the temporary file away if the program ends before */
	bool is_terminal;
	struct terminal_filter filter; /* of a terminal */
	struct terminal_painter painter;
};

/* The output's name for messages. */
const char *output_name(const char *path);

/* path NULL or "-": standard output. A symbolic link stays and its target is written; an open file
 * (/dev/fd/N) is appended to. Returns 0 or an errno value; EACCES too for another user's symbolic
 * link or FIFO. A new file is for its owner only, whatever the umask; a replaced file keeps its
 * permissions. *output must stay at its address until finished or abandoned: the stream refers to
 * it. */
int output_open(struct output *output, const char *path);

/* Has standard output on a terminal go through a pager from now on, as git does: TBREPORT_PAGER,
 * else PAGER, run by the shell, else less, where it is installed; with LESS=FRX and LV=-c, unless
 * set: a text of one screen stays and less ends. An empty command or "cat" is no pager. Other
 * outputs stay. SIGINT is pager_begin's from then on. Ask for output_width before. */
void output_page(struct output *output);

/* Keeps what is written from now on, as it would be written, with colours. */
void output_keep(struct output *output);

/* The *size bytes kept since the last call, for the caller to free. */
char *output_take(struct output *output, size_t *size);

/* Flushes and, for a file, moves the new content into place. Returns 0 or the errno value of the
 * first failed write, or of a pager that could not be started; EPIPE is no failure: the reader has
 * seen enough. Waits for the pager. Closes the output in any
 * case. */
int output_finish(struct output *output);

/* Closes the output and drops the new content; an older file stays as before. */
void output_abandon(struct output *output);

/* Takes the new content's name away, for a program that ends at once by a signal, from any thread:
 * an output that is neither finished nor abandoned would leave it. exit() does so too. */
void output_unlink(const struct output *output);

/* Columns to fit text in: COLUMNS of the environment, for any output; else the width of the
 * output's terminal; 0 (no limit) without a terminal. */
unsigned output_width(const struct output *output);

/* For colours in the output's text, past what makes control characters visible; NULL: there are to
 * be none. Standard output has colours on a terminal whose TERM is not dumb, and anywhere with
 * CLICOLOR_FORCE (not empty, not 0); never with NO_COLOR (not empty): https://no-color.org and
 * https://bixense.com/clicolors. Lives as long as the output. */
const struct terminal_painter *output_painter(struct output *output);

#endif
