/*
 * A pager between standard output and the terminal, as git starts one.
 */
#ifndef TOOLS_CLI_PAGER_H
#define TOOLS_CLI_PAGER_H

#include <sys/types.h>

struct pager {
	pid_t pid;   /* 0: none */
	int message; /* where standard error was; -1: it is as it was */
};

/* Has standard output on a terminal go to the command from now on, run by the shell; standard error
 * too, if it is a terminal. SIGINT then ends the text, and the program when the user has left the
 * pager, unless it is ignored. Nothing is changed where the shell cannot be started. */
void pager_begin(struct pager *pager, const char *command);

/* Ends the text and waits for the user to leave the pager; SIGINT is ignored. Returns 0, or the
 * errno value for a command that the shell did not find (ENOENT) or could not start (EACCES). */
int pager_end(struct pager *pager);

/* The command that the user wants, as output_page says (output.h); NULL: none. */
const char *pager_choose(void);

#endif
