/*
 * Command lines as a user would type them, more or less: arguments with blanks are quoted.
 */
#ifndef COLLECTOR_PROC_COMMAND_LINE_H
#define COLLECTOR_PROC_COMMAND_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct asker;

enum { COMMAND_LINE_MAX = 4096 };

/* Of arguments, NULL behind the last one; cut where text, of size bytes, is full. */
void command_line_join(char *text, size_t size, const char *const *argv);

/* The present command line of a process (proc(5), /proc/PID/cmdline), with any title the program
 * wrote over it. false: no command line, the process is gone, its number belongs to another one
 * than `name` (its comm, which may be cut), or the asker gave it up (NULL: we ask). */
bool command_line_read(struct asker *asker, uint32_t pid, const char *name,
		       char text[COMMAND_LINE_MAX]);

#endif
