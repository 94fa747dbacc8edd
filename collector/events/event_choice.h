/*
 * An event that the user asks for by name beside the sampling event, as perf record -e has it:
 *
 *   NAME[/TERM[,TERM...]/][MODIFIER]   NAME[:MODIFIER]
 *
 * NAME is a software event, a hardware event, rHEX (a raw code of the CPU's own), or a tracepoint
 * SYSTEM:NAME; TERM is period=N or freq=N; MODIFIER is u (user mode only) or k (kernel mode only).
 * Source: perf-list(1), perf-record(1), perf_event_open(2).
 */
#ifndef COLLECTOR_EVENTS_EVENT_CHOICE_H
#define COLLECTOR_EVENTS_EVENT_CHOICE_H

#include "collector/message/failure.h"
#include <stdbool.h>
#include <stdint.h>

enum { EVENT_CHOICE_NAME_MAX = 128 };

struct event_choice {
	char name[EVENT_CHOICE_NAME_MAX]; /* as given, without terms */
	uint32_t type;                    /* enum perf_type_id */
	uint64_t config;
	uint64_t period;    /* events between samples; 0: by frequency */
	uint64_t frequency; /* samples a second; 0: by period */
	bool user_only;
	bool kernel_only;
	bool is_in_kernel; /* it happens there only */
};

/* -1: the text is no event, or the kernel has no such tracepoint. */
int event_choice_parse(struct event_choice *choice, const char *text, struct failure *failure);

#endif
