/* Matches each UNLOADED record with its LOADED record. */
#include "containers/compare.h"
#include "tbrw/bind/module_index.h"
#include <assert.h>
#include <stdlib.h>

/* A record for the matching. */
struct module_event {
	uint32_t pid;
	uint64_t address;
	uint64_t when;
	size_t record;
	bool unload;
};

static int compare_keys(const struct module_event *x, const struct module_event *y)
{
	int order = compare_numbers(x->pid, y->pid);

	if (!order)
		order = compare_numbers(x->address, y->address);
	return order ? order : compare_numbers(x->when, y->when);
}

/* A load comes before an unload of the same moment. */
static int compare_events(const void *a, const void *b)
{
	const struct module_event *x = a;
	const struct module_event *y = b;
	int order = compare_keys(x, y);

	if (!order)
		order = x->unload - y->unload;
	return order ? order : compare_numbers(x->record, y->record);
}

static bool time_is_set(uint64_t when)
{
	return when != 0 && when != UINT64_MAX;
}

/* A record of an unload only. */
static bool is_unload(const TBRW_MODULE *m)
{
	return m->module_flags & TBRW_MODULE_UNLOADED && !(m->module_flags & TBRW_MODULE_LOADED);
}

static uint64_t record_unload(const TBRW_MODULE *m)
{
	/* Older records count samples, and hold the count in a field of their own (guide 8.6). */
	if (!(m->module_flags & TBRW_MODULE_TSC_USED) && m->reserved_for_legacy != 0 &&
	    m->reserved_for_legacy != UINT32_MAX)
		return m->reserved_for_legacy;
	return time_is_set(m->module_unload_tsc) ? m->module_unload_tsc : UINT64_MAX;
}

static void module_fill(struct tb5_bind_module *out, const TBRW_MODULE *m, size_t record)
{
	uint64_t room = UINT64_MAX - m->module_load_address;

	*out = (struct tb5_bind_module){
		.record = record,
		.address = m->module_load_address,
		.end = m->module_load_address + (m->module_length < room ? m->module_length : room),
		.load = m->module_event_when,
		.unload = record_unload(m),
		.name = m->module_path.soi_uniqueid ? m->module_path.soi_uniqueid
						    : m->module_name.soi_uniqueid,
		.global = m->module_flags & TBRW_MODULE_GLOBAL_LOAD,
		.tsc = m->module_flags & TBRW_MODULE_TSC_USED,
		.exe = m->module_flags & TBRW_MODULE_IS_EXE,
	};
	out->pid = out->global ? 0 : m->module_associated_pid;
}

static struct module_event event_of(const struct tb5_bind_module *module, uint64_t when,
				    bool unload)
{
	return (struct module_event){module->pid, module->address, when, module->record, unload};
}

/* Matches the UNLOADED records with a load time, each with a load of the same time. */
static void match_exact(struct module_event *events, size_t count, struct tb5_bind_module *modules)
{
	size_t load = 0; /* the first unmatched load of one key, or an unload */

	qsort(events, count, sizeof(*events), compare_events);
	for (size_t i = 0; i < count; i++) {
		if (compare_keys(&events[load], &events[i]) != 0)
			load = i;
		if (!events[i].unload || events[load].unload)
			continue;
		struct tb5_bind_module *loaded = &modules[events[load++].record];
		struct tb5_bind_module *unloaded = &modules[events[i].record];
		if (loaded->unload == UINT64_MAX)
			loaded->unload = unloaded->unload;
		unloaded->joined = true;
	}
}

/* Matches the UNLOADED records among `events`, each with the latest load still open. */
static void match_latest(struct module_event *events, size_t count, struct tb5_bind_module *modules,
			 size_t *open)
{
	size_t depth = 0;

	qsort(events, count, sizeof(*events), compare_events);
	for (size_t i = 0; i < count; i++) {
		const struct module_event *e = &events[i];

		if (i && (e->pid != events[i - 1].pid || e->address != events[i - 1].address))
			depth = 0;
		if (!e->unload) {
			assert(depth < count);
			open[depth++] = e->record;
			continue;
		}
		while (depth && modules[open[depth - 1]].unload != UINT64_MAX)
			depth--;
		if (depth) {
			modules[open[--depth]].unload = e->when;
			modules[e->record].joined = true;
		}
	}
}

bool tb5_modules_resolve(const TBRW_MODULE *records, size_t count, struct tb5_bind_module *modules)
{
	struct module_event *events = malloc((count ? count : 1) * sizeof(*events));
	size_t *open = malloc((count ? count : 1) * sizeof(*open));
	size_t used = 0;

	if (!events || !open) {
		free(events);
		free(open);
		return false;
	}
	for (size_t i = 0; i < count; i++) {
		module_fill(&modules[i], &records[i], i);
		if (!is_unload(&records[i]) || modules[i].unload != UINT64_MAX)
			events[used++] =
				event_of(&modules[i], modules[i].load, is_unload(&records[i]));
	}
	match_exact(events, used, modules);
	used = 0;
	for (size_t i = 0; i < count; i++) {
		bool is_timed = is_unload(&records[i]) && modules[i].unload != UINT64_MAX;
		if (!modules[i].joined)
			events[used++] = event_of(&modules[i],
						  is_timed ? modules[i].unload : modules[i].load,
						  is_unload(&records[i]));
	}
	match_latest(events, used, modules, open);
	/* An unmatched record without both times says nothing. */
	for (size_t i = 0; i < count; i++)
		if (is_unload(&records[i]) && modules[i].unload == UINT64_MAX)
			modules[i].joined = true;
	free(events);
	free(open);
	return true;
}
