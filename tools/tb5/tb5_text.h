/* Text for the three example programs: wide strings of the TBRW API from and to the UTF-8 of files,
 * terminals and command lines. */
#ifndef TOOLS_TB5_TB5_TEXT_H
#define TOOLS_TB5_TB5_TEXT_H

#include "tbrw/tbrw.h"

/* The string of an id, "" for none; NULL: unreadable. The caller frees the text. */
char *tb5_text_of(TBRW_PTR file, TBRW_STRING_OR_ID id);

/* UTF-8 as a wide string. The caller frees *wide; VT_INVALID_STRING, VT_NO_MEMORY. */
TBRW_U32 tb5_text_widen(const char *utf8, TBRW_CHAR **wide);

/* TBRW_open for a path in UTF-8. */
TBRW_U32 tb5_text_open(TBRW_PTR *file, const char *path, TBRW_U32 access_mode);

/* Prints one line "program: what name: why; advice" (tools/terminal/diagnose.h) behind all output
 * before. Returns EXIT_FAILURE. */
int tb5_text_fail(const char *what, const char *name, TBRW_U32 code, const char *advice);

#endif
