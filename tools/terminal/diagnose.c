#include "tools/terminal/diagnose.h"

#include "tbrw/tbrw.h"
#include "tools/terminal/terminal.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void diagnose(const char *format, ...)
{
	char *text = NULL;
	va_list arguments;
	va_start(arguments, format);
	int length = vasprintf(&text, format, arguments);
	va_end(arguments);
	if (length < 0)
		return;
	/* Paths may hold any bytes: keep one line, and the terminal unharmed. */
	char *shown = terminal_text(text);
	fprintf(stderr, "%s: %s\n", program_invocation_short_name, shown);
	free(shown);
	free(text);
}

const char *diagnose_code(unsigned code, char text[DIAGNOSE_CODE_SIZE])
{
	const TBRW_CHAR *wide = NULL;
	size_t length = 0;
	if (TBRW_error_string(code, &wide) != VT_SUCCESS || !wide)
		wide = L"unknown error";
	/* The texts are ASCII; a locale might not convert anything else. */
	for (; wide[length] && length < DIAGNOSE_CODE_SIZE - 1; length++)
		text[length] = wide[length] < 0x80 ? (char)wide[length] : '?';
	text[length] = '\0';
	return text;
}
