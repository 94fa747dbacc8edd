#include "tbrw/bind/binder.h"

#include "containers/array.h"
#include "containers/compare.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- Deduced processes and threads ---- */

struct deduced_slot {
	struct hash_slot head; /* its number is the item's and one */
	uint64_t key[2];
};

struct deduced_key {
	uint64_t words[2]; /* owner; pid and tid */
	uint64_t hash;
};

static bool is_key_of(const void *slot, const void *key)
{
	const uint64_t *known = ((const struct deduced_slot *)slot)->key, *wanted = key;

	return known[0] == wanted[0] && known[1] == wanted[1];
}

static struct deduced_key make_key(const struct tb5_deduction *list, const struct tb5_deduced *item)
{
	struct deduced_key key = {{item->owner, tb5_thread_key(item->pid, item->tid)}, 0};

	key.hash = hash_number(&list->key, hash_number(&list->key, key.words[0]) ^ key.words[1]);
	return key;
}

/* Makes the item the list's memo; false: a new item. */
static bool find_deduced(struct tb5_deduction *list, const struct tb5_deduced *item)
{
	if (list->count == 0)
		return false;
	const struct tb5_deduced *last = &list->items[list->memo];
	if (last->owner == item->owner && last->pid == item->pid && last->tid == item->tid)
		return true;
	struct deduced_key key = make_key(list, item);
	const struct deduced_slot *slot =
		hash_table_find(&list->known, sizeof(*slot), key.hash, is_key_of, key.words);
	if (slot)
		list->memo = slot->head.number - 1;
	return slot != NULL;
}

/* Likewise for a new item. false: out of memory. */
static bool add_deduced(struct tb5_deduction *list, const struct tb5_deduced *item)
{
	if (list->count == 0)
		list->key = hash_key_draw();
	struct deduced_key key = make_key(list, item);
	if (!array_reserve(&list->items, &list->capacity, list->count + 1, sizeof(*list->items)))
		return false;
	struct deduced_slot *slot = hash_table_add(&list->known, sizeof(*slot), key.hash);
	if (!slot)
		return false;
	memcpy(slot->key, key.words, sizeof(slot->key));
	list->memo = list->count++;
	assert(slot->head.number == list->count);
	list->items[list->memo] = *item;
	return true;
}

/* The number of an item; with `deduce` a new item is added. TB5_BIND_NONE: new and not added.
 * false: out of memory. */
static bool meet_deduced(struct tb5_deduction *list, const struct tb5_deduced *item, bool deduce,
			 uint64_t *number)
{
	*number = TB5_BIND_NONE;
	if (!find_deduced(list, item)) {
		if (!deduce)
			return true;
		if (!add_deduced(list, item))
			return false;
	}
	assert(list->memo < list->count);
	struct tb5_deduced *met = &list->items[list->memo];
	if (item->seen < met->seen)
		met->seen = item->seen;
	*number = list->first + list->memo;
	return true;
}

static void finish_deduction(struct tb5_deduction *list)
{
	free(list->items);
	hash_table_finish(&list->known);
}

/* ---- Lives ---- */

static bool find_process(struct tb5_binder *binder, uint32_t pid, uint64_t when, bool deduce,
			 uint64_t *process)
{
	size_t gap;
	const struct tb5_life *life = tb5_lives_at(&binder->processes, pid, when, &gap);

	if (!life)
		return meet_deduced(&binder->deduced_processes,
				    &(struct tb5_deduced){.owner = gap, .seen = when, .pid = pid},
				    deduce, process);
	*process = life->record;
	return true;
}

bool tb5_binder_lives(struct tb5_binder *binder, uint32_t pid, uint32_t tid, uint64_t tsc,
		      bool deduce, uint64_t *process, uint64_t *thread)
{
	size_t gap;

	if (!find_process(binder, pid, tsc, deduce, process))
		return false;
	const struct tb5_life *life =
		tb5_lives_at(&binder->threads, tb5_thread_key(pid, tid), tsc, &gap);
	if (!life)
		return meet_deduced(&binder->deduced_threads,
				    &(struct tb5_deduced){*process, tsc, pid, tid}, deduce, thread);
	*thread = life->record;
	return true;
}

/* A life at `start`, else the first recorded one that begins by `end`, before another exec. NULL:
 * none; *position is as tb5_lives_at gives it. */
static const struct tb5_life *find_life_during(struct tb5_binder *binder, uint32_t pid,
					       uint64_t start, uint64_t end, size_t *position)
{
	const struct tb5_life *life = tb5_lives_at(&binder->processes, pid, start, position);
	const struct tb5_life *next = tb5_lives_item(&binder->processes, pid, *position + 1);

	if (life || !next || next->record == TB5_LIFE_NONE || next->start > end)
		return life;
	++*position;
	return next;
}

bool tb5_binder_process_of_thread(struct tb5_binder *binder, uint32_t pid, uint64_t start,
				  uint64_t end, uint64_t *process)
{
	size_t position, at_end;

	assert(start <= end);
	const struct tb5_life *life = find_life_during(binder, pid, start, end, &position);

	const struct tb5_life *last = tb5_lives_at(&binder->processes, pid, end, &at_end);
	if (life && at_end > life->last)
		last = &binder->processes.items[life->last];
	if (!last)
		return meet_deduced(&binder->deduced_processes,
				    &(struct tb5_deduced){.owner = at_end,
							  .seen = start,
							  .pid = pid},
				    true, process);
	*process = last->record;
	return true;
}

bool tb5_binder_process_of_module(struct tb5_binder *binder, const struct tb5_bind_module *module,
				  uint64_t *process)
{
	uint64_t start = module->tsc ? module->load : 0;
	uint64_t end = module->tsc ? module->unload - 1 : UINT64_MAX;
	size_t position;

	*process = TB5_BIND_NONE;
	if (module->global)
		return true;
	const struct tb5_life *life = find_life_during(binder, module->pid, start, end, &position);
	if (!life)
		return find_process(binder, module->pid, start, true, process);
	*process = life->record;
	return true;
}

void tb5_binder_span(const struct tb5_binder *binder, const struct tb5_deduced *process,
		     uint64_t *start, uint64_t *end)
{
	const struct tb5_life *before =
		tb5_lives_item(&binder->processes, process->pid, process->owner);

	*start = 0;
	if (before)
		*start = before->record == TB5_LIFE_NONE ? before->start : before->end + 1;
	*end = tb5_lives_end(&binder->processes, process->pid, process->owner, true);
}

/* ---- Modules ---- */

/* The load times of modules timed by sample numbers are unknown. */
static uint64_t load_time(const struct tb5_bind_module *module)
{
	return module->tsc ? module->load : 0;
}

static int compare_programs(const void *left, const void *right, void *user)
{
	size_t a = *(const size_t *)left, b = *(const size_t *)right;
	const struct tb5_bind_module *modules = user;
	int order = compare_numbers(modules[a].pid, modules[b].pid);

	if (!order)
		order = compare_numbers(load_time(&modules[a]), load_time(&modules[b]));
	return order ? order : compare_numbers(a, b);
}

static bool list_programs(struct tb5_binder *binder)
{
	binder->programs = reallocarray(NULL, binder->module_count + 1, sizeof(*binder->programs));
	if (!binder->programs)
		return false;
	for (size_t i = 0; i < binder->module_count; i++) {
		const struct tb5_bind_module *module = &binder->modules[i];
		if (module->exe && !module->global && !module->joined)
			binder->programs[binder->program_count++] = i;
	}
	qsort_r(binder->programs, binder->program_count, sizeof(*binder->programs),
		compare_programs, binder->modules);
	return true;
}

/* Cuts lives at the moments when a pid's executable module changes to another path. */
static bool cut_at_execs(struct tb5_binder *binder)
{
	const struct tb5_bind_module *previous = NULL;

	for (size_t i = 0; i < binder->program_count; i++) {
		const struct tb5_bind_module *module = &binder->modules[binder->programs[i]];
		bool is_same =
			previous && previous->pid == module->pid && previous->name == module->name;
		previous = module;
		if (!is_same && load_time(module) > 0 &&
		    !tb5_lives_cut(&binder->processes, module->pid, module->load))
			return false;
	}
	return true;
}

/* The module as long as its process lives. */
static struct tb5_bind_module within_process(struct tb5_binder *binder,
					     struct tb5_bind_module module)
{
	size_t position;

	if (module.global || !module.tsc || module.unload <= module.load)
		return module;
	const struct tb5_life *life =
		find_life_during(binder, module.pid, module.load, module.unload - 1, &position);
	uint64_t end = tb5_lives_end(&binder->processes, module.pid, position, !life);
	if (end < module.unload)
		module.unload = end;
	return module;
}

uint64_t tb5_binder_program(struct tb5_binder *binder, const struct tb5_deduced *process)
{
	size_t low = 0, high = binder->program_count;
	uint64_t start, end;

	tb5_binder_span(binder, process, &start, &end);
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct tb5_bind_module *module = &binder->modules[binder->programs[middle]];
		if (module->pid < process->pid ||
		    (module->pid == process->pid && load_time(module) <= start))
			low = middle + 1;
		else
			high = middle;
	}
	if (low > 0) {
		const struct tb5_bind_module *before = &binder->modules[binder->programs[low - 1]];
		if (before->pid == process->pid && within_process(binder, *before).unload > start)
			return before->record;
	}
	if (low < binder->program_count) {
		const struct tb5_bind_module *after = &binder->modules[binder->programs[low]];
		if (after->pid == process->pid && load_time(after) < end)
			return after->record;
	}
	return TB5_BIND_NONE;
}

static bool index_modules(struct tb5_binder *binder)
{
	struct tb5_bind_module *modules =
		reallocarray(NULL, binder->module_count + 1, sizeof(*modules));
	size_t count = 0;

	if (!modules)
		return false;
	for (size_t i = 0; i < binder->module_count; i++)
		if (!binder->modules[i].joined)
			modules[count++] = within_process(binder, binder->modules[i]);
	return tb5_module_index_build(&binder->index, modules, count);
}

bool tb5_binder_seal(struct tb5_binder *binder, const TBRW_MODULE *records, size_t count)
{
	assert(!binder->modules);
	binder->modules = reallocarray(NULL, count + 1, sizeof(*binder->modules));
	if (!binder->modules || !tb5_modules_resolve(records, count, binder->modules))
		return false;
	binder->module_count = count;
	if (!list_programs(binder) || !cut_at_execs(binder))
		return false;
	tb5_lives_seal(&binder->processes);
	tb5_lives_seal(&binder->threads);
	return index_modules(binder);
}

uint64_t tb5_binder_module(struct tb5_binder *binder, uint32_t pid, uint64_t ip, uint64_t tsc,
			   uint64_t sample)
{
	const struct tb5_bind_module *module =
		tb5_module_index_find(&binder->index, pid, ip, tsc, sample);

	return module ? module->record : TB5_BIND_NONE;
}

void tb5_binder_finish(struct tb5_binder *binder)
{
	tb5_lives_finish(&binder->processes);
	tb5_lives_finish(&binder->threads);
	finish_deduction(&binder->deduced_processes);
	finish_deduction(&binder->deduced_threads);
	tb5_module_index_finish(&binder->index);
	free(binder->programs);
	free(binder->modules);
}
