#include "collector/failure.h"

#include <stdarg.h>
#include <stdio.h>

int failure_set(struct failure *failure, int exit_status, const char *format, ...)
{
	if (failure->exit_status != 0)
		return -1;
	failure->exit_status = exit_status;
	va_list args;
	va_start(args, format);
	vsnprintf(failure->text, sizeof(failure->text), format, args);
	va_end(args);
	for (char *c = failure->text; *c; c++)
		if (*c == '\n' || *c == '\r')
			*c = ' ';
	return -1;
}
