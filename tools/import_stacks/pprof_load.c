/* Profiles in pprof's format: ours, Go's, and what else writes the format. */
#include "tools/functions/functions.h"
#include "tools/import_stacks/load.h"
#include "tools/import_stacks/marks.h"
#include "tools/import_stacks/pprof_labels.h"
#include "tools/import_stacks/pprof_tables.h"
#include "tools/import_stacks/pprof_values.h"
#include "tools/import_stacks/unpack.h"
#include "tools/memory/xalloc.h"
#include "tools/terminal/diagnose.h"
#include "tools/text/path.h"
#include <inttypes.h>
#include <pprof.pb-c.h> /* generated from tools/pprof/pprof.proto */
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Programs that are not moved when loaded lie below. */
#define FIXED_MAX UINT64_C(0x10000000)

/* User code lies below. */
#define PLACE_MAX (UINT64_C(1) << 47)

struct image {
	uint32_t index;
	uint64_t shift; /* from an address to the file's own */
};

/* Of a location, where it is verified and where it is guessed; 0: not made yet, else one more. */
struct frames {
	uint32_t verified;
	uint32_t guessed;
	uint32_t mark; /* marks_find of its only function; MARKS_NONE: no mark; likewise */
};

struct loading {
	struct stack_result *result;
	struct pprof_tables tables;
	struct pprof_values values;
	struct image *images;           /* by mapping */
	struct frames *frames;          /* by location */
	struct stack_symbol *functions; /* by function; name NULL: not read yet */
	char *program;                  /* by the first mapping */
	uint32_t program_pid;           /* 0: not known */
	struct stack_symbol *symbols;   /* scratch */
	size_t symbol_capacity;
	size_t *stack; /* scratch: locations, the leaf first */
	size_t stack_capacity;
	uint32_t unknown; /* frame of unknown code, one more; 0: not made yet */
	uint64_t negative;
	uint64_t too_large;
	uint64_t bad;         /* messages */
	uint64_t bad_targets; /* references that lead nowhere */
	bool has_kernel_time;
};

static bool has_prefix(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

static uint8_t value_of_digit(char digit)
{
	return (uint8_t)(digit <= '9' ? digit - '0' : (digit | 0x20) - 'a' + 10);
}

/* Go's own build ids are no hexadecimal digits, and are left out. */
static void set_build_id(struct profile_image *image, const char *text)
{
	size_t length = strlen(text);
	if (length % 2 != 0 || length > 2 * sizeof(image->build_id) ||
	    strspn(text, "0123456789abcdefABCDEF") != length)
		return;
	for (size_t i = 0; i < length; i += 2)
		image->build_id[i / 2] =
			(uint8_t)(value_of_digit(text[i]) << 4 | value_of_digit(text[i + 1]));
	image->build_id_size = (uint32_t)(length / 2);
}

static uint32_t kind_of(const char *file)
{
	return strcmp(file, "[vdso]") == 0     ? PROFILE_IMAGE_VDSO
	       : strcmp(file, "[kernel]") == 0 ? PROFILE_IMAGE_KERNEL
	       : strcmp(file, "[jit]") == 0    ? PROFILE_IMAGE_JIT
	       : file[0]                       ? PROFILE_IMAGE_FILE
					       : PROFILE_IMAGE_UNKNOWN;
}

/* A mapping of all addresses has the file's own ones already. */
static uint64_t shift_of(const Pprof__Mapping *mapping)
{
	return mapping->memory_start < FIXED_MAX ? 0 : mapping->file_offset - mapping->memory_start;
}

static bool has_place(const Pprof__Mapping *mapping)
{
	return mapping->memory_start > 0 && mapping->memory_limit > mapping->memory_start &&
	       mapping->memory_limit <= PLACE_MAX;
}

static void add_image(struct loading *loading, size_t index)
{
	const struct pprof_bytes *bytes = &loading->tables.mappings.items[index].bytes;
	Pprof__Mapping *mapping = pprof__mapping__unpack(NULL, bytes->size, bytes->bytes);
	if (!mapping) {
		loading->bad++;
		return;
	}
	const char *file = pprof_tables_text(&loading->tables, mapping->filename);
	struct profile_image image = {.kind = kind_of(file)};
	set_build_id(&image, pprof_tables_text(&loading->tables, mapping->build_id));
	bool is_file = image.kind == PROFILE_IMAGE_FILE;
	struct image made = {.shift = is_file ? shift_of(mapping) : 0};
	struct stack_mapping place = {0};
	if (is_file && has_place(mapping))
		place = (struct stack_mapping){
			.start = mapping->memory_start,
			.length = mapping->memory_limit - mapping->memory_start,
			.pgoff = mapping->file_offset,
			.rva = mapping->memory_start + made.shift,
		};
	if (image.kind != PROFILE_IMAGE_UNKNOWN) {
		made.index = stack_result_add_image(loading->result, &image, is_file ? file : "",
						    &place);
		loading->images[index] = made;
	}
	if (is_file && !loading->program)
		loading->program = xalloc_text(path_base_name(file));
	pprof__mapping__free_unpacked(mapping, NULL);
}

static void add_images(struct loading *loading)
{
	size_t count = loading->tables.mappings.count;
	loading->images = xalloc_zeroed(count, sizeof(*loading->images));
	for (size_t i = 0; i < count; i++)
		add_image(loading, i);
}

/* A function's message is read once: many lines may name a large one. */
static const struct stack_symbol *read_function(struct loading *loading, size_t index)
{
	const struct pprof_tables *tables = &loading->tables;
	const struct pprof_bytes *bytes = &tables->functions.items[index].bytes;
	struct stack_symbol *symbol = &loading->functions[index];
	if (symbol->name)
		return symbol;
	symbol->name = "";
	Pprof__Function *function = pprof__function__unpack(NULL, bytes->size, bytes->bytes);
	if (!function) {
		loading->bad++;
		return symbol;
	}
	const char *full = pprof_tables_text(tables, function->system_name);
	symbol->name = pprof_tables_text(tables, function->name);
	if (!symbol->name[0])
		symbol->name = full;
	/* Our own exports have the name with parameters there; a mangled name shows nowhere. */
	symbol->full = full[0] && !has_prefix(full, "_Z") ? full : NULL;
	symbol->file = pprof_tables_text(tables, function->filename);
	pprof__function__free_unpacked(function, NULL);
	return symbol;
}

static void fill_symbol(struct loading *loading, const Pprof__Line *line,
			struct stack_symbol *symbol)
{
	const struct pprof_items *functions = &loading->tables.functions;
	size_t index = pprof_items_find(functions, line->function_id);
	bool is_known = index < functions->count;
	*symbol = is_known ? *read_function(loading, index) : (struct stack_symbol){.name = ""};
	loading->bad_targets += !is_known;
	if (line->line > 0 && line->line <= UINT32_MAX)
		symbol->line = (uint32_t)line->line;
}

/* The names of a frame without any are the report's. */
static void add_symbols(struct loading *loading, const Pprof__Location *location)
{
	size_t count = 0;
	xalloc_room(&loading->symbols, &loading->symbol_capacity, location->n_line,
		    sizeof(*loading->symbols));
	for (size_t i = 0; i < location->n_line && i < UINT16_MAX; i++) {
		fill_symbol(loading, location->line[i], &loading->symbols[count]);
		count += loading->symbols[count].name[0] != '\0';
	}
	if (count > 0)
		stack_result_add_symbols(loading->result, loading->symbols, count);
}

static Pprof__Location *unpack_location(struct loading *loading, size_t index)
{
	const struct pprof_bytes *bytes = &loading->tables.locations.items[index].bytes;
	Pprof__Location *location = pprof__location__unpack(NULL, bytes->size, bytes->bytes);
	loading->bad += !location;
	return location;
}

static uint32_t make_frame(struct loading *loading, size_t index, bool is_guessed)
{
	Pprof__Location *location = unpack_location(loading, index);
	struct profile_frame frame = {.flags = is_guessed ? PROFILE_FRAME_GUESSED : 0};
	struct image image = {0};
	if (location && location->mapping_id != 0) {
		const struct pprof_items *mappings = &loading->tables.mappings;
		size_t mapping = pprof_items_find(mappings, location->mapping_id);
		loading->bad_targets += mapping == mappings->count;
		if (mapping < mappings->count)
			image = loading->images[mapping];
	}
	frame.image = image.index;
	/* Without an address, a number. */
	frame.rva = location && location->address ? location->address + image.shift
						  : (uint64_t)index + 1;
	uint32_t made = stack_result_add_frame(loading->result, &frame);
	if (location)
		add_symbols(loading, location);
	if (location)
		pprof__location__free_unpacked(location, NULL);
	return made;
}

static uint32_t enter_frame(struct loading *loading, size_t index, bool is_guessed)
{
	struct frames *frames = &loading->frames[index];
	uint32_t *place = is_guessed ? &frames->guessed : &frames->verified;
	if (*place == 0)
		*place = make_frame(loading, index, is_guessed) + 1;
	return *place - 1;
}

/* Code of a location that leads nowhere. */
static uint32_t unknown_frame(struct loading *loading)
{
	if (loading->unknown == 0)
		loading->unknown =
			stack_result_add_frame(loading->result, &(struct profile_frame){0}) + 1;
	return loading->unknown - 1;
}

static uint32_t find_mark(struct loading *loading, size_t index)
{
	Pprof__Location *location = unpack_location(loading, index);
	uint32_t mark = MARKS_NONE;
	if (location && location->n_line == 1 && location->mapping_id == 0 &&
	    location->address == 0) {
		struct stack_symbol symbol;
		fill_symbol(loading, location->line[0], &symbol);
		mark = marks_find(symbol.name);
	}
	if (location)
		pprof__location__free_unpacked(location, NULL);
	return mark;
}

/* What our exports have in place of a function. */
static uint32_t mark_of(struct loading *loading, size_t index)
{
	if (index == loading->tables.locations.count)
		return FUNCTION_UNKNOWN;
	struct frames *frames = &loading->frames[index];
	if (frames->mark == 0)
		frames->mark = find_mark(loading, index) + 1;
	return frames->mark - 1;
}

/* Fills loading->stack. */
static size_t find_locations(struct loading *loading, const Pprof__Sample *sample)
{
	const struct pprof_items *locations = &loading->tables.locations;
	xalloc_room(&loading->stack, &loading->stack_capacity, sample->n_location_id,
		    sizeof(*loading->stack));
	for (size_t i = 0; i < sample->n_location_id; i++) {
		loading->stack[i] = pprof_items_find(locations, sample->location_id[i]);
		loading->bad_targets += loading->stack[i] == locations->count;
	}
	return sample->n_location_id;
}

/* Where the marks stand in the stack: what they say goes to the weight. Returns the seam between
 * verified and guessed frames, or the count. */
static size_t read_marks(struct loading *loading, size_t *count, struct stack_weight *weight)
{
	if (*count > 0 && mark_of(loading, loading->stack[*count - 1]) == FUNCTION_SKIPPED) {
		weight->state = PROFILE_STACK_SKIPPED;
		(*count)--;
	}
	if (*count > MARKS_DEPTH_MAX) {
		*count = MARKS_DEPTH_MAX;
		weight->state = PROFILE_STACK_SKIPPED;
		weight->reason = PROFILE_SKIP_DEPTH;
	}
	for (size_t i = *count; i-- > 0;) {
		if (mark_of(loading, loading->stack[i]) != FUNCTION_GUESSED)
			continue;
		if (weight->state == PROFILE_STACK_COMPLETE)
			weight->state = PROFILE_STACK_GUESSED;
		return i;
	}
	return *count;
}

static void enter_stack(struct loading *loading, size_t count, struct stack_weight *weight)
{
	size_t seam = read_marks(loading, &count, weight);
	for (size_t i = count; i-- > 0;) {
		size_t location = loading->stack[i];
		bool is_guessed = seam < count && i > seam;
		if (i == seam)
			continue;
		uint32_t frame = location == loading->tables.locations.count ||
						 mark_of(loading, location) == FUNCTION_UNKNOWN
					 ? unknown_frame(loading)
					 : enter_frame(loading, location, is_guessed);
		weight->node = stack_result_enter_node(loading->result, weight->node, frame);
	}
}

static void add_stack(struct loading *loading, size_t count, struct stack_weight *weight)
{
	uint32_t mark = count == 1 ? mark_of(loading, loading->stack[0]) : MARKS_NONE;
	if (mark == MARKS_NO_SAMPLE) {
		loading->too_large +=
			!stack_result_add_rest(loading->result, weight->owner, weight->cpu_ns);
		return;
	}
	if (mark == FUNCTION_KERNEL) {
		weight->is_kernel = true;
		weight->state = PROFILE_STACK_NONE;
		loading->has_kernel_time |= weight->samples == 0;
	} else {
		enter_stack(loading, count, weight);
	}
	loading->too_large += !stack_result_add(loading->result, weight);
}

static void add_sample(struct loading *loading, const Pprof__Sample *sample)
{
	struct stack_owner_name owner = {.process = "", .thread = ""};
	struct stack_weight weight = {0};
	enum pprof_measure measure =
		pprof_values_measure(&loading->values, sample, &weight.samples, &weight.cpu_ns);
	loading->negative += measure == PPROF_NEGATIVE;
	if (measure != PPROF_MEASURED)
		return;
	pprof_labels_read(&loading->tables, sample, &owner, &weight.state, &weight.reason);
	if (!owner.process[0] && loading->program && owner.pid == 0)
		owner.process = loading->program;
	size_t count = find_locations(loading, sample);
	if (count == 1 && mark_of(loading, loading->stack[0]) == MARKS_NO_THREAD) {
		loading->too_large +=
			!stack_result_add_unattributed(loading->result, weight.cpu_ns);
		return;
	}
	if (loading->program_pid == 0 && loading->program &&
	    strcmp(owner.process, loading->program) == 0)
		loading->program_pid = owner.pid;
	weight.owner = stack_result_enter_owner(loading->result, &owner);
	add_stack(loading, count, &weight);
}

static void add_samples(struct loading *loading, const struct import_input *input)
{
	const struct pprof_list *samples = &loading->tables.samples;
	size_t functions = loading->tables.functions.count;
	loading->functions = xalloc_zeroed(functions, sizeof(*loading->functions));
	loading->frames = xalloc_zeroed(loading->tables.locations.count, sizeof(*loading->frames));
	for (size_t i = 0; i < samples->count; i++) {
		import_see(input, i, samples->count);
		Pprof__Sample *sample = pprof__sample__unpack(NULL, samples->items[i].size,
							      samples->items[i].bytes);
		if (!sample) {
			loading->bad++;
			continue;
		}
		add_sample(loading, sample);
		pprof__sample__free_unpacked(sample, NULL);
	}
}

static void warn_of_count(struct loading *loading, uint64_t count, const char *one,
			  const char *several)
{
	if (count > 0)
		stack_result_warn(loading->result, xalloc_printf("%" PRIu64 " %s", count,
								 count == 1 ? one : several));
}

/* A result without times of samples has no place for the time of their start. */
static void tell_start(struct loading *loading)
{
	time_t seconds = (time_t)(loading->tables.time_ns / 1000000000);
	struct tm date;
	char text[40];
	if (seconds <= 0 || !gmtime_r(&seconds, &date) ||
	    strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &date) == 0)
		return;
	stack_result_warn(loading->result, xalloc_printf("the profile began at %s UTC", text));
}

static void warn(struct loading *loading)
{
	const struct pprof_tables *tables = &loading->tables;
	stack_result_warn(loading->result,
			  xalloc_text("the profile has sums of stacks: the times and the order of "
				      "its samples are not known"));
	tell_start(loading);
	char *sentence = pprof_values_explain(&loading->values);
	if (sentence)
		stack_result_warn(loading->result, sentence);
	if (tables->is_damaged)
		stack_result_warn(loading->result,
				  xalloc_text("the file is damaged: its end could not be read"));
	warn_of_count(loading, tables->bad + loading->bad,
		      "part of the file is damaged and left out",
		      "parts of the file are damaged and left out");
	warn_of_count(loading, loading->bad_targets, "reference of the file leads nowhere",
		      "references of the file lead nowhere");
	warn_of_count(loading, loading->negative,
		      "sample has a negative value and is left out, as of a difference of profiles",
		      "samples have negative values and are left out, as of a difference of "
		      "profiles");
	warn_of_count(loading, loading->too_large, "sample has a value too large to count",
		      "samples have values too large to count");
}

/* The comments of our exports are what they were before. */
static void read_comments(struct loading *loading, struct stack_run *run)
{
	static const char command[] = "Command Line: ";
	static const char collector[] = "Collector: ";
	static const char warning[] = "Warning: ";
	for (size_t i = 0; i < loading->tables.comment_count; i++) {
		const char *text = pprof_tables_text(&loading->tables, loading->tables.comments[i]);
		if (has_prefix(text, command))
			run->command = text + sizeof(command) - 1;
		else if (has_prefix(text, collector))
			run->collector = text + sizeof(collector) - 1;
		else if (has_prefix(text, warning))
			stack_result_warn(loading->result, xalloc_text(text + sizeof(warning) - 1));
		else if (text[0])
			stack_result_warn(loading->result, xalloc_printf("comment: %s", text));
	}
}

static uint64_t known_ns(int64_t ns)
{
	return ns > 0 ? (uint64_t)ns : 0;
}

static void load_tables(struct loading *loading, const struct import_input *input,
			struct stack_run *run)
{
	const struct pprof_tables *tables = &loading->tables;
	add_images(loading);
	add_samples(loading, input);
	run->collector = "pprof";
	run->command_pid = loading->program_pid;
	run->start_ns = known_ns(tables->time_ns);
	run->elapsed_ns = known_ns(tables->duration_ns);
	run->interval_ns = loading->values.interval_ns;
	run->has_kernel_time = loading->has_kernel_time;
	run->samples_limit = STACK_SAMPLES_MAX;
	warn(loading);
	read_comments(loading, run);
	/* The texts of the run outlive the profile. */
	run->collector = stack_result_keep(loading->result, run->collector);
	run->command = run->command ? stack_result_keep(loading->result, run->command) : NULL;
}

static void finish(struct loading *loading)
{
	pprof_tables_finish(&loading->tables);
	free(loading->images);
	free(loading->frames);
	free(loading->functions);
	free(loading->program);
	free(loading->symbols);
	free(loading->stack);
}

int load_pprof(const struct import_input *input, struct stack_result *result, struct stack_run *run)
{
	struct loading loading = {.result = result};
	uint8_t *bytes;
	size_t size;
	const char *problem = unpack_file(input->fd, &bytes, &size);
	if (problem) {
		diagnose("cannot import %s: %s", input->name, problem);
		return EXIT_FAILURE;
	}
	pprof_tables_read(&loading.tables, bytes, size);
	char *choice = pprof_values_choose(&loading.values, &loading.tables, input->event);
	if (choice)
		diagnose("cannot import %s: %s", input->name, choice);
	else
		load_tables(&loading, input, run);
	finish(&loading);
	free(bytes);
	int status = choice ? EXIT_FAILURE : 0;
	free(choice);
	return status;
}
