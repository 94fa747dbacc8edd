/*
 * The reports of one function's code: its source lines and its instructions, with the CPU time of
 * each.
 */
#ifndef TOOLS_CODE_REPORT_CODE_H
#define TOOLS_CODE_REPORT_CODE_H

#include "tools/code/source_text.h"
#include "tools/report/report.h"

/* Time of lines: Self of the stacks that end in them, Total of the stacks that have them. Lines are
 * of the functions asked for, else of the functions in a source file of that name. Messages on
 * standard error name source files that cannot be read, or were changed after the collection. */
TBRW_U32 report_source_print(const struct report_input *input, FILE *stream, unsigned width);
/* Why it cannot be made, for the caller to free; NULL: it can. */
char *report_refuse_source(const struct report_input *input);

/* Time of instructions, inlined code among them, in text with the source lines in between;
 * likewise. The code is read from the module's file, found again by its identity
 * (tools/modules/image_identity.h). */
TBRW_U32 report_assembly_print(const struct report_input *input, FILE *stream, unsigned width);

/* That no function has the name, or only inlined ones, for the caller to free; NULL: one has. */
char *report_refuse_assembly(const struct report_input *input);

/* Within the room: whether the file was changed after the collection. */
bool report_code_is_changed(const struct report_input *input, const struct source_text *text);
/* Within the room: reads a source file, with a message where that fails, or where the file was
 * changed after the collection. */
void report_code_read(const struct report_input *input, const char *path, struct source_text *text);
/* Within the room: says that nothing is shown, unless the filter is the cause, which is said
 * elsewhere (report_explain_miss). */
void report_code_say_absent(const struct report_input *input);

#endif
