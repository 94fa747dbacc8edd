#include "tools/firefox/firefox_tables.h"

#include "profile/base/build_id.h"
#include "profile/read/reader.h"
#include "tools/functions/functions.h"
#include "tools/memory/xalloc.h"
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

/* JavaScript counts to here, and no further, without gaps. */
#define NUMBER_MAX (UINT64_C(1) << 53)

/* The machine code of a function, in an image. */
struct symbol {
	uint32_t function;
	uint32_t image;
};

/* The tables' rows. Of arrays by something of the result: the row's number, or NONE. */
struct rows {
	struct firefox_tables *tables;
	uint32_t *libs;      /* by image */
	uint32_t *resources; /* by dso */
	uint32_t *functions; /* by function of the tree */
	uint32_t lib_count;
	uint32_t resource_count;
	uint32_t function_count;
	/* What the rows are of. */
	uint32_t *images;
	uint32_t *dsos;
	uint32_t *function_list;
	uint32_t *sources; /* texts */
	struct index_map source_map;
	struct symbol *symbols;
	struct index_map symbol_map;
};

void firefox_tables_finish(struct firefox_tables *tables)
{
	stack_tree_finish(&tables->tree);
	index_texts_finish(&tables->texts);
}

void firefox_tables_write_categories(struct json_writer *json)
{
	/* Of the colours that the format knows; grey is the default category's. */
	static const struct {
		const char *name;
		const char *color;
		const char *parts[2];
	} categories[] = {
		[FIREFOX_OTHER] = {"Other", "grey", {NULL}},
		[FIREFOX_USER] = {"User", "yellow", {NULL}},
		[FIREFOX_SYSTEM] = {"System Libraries", "blue", {NULL}},
		[FIREFOX_KERNEL] = {"Kernel", "orange", {NULL}},
		[FIREFOX_GENERATED] = {"Generated Code", "green", {NULL}},
		[FIREFOX_UNKNOWN] = {"Unknown Code", "darkgrey", {NULL}},
		[FIREFOX_MISSING] = {"Missing Frames", "lightred", {"Skipped", "Guessed"}},
		[FIREFOX_NO_SAMPLE] = {"No Sample", "purple", {NULL}},
		[FIREFOX_WAITING] = {"Waiting", "red", {NULL}},
		[FIREFOX_READY] = {"Ready", "brown", {NULL}},
	};
	static_assert(sizeof(categories) / sizeof(categories[0]) == FIREFOX_CATEGORY_COUNT,
		      "each category has its row");
	json_open_array(json, "categories");
	for (size_t i = 0; i < FIREFOX_CATEGORY_COUNT; i++) {
		json_open_object(json, NULL);
		json_write_text(json, "name", categories[i].name);
		json_write_text(json, "color", categories[i].color);
		json_open_array(json, "subcategories");
		json_write_text(json, NULL, "Other");
		for (size_t j = 0; j < 2 && categories[i].parts[j]; j++)
			json_write_text(json, NULL, categories[i].parts[j]);
		json_close_array(json);
		json_close_object(json);
	}
	json_close_array(json);
}

static const struct stack_element *element_at(const struct rows *rows, uint32_t index)
{
	return &rows->tables->tree.elements[index];
}

/* PROFILE_NONE: the element has no frame. */
static uint32_t image_of(const struct rows *rows, const struct stack_element *element)
{
	return element->frame == PROFILE_NONE
		       ? PROFILE_NONE
		       : profile_reader_frame(rows->tables->tree.reader, element->frame)->image;
}

/* Whether the function is one of the result's, and not one for missing knowledge. */
static bool is_code(const struct rows *rows, uint32_t function)
{
	return function > FUNCTION_KERNEL && function < stack_tree_no_sample(&rows->tables->tree);
}

static const struct function *function_at(const struct rows *rows, uint32_t function)
{
	return functions_at(rows->tables->tree.functions, function);
}

static enum firefox_category categorize(const struct rows *rows,
					const struct stack_element *element)
{
	const struct stack_tree *tree = &rows->tables->tree;
	uint32_t image = image_of(rows, element);
	if (element->function >= stack_tree_no_sample(tree))
		return FIREFOX_NO_SAMPLE;
	if (element->function == FUNCTION_SKIPPED || element->function == FUNCTION_GUESSED)
		return FIREFOX_MISSING;
	if (element->function == FUNCTION_KERNEL)
		return FIREFOX_KERNEL;
	if (element->function == FUNCTION_UNKNOWN || image == PROFILE_NONE)
		return FIREFOX_UNKNOWN;
	switch (profile_reader_image(tree->reader, image)->kind) {
	case PROFILE_IMAGE_KERNEL:
		return FIREFOX_KERNEL;
	case PROFILE_IMAGE_JIT:
		return FIREFOX_GENERATED;
	default:
		return functions_dso_of(tree->functions, element->function)->is_system
			       ? FIREFOX_SYSTEM
			       : FIREFOX_USER;
	}
}

/* A new row of the list for an item, unless it has one. */
static void add_row(uint32_t *by_item, uint32_t *list, uint32_t *count, uint32_t item)
{
	if (by_item[item] != NONE)
		return;
	by_item[item] = *count;
	list[(*count)++] = item;
}

static bool is_source(const void *item, const void *wanted)
{
	return *(const uint32_t *)item == *(const uint32_t *)wanted;
}

static uint32_t enter_source(struct rows *rows, const char *file)
{
	uint32_t text = index_texts_enter(&rows->tables->texts, file);
	return index_map_enter(&rows->source_map, &rows->sources, &text, sizeof(text),
			       index_map_hash(&rows->source_map, &text, sizeof(text)), is_source);
}

static bool is_symbol(const void *item, const void *wanted)
{
	const struct symbol *symbol = item;
	const struct symbol *other = wanted;
	return symbol->function == other->function && symbol->image == other->image;
}

/* Of the function that the frame's code is in, with those inlined there. */
static uint32_t enter_symbol(struct rows *rows, const struct stack_element *element)
{
	uint32_t count;
	const struct symbol symbol = {functions_of_frame(rows->tables->tree.functions,
							 element->frame, &count)[0],
				      image_of(rows, element)};
	return index_map_enter(&rows->symbol_map, &rows->symbols, &symbol, sizeof(symbol),
			       index_map_hash(&rows->symbol_map, &symbol, sizeof(symbol)),
			       is_symbol);
}

static void add_element(struct rows *rows, const struct stack_element *element)
{
	const struct stack_tree *tree = &rows->tables->tree;
	uint32_t image = image_of(rows, element);
	add_row(rows->functions, rows->function_list, &rows->function_count, element->function);
	if (is_code(rows, element->function)) {
		add_row(rows->resources, rows->dsos, &rows->resource_count,
			function_at(rows, element->function)->dso);
		if (function_at(rows, element->function)->file[0])
			enter_source(rows, function_at(rows, element->function)->file);
	}
	if (image != PROFILE_NONE &&
	    profile_reader_image(tree->reader, image)->kind != PROFILE_IMAGE_UNKNOWN)
		add_row(rows->libs, rows->images, &rows->lib_count, image);
}

static uint32_t *make_rows(uint32_t count)
{
	uint32_t *rows = xalloc_zeroed(count, sizeof(*rows));
	memset(rows, 0xff, count * sizeof(*rows)); /* NONE */
	return rows;
}

static void collect_rows(struct rows *rows, struct firefox_tables *tables)
{
	const struct stack_tree *tree = &tables->tree;
	uint32_t images = profile_reader_image_count(tree->reader);
	uint32_t dsos = functions_dso_count(tree->functions);
	uint32_t functions = stack_tree_no_sample(tree) + 2;
	*rows = (struct rows){
		.tables = tables,
		.libs = make_rows(images),
		.resources = make_rows(dsos),
		.functions = make_rows(functions),
		.images = make_rows(images),
		.dsos = make_rows(dsos),
		.function_list = make_rows(functions),
	};
	for (uint32_t i = 0; i < stack_tree_element_count(tree); i++)
		add_element(rows, &tree->elements[i]);
}

static void finish_rows(struct rows *rows)
{
	free(rows->libs);
	free(rows->resources);
	free(rows->functions);
	free(rows->images);
	free(rows->dsos);
	free(rows->function_list);
	free(rows->sources);
	free(rows->symbols);
	index_map_finish(&rows->source_map);
	index_map_finish(&rows->symbol_map);
}

static void write_minus_one(struct json_writer *json)
{
	json_write_raw(json, NULL, "-1", 2);
}

static void write_text(struct rows *rows, struct json_writer *json, const char *text)
{
	json_write_number(json, NULL, index_texts_enter(&rows->tables->texts, text));
}

/* A column of a table: writes the cell of a row. */
struct column {
	const char *name;
	void (*write)(struct rows *rows, struct json_writer *json, uint32_t index);
};

static void write_table(struct rows *rows, struct json_writer *json, const char *name,
			const struct column *columns, uint32_t count)
{
	json_open_object(json, name);
	for (const struct column *column = columns; column->name; column++) {
		json_open_array(json, column->name);
		for (uint32_t i = 0; i < count; i++)
			column->write(rows, json, i);
		json_close_array(json);
	}
	json_write_number(json, "length", count);
	json_close_object(json);
}

static void cell_null(struct rows *rows, struct json_writer *json, uint32_t index)
{
	(void)rows;
	(void)index;
	json_write_null(json, NULL);
}

static void cell_false(struct rows *rows, struct json_writer *json, uint32_t index)
{
	(void)rows;
	(void)index;
	json_write_bool(json, NULL, false);
}

static void cell_zero(struct rows *rows, struct json_writer *json, uint32_t index)
{
	(void)rows;
	(void)index;
	json_write_number(json, NULL, 0);
}

static void cell_one(struct rows *rows, struct json_writer *json, uint32_t index)
{
	(void)rows;
	(void)index;
	json_write_number(json, NULL, 1);
}

static void cell_stack_frame(struct rows *rows, struct json_writer *json, uint32_t index)
{
	json_write_number(json, NULL, rows->tables->tree.steps[index].element);
}

/* How far before the caller is; 0: there is none. */
static void cell_stack_prefix(struct rows *rows, struct json_writer *json, uint32_t index)
{
	uint32_t parent = rows->tables->tree.steps[index].parent;
	json_write_number(json, NULL, parent == PROFILE_NONE ? 0 : index - parent);
}

static const struct column stack_columns[] = {
	{"frame", cell_stack_frame},
	{"prefixOffset", cell_stack_prefix},
	{0},
};

static uint32_t lib_of(const struct rows *rows, const struct stack_element *element)
{
	uint32_t image = image_of(rows, element);
	return image == PROFILE_NONE ? NONE : rows->libs[image];
}

static void cell_frame_address(struct rows *rows, struct json_writer *json, uint32_t index)
{
	const struct stack_element *element = element_at(rows, index);
	uint64_t rva = NUMBER_MAX;
	if (lib_of(rows, element) != NONE)
		rva = profile_reader_frame(rows->tables->tree.reader, element->frame)->rva;
	if (rva < NUMBER_MAX)
		json_write_number(json, NULL, rva);
	else
		write_minus_one(json);
}

static void cell_frame_lib(struct rows *rows, struct json_writer *json, uint32_t index)
{
	uint32_t lib = lib_of(rows, element_at(rows, index));
	if (lib == NONE)
		write_minus_one(json);
	else
		json_write_number(json, NULL, lib);
}

static void cell_frame_depth(struct rows *rows, struct json_writer *json, uint32_t index)
{
	json_write_number(json, NULL, element_at(rows, index)->depth);
}

static void cell_frame_category(struct rows *rows, struct json_writer *json, uint32_t index)
{
	json_write_number(json, NULL, categorize(rows, element_at(rows, index)));
}

static void cell_frame_part(struct rows *rows, struct json_writer *json, uint32_t index)
{
	uint32_t function = element_at(rows, index)->function;
	json_write_number(json, NULL,
			  function == FUNCTION_SKIPPED   ? 1
			  : function == FUNCTION_GUESSED ? 2
							 : 0);
}

static void cell_frame_function(struct rows *rows, struct json_writer *json, uint32_t index)
{
	json_write_number(json, NULL, rows->functions[element_at(rows, index)->function]);
}

static void cell_frame_symbol(struct rows *rows, struct json_writer *json, uint32_t index)
{
	const struct stack_element *element = element_at(rows, index);
	uint32_t count;
	if (lib_of(rows, element) == NONE ||
	    function_at(rows,
			functions_of_frame(rows->tables->tree.functions, element->frame, &count)[0])
			    ->start == 0)
		json_write_null(json, NULL);
	else
		json_write_number(json, NULL, enter_symbol(rows, element));
}

static void cell_frame_line(struct rows *rows, struct json_writer *json, uint32_t index)
{
	const struct functions *functions = rows->tables->tree.functions;
	const struct stack_element *element = element_at(rows, index);
	uint32_t line = 0;
	if (element->frame != PROFILE_NONE)
		line = functions_lines_of_frame(functions, element->frame)[element->depth];
	if (line > 0)
		json_write_number(json, NULL, line);
	else
		json_write_null(json, NULL);
}

static const struct column frame_columns[] = {
	{"address", cell_frame_address},     {"lib", cell_frame_lib},
	{"inlineDepth", cell_frame_depth},   {"category", cell_frame_category},
	{"subcategory", cell_frame_part},    {"func", cell_frame_function},
	{"nativeSymbol", cell_frame_symbol}, {"innerWindowID", cell_zero},
	{"line", cell_frame_line},           {"column", cell_null},
	{"originalLocation", cell_null},     {0},
};

static void cell_function_name(struct rows *rows, struct json_writer *json, uint32_t index)
{
	write_text(rows, json, stack_tree_name(&rows->tables->tree, rows->function_list[index]));
}

static void cell_function_resource(struct rows *rows, struct json_writer *json, uint32_t index)
{
	uint32_t function = rows->function_list[index];
	if (is_code(rows, function))
		json_write_number(json, NULL, rows->resources[function_at(rows, function)->dso]);
	else
		write_minus_one(json);
}

static void cell_function_source(struct rows *rows, struct json_writer *json, uint32_t index)
{
	uint32_t function = rows->function_list[index];
	if (is_code(rows, function) && function_at(rows, function)->file[0])
		json_write_number(json, NULL,
				  enter_source(rows, function_at(rows, function)->file));
	else
		json_write_null(json, NULL);
}

static const struct column function_columns[] = {
	{"name", cell_function_name},
	{"isJS", cell_false},
	{"relevantForJS", cell_false},
	{"resource", cell_function_resource},
	{"source", cell_function_source},
	{"lineNumber", cell_null},
	{"columnNumber", cell_null},
	{"originalLocation", cell_null},
	{0},
};

static void cell_resource_name(struct rows *rows, struct json_writer *json, uint32_t index)
{
	write_text(rows, json,
		   functions_dso(rows->tables->tree.functions, rows->dsos[index])->name);
}

static const struct column resource_columns[] = {
	{"name", cell_resource_name},
	{"host", cell_null},
	{"type", cell_one}, /* a library */
	{0},
};

static void cell_symbol_lib(struct rows *rows, struct json_writer *json, uint32_t index)
{
	json_write_number(json, NULL, rows->libs[rows->symbols[index].image]);
}

static void cell_symbol_address(struct rows *rows, struct json_writer *json, uint32_t index)
{
	uint64_t start = function_at(rows, rows->symbols[index].function)->start;
	json_write_number(json, NULL, start < NUMBER_MAX ? start : 0);
}

static void cell_symbol_name(struct rows *rows, struct json_writer *json, uint32_t index)
{
	write_text(rows, json, function_at(rows, rows->symbols[index].function)->full);
}

static const struct column symbol_columns[] = {
	{"libIndex", cell_symbol_lib},
	{"address", cell_symbol_address},
	{"name", cell_symbol_name},
	{"functionSize", cell_null},
	{0},
};

static void cell_source_name(struct rows *rows, struct json_writer *json, uint32_t index)
{
	json_write_number(json, NULL, rows->sources[index]);
}

static const struct column source_columns[] = {
	{"id", cell_null},
	{"filename", cell_source_name},
	{"startLine", cell_one},
	{"startColumn", cell_one},
	{"sourceMapURL", cell_null},
	{"content", cell_null},
	{0},
};

static const struct column location_columns[] = {
	{"source", cell_zero},
	{"line", cell_zero},
	{"column", cell_zero},
	{0},
};

/* Breakpad's debug id: a GUID made of the build-id's first bytes, the first three fields of which
 * are little-endian there, and an age of 0. */
static void write_breakpad_id(struct json_writer *json, const struct profile_image *image)
{
	static const uint8_t order[] = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};
	char text[2 * sizeof(order) + 2] = "";
	for (size_t i = 0; i < sizeof(order) && image->build_id_size > 0; i++)
		snprintf(text + 2 * i, 4, "%02X0", image->build_id[order[i]]);
	json_write_text(json, "breakpadId", text);
}

static void write_code_id(struct json_writer *json, const struct profile_image *image)
{
	char text[PROFILE_BUILD_ID_TEXT_SIZE];
	profile_build_id_print(image->build_id, image->build_id_size, text);
	if (text[0])
		json_write_text(json, "codeId", text);
	else
		json_write_null(json, "codeId");
}

/* The last word of the system's name is the machine's. */
static const char *find_machine(const struct profile_reader *reader)
{
	struct profile_host_info host;
	profile_reader_host(reader, &host);
	const char *space = strrchr(host.os, ' ');
	return space ? space + 1 : "";
}

static void write_lib(const struct rows *rows, struct json_writer *json, const char *machine,
		      uint32_t index)
{
	const struct stack_tree *tree = &rows->tables->tree;
	const struct profile_image *image = profile_reader_image(tree->reader, index);
	const struct dso *dso =
		functions_dso(tree->functions, functions_dso_of_image(tree->functions, index));
	const char *path = dso->path[0] ? dso->path : dso->name;
	json_open_object(json, NULL);
	json_write_text(json, "arch", machine);
	json_write_text(json, "name", dso->name);
	json_write_text(json, "path", path);
	json_write_text(json, "debugName", dso->name);
	json_write_text(json, "debugPath", path);
	write_breakpad_id(json, image);
	write_code_id(json, image);
	json_close_object(json);
}

static void write_libs(const struct rows *rows, struct json_writer *json)
{
	const char *machine = find_machine(rows->tables->tree.reader);
	json_open_array(json, "libs");
	for (uint32_t i = 0; i < rows->lib_count; i++)
		write_lib(rows, json, machine, rows->images[i]);
	json_close_array(json);
}

/* Behind the tables that refer to the texts. */
static void write_texts(const struct firefox_tables *tables, struct json_writer *json)
{
	json_open_array(json, "stringArray");
	for (uint32_t i = 0; i < index_texts_count(&tables->texts); i++)
		json_write_text(json, NULL, tables->texts.texts[i]);
	json_close_array(json);
}

void firefox_tables_write(struct firefox_tables *tables, struct json_writer *json)
{
	struct rows rows;
	collect_rows(&rows, tables);
	write_libs(&rows, json);
	json_open_object(json, "shared");
	write_table(&rows, json, "stackTable", stack_columns, stack_tree_step_count(&tables->tree));
	write_table(&rows, json, "frameTable", frame_columns,
		    stack_tree_element_count(&tables->tree));
	write_table(&rows, json, "funcTable", function_columns, rows.function_count);
	write_table(&rows, json, "resourceTable", resource_columns, rows.resource_count);
	write_table(&rows, json, "nativeSymbols", symbol_columns,
		    index_map_count(&rows.symbol_map));
	write_table(&rows, json, "sources", source_columns, index_map_count(&rows.source_map));
	write_table(&rows, json, "sourceLocationTable", location_columns, 0);
	write_texts(tables, json);
	json_close_object(json);
	finish_rows(&rows);
}
