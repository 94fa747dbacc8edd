/* The instructions of a function, with the CPU time of each. */
#include "containers/compare.h"
#include "tools/code/cost_rows.h"
#include "tools/code/jump_arrows.h"
#include "tools/code/machine_code.h"
#include "tools/code/place_costs.h"
#include "tools/code/report_code.h"
#include "tools/code/source_text.h"
#include "tools/memory/xalloc.h"
#include "tools/modules/image_identity.h"
#include "tools/names/demangle.h"
#include "tools/report/report.h"
#include "tools/terminal/diagnose.h"
#include "tools/text/path.h"
#include <inttypes.h>
#include <langinfo.h>
#include <stdlib.h>
#include <string.h>

enum {
	COLUMN_ADDRESS = COST_ROWS_COLUMNS,
	COLUMN_CODE,
	COLUMN_FUNCTION,
	COLUMN_MODULE,
	COLUMN_FILE,
	COLUMN_LINE,
	COLUMN_COUNT
};

static const struct table_column columns[COLUMN_COUNT] = {
	COST_ROWS_COLUMN_ENTRIES,
	[COLUMN_ADDRESS] = {"Address", "address", TABLE_ADDRESS, TABLE_ALL},
	[COLUMN_CODE] = {"Instruction", "instruction", TABLE_CODE, TABLE_ALL},
	[COLUMN_FUNCTION] = {"Function", "function", TABLE_NAME, TABLE_DATA},
	[COLUMN_MODULE] = {"Module", "module", TABLE_TEXT, TABLE_DATA},
	[COLUMN_FILE] = {"Source File", "source_file", TABLE_TEXT, TABLE_DATA},
	[COLUMN_LINE] = {"Line", "line", TABLE_ID, TABLE_DATA},
};

/* A range of code of an image, of a function asked for. */
struct wanted_range {
	uint32_t image;
	struct code_range range;
};

struct source_file {
	const char *name;
	struct source_text text;
};

/* Everything of the functions asked for. */
struct listing {
	const struct report_input *input;
	bool *is_subject;
	struct place_costs costs; /* by image and rva */
	struct wanted_range *ranges;
	struct index_map range_map;
	struct index_texts files;    /* source files */
	struct source_file *sources; /* of these */
	size_t source_count;
	struct machine_code code; /* of the present image */
	struct jump_arrows arrows;
	const char *module;
	uint32_t image;
	uint32_t next_range;  /* of the present image, or of an earlier one */
	uint32_t next_cost;   /* the first one without a row yet */
	const char *function; /* of the last row of data; NULL: none */
	uint64_t function_start;
	struct cost_rows rows;
};

static bool is_text(const struct listing *listing)
{
	return listing->input->options->format->id == TABLE_FORMAT_TEXT;
}

static bool is_range(const void *item, const void *wanted)
{
	const struct wanted_range *range = item;
	const struct wanted_range *other = wanted;
	return range->image == other->image && range->range.start == other->range.start &&
	       range->range.size == other->range.size;
}

/* The code of the function at a frame: an address beside the function's is in a cold part. */
static void enter_range(struct listing *listing, const struct profile_frame *frame,
			uint32_t frame_index)
{
	uint32_t count;
	const struct profile_symbol *symbols =
		profile_reader_symbols(listing->input->reader, frame_index, &count);
	struct wanted_range wanted = {frame->image, {frame->rva, 0}};
	if (count > 0 && frame->rva - symbols[count - 1].start < symbols[count - 1].size)
		wanted.range =
			(struct code_range){symbols[count - 1].start, symbols[count - 1].size};
	const uint64_t identity[] = {wanted.image, wanted.range.start, wanted.range.size};
	index_map_enter(&listing->range_map, &listing->ranges, &wanted, sizeof(wanted),
			index_map_hash(&listing->range_map, identity, sizeof(identity)), is_range);
}

static bool find_address(void *user, const struct call_path *path, size_t at,
			 struct place_cost *cost)
{
	struct listing *listing = user;
	uint32_t frame_index = path->frames[at];
	if (!listing->is_subject[path->functions[at]] || frame_index == PROFILE_NONE)
		return false;
	const struct profile_frame *frame =
		profile_reader_frame(listing->input->reader, frame_index);
	enter_range(listing, frame, frame_index);
	cost->group = frame->image;
	cost->place = frame->rva;
	return true;
}

/* A row without time. */
static struct table_cell *add_row(struct listing *listing, char *code)
{
	struct table_cell *row = cost_rows_add(&listing->rows);
	row[COLUMN_ADDRESS].is_unknown = true;
	row[COLUMN_LINE].is_unknown = true;
	row[COLUMN_CODE].text = cost_rows_keep(&listing->rows, code);
	row[COLUMN_MODULE].text = listing->module;
	return row;
}

static void set_address(struct table_cell *row, uint64_t rva)
{
	row[COLUMN_ADDRESS].number = rva;
	row[COLUMN_ADDRESS].is_unknown = false;
}

/* An address with time that no instruction holds. */
static void add_loose_cost(struct listing *listing, const struct place_cost *cost)
{
	struct table_cell *row = add_row(listing, xalloc_text(""));
	set_address(row, cost->place);
	cost_rows_set(&listing->rows, &listing->costs.all, cost, row);
}

/* The next address with time in the present image; NULL: none. */
static const struct place_cost *next_cost(const struct listing *listing)
{
	const struct place_cost *cost = &listing->costs.costs[listing->next_cost];
	return listing->next_cost < place_costs_count(&listing->costs) &&
			       cost->group == listing->image
		       ? cost
		       : NULL;
}

/* The time of an instruction: a caller's address lies inside its call. */
static bool take_costs(struct listing *listing, const struct instruction *instruction,
		       struct place_cost *sum)
{
	uint32_t before = listing->next_cost;
	const struct place_cost *cost;
	while ((cost = next_cost(listing)) && cost->place - instruction->rva < instruction->size) {
		draws_add_part(&sum->self, &cost->self);
		draws_add_part(&sum->total, &cost->total);
		listing->next_cost++;
	}
	return listing->next_cost > before;
}

/* A source file, read when first seen. Valid until the next one is. */
static const struct source_file *find_source(struct listing *listing, const char *path)
{
	uint32_t index = index_texts_enter(&listing->files, path);
	if (index >= listing->source_count) {
		listing->sources = xalloc_resize(listing->sources, (size_t)index + 1,
						 sizeof(*listing->sources));
		struct source_file *source = &listing->sources[index];
		source->name = listing->files.texts[index];
		if (is_text(listing))
			report_code_read(listing->input, source->name, &source->text);
		else
			source->text = (struct source_text){0};
		listing->source_count = (size_t)index + 1;
	}
	return &listing->sources[index];
}

static char *function_name(const struct symbol_entry *entry)
{
	if (!entry->name || entry->name[0] == '\0')
		return xalloc_printf("func@0x%" PRIx64, entry->start);
	return demangle_name(entry->name, DEMANGLE_SHORT);
}

/* The source line in front of its instructions. */
static void add_source_row(struct listing *listing, const struct symbol_entry *place, size_t next)
{
	char *line = source_text_line(&find_source(listing, place->file)->text, place->line);
	char *arrows = jump_arrows_draw_before(&listing->arrows, next);
	add_row(listing, xalloc_printf("%s%s:%" PRIu32 "  %s", arrows, path_base_name(place->file),
				       place->line, line + strspn(line, " ")));
	free(arrows);
	free(line);
}

/* What a direct call or jump out of the function leads to: " <name+0x10>", or "". */
static char *target_name(const struct listing *listing, const struct instruction *instruction,
			 const struct symbol_address *at)
{
	const struct symbol_address *to =
		instruction->has_target ? machine_code_at(&listing->code, instruction->target)
					: NULL;
	/* Between functions there is nothing to name. */
	if (!to || (at && to->function.start == at->function.start) ||
	    (!to->function.name && to->function.start == instruction->target))
		return xalloc_text("");
	uint64_t offset = instruction->target - to->function.start;
	char *name = function_name(&to->function);
	char *text = offset > 0 ? xalloc_printf(" <%s+0x%" PRIx64 ">", name, offset)
				: xalloc_printf(" <%s>", name);
	free(name);
	return text;
}

/* In text, rows of their own say it. */
static void set_origin(struct listing *listing, struct symbol_address *at, struct table_cell *row)
{
	const struct symbol_entry *place = symbol_address_innermost(at);
	if (is_text(listing))
		return;
	if (!listing->function || listing->function_start != at->function.start) {
		listing->function = cost_rows_keep(&listing->rows, function_name(&at->function));
		listing->function_start = at->function.start;
	}
	row[COLUMN_FUNCTION].text = listing->function;
	row[COLUMN_FILE].text = place->file ? find_source(listing, place->file)->name : "";
	row[COLUMN_LINE].number = place->line;
	row[COLUMN_LINE].is_unknown = place->line == 0;
}

static void add_instruction(struct listing *listing, size_t index, struct symbol_address *at)
{
	const struct instruction *instruction = &listing->code.code.instructions[index];
	struct place_cost sum = {0};
	char *arrows =
		is_text(listing) ? jump_arrows_draw(&listing->arrows, index) : xalloc_text("");
	char *target = target_name(listing, instruction, at);
	struct table_cell *row =
		add_row(listing, xalloc_printf("%s%s%s", arrows, instruction->text, target));
	set_address(row, instruction->rva);
	if (at)
		set_origin(listing, at, row);
	if (take_costs(listing, instruction, &sum))
		cost_rows_set(&listing->rows, &listing->costs.all, &sum, row);
	free(arrows);
	free(target);
}

/* The rows in front of an instruction where its function or line is another than before. */
static void add_headings(struct listing *listing, size_t index, struct symbol_address *before,
			 struct symbol_address *at)
{
	if (!before || before->function.start != at->function.start) {
		char *name = function_name(&at->function);
		add_row(listing, xalloc_printf("%s:", name));
		free(name);
	}
	const struct symbol_entry *last = before ? symbol_address_innermost(before) : NULL;
	const struct symbol_entry *place = symbol_address_innermost(at);
	if (place->file && place->line > 0 &&
	    !(last && last->file && last->line == place->line &&
	      strcmp(last->file, place->file) == 0))
		add_source_row(listing, place, index);
}

static void add_code(struct listing *listing)
{
	const struct disassembly *code = &listing->code.code;
	const struct place_cost *cost;
	struct symbol_address *before = NULL;
	for (size_t i = 0; i < code->count; i++) {
		struct symbol_address *at =
			machine_code_at(&listing->code, code->instructions[i].rva);
		while ((cost = next_cost(listing)) && cost->place < code->instructions[i].rva) {
			add_loose_cost(listing, cost);
			listing->next_cost++;
		}
		if (is_text(listing) && at)
			add_headings(listing, i, before, at);
		add_instruction(listing, i, at);
		before = at;
	}
	while ((cost = next_cost(listing))) {
		add_loose_cost(listing, cost);
		listing->next_cost++;
	}
}

/* Why an image's instructions are not shown; its addresses are. */
static void say_missing(const struct listing *listing, const struct profile_image *image,
			enum symbol_file_status status)
{
	static const char *const reasons[] = {
		[SYMBOL_FILE_MISSING] = "the file is gone, or may not be read",
		[SYMBOL_FILE_REPLACED] = "another file is there now",
		[SYMBOL_FILE_INVALID] = "no valid ELF file",
	};
	const char *path = profile_reader_text(listing->input->reader, image->path);
	if (image->kind != PROFILE_IMAGE_FILE && image->kind != PROFILE_IMAGE_VDSO)
		diagnose("%s: its code is not kept; addresses are shown without instructions",
			 listing->module);
	else if (listing->code.is_other)
		diagnose("%s: not code of x86; addresses are shown without instructions", path);
	else if (status != SYMBOL_FILE_OPEN)
		diagnose("%s: %s; addresses are shown without instructions", path, reasons[status]);
	else if (listing->code.is_cut)
		diagnose("%s: not all of the code is shown: it is too large, or not in the file",
			 path);
}

static void read_code(struct listing *listing, const int64_t *dates)
{
	const struct profile_reader *reader = listing->input->reader;
	const struct profile_image *image = profile_reader_image(reader, listing->image);
	enum symbol_file_status status = SYMBOL_FILE_MISSING;
	struct mapped_file file;
	uint32_t count = index_map_count(&listing->range_map);
	while (listing->next_range < count &&
	       listing->ranges[listing->next_range].image < listing->image)
		listing->next_range++;
	struct code_range *ranges = xalloc_zeroed(count - listing->next_range, sizeof(*ranges));
	size_t used = 0;
	for (uint32_t i = listing->next_range;
	     i < count && listing->ranges[i].image == listing->image; i++)
		ranges[used++] = listing->ranges[i].range;
	listing->code = (struct machine_code){0};
	if (image->kind == PROFILE_IMAGE_FILE || image->kind == PROFILE_IMAGE_VDSO)
		status = image_identity_make(reader, dates, listing->image, &file)
				 ? machine_code_read(&listing->code, &file, ranges, used,
						     listing->input->options->with_intel_syntax)
				 : SYMBOL_FILE_REPLACED;
	free(ranges);
	say_missing(listing, image, status);
}

static void add_image(struct listing *listing, const int64_t *dates)
{
	const struct functions *functions = listing->input->functions;
	bool is_ascii = strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
	listing->module =
		functions_dso(functions, functions_dso_of_image(functions, listing->image))->name;
	read_code(listing, dates);
	jump_arrows_make(&listing->arrows, &listing->code.code, is_ascii);
	add_code(listing);
	jump_arrows_finish(&listing->arrows);
	machine_code_finish(&listing->code);
}

static int compare_images(const void *a, const void *b)
{
	const struct wanted_range *left = a;
	const struct wanted_range *right = b;
	return compare_numbers(left->image, right->image);
}

static void collect(struct listing *listing, const struct report_input *input)
{
	struct weighted_stacks at = report_stacks(input, true);
	*listing = (struct listing){.input = input, .is_subject = report_subject_functions(input)};
	place_costs_collect(&listing->costs, &at, find_address, listing);
	if (index_map_count(&listing->range_map) > 1)
		qsort(listing->ranges, index_map_count(&listing->range_map),
		      sizeof(*listing->ranges), compare_images);
}

static void finish(struct listing *listing)
{
	for (size_t i = 0; i < listing->source_count; i++)
		source_text_finish(&listing->sources[i].text);
	free(listing->sources);
	free(listing->ranges);
	free(listing->is_subject);
	index_map_finish(&listing->range_map);
	index_texts_finish(&listing->files);
	place_costs_finish(&listing->costs);
	cost_rows_finish(&listing->rows);
}

TBRW_U32 report_assembly_print(const struct report_input *input, FILE *stream, unsigned width)
{
	struct listing listing;
	int64_t *dates = image_identity_dates(input->reader);
	collect(&listing, input);
	if (place_costs_count(&listing.costs) == 0)
		report_code_say_absent(input);
	cost_rows_begin(&listing.rows, input, columns, COLUMN_COUNT);
	while (listing.next_cost < place_costs_count(&listing.costs)) {
		listing.image = listing.costs.costs[listing.next_cost].group;
		add_image(&listing, dates);
	}
	cost_rows_print(&listing.rows, stream, width);
	finish(&listing);
	free(dates);
	return VT_SUCCESS;
}
