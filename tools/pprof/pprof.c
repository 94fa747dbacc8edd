#include "tools/pprof/pprof.h"

#include "tools/memory/index_map.h"
#include "tools/memory/xalloc.h"
#include "tools/pprof/gzip.h"
#include <assert.h>
#include <pprof.pb-c.h> /* generated from pprof.proto */
#include <stdlib.h>
#include <string.h>

/* Indices of texts. */
struct pprof_function {
	uint32_t name;
	uint32_t full;
	uint32_t file;
};

struct pprof {
	struct gzip *gzip;
	size_t value_count; /* of each sample */
	struct index_texts texts;
	struct pprof_function *functions; /* the id is the index and 1 */
	struct index_map function_map;
	uint64_t mapping_count;
	uint64_t location_count;
	uint8_t *packed; /* scratch */
	size_t packed_capacity;
	Pprof__Line *lines; /* likewise */
	size_t line_capacity;
	Pprof__Line **line_places;
	size_t place_capacity;
};

/* A profile with a part of the fields, behind the parts before. */
static void write_part(struct pprof *pprof, const Pprof__Profile *part)
{
	size_t size = pprof__profile__get_packed_size(part);
	xalloc_room(&pprof->packed, &pprof->packed_capacity, size, 1);
	pprof__profile__pack(part, pprof->packed);
	gzip_write(pprof->gzip, pprof->packed, size);
}

/* The index of a text, which is written at its first use. */
static uint32_t enter_text(struct pprof *pprof, const char *text)
{
	uint32_t before = index_texts_count(&pprof->texts);
	uint32_t index = index_texts_enter(&pprof->texts, text);
	if (index < before)
		return index;
	Pprof__Profile part = PPROF__PROFILE__INIT;
	part.n_string_table = 1;
	part.string_table = &pprof->texts.texts[index];
	write_part(pprof, &part);
	return index;
}

const char *pprof_value_name(const struct pprof_run *run, enum pprof_value value)
{
	static const char *const names[PPROF_VALUE_COUNT] = {"samples", "cpu", "waits", "wait",
							     "wall"};
	return value == PPROF_CPU && run->event ? run->event : names[value];
}

const char *pprof_value_unit(const struct pprof_run *run, enum pprof_value value)
{
	bool is_count = value == PPROF_SAMPLES || value == PPROF_WAITS ||
			(value == PPROF_CPU && run->event);
	return is_count ? "count" : "nanoseconds";
}

static void init_type(struct pprof *pprof, Pprof__ValueType *type, const struct pprof_run *run,
		      enum pprof_value value)
{
	pprof__value_type__init(type);
	type->type = enter_text(pprof, pprof_value_name(run, value));
	type->unit = enter_text(pprof, pprof_value_unit(run, value));
}

static void write_run(struct pprof *pprof, const struct pprof_run *run)
{
	Pprof__ValueType types[PPROF_VALUE_COUNT];
	Pprof__ValueType *places[PPROF_VALUE_COUNT];
	for (size_t i = 0; i < pprof->value_count; i++) {
		init_type(pprof, &types[i], run, (enum pprof_value)i);
		places[i] = &types[i];
	}
	Pprof__Profile part = PPROF__PROFILE__INIT;
	part.n_sample_type = pprof->value_count;
	part.sample_type = places;
	part.default_sample_type = types[run->shown].type;
	part.period_type = &types[PPROF_CPU];
	part.period = (int64_t)run->period_ns;
	part.time_nanos = (int64_t)run->start_ns;
	part.duration_nanos = (int64_t)run->duration_ns;
	write_part(pprof, &part);
}

struct pprof *pprof_create(FILE *stream, const struct pprof_run *run)
{
	struct pprof *pprof = xalloc_zeroed(1, sizeof(*pprof));
	pprof->gzip = gzip_create(stream);
	pprof->value_count = run->has_waits ? PPROF_VALUE_COUNT : PPROF_CPU + 1;
	assert(run->shown < pprof->value_count);
	enter_text(pprof, "");
	write_run(pprof, run);
	return pprof;
}

void pprof_finish(struct pprof *pprof)
{
	gzip_finish(pprof->gzip);
	index_texts_finish(&pprof->texts);
	index_map_finish(&pprof->function_map);
	free(pprof->functions);
	free(pprof->packed);
	free(pprof->lines);
	free(pprof->line_places);
	free(pprof);
}

/* Readers of the format take a mapping of all addresses for one whose addresses are the file's own.
 * All functions count as named: pprof itself would put the nearest exported symbol for others. */
uint64_t pprof_add_mapping(struct pprof *pprof, const struct pprof_mapping *mapping)
{
	Pprof__Mapping message = PPROF__MAPPING__INIT;
	Pprof__Mapping *place = &message;
	Pprof__Profile part = PPROF__PROFILE__INIT;
	message.id = ++pprof->mapping_count;
	message.memory_limit = UINT64_MAX;
	message.filename = enter_text(pprof, mapping->file);
	message.build_id = enter_text(pprof, mapping->build_id);
	message.has_functions = true;
	message.has_filenames = mapping->has_files;
	message.has_line_numbers = mapping->has_lines;
	message.has_inline_frames = mapping->has_inlined;
	part.n_mapping = 1;
	part.mapping = &place;
	write_part(pprof, &part);
	return message.id;
}

static bool is_function(const void *item, const void *wanted)
{
	return memcmp(item, wanted, sizeof(struct pprof_function)) == 0;
}

static void write_function(struct pprof *pprof, uint64_t id, const struct pprof_function *function)
{
	Pprof__Function message = PPROF__FUNCTION__INIT;
	Pprof__Function *place = &message;
	Pprof__Profile part = PPROF__PROFILE__INIT;
	message.id = id;
	message.name = function->name;
	/* A name equal to the system name counts as not demangled, and pprof shortens such names:
	 * [Skipped frame(s)] to [Skipped frame]. */
	message.system_name = function->full == function->name ? 0 : function->full;
	message.filename = function->file;
	part.n_function = 1;
	part.function = &place;
	write_part(pprof, &part);
}

/* The id of a line's function, which is written at its first use. */
static uint64_t enter_function(struct pprof *pprof, const struct pprof_line *line)
{
	struct index_map *map = &pprof->function_map;
	const struct pprof_function wanted = {enter_text(pprof, line->name),
					      enter_text(pprof, line->full),
					      enter_text(pprof, line->file)};
	uint32_t before = index_map_count(map);
	uint32_t index = index_map_enter(map, &pprof->functions, &wanted, sizeof(wanted),
					 index_map_hash(map, &wanted, sizeof(wanted)), is_function);
	if (index == before)
		write_function(pprof, UINT64_C(1) + index, &wanted);
	return UINT64_C(1) + index;
}

uint64_t pprof_add_location(struct pprof *pprof, uint64_t mapping, uint64_t address,
			    const struct pprof_line *lines, size_t count)
{
	Pprof__Location message = PPROF__LOCATION__INIT;
	Pprof__Location *place = &message;
	Pprof__Profile part = PPROF__PROFILE__INIT;
	xalloc_room(&pprof->lines, &pprof->line_capacity, count, sizeof(*pprof->lines));
	/* Of pointers. NOLINTNEXTLINE(bugprone-sizeof-expression) */
	size_t place_size = sizeof(*pprof->line_places);
	xalloc_room(&pprof->line_places, &pprof->place_capacity, count, place_size);
	for (size_t i = 0; i < count; i++) {
		pprof__line__init(&pprof->lines[i]);
		pprof->lines[i].function_id = enter_function(pprof, &lines[i]);
		pprof->lines[i].line = lines[i].line;
		pprof->line_places[i] = &pprof->lines[i];
	}
	message.id = ++pprof->location_count;
	message.mapping_id = mapping;
	message.address = address;
	message.n_line = count;
	message.line = pprof->line_places;
	part.n_location = 1;
	part.location = &place;
	write_part(pprof, &part);
	return message.id;
}

void pprof_add_sample(struct pprof *pprof, const struct pprof_sample *sample)
{
	Pprof__Label labels[PPROF_LABELS_MAX];
	Pprof__Label *label_places[PPROF_LABELS_MAX];
	Pprof__Sample message = PPROF__SAMPLE__INIT;
	Pprof__Sample *place = &message;
	Pprof__Profile part = PPROF__PROFILE__INIT;
	int64_t values[PPROF_VALUE_COUNT];
	assert(sample->label_count <= PPROF_LABELS_MAX);
	for (size_t i = 0; i < sample->label_count; i++) {
		pprof__label__init(&labels[i]);
		labels[i].key = enter_text(pprof, sample->labels[i].key);
		labels[i].str = enter_text(pprof, sample->labels[i].text);
		labels[i].num = (int64_t)sample->labels[i].number;
		label_places[i] = &labels[i];
	}
	message.n_location_id = sample->count;
	message.location_id = (uint64_t *)(uintptr_t)sample->locations;
	for (size_t i = 0; i < pprof->value_count; i++)
		values[i] = (int64_t)sample->values[i];
	message.n_value = pprof->value_count;
	message.value = values;
	message.n_label = sample->label_count;
	message.label = label_places;
	part.n_sample = 1;
	part.sample = &place;
	write_part(pprof, &part);
}

void pprof_add_comment(struct pprof *pprof, const char *text)
{
	int64_t index = enter_text(pprof, text);
	Pprof__Profile part = PPROF__PROFILE__INIT;
	part.n_comment = 1;
	part.comment = &index;
	write_part(pprof, &part);
}
