#include "collector/log.h"

#include <stdarg.h>
#include <stdio.h>

void log_line(enum log_level wanted, enum log_level level, const char *format, ...)
{
	char text[2048];
	if (level > wanted)
		return;
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	/* One write, so that the target's own lines do not end up inside ours. */
	fprintf(stderr, "tbcollect: %s\n", text);
}
