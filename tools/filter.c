#include "tools/filter.h"
#include "tools/xalloc.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *const key_names[] = {
	[FILTER_PROCESS] = "process", [FILTER_PID] = "pid",       [FILTER_THREAD] = "thread",
	[FILTER_TID] = "tid",         [FILTER_MODULE] = "module", [FILTER_FUNCTION] = "function",
};

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

const char *filter_add(struct filter *filter, const char *condition)
{
	const char *equals = strchr(condition, '=');
	if (!equals)
		return "no '=' in it";
	size_t length = (size_t)(equals - condition);
	struct filter_condition added = {.value = equals + 1};
	size_t key = 0;
	while (key < sizeof(key_names) / sizeof(key_names[0]) &&
	       (strlen(key_names[key]) != length ||
		strncmp(key_names[key], condition, length) != 0))
		key++;
	if (key == sizeof(key_names) / sizeof(key_names[0]))
		return "no such key (process, pid, thread, tid, module, function)";
	added.key = (enum filter_key)key;
	if ((added.key == FILTER_PID || added.key == FILTER_TID) &&
	    !parse_id(added.value, &added.number))
		return "the value is not a number";
	filter->conditions = xalloc_resize(filter->conditions, filter->count + 1, sizeof(added));
	filter->conditions[filter->count++] = added;
	return NULL;
}

void filter_finish(struct filter *filter)
{
	free(filter->conditions);
	memset(filter, 0, sizeof(*filter));
}

bool filter_needs_function(const struct filter *filter)
{
	for (size_t i = 0; i < filter->count; i++) {
		if (filter->conditions[i].key == FILTER_MODULE ||
		    filter->conditions[i].key == FILTER_FUNCTION)
			return true;
	}
	return false;
}

bool filter_takes_thread(const struct filter *filter, uint32_t pid, const char *process,
			 uint32_t tid, const char *thread)
{
	bool takes = true;
	for (size_t i = 0; takes && i < filter->count; i++) {
		const struct filter_condition *condition = &filter->conditions[i];
		if (condition->key == FILTER_PROCESS)
			takes = strcmp(condition->value, process) == 0;
		else if (condition->key == FILTER_PID)
			takes = condition->number == pid;
		else if (condition->key == FILTER_THREAD)
			takes = strcmp(condition->value, thread) == 0;
		else if (condition->key == FILTER_TID)
			takes = condition->number == tid;
	}
	return takes;
}

bool filter_takes_function(const struct filter *filter, const struct function *function,
			   const struct module *module)
{
	bool takes = true;
	for (size_t i = 0; takes && i < filter->count; i++) {
		const struct filter_condition *condition = &filter->conditions[i];
		if (condition->key == FILTER_MODULE)
			takes = strcmp(condition->value, module->name) == 0 ||
				strcmp(condition->value, module->path) == 0;
		else if (condition->key == FILTER_FUNCTION)
			takes = strcmp(condition->value, function->name) == 0 ||
				strcmp(condition->value, function->full) == 0;
	}
	return takes;
}
