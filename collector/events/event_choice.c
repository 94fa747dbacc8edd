#include "collector/events/event_choice.h"

#include "collector/events/tracepoint.h"
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_FREQUENCY 1000u
#define FREQUENCY_MAX     100000u
#define PERIOD_MAX        (UINT64_C(1) << 62)

static const struct {
	const char *name;
	uint64_t config;
	uint32_t type;
	bool is_in_kernel;
} known_events[] = {
	{"page-faults", PERF_COUNT_SW_PAGE_FAULTS, PERF_TYPE_SOFTWARE, false},
	{"faults", PERF_COUNT_SW_PAGE_FAULTS, PERF_TYPE_SOFTWARE, false},
	{"minor-faults", PERF_COUNT_SW_PAGE_FAULTS_MIN, PERF_TYPE_SOFTWARE, false},
	{"major-faults", PERF_COUNT_SW_PAGE_FAULTS_MAJ, PERF_TYPE_SOFTWARE, false},
	{"alignment-faults", PERF_COUNT_SW_ALIGNMENT_FAULTS, PERF_TYPE_SOFTWARE, false},
	{"emulation-faults", PERF_COUNT_SW_EMULATION_FAULTS, PERF_TYPE_SOFTWARE, false},
	{"context-switches", PERF_COUNT_SW_CONTEXT_SWITCHES, PERF_TYPE_SOFTWARE, true},
	{"cs", PERF_COUNT_SW_CONTEXT_SWITCHES, PERF_TYPE_SOFTWARE, true},
	{"cpu-migrations", PERF_COUNT_SW_CPU_MIGRATIONS, PERF_TYPE_SOFTWARE, true},
	{"migrations", PERF_COUNT_SW_CPU_MIGRATIONS, PERF_TYPE_SOFTWARE, true},
	{"cycles", PERF_COUNT_HW_CPU_CYCLES, PERF_TYPE_HARDWARE, false},
	{"cpu-cycles", PERF_COUNT_HW_CPU_CYCLES, PERF_TYPE_HARDWARE, false},
	{"ref-cycles", PERF_COUNT_HW_REF_CPU_CYCLES, PERF_TYPE_HARDWARE, false},
	{"bus-cycles", PERF_COUNT_HW_BUS_CYCLES, PERF_TYPE_HARDWARE, false},
	{"instructions", PERF_COUNT_HW_INSTRUCTIONS, PERF_TYPE_HARDWARE, false},
	{"branches", PERF_COUNT_HW_BRANCH_INSTRUCTIONS, PERF_TYPE_HARDWARE, false},
	{"branch-instructions", PERF_COUNT_HW_BRANCH_INSTRUCTIONS, PERF_TYPE_HARDWARE, false},
	{"branch-misses", PERF_COUNT_HW_BRANCH_MISSES, PERF_TYPE_HARDWARE, false},
	{"cache-references", PERF_COUNT_HW_CACHE_REFERENCES, PERF_TYPE_HARDWARE, false},
	{"cache-misses", PERF_COUNT_HW_CACHE_MISSES, PERF_TYPE_HARDWARE, false},
	{"stalled-cycles-frontend", PERF_COUNT_HW_STALLED_CYCLES_FRONTEND, PERF_TYPE_HARDWARE,
	 false},
	{"stalled-cycles-backend", PERF_COUNT_HW_STALLED_CYCLES_BACKEND, PERF_TYPE_HARDWARE, false},
};

static bool find_known(struct event_choice *choice)
{
	for (size_t i = 0; i < sizeof(known_events) / sizeof(known_events[0]); i++) {
		if (strcmp(known_events[i].name, choice->name) != 0)
			continue;
		choice->type = known_events[i].type;
		choice->config = known_events[i].config;
		choice->is_in_kernel = known_events[i].is_in_kernel;
		return true;
	}
	return false;
}

/* A whole number in that base; false: it is none. */
static bool parse_number(const char *text, int base, uint64_t *value)
{
	const char *digits = base == 16 ? "0123456789abcdefABCDEF" : "0123456789";
	if (text[0] == '\0' || strspn(text, digits) != strlen(text))
		return false;
	errno = 0;
	*value = strtoull(text, NULL, base);
	return errno == 0;
}

static bool is_raw(struct event_choice *choice)
{
	if (choice->name[0] != 'r' || !parse_number(choice->name + 1, 16, &choice->config))
		return false;
	choice->type = PERF_TYPE_RAW;
	return true;
}

static int find_tracepoint(struct event_choice *choice, struct failure *failure)
{
	char system[EVENT_CHOICE_NAME_MAX];
	snprintf(system, sizeof(system), "%s", choice->name);
	char *name = strchr(system, ':');
	*name++ = '\0';
	choice->type = PERF_TYPE_TRACEPOINT;
	choice->is_in_kernel = true;
	switch (tracepoint_find(system, name, &choice->config)) {
	case TRACEPOINT_FOUND:
		return 0;
	case TRACEPOINT_FORBIDDEN:
		return failure_set(failure, FAILURE_EXIT,
				   "cannot use the tracepoint %s: /sys/kernel/tracing is not for "
				   "this user; run as root",
				   choice->name);
	case TRACEPOINT_UNREAD:
		return failure_set_error(failure, errno, "cannot look up the tracepoint %s",
					 choice->name);
	case TRACEPOINT_UNKNOWN:
		break;
	}
	return failure_set(failure, FAILURE_EXIT_USAGE,
			   "unknown tracepoint '%s': perf list shows those of this kernel",
			   choice->name);
}

static bool take_modifier(struct event_choice *choice, const char *text)
{
	choice->user_only = strcmp(text, "u") == 0;
	choice->kernel_only = strcmp(text, "k") == 0;
	return choice->user_only || choice->kernel_only || strcmp(text, "uk") == 0 ||
	       text[0] == '\0';
}

static bool take_term(struct event_choice *choice, const char *term)
{
	uint64_t value;
	const char *equals = strchr(term, '=');
	if (!equals || !parse_number(equals + 1, 10, &value) || value == 0)
		return false;
	choice->period = choice->frequency = 0;
	if (strncmp(term, "period=", 7) == 0 && value <= PERIOD_MAX)
		choice->period = value;
	else if (strncmp(term, "freq=", 5) == 0 && value <= FREQUENCY_MAX)
		choice->frequency = value;
	return choice->period + choice->frequency > 0;
}

static bool take_terms(struct event_choice *choice, char *terms)
{
	char *rest = NULL;
	for (char *term = strtok_r(terms, ",", &rest); term; term = strtok_r(NULL, ",", &rest))
		if (!take_term(choice, term))
			return false;
	return true;
}

/* Takes the name apart from what follows it, which it cuts off. false: nobody knows what it means.
 */
static bool take_rest(struct event_choice *choice)
{
	char *name = choice->name;
	char *terms = strchr(name, '/');
	char *colon = strrchr(name, ':');
	if (terms) {
		char *end = strchr(terms + 1, '/');
		*terms++ = '\0';
		if (!end)
			return false;
		*end = '\0';
		return take_terms(choice, terms) && take_modifier(choice, end + 1);
	}
	if (!colon || !take_modifier(choice, colon + 1))
		return true; /* a tracepoint's colon */
	*colon = '\0';
	return true;
}

/* Every tracepoint counts, of other events as many as give so many samples a second. */
static void choose_period(struct event_choice *choice)
{
	if (choice->period > 0 || choice->frequency > 0)
		return;
	if (choice->type == PERF_TYPE_TRACEPOINT)
		choice->period = 1;
	else
		choice->frequency = DEFAULT_FREQUENCY;
}

int event_choice_parse(struct event_choice *choice, const char *text, struct failure *failure)
{
	*choice = (struct event_choice){0};
	if (strlen(text) >= sizeof(choice->name))
		return failure_set(failure, FAILURE_EXIT_USAGE, "bad event '%.20s...': too long",
				   text);
	snprintf(choice->name, sizeof(choice->name), "%s", text);
	if (!take_rest(choice))
		return failure_set(failure, FAILURE_EXIT_USAGE,
				   "bad event '%s': write NAME, NAME/period=N/ or NAME/freq=N/, "
				   "with u or k behind for one mode",
				   text);
	bool is_found = find_known(choice) || is_raw(choice);
	if (!is_found && strchr(choice->name, ':')) {
		if (find_tracepoint(choice, failure) < 0)
			return -1;
		is_found = true;
	}
	choose_period(choice);
	if (is_found)
		return 0;
	return failure_set(failure, FAILURE_EXIT_USAGE,
			   "unknown event '%s': tbcollect-analysis(5) has the names; the CPU's own "
			   "are rHEX",
			   choice->name);
}
