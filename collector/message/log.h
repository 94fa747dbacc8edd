/* The collector's own words, on standard error. Only main and log print. */
#ifndef COLLECTOR_MESSAGE_LOG_H
#define COLLECTOR_MESSAGE_LOG_H

#include <stdbool.h>

enum log_level {
	LOG_QUIET,  /* errors only */
	LOG_NORMAL, /* and the summary and warnings */
	LOG_VERBOSE
};

/* A line "tbcollect: ...", if level is at most the wanted one. */
void log_line(enum log_level wanted, enum log_level level, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
