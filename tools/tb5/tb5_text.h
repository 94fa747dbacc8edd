/* Between the wide strings of the TBRW API and the UTF-8 of files, terminals and command lines:
 * what the three example programs share. */
#ifndef TOOLS_TB5_TB5_TEXT_H
#define TOOLS_TB5_TB5_TEXT_H

#include "tbrw/tbrw.h"

/* The string for an id, "" for none. NULL: it cannot be read. The caller frees it. */
char *tb5_text_of(TBRW_PTR file, TBRW_STRING_OR_ID id);

/* The other way round. The caller frees *wide; VT_INVALID_STRING, VT_NO_MEMORY. */
TBRW_U32 tb5_text_widen(const char *utf8, TBRW_CHAR **wide);

/* TBRW_open for a path in UTF-8. */
TBRW_U32 tb5_text_open(TBRW_PTR *file, const char *path, TBRW_U32 access_mode);

/* Reports on one line "program: what name: why; advice" (tools/cli/diagnose.h) and gives
 * EXIT_FAILURE. Output that was printed before comes before it. */
int tb5_text_fail(const char *what, const char *name, TBRW_U32 code, const char *advice);

#endif
