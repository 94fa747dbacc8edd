#include "tools/import_stacks/pprof_labels.h"

#include "tools/collection/skip_reason.h"
#include <pprof.pb-c.h> /* generated from tools/pprof/pprof.proto */
#include <stdlib.h>
#include <string.h>

enum label { LABEL_PROCESS, LABEL_PID, LABEL_THREAD, LABEL_TID, LABEL_STATE, LABEL_REASON };

/* Ours first, then those of other writers. */
static const struct {
	const char *key;
	enum label label;
} keys[] = {
	{"comm", LABEL_PROCESS},
	{"pid", LABEL_PID},
	{"thread", LABEL_THREAD},
	{"tid", LABEL_TID},
	{"stack", LABEL_STATE},
	{"stack_reason", LABEL_REASON},
	{"process", LABEL_PROCESS},
	{"process_name", LABEL_PROCESS},
	{"process.executable.name", LABEL_PROCESS},
	{"process_id", LABEL_PID},
	{"process.pid", LABEL_PID},
	{"thread_name", LABEL_THREAD},
	{"thread name", LABEL_THREAD},
	{"thread.name", LABEL_THREAD},
	{"thread_id", LABEL_TID},
	{"thread id", LABEL_TID},
	{"thread.id", LABEL_TID},
};

/* 0: no number of a process or thread. */
static uint32_t number_of(const char *text, int64_t number)
{
	if (text[0] >= '0' && text[0] <= '9')
		number = strtoll(text, NULL, 10);
	return number > 0 && number <= INT32_MAX ? (uint32_t)number : 0;
}

static uint8_t reason_of(const char *key)
{
	uint8_t reason = PROFILE_SKIP_REASON_COUNT - 1;
	while (reason > 0 &&
	       strcmp(skip_reason_of((enum profile_skip_reason)reason)->key, key) != 0)
		reason--;
	return reason;
}

static void read_thread(struct stack_owner_name *owner, const char *text, int64_t number)
{
	if (text[0])
		owner->thread = text;
	else if (owner->tid == 0)
		owner->tid = number_of("", number);
}

void pprof_labels_read(const struct pprof_tables *tables, const Pprof__Sample *sample,
		       struct stack_owner_name *owner, uint8_t *state, uint8_t *reason)
{
	for (size_t i = 0; i < sample->n_label; i++) {
		const Pprof__Label *label = sample->label[i];
		const char *key = pprof_tables_text(tables, label->key);
		const char *text = pprof_tables_text(tables, label->str);
		size_t k = 0;
		while (k < sizeof(keys) / sizeof(keys[0]) && strcmp(keys[k].key, key) != 0)
			k++;
		if (k == sizeof(keys) / sizeof(keys[0]))
			continue;
		switch (keys[k].label) {
		case LABEL_PROCESS:
			owner->process = text;
			break;
		case LABEL_PID:
			owner->pid = number_of(text, label->num);
			break;
		case LABEL_THREAD:
			read_thread(owner, text, label->num);
			break;
		case LABEL_TID:
			owner->tid = number_of(text, label->num);
			break;
		case LABEL_STATE:
			if (strcmp(text, "none") == 0)
				*state = PROFILE_STACK_NONE;
			break;
		case LABEL_REASON:
			*reason = reason_of(text);
			break;
		}
	}
	if (strcmp(owner->process, "[Unknown]") == 0)
		owner->process = "";
	if (strcmp(owner->thread, "[Unknown]") == 0)
		owner->thread = "";
}
