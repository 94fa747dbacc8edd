#include "tools/collection/quality.h"

#include "tools/memory/xalloc.h"
#include "tools/report/report.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Facts of a node, from the nodes between it and the root. */
struct node_facts {
	uint32_t outermost; /* frame of the node below the root; PROFILE_NONE of the root itself */
	uint32_t steps;     /* see struct quality_row */
	uint32_t pointer_steps;
	uint64_t samples; /* with this node in their stacks */
};

static uint32_t frame_dso(const struct report_input *input, uint32_t frame)
{
	uint32_t count = 0;
	uint32_t function = FUNCTION_UNKNOWN;
	if (frame != PROFILE_NONE)
		function = functions_of_frame(input->functions, frame, &count)[0];
	return functions_at(input->functions, function)->dso;
}

/* The unknown image for no frame. */
static const struct profile_image *frame_image(const struct profile_reader *reader, uint32_t frame)
{
	static const struct profile_image unknown = {.kind = PROFILE_IMAGE_UNKNOWN};
	if (frame == PROFILE_NONE)
		return &unknown;
	return profile_reader_image(reader, profile_reader_frame(reader, frame)->image);
}

/* Whether the code's file lacks a symbol. Nobody could install symbols for other code. */
static bool is_nameless(const struct profile_reader *reader, uint32_t frame)
{
	uint32_t count;
	if (frame_image(reader, frame)->kind != PROFILE_IMAGE_FILE)
		return false;
	const struct profile_symbol *symbols = profile_reader_symbols(reader, frame, &count);
	return count == 0 || symbols[count - 1].flags & PROFILE_SYMBOL_PSEUDO;
}

static struct node_facts *learn_nodes(const struct profile_reader *reader)
{
	uint32_t count = profile_reader_node_count(reader);
	struct node_facts *facts = xalloc_zeroed(count, sizeof(*facts));
	facts[0].outermost = PROFILE_NONE;
	/* Parents come before their children. */
	for (uint32_t i = 1; i < count; i++) {
		const struct profile_node *node = profile_reader_node(reader, i);
		assert(node->parent < i);
		const struct node_facts *parent = &facts[node->parent];
		facts[i] = *parent;
		if (node->parent == 0) {
			facts[i].outermost = node->frame;
			continue;
		}
		if (frame_image(reader, node->frame)->kind == PROFILE_IMAGE_KERNEL)
			continue;
		uint32_t caller = profile_reader_node(reader, node->parent)->frame;
		uint32_t flags =
			caller == PROFILE_NONE ? 0 : profile_reader_frame(reader, caller)->flags;
		if (flags & PROFILE_FRAME_GUESSED)
			continue;
		facts[i].steps++;
		if (flags & PROFILE_FRAME_POINTER)
			facts[i].pointer_steps++;
	}
	return facts;
}

static void add_samples(struct quality_row *row, const struct tally_entry *entry, bool nameless)
{
	row->samples += entry->sum.samples;
	if (entry->state <= PROFILE_STACK_NONE)
		row->states[entry->state] += entry->sum.samples;
	if (nameless)
		row->nameless += entry->sum.samples;
	tally_add_guesses(&row->guesses, &entry->guesses);
}

static void add_skipped(struct quality_row *row, const struct tally_entry *entry, bool unreadable)
{
	if (entry->state != PROFILE_STACK_SKIPPED)
		return;
	row->skipped[entry->reason < PROFILE_SKIP_REASON_COUNT ? entry->reason
							       : PROFILE_SKIP_NOT_SKIPPED] +=
		entry->sum.samples;
	row->skipped_sum += entry->sum.samples;
	if (unreadable)
		row->unreadable += entry->sum.samples;
}

static void add_steps(struct quality_row *row, const struct tally_entry *entry,
		      const struct node_facts *facts)
{
	row->steps += entry->sum.samples * facts->steps;
	row->pointer_steps += entry->sum.samples * facts->pointer_steps;
}

static void add_entry(const struct report_input *input, struct quality *quality,
		      const struct tally_entry *entry, struct node_facts *facts)
{
	const struct profile_reader *reader = input->reader;
	bool is_kernel = entry->node == TALLY_KERNEL;
	uint32_t node = is_kernel ? 0 : entry->node;
	uint32_t leaf = profile_reader_node(reader, node)->frame;
	uint32_t outermost = facts[node].outermost;
	uint32_t dso = is_kernel ? functions_at(input->functions, FUNCTION_KERNEL)->dso
				 : frame_dso(input, leaf);
	uint32_t known = profile_reader_thread_count(reader);
	struct quality_row *thread =
		&quality->threads[entry->thread == PROFILE_NONE ? known : entry->thread];
	bool nameless = is_nameless(reader, leaf);
	bool unreadable = frame_image(reader, outermost)->flags & PROFILE_IMAGE_NOT_OPEN;

	facts[node].samples += entry->sum.samples;
	add_samples(&quality->run, entry, nameless);
	add_samples(thread, entry, nameless);
	add_samples(&quality->modules[dso], entry, nameless);
	add_skipped(&quality->run, entry, unreadable);
	add_skipped(thread, entry, unreadable);
	add_skipped(&quality->modules[frame_dso(input, outermost)], entry, unreadable);
	add_steps(&quality->run, entry, &facts[node]);
	add_steps(thread, entry, &facts[node]);
}

/* A module's steps start at its nodes, in all stacks through them. */
static void add_module_steps(const struct report_input *input, struct quality *quality,
			     struct node_facts *facts)
{
	for (uint32_t i = profile_reader_node_count(input->reader); i-- > 1;) {
		const struct profile_node *node = profile_reader_node(input->reader, i);
		const struct node_facts *parent = &facts[node->parent];
		struct quality_row *module = &quality->modules[frame_dso(input, node->frame)];
		assert(facts[i].steps - parent->steps <= 1);
		module->steps += facts[i].samples * (facts[i].steps - parent->steps);
		module->pointer_steps +=
			facts[i].samples * (facts[i].pointer_steps - parent->pointer_steps);
		facts[node->parent].samples += facts[i].samples;
	}
}

static void add_unwinding(struct quality_row *row, const struct profile_unwinding *more)
{
	profile_unwinding_add(&row->unwinding, more);
	row->has_unwinding = row->has_guesses = true;
}

static void take_unwinding(const struct report_input *input, struct quality *quality)
{
	for (uint32_t i = 0; i < profile_reader_unwinding_count(input->reader); i++) {
		const struct profile_unwinding *unwinding =
			profile_reader_unwinding(input->reader, i);
		uint32_t subject = unwinding->subject;
		if (unwinding->kind == PROFILE_UNWINDING_THREAD)
			add_unwinding(&quality->threads[subject], unwinding);
		if (unwinding->kind == PROFILE_UNWINDING_IMAGE)
			add_unwinding(&quality->modules[functions_dso_of_image(input->functions,
									       subject)],
				      unwinding);
		quality->run.has_parts |= unwinding->kind == PROFILE_UNWINDING_THREAD ||
					  unwinding->kind == PROFILE_UNWINDING_IMAGE;
	}
}

static void finish_row(struct quality_row *row, const char *scope)
{
	const struct profile_unwinding *unwinding = &row->unwinding;
	row->scope = scope;
	if (unwinding->frames > unwinding->frames_reused)
		row->asked = unwinding->frames - unwinding->frames_reused;
	if (row->asked > unwinding->lookups)
		row->cache_hits = row->asked - unwinding->lookups;
	if (unwinding->timed_frames > 0)
		row->frame_ns = unwinding->timed_ns / unwinding->timed_frames;
}

static void finish_rows(const struct report_input *input, struct quality *quality)
{
	for (uint32_t i = 0; i < quality->module_count; i++) {
		const struct dso *dso = functions_dso(input->functions, i);
		quality->modules[i].name = dso->name;
		quality->modules[i].path = dso->path;
		finish_row(&quality->modules[i], "module");
	}
	for (uint32_t i = 0; i < profile_reader_thread_count(input->reader); i++) {
		const struct profile_thread_info *thread = profile_reader_thread(input->reader, i);
		quality->threads[i].name = thread->name;
		quality->threads[i].is_thread = true;
		quality->threads[i].pid = thread->pid;
		quality->threads[i].tid = thread->tid;
		finish_row(&quality->threads[i], "thread");
	}
	finish_row(&quality->threads[quality->thread_count - 1], "thread");
	quality->threads[quality->thread_count - 1].name = "[Unknown]";
	finish_row(&quality->run, "run");
}

void quality_collect(const struct report_input *input, struct quality *quality)
{
	struct node_facts *facts = learn_nodes(input->reader);
	memset(quality, 0, sizeof(*quality));
	quality->module_count = functions_dso_count(input->functions);
	quality->modules = xalloc_zeroed(quality->module_count, sizeof(*quality->modules));
	quality->thread_count = (size_t)profile_reader_thread_count(input->reader) + 1;
	quality->threads = xalloc_zeroed(quality->thread_count, sizeof(*quality->threads));
	struct weighted_stacks at = report_stacks(input, false);
	while (weighted_stacks_next(&at))
		add_entry(input, quality, at.entry, facts);
	add_module_steps(input, quality, facts);
	free(facts);
	overview_collect(input->reader, &input->tally, input->path, &quality->overview);
	quality->run.unwinding = quality->overview.unwinding;
	quality->run.has_unwinding = quality->overview.has_unwinding;
	quality->run.has_guesses = quality->overview.has_guesses;
	quality->run.deep_walks = quality->overview.deep_walks;
	quality->run.deep_frames = quality->overview.deep_frames;
	quality->run.collector_cpu_ns = quality->overview.notes[PROFILE_NOTE_COLLECTOR_CPU];
	take_unwinding(input, quality);
	finish_rows(input, quality);
}

void quality_finish(struct quality *quality)
{
	free(quality->modules);
	free(quality->threads);
	memset(quality, 0, sizeof(*quality));
}

uint64_t quality_skipped(const struct quality_row *row)
{
	return row->states[PROFILE_STACK_SKIPPED];
}
