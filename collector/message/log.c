#include "collector/message/log.h"

#include "profile/base/visible.h"
#include <stdarg.h>
#include <stdio.h>

void log_line(enum log_level wanted, enum log_level level, const char *format, ...)
{
	char text[2048];
	char shown[sizeof(text) * PROFILE_VISIBLE_FACTOR];
	if (level > wanted)
		return;
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	/* Names of programs and files may hold anything: the line stays one, and the terminal as it
	 * is. */
	profile_visible_text(text, shown);
	/* One write: the target's own lines must not end up inside ours. */
	fprintf(stderr, "tbcollect: %s\n", shown);
}
