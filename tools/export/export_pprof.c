/* A pprof profile of the samples: what the format's messages are made of. */
#include "tools/collection/overview.h"
#include "tools/collection/skip_reason.h"
#include "tools/export/export.h"
#include "tools/functions/filter.h"
#include "tools/memory/xalloc.h"
#include "tools/pprof/pprof.h"
#include "tools/samples/tally.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Locations without an address: functions for missing knowledge, and time in no sample. */
enum { MARK_NO_SAMPLE = FUNCTION_KERNEL + 1, MARK_NO_THREAD, MARK_COUNT };

struct exporting {
	const struct profile_reader *reader;
	const struct functions *functions;
	struct pprof *pprof;
	uint64_t *mappings;  /* by image; 0: none */
	uint64_t *locations; /* by frame; 0: not written yet */
	uint64_t marks[MARK_COUNT];
	uint64_t *stack; /* locations, the leaf first */
	size_t stack_capacity;
	struct pprof_line *lines; /* scratch */
	size_t line_capacity;
	struct pprof_label labels[PPROF_LABELS_MAX];
	size_t label_count;
};

struct image_facts {
	bool is_used;
	bool has_files;
	bool has_lines;
	bool has_inlined;
};

static struct image_facts *collect_images(const struct profile_reader *reader)
{
	struct image_facts *images =
		xalloc_zeroed(profile_reader_image_count(reader), sizeof(*images));
	for (uint32_t i = 0; i < profile_reader_frame_count(reader); i++) {
		struct image_facts *image = &images[profile_reader_frame(reader, i)->image];
		uint32_t count = 0;
		const struct profile_symbol *symbols = profile_reader_symbols(reader, i, &count);
		image->is_used = true;
		for (uint32_t j = 0; j < count; j++) {
			image->has_files |= symbols[j].file.length > 0;
			image->has_lines |= symbols[j].line > 0;
			image->has_inlined |= (symbols[j].flags & PROFILE_SYMBOL_INLINED) != 0;
		}
	}
	return images;
}

static const char *file_of(const struct exporting *exporting, uint32_t image)
{
	const struct functions *functions = exporting->functions;
	const struct dso *dso = functions_dso(functions, functions_dso_of_image(functions, image));
	bool is_file = profile_reader_image(exporting->reader, image)->kind == PROFILE_IMAGE_FILE;
	return is_file && dso->path[0] ? dso->path : dso->name;
}

static void add_mapping(struct exporting *exporting, uint32_t index,
			const struct image_facts *facts)
{
	const struct profile_image *image = profile_reader_image(exporting->reader, index);
	char build_id[2 * sizeof(image->build_id) + 1] = "";
	for (uint32_t i = 0; i < image->build_id_size; i++)
		snprintf(build_id + (size_t)2 * i, 3, "%02x", image->build_id[i]);
	exporting->mappings[index] =
		pprof_add_mapping(exporting->pprof, &(struct pprof_mapping){
							    .file = file_of(exporting, index),
							    .build_id = build_id,
							    .has_files = facts->has_files,
							    .has_lines = facts->has_lines,
							    .has_inlined = facts->has_inlined,
						    });
}

/* The image of the target's program, as it was last; 0, unknown code, if there is none. */
static uint32_t find_program(const struct exporting *exporting, const struct overview *overview,
			     const struct image_facts *images)
{
	const struct profile_reader *reader = exporting->reader;
	for (uint32_t i = profile_reader_process_count(reader); i-- > 0;) {
		const struct profile_process_info *process = profile_reader_process(reader, i);
		if (!overview->target_pid.is_known || process->pid != overview->target_pid.value)
			continue;
		for (uint32_t j = 1; j < profile_reader_image_count(reader); j++) {
			if (images[j].is_used && strcmp(file_of(exporting, j), process->path) == 0)
				return j;
		}
	}
	return 0;
}

/* Those with frames, the program's first. */
static void add_mappings(struct exporting *exporting, const struct overview *overview)
{
	struct image_facts *images = collect_images(exporting->reader);
	uint32_t program = find_program(exporting, overview, images);
	if (program != 0)
		add_mapping(exporting, program, &images[program]);
	for (uint32_t i = 1; i < profile_reader_image_count(exporting->reader); i++) {
		if (images[i].is_used && i != program)
			add_mapping(exporting, i, &images[i]);
	}
	free(images);
}

/* Lines have the file that their symbol names: a function may have lines of several. */
static uint64_t add_location(struct exporting *exporting, uint32_t index)
{
	const struct profile_frame *frame = profile_reader_frame(exporting->reader, index);
	uint32_t count = 0;
	uint32_t symbol_count = 0;
	const uint32_t *of_frame = functions_of_frame(exporting->functions, index, &count);
	const struct profile_symbol *symbols =
		profile_reader_symbols(exporting->reader, index, &symbol_count);
	xalloc_room(&exporting->lines, &exporting->line_capacity, count, sizeof(*exporting->lines));
	for (uint32_t i = 0; i < count; i++) {
		const struct function *function =
			functions_at(exporting->functions, of_frame[count - 1 - i]);
		struct pprof_line *line = &exporting->lines[i];
		*line = (struct pprof_line){.name = function->name, .full = function->full};
		/* Without inlined functions there are symbols before the one shown. */
		if (symbol_count >= count) {
			const struct profile_symbol *symbol = &symbols[symbol_count - count + i];
			line->file = profile_reader_symtext(exporting->reader, symbol->file);
			line->line = symbol->line;
		}
	}
	return pprof_add_location(exporting->pprof, exporting->mappings[frame->image], frame->rva,
				  exporting->lines, count);
}

static uint64_t locate_frame(struct exporting *exporting, uint32_t frame)
{
	if (exporting->locations[frame] == 0)
		exporting->locations[frame] = add_location(exporting, frame);
	return exporting->locations[frame];
}

static uint64_t locate_mark(struct exporting *exporting, uint32_t mark)
{
	const char *name = mark == MARK_NO_SAMPLE ? TALLY_NO_SAMPLE
			   : mark == MARK_NO_THREAD
				   ? TALLY_NO_THREAD
				   : functions_at(exporting->functions, mark)->name;
	if (exporting->marks[mark] == 0)
		exporting->marks[mark] =
			pprof_add_location(exporting->pprof, 0, 0,
					   &(struct pprof_line){.name = name, .full = name}, 1);
	return exporting->marks[mark];
}

/* Fills exporting->stack. Returns the number of locations. */
static size_t make_stack(struct exporting *exporting, const struct call_path *path)
{
	size_t count = 0;
	xalloc_room(&exporting->stack, &exporting->stack_capacity, path->count,
		    sizeof(*exporting->stack));
	for (size_t left = path->count; left > 0;) {
		uint32_t function = path->functions[left - 1];
		uint32_t frame = path->frames[left - 1];
		if (function <= FUNCTION_KERNEL) {
			exporting->stack[count++] = locate_mark(exporting, function);
			left--;
			continue;
		}
		/* The lines of a location are all functions of the frame; the next frame may be
		 * the same one. */
		uint32_t lines = 0;
		functions_of_frame(exporting->functions, frame, &lines);
		exporting->stack[count++] = locate_frame(exporting, frame);
		while (lines-- > 0 && left > 0 && path->frames[left - 1] == frame)
			left--;
	}
	return count;
}

static void add_label(struct exporting *exporting, const char *key, const char *text,
		      uint64_t number)
{
	if ((text && text[0]) || number > 0)
		exporting->labels[exporting->label_count++] =
			(struct pprof_label){key, text, number};
}

/* Begins the labels of a sample. */
static void label_owner(struct exporting *exporting, const struct stack_owner *owner)
{
	exporting->label_count = 0;
	add_label(exporting, "comm", owner->process, 0);
	add_label(exporting, "pid", NULL, owner->pid);
	add_label(exporting, "thread", owner->thread, 0);
	add_label(exporting, "tid", NULL, owner->tid);
}

static void label_stack(struct exporting *exporting, const struct tally_entry *entry)
{
	static const char *const states[] = {
		[PROFILE_STACK_COMPLETE] = "complete",
		[PROFILE_STACK_SKIPPED] = "skipped",
		[PROFILE_STACK_GUESSED] = "guessed",
		[PROFILE_STACK_NONE] = "none",
	};
	bool is_known = entry->state < sizeof(states) / sizeof(states[0]);
	add_label(exporting, "stack", is_known ? states[entry->state] : NULL, 0);
	if (entry->state != PROFILE_STACK_SKIPPED && entry->state != PROFILE_STACK_GUESSED)
		return;
	/* Reasons unknown to this version have the row of none. */
	uint16_t reason = entry->reason < PROFILE_SKIP_REASON_COUNT ? entry->reason : 0;
	add_label(exporting, "stack_reason", skip_reason_of((enum profile_skip_reason)reason)->key,
		  0);
}

static void add_sample(struct exporting *exporting, const uint64_t *locations, size_t count,
		       uint64_t samples, uint64_t cpu_ns)
{
	const struct pprof_sample sample = {locations,         count,
					    samples,           cpu_ns,
					    exporting->labels, exporting->label_count};
	pprof_add_sample(exporting->pprof, &sample);
}

/* Each sample of the profile is a distinct stack of a thread. */
static void add_stacks(struct exporting *exporting, struct weighted_stacks *stacks)
{
	while (weighted_stacks_next(stacks)) {
		struct stack_owner owner = weighted_stacks_owner(stacks);
		size_t count = make_stack(exporting, &stacks->call_path);
		label_owner(exporting, &owner);
		label_stack(exporting, stacks->entry);
		add_sample(exporting, exporting->stack, count, stacks->entry->sum.samples,
			   stacks->entry->sum.cpu_ns);
	}
}

/* CPU time in no sample, by thread, and of no known thread. */
static void add_rest(struct exporting *exporting, const struct weighted_stacks *stacks)
{
	uint64_t threadless_ns = weighted_stacks_threadless_ns(stacks);
	for (uint32_t i = 0; i < profile_reader_thread_count(stacks->reader); i++) {
		uint64_t rest_ns = stacks->tally->thread_rest_ns[i];
		if (rest_ns == 0)
			continue;
		uint64_t location = locate_mark(exporting, MARK_NO_SAMPLE);
		struct stack_owner owner = weighted_stacks_owner_of_thread(stacks, i);
		label_owner(exporting, &owner);
		add_sample(exporting, &location, 1, 0, rest_ns);
	}
	if (threadless_ns > 0) {
		uint64_t location = locate_mark(exporting, MARK_NO_THREAD);
		exporting->label_count = 0;
		add_sample(exporting, &location, 1, 0, threadless_ns);
	}
}

/* Frees the text. */
static void add_comment(struct pprof *pprof, char *text)
{
	pprof_add_comment(pprof, text);
	free(text);
}

static void add_warning(const char *sentence, void *pprof)
{
	add_comment(pprof, xalloc_printf("Warning: %s", sentence));
}

/* Whose profile it is, and what the summary says of its gaps. */
static void add_comments(struct exporting *exporting, const struct overview *overview,
			 const struct tally *tally)
{
	struct pprof *pprof = exporting->pprof;
	uint64_t lost = overview->notes[PROFILE_NOTE_SAMPLES_LOST].value;
	if (overview->command[0])
		add_comment(pprof, xalloc_printf("Command Line: %s", overview->command));
	if (overview->collector[0])
		add_comment(pprof, xalloc_printf("Collector: %s", overview->collector));
	if (lost > 0)
		add_comment(pprof, xalloc_printf("Warning: %" PRIu64 " samples were lost, %" PRIu64
						 " are here",
						 lost, tally->samples));
	if (tally->collapsed > 0)
		add_comment(pprof, xalloc_printf("Recursion is collapsed in the stacks of %" PRIu64
						 " samples",
						 tally->collapsed));
	if (tally->estimated_ns > 0)
		add_comment(pprof, xalloc_printf("%.3f s of the CPU time are estimated",
						 (double)tally->estimated_ns / 1e9));
	overview_warn(overview, exporting->reader, add_warning, pprof);
	if (!overview->is_finalized && tally->samples > 0)
		add_warning("the result has no symbols yet; run tbconvert finalize, then export",
			    pprof);
}

/* Of the part of the time that the filter takes. */
static struct pprof_run describe_run(const struct weighted_stacks *stacks,
				     const struct overview *overview)
{
	uint64_t from_ns = stacks->filter->from_ns;
	uint64_t end_ns = overview->notes[PROFILE_NOTE_ELAPSED].value;
	uint64_t start_ns = overview->first_clock.real_ns;
	if (stacks->filter->to_ns > 0 && stacks->filter->to_ns < end_ns)
		end_ns = stacks->filter->to_ns;
	return (struct pprof_run){
		.start_ns = start_ns > 0 ? start_ns + from_ns : 0,
		.duration_ns = end_ns > from_ns ? end_ns - from_ns : 0,
		.period_ns = profile_reader_interval_ns(stacks->reader),
	};
}

static void write_profile(struct exporting *exporting, struct weighted_stacks *stacks, FILE *stream)
{
	struct overview overview;
	overview_collect(exporting->reader, stacks->tally, "", &overview);
	const struct pprof_run run = describe_run(stacks, &overview);
	exporting->pprof = pprof_create(stream, &run);
	add_mappings(exporting, &overview);
	add_stacks(exporting, stacks);
	add_rest(exporting, stacks);
	add_comments(exporting, &overview, stacks->tally);
	pprof_finish(exporting->pprof);
}

TBRW_U32 export_pprof_write(struct weighted_stacks *stacks, const struct export_options *options,
			    FILE *stream)
{
	(void)options; /* threads are labels */
	uint32_t images = profile_reader_image_count(stacks->reader);
	uint32_t frames = profile_reader_frame_count(stacks->reader);
	struct exporting exporting = {
		.reader = stacks->reader,
		.functions = stacks->functions,
		.mappings = xalloc_zeroed(images, sizeof(*exporting.mappings)),
		.locations = xalloc_zeroed(frames, sizeof(*exporting.locations)),
	};
	write_profile(&exporting, stacks, stream);
	free(exporting.mappings);
	free(exporting.locations);
	free(exporting.stack);
	free(exporting.lines);
	return VT_SUCCESS;
}
