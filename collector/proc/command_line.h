/*
 * Command lines as a user would type them, more or less: arguments with blanks are quoted.
 */
#ifndef COLLECTOR_PROC_COMMAND_LINE_H
#define COLLECTOR_PROC_COMMAND_LINE_H

#include "collector/proc/asker.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { COMMAND_LINE_MAX = 4096 };

/* Of arguments, NULL behind the last one; cut where text, of size bytes, is full. */
void command_line_join(char *text, size_t size, const char *const *argv);

/* That of a process by now (proc(5), /proc/PID/cmdline): a program may have written another title
 * over it, which is left as it is. false: it has none, it is gone, another one than `name` (its
 * comm, as far as that goes) has its number, or the asker, through which it is asked (NULL: by us),
 * gave it up. */
bool command_line_read(struct asker *asker, uint32_t pid, const char *name,
		       char text[COMMAND_LINE_MAX]);

#endif
