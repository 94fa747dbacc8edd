#include "tools/import_stacks/stack_result.h"

#include "containers/compare.h"
#include "profile/write/writer.h"
#include "tools/import_stacks/stack_store.h"
#include "tools/memory/xalloc.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Half of what 64 bits hold: no sum of sums overflows. */
#define TIME_MAX (UINT64_MAX / 4)

/* Of an interval that is not known: the guide's file wants one. */
#define INTERVAL_NS UINT64_C(10000000)

static bool add_time(struct stack_result *result, uint64_t cpu_ns)
{
	if (cpu_ns > TIME_MAX - result->cpu_ns)
		return false;
	result->cpu_ns += cpu_ns;
	return true;
}

bool stack_result_add(struct stack_result *result, const struct stack_weight *weight)
{
	if (weight->samples > TIME_MAX - result->samples || !add_time(result, weight->cpu_ns))
		return false;
	struct stack_weight added = *weight;
	if (weight->samples == 0 && weight->is_kernel) {
		result->owners[weight->owner].kernel_ns += weight->cpu_ns;
		return true;
	}
	if (weight->samples == 0)
		added.samples = 1;
	result->samples += added.samples;
	xalloc_room(&result->weights, &result->weight_capacity, result->weight_count + 1,
		    sizeof(*result->weights));
	result->weights[result->weight_count++] = added;
	return true;
}

bool stack_result_add_rest(struct stack_result *result, uint32_t owner, uint64_t cpu_ns)
{
	if (!add_time(result, cpu_ns))
		return false;
	result->owners[owner].rest_ns += cpu_ns;
	return true;
}

bool stack_result_add_unattributed(struct stack_result *result, uint64_t cpu_ns)
{
	if (!add_time(result, cpu_ns))
		return false;
	result->unattributed_ns += cpu_ns;
	return true;
}

struct writing {
	struct stack_result *result;
	const struct stack_run *run;
	struct profile_writer *writer;
	uint64_t now; /* an order, no time */
	TBRW_U32 code;
};

static void write_tables(struct writing *writing)
{
	const struct stack_result *result = writing->result;
	for (uint32_t i = 1; i < result->image_count && writing->code == VT_SUCCESS; i++)
		writing->code =
			profile_writer_add_image(writing->writer, &result->images[i],
						 result->texts.texts[result->image_paths[i]], NULL);
	for (uint32_t i = 0; i < result->frame_count && writing->code == VT_SUCCESS; i++)
		writing->code = profile_writer_add_frame(writing->writer, &result->frames[i]);
	for (uint32_t i = 1; i < result->node_count && writing->code == VT_SUCCESS; i++)
		writing->code = profile_writer_add_node(writing->writer, &result->nodes[i]);
}

/* The part of a sum that the i-th of so many takes: sums of parts are exact. */
static uint64_t part_of(uint64_t sum, uint64_t i, uint64_t count)
{
	unsigned __int128 whole = sum;
	return (uint64_t)(whole * (i + 1) / count) - (uint64_t)(whole * i / count);
}

static uint64_t records_of(const struct writing *writing, const struct stack_weight *weight)
{
	uint64_t limit = writing->run->samples_limit;
	if (writing->result->samples <= limit)
		return weight->samples;
	uint64_t records =
		(uint64_t)((unsigned __int128)weight->samples * limit / writing->result->samples);
	return records > 0 ? records : 1;
}

/* Time of the kernel to spread over an owner's records. */
struct kernel_spread {
	uint64_t us;
	uint64_t passed;
	uint64_t count; /* of records */
	uint64_t given_us;
};

static uint32_t take_kernel_us(struct kernel_spread *kernel)
{
	uint64_t us = part_of(kernel->us, kernel->passed++, kernel->count);
	if (us >= PROFILE_KERNEL_ALL)
		us = PROFILE_KERNEL_ALL - 1;
	kernel->given_us += us;
	return (uint32_t)us;
}

static uint64_t address_of(const struct stack_result *result, uint32_t frame)
{
	if (frame == PROFILE_NONE)
		return 0;
	const struct stack_mapping *mapping = &result->mappings[result->frames[frame].image];
	return mapping->start + (result->frames[frame].rva - mapping->rva);
}

static void write_samples(struct writing *writing, const struct stack_weight *weight,
			  struct kernel_spread *kernel)
{
	const struct stack_result *result = writing->result;
	const struct stack_owner_record *owner = &result->owners[weight->owner];
	const struct profile_node *node = &result->nodes[weight->node];
	uint64_t count = records_of(writing, weight);
	struct profile_sample sample = {
		.ip = address_of(result, node->frame),
		.pid = owner->pid,
		.tid = owner->tid,
		.cs = 0x33,
	};
	for (uint64_t i = 0; i < count && writing->code == VT_SUCCESS; i++) {
		uint32_t kernel_us = weight->is_kernel ? 0 : take_kernel_us(kernel);
		sample.time_ns = writing->now++;
		sample.stack = (struct profile_stack){
			.cpu_ns = part_of(weight->cpu_ns, i, count) + UINT64_C(1000) * kernel_us,
			.node = weight->node,
			.state = weight->state,
			.reason = weight->reason,
			.kernel_us = weight->is_kernel ? PROFILE_KERNEL_ALL : kernel_us,
		};
		writing->code = profile_writer_add_sample(writing->writer, &sample);
	}
}

/* A thread's life is that of its samples: one behind the other, threads with one number and other
 * names are apart. */
static size_t write_thread(struct writing *writing, uint32_t index, size_t first)
{
	struct stack_result *result = writing->result;
	const struct stack_owner_record *owner = &result->owners[index];
	struct profile_thread_life life = {
		.pid = owner->pid,
		.tid = owner->tid,
		.start_ns = writing->now,
		.name = result->texts.texts[owner->thread],
	};
	struct kernel_spread kernel = {.us = owner->kernel_ns / 1000};
	size_t end = first;
	uint64_t samples = 0;
	for (; end < result->weight_count && result->weights[end].owner == index; end++) {
		const struct stack_weight *weight = &result->weights[end];
		samples += records_of(writing, weight);
		kernel.count += weight->is_kernel ? 0 : records_of(writing, weight);
		*(weight->is_kernel ? &life.kernel_ns : &life.sampled_ns) += weight->cpu_ns;
	}
	for (size_t i = first; i < end; i++)
		write_samples(writing, &result->weights[i], &kernel);
	/* What is left is in no sample. */
	life.rest_ns = owner->rest_ns + owner->kernel_ns - 1000 * kernel.given_us;
	life.kernel_ns += 1000 * kernel.given_us;
	life.cpu_ns = life.sampled_ns + life.kernel_ns + life.rest_ns;
	life.samples = (uint32_t)samples;
	life.end_ns = ++writing->now;
	if (writing->code == VT_SUCCESS)
		writing->code = profile_writer_add_thread(writing->writer, &life);
	return end;
}

static void write_process(struct writing *writing, const struct stack_owner_record *owner,
			  uint64_t start_ns)
{
	const char *name = writing->result->texts.texts[owner->process];
	const struct profile_process process = {
		.pid = owner->pid,
		.start_ns = start_ns,
		.end_ns = writing->now,
		.path = "",
		.name = name,
	};
	if (writing->code == VT_SUCCESS)
		writing->code = profile_writer_add_process(writing->writer, &process);
	/* Lives that meet are those of one process that called exec: not of unknown ones. */
	if (owner->pid == 0)
		writing->now++;
}

static int compare_owners(const struct stack_result *result, uint32_t left, uint32_t right)
{
	const struct stack_owner_record *a = &result->owners[left];
	const struct stack_owner_record *b = &result->owners[right];
	int order = compare_numbers(a->pid, b->pid);
	if (order == 0)
		order = compare_numbers(a->process, b->process);
	if (order == 0)
		order = compare_numbers(a->tid, b->tid);
	return order ? order : compare_numbers(left, right);
}

static int compare_owner_indices(const void *a, const void *b, void *result)
{
	return compare_owners(result, *(const uint32_t *)a, *(const uint32_t *)b);
}

struct weight_order {
	const uint32_t *place_of_owner;
};

static int compare_weights(const void *a, const void *b, void *user)
{
	const struct weight_order *order = user;
	const struct stack_weight *left = a;
	const struct stack_weight *right = b;
	int by_owner = compare_numbers(order->place_of_owner[left->owner],
				       order->place_of_owner[right->owner]);
	return by_owner ? by_owner : compare_numbers(left->node, right->node);
}

/* The owners in the order of writing, for the caller to free. */
static uint32_t *sort_owners(struct stack_result *result)
{
	uint32_t count = stack_store_owner_count(result);
	uint32_t *owners = xalloc_zeroed(count, sizeof(*owners));
	uint32_t *places = xalloc_zeroed(count, sizeof(*places));
	for (uint32_t i = 0; i < count; i++)
		owners[i] = i;
	if (count > 1)
		qsort_r(owners, count, sizeof(*owners), compare_owner_indices, result);
	for (uint32_t i = 0; i < count; i++)
		places[owners[i]] = i;
	struct weight_order order = {places};
	if (result->weight_count > 1)
		qsort_r(result->weights, result->weight_count, sizeof(*result->weights),
			compare_weights, &order);
	free(places);
	return owners;
}

/* Modules of the first process. Of several processes, which one had an image is not known, and
 * neither are addresses. */
static void write_modules(struct writing *writing, const uint32_t *owners)
{
	const struct stack_result *result = writing->result;
	uint32_t count = stack_store_owner_count(result);
	const struct stack_owner_record *first = &result->owners[owners[0]];
	const struct stack_owner_record *last = &result->owners[owners[count - 1]];
	bool is_one = first->pid == last->pid && first->process == last->process;
	for (uint32_t i = 1; i < result->image_count && writing->code == VT_SUCCESS; i++) {
		const struct stack_mapping none = {0};
		const struct stack_mapping *mapping = is_one ? &result->mappings[i] : &none;
		const struct profile_module module = {
			.pid = first->pid,
			.image = i,
			.start = mapping->start,
			.length = mapping->length,
			.pgoff = mapping->pgoff,
			.rva = mapping->rva,
			.path = result->texts.texts[result->image_paths[i]],
			.cs = 0x33,
			.is_executable = i == 1,
			.is_first = i == 1,
		};
		if (result->images[i].kind == PROFILE_IMAGE_FILE)
			writing->code = profile_writer_add_module(writing->writer, &module);
	}
}

static void write_owners(struct writing *writing)
{
	struct stack_result *result = writing->result;
	uint32_t count = stack_store_owner_count(result);
	uint32_t *owners = sort_owners(result);
	uint64_t start_ns = writing->now;
	size_t weight = 0;
	if (count > 0)
		write_modules(writing, owners);
	for (uint32_t i = 0; i < count && writing->code == VT_SUCCESS; i++) {
		const struct stack_owner_record *owner = &result->owners[owners[i]];
		weight = write_thread(writing, owners[i], weight);
		const struct stack_owner_record *next =
			i + 1 < count ? &result->owners[owners[i + 1]] : NULL;
		if (next && next->pid == owner->pid && next->process == owner->process)
			continue;
		write_process(writing, owner, start_ns);
		start_ns = writing->now;
	}
	free(owners);
}

static void write_note(struct writing *writing, enum profile_note_kind kind, uint64_t value,
		       const char *text)
{
	if (writing->code == VT_SUCCESS && (value > 0 || text))
		writing->code = profile_writer_add_note(writing->writer, kind, PROFILE_TIME_BEFORE,
							value, 0, 0, text);
}

static void write_notes(struct writing *writing)
{
	struct stack_result *result = writing->result;
	const struct stack_run *run = writing->run;
	if (result->samples > run->samples_limit)
		stack_result_warn(result, xalloc_printf("the file counts %" PRIu64
							" samples: they are scaled down to about "
							"%" PRIu64 ", times are not",
							result->samples, run->samples_limit));
	write_note(writing, PROFILE_NOTE_COLLECTOR, 0, run->collector);
	if (writing->code == VT_SUCCESS && run->command)
		writing->code = profile_writer_add_note(writing->writer, PROFILE_NOTE_COMMAND,
							PROFILE_TIME_BEFORE, 0, run->command_pid, 0,
							run->command);
	write_note(writing, PROFILE_NOTE_ANALYSIS, 0, "hotspots");
	write_note(writing, PROFILE_NOTE_INTERVAL, run->interval_ns, NULL);
	write_note(writing, PROFILE_NOTE_ELAPSED, run->elapsed_ns, NULL);
	write_note(writing, PROFILE_NOTE_KERNEL_TIME,
		   run->has_kernel_time ? PROFILE_KERNEL_TIME_APART : 0, NULL);
	write_note(writing, PROFILE_NOTE_UNATTRIBUTED, result->unattributed_ns, NULL);
	for (size_t i = 0; i < result->warning_count; i++)
		write_note(writing, PROFILE_NOTE_WARNING, 0, result->warnings[i]);
}

static TBRW_U32 write_symbols(const struct stack_result *result, const char *path)
{
	struct profile_writer *writer;
	TBRW_U32 code =
		result->symbol_count > 0 ? profile_symbol_writer_begin(path, &writer) : VT_SUCCESS;
	if (code != VT_SUCCESS || result->symbol_count == 0)
		return code;
	for (size_t i = 0; i < result->symbol_count && code == VT_SUCCESS; i++) {
		const struct stack_symbol_record *symbol = &result->symbols[i];
		const struct profile_symbol_text text = {result->texts.texts[symbol->name],
							 result->texts.texts[symbol->full],
							 result->texts.texts[symbol->file]};
		code = profile_symbol_writer_add(writer, &symbol->symbol, &text);
	}
	if (code == VT_SUCCESS)
		return profile_symbol_writer_finish(writer);
	profile_writer_abandon(writer);
	return code;
}

uint32_t stack_result_write(struct stack_result *result, const char *path,
			    const struct stack_run *run)
{
	const struct profile_run begin = {
		.clock = {.real_ns = run->start_ns},
		.is_timeless = true,
		.interval_ns = run->interval_ns ? run->interval_ns : INTERVAL_NS,
		.event_name = "CPU Time",
	};
	struct writing writing = {.result = result, .run = run, .now = 1};
	writing.code = profile_writer_create(path, &begin, &writing.writer);
	if (writing.code != VT_SUCCESS)
		return writing.code;
	write_tables(&writing);
	write_owners(&writing);
	write_notes(&writing);
	const struct profile_run_end end = {
		.command_line = run->command ? run->command : "",
		.comment = "imported",
		.clock = {.raw_ns = run->elapsed_ns, .real_ns = run->start_ns + run->elapsed_ns},
	};
	if (writing.code != VT_SUCCESS) {
		profile_writer_abandon(writing.writer);
		return writing.code;
	}
	writing.code = profile_writer_finish(writing.writer, &end);
	return writing.code == VT_SUCCESS ? write_symbols(result, path) : writing.code;
}
