#include "tools/functions/filter.h"

#include "tools/functions/functions.h"
#include "tools/memory/xalloc.h"
#include "tools/text/suggest.h"
#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *const key_names[] = {
	[FILTER_PROCESS] = "process", [FILTER_PID] = "pid",       [FILTER_THREAD] = "thread",
	[FILTER_TID] = "tid",         [FILTER_MODULE] = "module", [FILTER_FUNCTION] = "function",
	[FILTER_TASK] = "task",       [FILTER_STACK] = "stack",   NULL,
};

_Static_assert(sizeof(key_names) / sizeof(key_names[0]) == FILTER_STACK + 2, "a name for each key");

static bool parse_id(const char *text, uint32_t *number)
{
	if (text[0] == '\0' || strspn(text, "0123456789") != strlen(text))
		return false;
	errno = 0;
	unsigned long long value = strtoull(text, NULL, 10);
	if (errno || value > UINT32_MAX)
		return false;
	*number = (uint32_t)value;
	return true;
}

const char *filter_key_name(enum filter_key key)
{
	return key_names[key];
}

/* Parses the value. Returns NULL, or the problem's text for the caller to free. */
static char *parse_value(struct filter_condition *condition)
{
	char words[128];
	if (condition->key == FILTER_PID || condition->key == FILTER_TID)
		return parse_id(condition->value, &condition->number)
			       ? NULL
			       : xalloc_printf("%s must be a number", key_names[condition->key]);
	if (condition->value[0] != '~')
		return NULL;
	condition->regex = xalloc_zeroed(1, sizeof(*condition->regex));
	int code = regcomp(condition->regex, condition->value + 1, REG_EXTENDED | REG_NOSUB);
	if (code == 0)
		return NULL;
	regerror(code, condition->regex, words, sizeof(words));
	free(condition->regex);
	return xalloc_printf("no POSIX extended regular expression behind ~: %s", words);
}

char *filter_add(struct filter *filter, const char *condition)
{
	const char *equals = strchr(condition, '=');
	if (!equals)
		return xalloc_text("no '=' in it; use KEY=VALUE");
	size_t length = (size_t)(equals - condition);
	size_t key = 0;
	while (key_names[key] && (strlen(key_names[key]) != length ||
				  strncmp(key_names[key], condition, length) != 0))
		key++;
	if (!key_names[key]) {
		char *list = suggest_list(key_names);
		char *problem = xalloc_printf("no such key; use %s", list);
		free(list);
		return problem;
	}
	return filter_add_value(filter, (enum filter_key)key, equals + 1);
}

char *filter_add_value(struct filter *filter, enum filter_key key, const char *value)
{
	struct filter_condition added = {.key = key, .value = value};
	char *problem = parse_value(&added);
	if (problem)
		return problem;
	filter->conditions = xalloc_resize(filter->conditions, filter->count + 1, sizeof(added));
	filter->conditions[filter->count++] = added;
	return NULL;
}

/* 31 years: longer than any collection, and in ns within 64 bits. */
#define SECONDS_MAX 1e9

bool filter_parse_time(const char *text, uint64_t *ns)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = {{"", 1e9}, {"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"ns", 1}};
	const char *unit = text + strspn(text, "0123456789.");
	char *end;
	double number = strtod(text, &end);
	if (unit == text || end != unit || number > SECONDS_MAX)
		return false;
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
		*ns = (uint64_t)(number * units[i].ns + 0.5);
		if (strcmp(unit, units[i].name) == 0)
			return true;
	}
	return false;
}

/* Returns NULL, or the problem's text. An empty range would end at 0, which means no end. */
static char *set_times(struct filter *filter, bool is_time, uint64_t from_ns, uint64_t to_ns)
{
	if (!is_time)
		return xalloc_text("not a time since the start; use e.g. 1.5s or 200ms");
	filter->from_ns = from_ns;
	filter->to_ns = to_ns;
	return to_ns > from_ns ? NULL
			       : xalloc_text("no time is left; the end must lie behind the "
					     "beginning");
}

char *filter_set_from(struct filter *filter, const char *time)
{
	uint64_t from_ns = 0;
	bool is_time = filter_parse_time(time, &from_ns);
	if (is_time && filter->to_ns == 0) {
		filter->from_ns = from_ns;
		return NULL;
	}
	return set_times(filter, is_time, from_ns, filter->to_ns);
}

char *filter_set_to(struct filter *filter, const char *time)
{
	uint64_t to_ns = 0;
	bool is_time = filter_parse_time(time, &to_ns);
	return set_times(filter, is_time, filter->from_ns, to_ns);
}

void filter_finish(struct filter *filter)
{
	for (size_t i = 0; i < filter->count; i++) {
		if (filter->conditions[i].regex)
			regfree(filter->conditions[i].regex);
		free(filter->conditions[i].regex);
	}
	free(filter->conditions);
	memset(filter, 0, sizeof(*filter));
}

/* libc stands for libc.so.6 and for libc-2.36.so, libc.so for the first one. */
static bool is_without_version(const char *value, const char *name)
{
	size_t length = strlen(value);
	if (length == 0 || strncmp(value, name, length) != 0)
		return false;
	const char *rest = name + length;
	if (strncmp(rest, ".so", 3) == 0 && (rest[3] == '\0' || rest[3] == '.'))
		return true;
	return (rest[0] == '-' || rest[0] == '.') && isdigit((unsigned char)rest[1]) &&
	       strstr(name, ".so");
}

bool filter_takes_name(const struct filter_condition *condition, const char *name,
		       const char *other)
{
	assert(condition->key != FILTER_PID && condition->key != FILTER_TID);
	if (condition->regex)
		return regexec(condition->regex, name, 0, NULL, 0) == 0 ||
		       (other && regexec(condition->regex, other, 0, NULL, 0) == 0);
	return strcmp(condition->value, name) == 0 ||
	       (other && strcmp(condition->value, other) == 0) ||
	       (condition->key == FILTER_MODULE && is_without_version(condition->value, name));
}

bool filter_needs_function(const struct filter *filter)
{
	for (size_t i = 0; i < filter->count; i++) {
		enum filter_key key = filter->conditions[i].key;
		if (key == FILTER_MODULE || key == FILTER_FUNCTION || key == FILTER_STACK)
			return true;
	}
	return false;
}

bool filter_has_tasks(const struct filter *filter)
{
	for (size_t i = 0; i < filter->count; i++)
		if (filter->conditions[i].key == FILTER_TASK)
			return true;
	return false;
}

bool filter_has_times(const struct filter *filter)
{
	return filter_has_tasks(filter) || filter->from_ns > 0 || filter->to_ns > 0;
}

bool filter_takes_time(const struct filter *filter, uint64_t since_start_ns)
{
	return since_start_ns >= filter->from_ns &&
	       (filter->to_ns == 0 || since_start_ns < filter->to_ns);
}

bool filter_takes_thread(const struct filter *filter, uint32_t pid, const char *process,
			 uint32_t tid, const char *thread)
{
	bool takes = true;
	for (size_t i = 0; takes && i < filter->count; i++) {
		const struct filter_condition *condition = &filter->conditions[i];
		if (condition->key == FILTER_PROCESS)
			takes = filter_takes_name(condition, process, NULL);
		else if (condition->key == FILTER_PID)
			takes = condition->number == pid;
		else if (condition->key == FILTER_THREAD)
			takes = filter_takes_name(condition, thread, NULL);
		else if (condition->key == FILTER_TID)
			takes = condition->number == tid;
	}
	return takes;
}

bool filter_takes_function(const struct filter *filter, const struct function *function,
			   const struct dso *dso)
{
	bool takes = true;
	for (size_t i = 0; takes && i < filter->count; i++) {
		const struct filter_condition *condition = &filter->conditions[i];
		if (condition->key == FILTER_MODULE)
			takes = filter_takes_name(condition, dso->name, dso->path);
		else if (condition->key == FILTER_FUNCTION)
			takes = filter_takes_name(condition, function->name, function->full);
	}
	return takes;
}

bool filter_takes_on_stack(const struct filter_condition *condition,
			   const struct function *function)
{
	assert(condition->key == FILTER_STACK);
	return filter_takes_name(condition, function->name, function->full);
}
