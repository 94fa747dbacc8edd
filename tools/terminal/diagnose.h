/*
 * Messages on standard error: one line per problem, "tool: what failed: why; what to do".
 */
#ifndef TOOLS_TERMINAL_DIAGNOSE_H
#define TOOLS_TERMINAL_DIAGNOSE_H

#define EXIT_USAGE 2

void diagnose(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Writes the text of a TBRW code to `text` and returns `text`. */
#define DIAGNOSE_CODE_SIZE 160u
const char *diagnose_code(unsigned code, char text[DIAGNOSE_CODE_SIZE]);

#endif
