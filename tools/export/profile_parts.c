#include "tools/export/profile_parts.h"

#include "profile/base/build_id.h"
#include "profile/read/reader.h"
#include "tools/collection/overview.h"
#include "tools/collection/skip_reason.h"
#include "tools/functions/filter.h"
#include "tools/functions/functions.h"
#include "tools/memory/xalloc.h"
#include "tools/samples/tally.h"
#include "tools/stacks/weighted_stacks.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Locations without an address: functions for missing knowledge, what threads waited for, their
 * states, and time in no sample: by function of the result, then these. */
enum { MARK_NO_SAMPLE, MARK_NO_THREAD, MARK_COUNT };

struct profile_parts {
	const struct profile_reader *reader;
	const struct functions *functions;
	const struct profile_format *format;
	void *user;
	uint64_t *mappings;  /* by image; 0: none */
	uint64_t *locations; /* by frame; 0: not written yet */
	uint64_t *marks;     /* likewise */
	uint64_t *stack;     /* locations, the leaf first */
	size_t stack_capacity;
	struct pprof_line *lines; /* scratch */
	size_t line_capacity;
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

static const char *file_of(const struct profile_parts *parts, uint32_t image)
{
	const struct functions *functions = parts->functions;
	const struct dso *dso = functions_dso(functions, functions_dso_of_image(functions, image));
	bool is_file = profile_reader_image(parts->reader, image)->kind == PROFILE_IMAGE_FILE;
	return is_file && dso->path[0] ? dso->path : dso->name;
}

static void add_mapping(struct profile_parts *parts, uint32_t index,
			const struct image_facts *facts)
{
	const struct profile_image *image = profile_reader_image(parts->reader, index);
	char build_id[PROFILE_BUILD_ID_TEXT_SIZE];
	profile_build_id_print(image->build_id, image->build_id_size, build_id);
	const struct pprof_mapping mapping = {
		.file = file_of(parts, index),
		.build_id = build_id,
		.has_files = facts->has_files,
		.has_lines = facts->has_lines,
		.has_inlined = facts->has_inlined,
	};
	parts->mappings[index] = parts->format->add_mapping(parts->user, &mapping);
}

/* The image of the target's program, as it was last; 0, unknown code, if there is none. */
static uint32_t find_program(const struct profile_parts *parts, const struct overview *overview,
			     const struct image_facts *images)
{
	const struct profile_reader *reader = parts->reader;
	for (uint32_t i = profile_reader_process_count(reader); i-- > 0;) {
		const struct profile_process_info *process = profile_reader_process(reader, i);
		if (!overview->target_pid.is_known || process->pid != overview->target_pid.value)
			continue;
		for (uint32_t j = 1; j < profile_reader_image_count(reader); j++) {
			if (images[j].is_used && strcmp(file_of(parts, j), process->path) == 0)
				return j;
		}
	}
	return 0;
}

/* Those with frames, the program's first. */
static void add_mappings(struct profile_parts *parts, const struct overview *overview)
{
	struct image_facts *images = collect_images(parts->reader);
	uint32_t program = find_program(parts, overview, images);
	if (program != 0)
		add_mapping(parts, program, &images[program]);
	for (uint32_t i = 1; i < profile_reader_image_count(parts->reader); i++) {
		if (images[i].is_used && i != program)
			add_mapping(parts, i, &images[i]);
	}
	free(images);
}

/* Lines have the file that their symbol names: a function may have lines of several. */
static uint64_t add_location(struct profile_parts *parts, uint32_t index)
{
	const struct profile_frame *frame = profile_reader_frame(parts->reader, index);
	uint32_t count = 0;
	uint32_t symbol_count = 0;
	const uint32_t *of_frame = functions_of_frame(parts->functions, index, &count);
	const struct profile_symbol *symbols =
		profile_reader_symbols(parts->reader, index, &symbol_count);
	xalloc_room(&parts->lines, &parts->line_capacity, count, sizeof(*parts->lines));
	for (uint32_t i = 0; i < count; i++) {
		const struct function *function =
			functions_at(parts->functions, of_frame[count - 1 - i]);
		struct pprof_line *line = &parts->lines[i];
		*line = (struct pprof_line){.name = function->name, .full = function->full};
		/* Without inlined functions there are symbols before the one shown. */
		if (symbol_count >= count) {
			const struct profile_symbol *symbol = &symbols[symbol_count - count + i];
			line->file = profile_reader_symtext(parts->reader, symbol->file);
			line->line = symbol->line;
		}
	}
	return parts->format->add_location(parts->user, parts->mappings[frame->image], frame->rva,
					   parts->lines, count);
}

static uint64_t locate_frame(struct profile_parts *parts, uint32_t frame)
{
	if (parts->locations[frame] == 0)
		parts->locations[frame] = add_location(parts, frame);
	return parts->locations[frame];
}

static uint64_t locate_mark(struct profile_parts *parts, uint32_t mark)
{
	uint32_t functions = functions_count(parts->functions);
	const char *name = mark == functions + MARK_NO_SAMPLE ? TALLY_NO_SAMPLE
			   : mark == functions + MARK_NO_THREAD
				   ? TALLY_NO_THREAD
				   : functions_at(parts->functions, mark)->name;
	const struct pprof_line line = {.name = name, .full = name};
	if (parts->marks[mark] == 0)
		parts->marks[mark] = parts->format->add_location(parts->user, 0, 0, &line, 1);
	return parts->marks[mark];
}

const uint64_t *profile_parts_stack(struct profile_parts *parts, const struct call_path *path,
				    size_t *count)
{
	*count = 0;
	xalloc_room(&parts->stack, &parts->stack_capacity, path->count, sizeof(*parts->stack));
	for (size_t left = path->count; left > 0;) {
		uint32_t function = path->functions[left - 1];
		uint32_t frame = path->frames[left - 1];
		if (function <= FUNCTION_KERNEL || frame == PROFILE_NONE) {
			parts->stack[(*count)++] = locate_mark(parts, function);
			left--;
			continue;
		}
		/* The lines of a location are all functions of the frame; the next frame may be
		 * the same one. */
		uint32_t lines = 0;
		functions_of_frame(parts->functions, frame, &lines);
		parts->stack[(*count)++] = locate_frame(parts, frame);
		while (lines-- > 0 && left > 0 && path->frames[left - 1] == frame)
			left--;
	}
	return parts->stack;
}

uint64_t profile_parts_no_sample(struct profile_parts *parts)
{
	return locate_mark(parts, functions_count(parts->functions) + MARK_NO_SAMPLE);
}

uint64_t profile_parts_no_thread(struct profile_parts *parts)
{
	return locate_mark(parts, functions_count(parts->functions) + MARK_NO_THREAD);
}

struct profile_parts *profile_parts_create(const struct weighted_stacks *stacks,
					   const struct overview *overview,
					   const struct profile_format *format, void *user)
{
	struct profile_parts *parts = xalloc_zeroed(1, sizeof(*parts));
	uint32_t images = profile_reader_image_count(stacks->reader);
	uint32_t frames = profile_reader_frame_count(stacks->reader);
	parts->reader = stacks->reader;
	parts->functions = stacks->functions;
	parts->format = format;
	parts->user = user;
	parts->mappings = xalloc_zeroed(images, sizeof(*parts->mappings));
	parts->locations = xalloc_zeroed(frames, sizeof(*parts->locations));
	parts->marks = xalloc_zeroed((size_t)functions_count(stacks->functions) + MARK_COUNT,
				     sizeof(*parts->marks));
	add_mappings(parts, overview);
	return parts;
}

void profile_parts_destroy(struct profile_parts *parts)
{
	free(parts->mappings);
	free(parts->locations);
	free(parts->marks);
	free(parts->stack);
	free(parts->lines);
	free(parts);
}

const char *profile_parts_state(const struct tally_entry *entry)
{
	static const char *const states[] = {
		[PROFILE_STACK_COMPLETE] = "complete",
		[PROFILE_STACK_SKIPPED] = "skipped",
		[PROFILE_STACK_GUESSED] = "guessed",
		[PROFILE_STACK_NONE] = "none",
	};
	return entry->state < sizeof(states) / sizeof(states[0]) ? states[entry->state] : NULL;
}

const char *profile_parts_reason(const struct tally_entry *entry)
{
	if (entry->state != PROFILE_STACK_SKIPPED && entry->state != PROFILE_STACK_GUESSED)
		return NULL;
	/* Reasons unknown to this version have the row of none. */
	uint16_t reason = entry->reason < PROFILE_SKIP_REASON_COUNT ? entry->reason : 0;
	return skip_reason_of((enum profile_skip_reason)reason)->key;
}

struct pprof_run profile_parts_run(const struct weighted_stacks *stacks, enum export_weight weight,
				   const struct overview *overview)
{
	static const enum pprof_value shown[] = {
		[EXPORT_WEIGHT_OWN] = PPROF_CPU,   [EXPORT_WEIGHT_SAMPLES] = PPROF_SAMPLES,
		[EXPORT_WEIGHT_CPU] = PPROF_CPU,   [EXPORT_WEIGHT_WALL] = PPROF_WALL,
		[EXPORT_WEIGHT_WAIT] = PPROF_WAIT,
	};
	uint64_t from_ns = stacks->filter->from_ns;
	uint64_t end_ns = overview->notes[PROFILE_NOTE_ELAPSED].value;
	uint64_t start_ns = overview->start_real_ns;
	if (stacks->filter->to_ns > 0 && stacks->filter->to_ns < end_ns)
		end_ns = stacks->filter->to_ns;
	return (struct pprof_run){
		.start_ns = start_ns > 0 ? start_ns + from_ns : 0,
		.duration_ns = end_ns > from_ns ? end_ns - from_ns : 0,
		.period_ns = profile_reader_interval_ns(stacks->reader),
		.event = profile_reader_counted_event(stacks->reader),
		.has_waits = stacks->tally->times != NULL,
		.shown = shown[weight],
	};
}

struct remarks {
	void (*take)(const char *line, void *user);
	void *user;
};

/* Frees the text. */
static void give_remark(const struct remarks *remarks, char *text)
{
	remarks->take(text, remarks->user);
	free(text);
}

static void give_warning(const char *sentence, void *user)
{
	give_remark(user, xalloc_printf("Warning: %s", sentence));
}

void profile_parts_remark(const struct weighted_stacks *stacks, const struct overview *overview,
			  void (*take)(const char *line, void *user), void *user)
{
	struct remarks remarks = {take, user};
	const struct tally *tally = stacks->tally;
	uint64_t lost = overview->notes[PROFILE_NOTE_SAMPLES_LOST].value;
	if (overview->command[0])
		give_remark(&remarks, xalloc_printf("Command Line: %s", overview->command));
	if (overview->collector[0])
		give_remark(&remarks, xalloc_printf("Collector: %s", overview->collector));
	if (lost > 0)
		give_remark(&remarks, xalloc_printf("Warning: %" PRIu64
						    " samples were lost, %" PRIu64 " are here",
						    lost, tally->samples));
	if (tally->collapsed > 0)
		give_remark(&remarks, xalloc_printf("Recursion is collapsed in the stacks of "
						    "%" PRIu64 " samples",
						    tally->collapsed));
	if (tally->estimated_ns > 0)
		give_remark(&remarks, xalloc_printf("%.3f s of the CPU time are estimated",
						    (double)tally->estimated_ns / 1e9));
	overview_warn(overview, stacks->reader, give_warning, &remarks);
	if (!overview->is_finalized && tally->samples > 0)
		give_warning("the result has no symbols yet; run tbconvert finalize, then export",
			     &remarks);
}
