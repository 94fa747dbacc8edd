#include "tools/otlp/otlp.h"

#include "tools/memory/index_map.h"
#include "tools/memory/xalloc.h"
#include <assert.h>
#include <otlp.pb-c.h> /* generated from otlp.proto */
#include <stdlib.h>
#include <string.h>

/* Numbers of fields with a length before their bytes, here of parts too large to be made whole. */
enum {
	FIELD_RESOURCE_PROFILES = 1, /* of ProfilesData */
	FIELD_SCOPE_PROFILES = 2,    /* of ResourceProfiles */
	FIELD_PROFILES = 2,          /* of ScopeProfiles */
	FIELD_SAMPLES = 2,           /* of Profile */
};

#define WIRE_LENGTH 2u
#define VARINT_MAX  10u

/* Indices of texts. */
struct otlp_function {
	uint32_t name;
	uint32_t full;
	uint32_t file;
};

enum attribute_kind { ATTRIBUTE_TEXT, ATTRIBUTE_NUMBER, ATTRIBUTE_BOOL, ATTRIBUTE_COMMENTS };

struct attribute {
	uint64_t number;
	uint32_t key;      /* index of a text */
	uint32_t text;     /* of value_texts */
	uint32_t kind;     /* enum attribute_kind */
	uint32_t reserved; /* 0: compared too */
};

struct bytes {
	uint8_t *at;
	size_t size;
	size_t capacity;
};

struct otlp {
	FILE *stream;
	struct index_texts texts;        /* of the dictionary */
	struct index_texts value_texts;  /* of attributes, which are in no table */
	struct otlp_function *functions; /* the index is one more: 0 is no function */
	struct index_map function_map;
	struct attribute *attributes; /* likewise */
	struct index_map attribute_map;
	uint32_t mapping_count; /* with the empty one */
	uint32_t location_count;
	uint32_t stack_count;
	struct bytes packed; /* scratch */
	Otlp__Line *lines;   /* likewise */
	size_t line_capacity;
	Otlp__Line **line_places;
	size_t place_capacity;
	int32_t *indices;
	size_t index_capacity;
};

static void pack(struct bytes *bytes, const ProtobufCMessage *message)
{
	bytes->size = protobuf_c_message_get_packed_size(message);
	xalloc_room(&bytes->at, &bytes->capacity, bytes->size, 1);
	protobuf_c_message_pack(message, bytes->at);
}

static void write_bytes(struct otlp *otlp, const struct bytes *bytes)
{
	fwrite(bytes->at, 1, bytes->size, otlp->stream);
}

/* A dictionary with a part of the items, behind the parts before. */
static void write_part(struct otlp *otlp, Otlp__ProfilesDictionary *part)
{
	Otlp__ProfilesData data = OTLP__PROFILES_DATA__INIT;
	data.dictionary = part;
	pack(&otlp->packed, &data.base);
	write_bytes(otlp, &otlp->packed);
}

/* The index of a text, which is written at its first use. */
static uint32_t enter_text(struct otlp *otlp, const char *text)
{
	uint32_t before = index_texts_count(&otlp->texts);
	uint32_t index = index_texts_enter(&otlp->texts, text);
	if (index < before)
		return index;
	Otlp__ProfilesDictionary part = OTLP__PROFILES_DICTIONARY__INIT;
	part.n_string_table = 1;
	part.string_table = &otlp->texts.texts[index];
	write_part(otlp, &part);
	return index;
}

/* The items that stand for none. */
static void write_empty_items(struct otlp *otlp)
{
	uint8_t zeros[16] = {0};
	Otlp__Mapping mapping = OTLP__MAPPING__INIT;
	Otlp__Mapping *mappings = &mapping;
	Otlp__Location location = OTLP__LOCATION__INIT;
	Otlp__Location *locations = &location;
	Otlp__Function function = OTLP__FUNCTION__INIT;
	Otlp__Function *functions = &function;
	Otlp__Link link = OTLP__LINK__INIT;
	Otlp__Link *links = &link;
	Otlp__KeyValueAndUnit attribute = OTLP__KEY_VALUE_AND_UNIT__INIT;
	Otlp__KeyValueAndUnit *attributes = &attribute;
	Otlp__Stack stack = OTLP__STACK__INIT;
	Otlp__Stack *stacks = &stack;
	Otlp__ProfilesDictionary part = OTLP__PROFILES_DICTIONARY__INIT;
	/* Some readers want ids of their full length. */
	link.trace_id = (ProtobufCBinaryData){16, zeros};
	link.span_id = (ProtobufCBinaryData){8, zeros};
	part.n_mapping_table = part.n_location_table = part.n_function_table = 1;
	part.n_link_table = part.n_attribute_table = part.n_stack_table = 1;
	part.mapping_table = &mappings;
	part.location_table = &locations;
	part.function_table = &functions;
	part.link_table = &links;
	part.attribute_table = &attributes;
	part.stack_table = &stacks;
	write_part(otlp, &part);
}

struct otlp *otlp_create(FILE *stream)
{
	struct otlp *otlp = xalloc_zeroed(1, sizeof(*otlp));
	otlp->stream = stream;
	otlp->mapping_count = otlp->location_count = otlp->stack_count = 1;
	write_empty_items(otlp);
	enter_text(otlp, "");
	return otlp;
}

void otlp_finish(struct otlp *otlp)
{
	index_texts_finish(&otlp->texts);
	index_texts_finish(&otlp->value_texts);
	index_map_finish(&otlp->function_map);
	index_map_finish(&otlp->attribute_map);
	free(otlp->functions);
	free(otlp->attributes);
	free(otlp->packed.at);
	free(otlp->lines);
	free(otlp->line_places);
	free(otlp->indices);
	free(otlp);
}

static void set_text(Otlp__AnyValue *value, const char *text)
{
	otlp__any_value__init(value);
	value->value_case = OTLP__ANY_VALUE__VALUE_STRING_VALUE;
	value->string_value = (char *)(uintptr_t)text;
}

static void set_number(Otlp__AnyValue *value, uint64_t number)
{
	otlp__any_value__init(value);
	value->value_case = OTLP__ANY_VALUE__VALUE_INT_VALUE;
	value->int_value = (int64_t)number;
}

static bool is_attribute(const void *item, const void *wanted)
{
	return memcmp(item, wanted, sizeof(struct attribute)) == 0;
}

/* The index of an attribute, which is written at its first use. */
static uint32_t enter_value(struct otlp *otlp, const struct attribute *attribute,
			    Otlp__AnyValue *value)
{
	struct index_map *map = &otlp->attribute_map;
	uint32_t before = index_map_count(map);
	uint32_t index =
		index_map_enter(map, &otlp->attributes, attribute, sizeof(*attribute),
				index_map_hash(map, attribute, sizeof(*attribute)), is_attribute);
	if (index < before)
		return index + 1;
	Otlp__KeyValueAndUnit message = OTLP__KEY_VALUE_AND_UNIT__INIT;
	Otlp__KeyValueAndUnit *place = &message;
	Otlp__ProfilesDictionary part = OTLP__PROFILES_DICTIONARY__INIT;
	message.key_strindex = (int32_t)attribute->key;
	message.value = value;
	part.n_attribute_table = 1;
	part.attribute_table = &place;
	write_part(otlp, &part);
	return index + 1;
}

uint32_t otlp_enter_attribute(struct otlp *otlp, const struct otlp_attribute *attribute)
{
	Otlp__AnyValue value;
	struct attribute wanted = {.key = enter_text(otlp, attribute->key)};
	if (attribute->text) {
		wanted.text = index_texts_enter(&otlp->value_texts, attribute->text);
		set_text(&value, attribute->text);
	} else {
		wanted.kind = ATTRIBUTE_NUMBER;
		wanted.number = attribute->number;
		set_number(&value, attribute->number);
	}
	return enter_value(otlp, &wanted, &value);
}

static uint32_t enter_bool(struct otlp *otlp, const char *key, bool is_true)
{
	Otlp__AnyValue value = OTLP__ANY_VALUE__INIT;
	const struct attribute wanted = {.key = enter_text(otlp, key),
					 .kind = ATTRIBUTE_BOOL,
					 .number = is_true};
	value.value_case = OTLP__ANY_VALUE__VALUE_BOOL_VALUE;
	value.bool_value = is_true;
	return enter_value(otlp, &wanted, &value);
}

/* A mapping of all addresses, as they are the file's own. */
uint32_t otlp_add_mapping(struct otlp *otlp, const struct pprof_mapping *mapping)
{
	int32_t attributes[5];
	size_t count = 0;
	Otlp__Mapping message = OTLP__MAPPING__INIT;
	Otlp__Mapping *place = &message;
	Otlp__ProfilesDictionary part = OTLP__PROFILES_DICTIONARY__INIT;
	if (mapping->build_id && mapping->build_id[0]) {
		const struct otlp_attribute build_id = {"process.executable.build_id.gnu",
							mapping->build_id, 0};
		attributes[count++] = (int32_t)otlp_enter_attribute(otlp, &build_id);
	}
	attributes[count++] = (int32_t)enter_bool(otlp, "pprof.mapping.has_functions", true);
	attributes[count++] =
		(int32_t)enter_bool(otlp, "pprof.mapping.has_filenames", mapping->has_files);
	attributes[count++] =
		(int32_t)enter_bool(otlp, "pprof.mapping.has_line_numbers", mapping->has_lines);
	attributes[count++] =
		(int32_t)enter_bool(otlp, "pprof.mapping.has_inline_frames", mapping->has_inlined);
	message.memory_limit = UINT64_MAX;
	message.filename_strindex = (int32_t)enter_text(otlp, mapping->file);
	message.n_attribute_indices = count;
	message.attribute_indices = attributes;
	part.n_mapping_table = 1;
	part.mapping_table = &place;
	write_part(otlp, &part);
	return otlp->mapping_count++;
}

static bool is_function(const void *item, const void *wanted)
{
	return memcmp(item, wanted, sizeof(struct otlp_function)) == 0;
}

/* The index of a line's function, which is written at its first use. */
static uint32_t enter_function(struct otlp *otlp, const struct pprof_line *line)
{
	struct index_map *map = &otlp->function_map;
	const char *full = line->full && strcmp(line->full, line->name) != 0 ? line->full : "";
	const struct otlp_function wanted = {enter_text(otlp, line->name), enter_text(otlp, full),
					     enter_text(otlp, line->file)};
	uint32_t before = index_map_count(map);
	uint32_t index = index_map_enter(map, &otlp->functions, &wanted, sizeof(wanted),
					 index_map_hash(map, &wanted, sizeof(wanted)), is_function);
	if (index < before)
		return index + 1;
	Otlp__Function message = OTLP__FUNCTION__INIT;
	Otlp__Function *place = &message;
	Otlp__ProfilesDictionary part = OTLP__PROFILES_DICTIONARY__INIT;
	message.name_strindex = (int32_t)wanted.name;
	message.system_name_strindex = (int32_t)wanted.full;
	message.filename_strindex = (int32_t)wanted.file;
	part.n_function_table = 1;
	part.function_table = &place;
	write_part(otlp, &part);
	return index + 1;
}

uint32_t otlp_add_location(struct otlp *otlp, uint32_t mapping, uint64_t address,
			   const struct pprof_line *lines, size_t count)
{
	Otlp__Location message = OTLP__LOCATION__INIT;
	Otlp__Location *place = &message;
	Otlp__ProfilesDictionary part = OTLP__PROFILES_DICTIONARY__INIT;
	xalloc_room(&otlp->lines, &otlp->line_capacity, count, sizeof(*otlp->lines));
	/* Of pointers. NOLINTNEXTLINE(bugprone-sizeof-expression) */
	size_t place_size = sizeof(*otlp->line_places);
	xalloc_room(&otlp->line_places, &otlp->place_capacity, count, place_size);
	for (size_t i = 0; i < count; i++) {
		otlp__line__init(&otlp->lines[i]);
		otlp->lines[i].function_index = (int32_t)enter_function(otlp, &lines[i]);
		otlp->lines[i].line = lines[i].line;
		otlp->line_places[i] = &otlp->lines[i];
	}
	message.mapping_index = (int32_t)mapping;
	message.address = address;
	message.n_lines = count;
	message.lines = otlp->line_places;
	part.n_location_table = 1;
	part.location_table = &place;
	write_part(otlp, &part);
	return otlp->location_count++;
}

uint32_t otlp_add_stack(struct otlp *otlp, const uint64_t *locations, size_t count)
{
	Otlp__Stack message = OTLP__STACK__INIT;
	Otlp__Stack *place = &message;
	Otlp__ProfilesDictionary part = OTLP__PROFILES_DICTIONARY__INIT;
	xalloc_room(&otlp->indices, &otlp->index_capacity, count, sizeof(*otlp->indices));
	for (size_t i = 0; i < count; i++)
		otlp->indices[i] = (int32_t)locations[i];
	message.n_location_indices = count;
	message.location_indices = otlp->indices;
	part.n_stack_table = 1;
	part.stack_table = &place;
	write_part(otlp, &part);
	return otlp->stack_count++;
}

static uint64_t value_of(const struct otlp_sample *sample, enum pprof_value kind)
{
	switch (kind) {
	case PPROF_SAMPLES:
		return sample->is_wait ? 0 : sample->count;
	case PPROF_CPU:
		return sample->cpu_ns;
	case PPROF_WAITS:
		return sample->is_wait ? sample->count : 0;
	case PPROF_WAIT:
		return sample->is_wait ? sample->wall_ns : 0;
	default:
		return sample->wall_ns;
	}
}

/* Packs a sample with its one value. False: it has none. */
static bool pack_sample(struct otlp *otlp, const struct otlp_sample *sample, enum pprof_value kind)
{
	Otlp__Sample message = OTLP__SAMPLE__INIT;
	int32_t attributes[OTLP_SAMPLE_ATTRIBUTES];
	int64_t value = (int64_t)value_of(sample, kind);
	if (value == 0)
		return false;
	for (size_t i = 0; i < OTLP_SAMPLE_ATTRIBUTES; i++) {
		if (sample->attributes[i] != 0)
			attributes[message.n_attribute_indices++] = (int32_t)sample->attributes[i];
	}
	message.stack_index = (int32_t)sample->stack;
	message.attribute_indices = attributes;
	message.n_values = 1;
	message.values = &value;
	pack(&otlp->packed, &message.base);
	return true;
}

static size_t put_varint(uint8_t *at, uint64_t value)
{
	size_t size = 0;
	for (; value >= 0x80; value >>= 7)
		at[size++] = (uint8_t)(value | 0x80);
	at[size++] = (uint8_t)value;
	return size;
}

/* Puts what stands before the bytes of a field. Fields' numbers are below 16. */
static size_t put_field(uint8_t head[1 + VARINT_MAX], unsigned field, uint64_t size)
{
	head[0] = (uint8_t)(field << 3 | WIRE_LENGTH);
	return 1 + put_varint(head + 1, size);
}

static void write_field(struct otlp *otlp, unsigned field, uint64_t size)
{
	uint8_t head[1 + VARINT_MAX];
	fwrite(head, 1, put_field(head, field, size), otlp->stream);
}

/* Of a field with its number and size. */
static uint64_t size_of_field(unsigned field, uint64_t size)
{
	uint8_t head[1 + VARINT_MAX];
	return put_field(head, field, size) + size;
}

static uint64_t size_of_samples(struct otlp *otlp, const struct otlp_resource *resource,
				enum pprof_value kind)
{
	uint64_t size = 0;
	for (size_t i = 0; i < resource->sample_count; i++) {
		if (pack_sample(otlp, &resource->samples[i], kind))
			size += size_of_field(FIELD_SAMPLES, otlp->packed.size);
	}
	return size;
}

static void write_samples(struct otlp *otlp, const struct otlp_resource *resource,
			  enum pprof_value kind)
{
	for (size_t i = 0; i < resource->sample_count; i++) {
		if (!pack_sample(otlp, &resource->samples[i], kind))
			continue;
		write_field(otlp, FIELD_SAMPLES, otlp->packed.size);
		write_bytes(otlp, &otlp->packed);
	}
}

static uint32_t enter_comments(struct otlp *otlp, const struct otlp_run *run)
{
	Otlp__AnyValue *texts = xalloc_zeroed(run->comment_count, sizeof(*texts));
	/* Of pointers. NOLINTNEXTLINE(bugprone-sizeof-expression) */
	Otlp__AnyValue **places = xalloc_zeroed(run->comment_count, sizeof(*places));
	Otlp__ArrayValue array = OTLP__ARRAY_VALUE__INIT;
	Otlp__AnyValue value = OTLP__ANY_VALUE__INIT;
	const struct attribute wanted = {.key = enter_text(otlp, "pprof.profile.comment"),
					 .kind = ATTRIBUTE_COMMENTS};
	for (size_t i = 0; i < run->comment_count; i++) {
		set_text(&texts[i], run->comments[i]);
		places[i] = &texts[i];
	}
	array.n_values = run->comment_count;
	array.values = places;
	value.value_case = OTLP__ANY_VALUE__VALUE_ARRAY_VALUE;
	value.array_value = &array;
	uint32_t index = enter_value(otlp, &wanted, &value);
	free(places);
	free(texts);
	return index;
}

static void fill_type(struct otlp *otlp, const struct otlp_run *run, enum pprof_value kind,
		      Otlp__ValueType *type)
{
	type->type_strindex = (int32_t)enter_text(otlp, pprof_value_name(&run->time, kind));
	type->unit_strindex = (int32_t)enter_text(otlp, pprof_value_unit(&run->time, kind));
}

/* All of a profile but its samples. */
static void pack_profile(struct otlp *otlp, struct bytes *bytes, const struct otlp_run *run,
			 enum pprof_value kind)
{
	Otlp__Profile message = OTLP__PROFILE__INIT;
	Otlp__ValueType type = OTLP__VALUE_TYPE__INIT;
	Otlp__ValueType period = OTLP__VALUE_TYPE__INIT;
	int32_t comments = 0;
	fill_type(otlp, run, kind, &type);
	fill_type(otlp, run, PPROF_CPU, &period);
	message.sample_type = &type;
	message.time_unix_nano = run->time.start_ns;
	message.duration_nano = run->time.duration_ns;
	message.period_type = &period;
	message.period = (int64_t)run->time.period_ns;
	if (run->comment_count > 0) {
		comments = (int32_t)enter_comments(otlp, run);
		message.n_attribute_indices = 1;
		message.attribute_indices = &comments;
	}
	pack(bytes, &message.base);
}

static void pack_scope(struct bytes *bytes, const struct otlp_run *run)
{
	Otlp__InstrumentationScope scope;
	Otlp__ScopeProfiles message = OTLP__SCOPE_PROFILES__INIT;
	otlp__instrumentation_scope__init(&scope);
	scope.name = (char *)(uintptr_t)run->scope;
	scope.version = (char *)(uintptr_t)run->scope_version;
	message.scope = &scope;
	pack(bytes, &message.base);
}

static void pack_resource(struct bytes *bytes, const struct otlp_resource *from)
{
	size_t count = from->attribute_count;
	Otlp__AnyValue *values = xalloc_zeroed(count, sizeof(*values));
	Otlp__KeyValue *attributes = xalloc_zeroed(count, sizeof(*attributes));
	/* Of pointers. NOLINTNEXTLINE(bugprone-sizeof-expression) */
	Otlp__KeyValue **places = xalloc_zeroed(count, sizeof(*places));
	Otlp__Resource resource = OTLP__RESOURCE__INIT;
	Otlp__ResourceProfiles message = OTLP__RESOURCE_PROFILES__INIT;
	for (size_t i = 0; i < count; i++) {
		if (from->attributes[i].text)
			set_text(&values[i], from->attributes[i].text);
		else
			set_number(&values[i], from->attributes[i].number);
		otlp__key_value__init(&attributes[i]);
		attributes[i].key = (char *)(uintptr_t)from->attributes[i].key;
		attributes[i].value = &values[i];
		places[i] = &attributes[i];
	}
	resource.n_attributes = count;
	resource.attributes = places;
	message.resource = &resource;
	pack(bytes, &message.base);
	free(places);
	free(attributes);
	free(values);
}

/* The kinds of profiles in their order. Returns how many. */
static size_t order_kinds(const struct otlp_run *run, enum pprof_value kinds[PPROF_VALUE_COUNT])
{
	static const enum pprof_value all[] = {PPROF_CPU, PPROF_SAMPLES, PPROF_WAIT, PPROF_WAITS,
					       PPROF_WALL};
	static_assert(sizeof(all) / sizeof(all[0]) == PPROF_VALUE_COUNT, "each once");
	size_t count = 0;
	kinds[count++] = run->time.shown;
	for (size_t i = 0; i < (run->time.has_waits ? PPROF_VALUE_COUNT : 2); i++) {
		if (all[i] != run->time.shown)
			kinds[count++] = all[i];
	}
	return count;
}

/* Sizes stand before contents: the samples are packed twice, and never kept. */
void otlp_add_resource(struct otlp *otlp, const struct otlp_run *run,
		       const struct otlp_resource *resource)
{
	struct bytes head = {0};
	struct bytes scope = {0};
	struct bytes profiles[PPROF_VALUE_COUNT] = {{0}};
	uint64_t sizes[PPROF_VALUE_COUNT];
	enum pprof_value kinds[PPROF_VALUE_COUNT];
	size_t kind_count = order_kinds(run, kinds);
	pack_resource(&head, resource);
	pack_scope(&scope, run);
	uint64_t scope_size = scope.size;
	for (size_t i = 0; i < kind_count; i++) {
		pack_profile(otlp, &profiles[i], run, kinds[i]);
		sizes[i] = profiles[i].size + size_of_samples(otlp, resource, kinds[i]);
		scope_size += size_of_field(FIELD_PROFILES, sizes[i]);
	}
	write_field(otlp, FIELD_RESOURCE_PROFILES,
		    head.size + size_of_field(FIELD_SCOPE_PROFILES, scope_size));
	write_bytes(otlp, &head);
	write_field(otlp, FIELD_SCOPE_PROFILES, scope_size);
	write_bytes(otlp, &scope);
	for (size_t i = 0; i < kind_count; i++) {
		write_field(otlp, FIELD_PROFILES, sizes[i]);
		write_bytes(otlp, &profiles[i]);
		write_samples(otlp, resource, kinds[i]);
		free(profiles[i].at);
	}
	free(head.at);
	free(scope.at);
}
