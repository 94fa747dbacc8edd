/*
 * Labels of a run and of its threads for exports.
 */
#ifndef TOOLS_EXPORT_LABELS_H
#define TOOLS_EXPORT_LABELS_H

#include <stdint.h>

struct profile_note;
struct profile_reader;

/* The note of the command line that was started or attached to; NULL: none. */
const struct profile_note *label_command(const struct profile_reader *reader);

/* "NAME-NUMBER" of a process or thread. The caller frees the text. */
char *label_make(const char *name, uint32_t number);

#endif
