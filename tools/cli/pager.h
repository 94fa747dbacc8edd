/*
 * A pager between an output and the terminal, as git starts one.
 */
#ifndef TOOLS_CLI_PAGER_H
#define TOOLS_CLI_PAGER_H

#include "tools/cli/output.h"
#include <sys/types.h>

struct pager {
	pid_t pid; /* 0: none */
};

/* Has standard output on a terminal go to the pager from now on: TBREPORT_PAGER, else PAGER, run by
 * the shell, else less, where it is installed; with LESS=FRX and LV=-c, unless set: a text of one
 * screen stays and less ends. An empty value or "cat" is no pager. Nothing is changed for other
 * outputs, and where the pager cannot be started. The program ignores SIGINT from then on: it is
 * for the pager. Ask for output_width before. */
void pager_begin(struct pager *pager, struct output *output);

/* After the output is finished or abandoned: waits for the user to leave the pager. */
void pager_end(struct pager *pager);

#endif
