/* Modules: LOADED and UNLOADED records of the module section, merged. */
#include "profile/read/reader_private.h"
#include <stdlib.h>

/* UNLOADED records that repeat one module exactly: how many to look through for the one still
 * loaded. */
#define DUPLICATE_LIMIT 64u

struct load {
	struct profile_reader *reader;
	bool *is_unload; /* per module: the record says only that it ends */
	uint32_t capacity;
	uint64_t record_capacity;
};

/* Grows the table of records by doubling. */
static bool reserve_record(struct load *load)
{
	struct profile_reader *reader = load->reader;

	if (reader->module_record_count < load->record_capacity)
		return true;
	uint64_t capacity = load->record_capacity ? load->record_capacity * 2 : 256;
	uint32_t *table = reallocarray(reader->module_of_record, capacity, sizeof(*table));
	if (!table)
		return false;
	reader->module_of_record = table;
	load->record_capacity = capacity;
	return true;
}

static bool reserve_module(struct load *load)
{
	struct profile_reader *reader = load->reader;

	if (reader->module_count < load->capacity)
		return true;
	uint32_t capacity = load->capacity ? load->capacity * 2 : 256;
	if (capacity < load->capacity)
		return false;
	struct profile_module_info *modules =
		reallocarray(reader->modules, capacity, sizeof(*modules));
	if (!modules)
		return false;
	reader->modules = modules;
	bool *is_unload = reallocarray(load->is_unload, capacity, sizeof(*is_unload));
	if (!is_unload)
		return false;
	load->is_unload = is_unload;
	load->capacity = capacity;
	return true;
}

/* Guide 8.6, and what tbrw_types.h says of UNLOADED records without an unload time. Times that are
 * sample numbers say nothing here. */
static void module_times(const TBRW_MODULE *record, uint64_t *load_tsc, uint64_t *unload_tsc)
{
	bool is_unloaded = record->module_flags & TBRW_MODULE_UNLOADED;

	*load_tsc = 0;
	*unload_tsc = UINT64_MAX;
	if (!(record->module_flags & TBRW_MODULE_TSC_USED))
		return;
	*load_tsc = record->module_event_when;
	*unload_tsc = record->module_unload_tsc;
	if (is_unloaded && (*unload_tsc == 0 || *unload_tsc == UINT64_MAX)) {
		*unload_tsc = *load_tsc;
		*load_tsc = 0;
	}
	if (!is_unloaded && *unload_tsc == 0)
		*unload_tsc = UINT64_MAX;
}

/* Every record becomes a module at first; those of UNLOADED records that belong to a LOADED one
 * are merged into it afterwards, since they may come in any order. */
static TBRW_U32 take_record(struct load *load, const TBRW_MODULE *record)
{
	struct profile_reader *reader = load->reader;

	if (!reserve_record(load) || !reserve_module(load))
		return VT_NO_MEMORY;
	struct profile_module_info module = {
		.pid = record->module_associated_pid,
		.image = PROFILE_NONE,
		.start = record->module_load_address,
		.length = record->module_length,
		.cs = (uint16_t)record->module_code_selector,
		.is_32bit = record->module_segment_type == TBRW_MODE_32BIT,
		.is_executable = record->module_flags & TBRW_MODULE_IS_EXE,
		.is_global = record->module_flags & TBRW_MODULE_GLOBAL_LOAD,
	};
	module_times(record, &module.load_tsc, &module.unload_tsc);
	if (module.length > UINT64_MAX - module.start)
		module.length = UINT64_MAX - module.start;
	TBRW_U32 code = profile_reader_string(reader, record->module_path, &module.path);
	if (code == VT_SUCCESS && reader->is_plain && !*module.path)
		code = profile_reader_string(reader, record->module_name, &module.path);
	if (code != VT_SUCCESS)
		return code;
	load->is_unload[reader->module_count] =
		(record->module_flags & (TBRW_MODULE_LOADED | TBRW_MODULE_UNLOADED)) ==
		TBRW_MODULE_UNLOADED;
	reader->modules[reader->module_count] = module;
	reader->module_of_record[reader->module_record_count++] = reader->module_count++;
	return VT_SUCCESS;
}

static TBRW_U32 take_records(TBRW_MODULE *records, TBRW_U32 size, TBRW_U32 count, void *user)
{
	if (size / sizeof(*records) < count)
		return VT_INVALID_SAMPLE_FILE;
	for (TBRW_U32 i = 0; i < count; i++) {
		TBRW_U32 code = take_record(user, &records[i]);
		if (code != VT_SUCCESS)
			return code;
	}
	return TRUE;
}

static int compare_places(const struct profile_module_info *a, const struct profile_module_info *b)
{
	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->load_tsc < b->load_tsc ? -1 : a->load_tsc > b->load_tsc;
}

static int compare_loads(const void *left, const void *right, void *user)
{
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	const struct profile_module_info *modules = user;
	int order = compare_places(&modules[a], &modules[b]);

	return order ? order : a < b ? -1 : a > b;
}

/* The LOADED record that an UNLOADED one ends: same pid, address and load time, else the latest at
 * that address loaded before. PROFILE_NONE: none. */
static uint32_t find_loaded(const struct profile_reader *reader, const uint32_t *loaded,
			    uint32_t count, const struct profile_module_info *unload)
{
	uint32_t low = 0, high = count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (compare_places(&reader->modules[loaded[middle]], unload) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (uint32_t steps = 0; low > 0 && steps < DUPLICATE_LIMIT; steps++) {
		const struct profile_module_info *module = &reader->modules[loaded[--low]];
		if (module->pid != unload->pid || module->start != unload->start)
			break;
		if (module->unload_tsc == UINT64_MAX && module->load_tsc <= unload->unload_tsc)
			return loaded[low];
	}
	return PROFILE_NONE;
}

static uint32_t *list_loaded(const struct load *load, uint32_t *count)
{
	const struct profile_reader *reader = load->reader;
	uint32_t *loaded = reallocarray(NULL, (size_t)reader->module_count + 1, sizeof(*loaded));

	*count = 0;
	for (uint32_t i = 0; loaded && i < reader->module_count; i++)
		if (!load->is_unload[i])
			loaded[(*count)++] = i;
	if (loaded)
		qsort_r(loaded, *count, sizeof(*loaded), compare_loads, reader->modules);
	return loaded;
}

/* Drops what was merged, so that indices are dense again. */
static void drop_merged(struct profile_reader *reader, const uint8_t *is_merged)
{
	uint32_t kept = 0;

	/* Before this, record i is module i. */
	for (uint32_t i = 0; i < reader->module_count; i++) {
		reader->module_of_record[i] = is_merged[i] ? PROFILE_NONE : kept;
		if (is_merged[i])
			continue;
		reader->modules[kept++] = reader->modules[i];
	}
	reader->module_count = kept;
}

static TBRW_U32 merge_unloads(const struct load *load)
{
	struct profile_reader *reader = load->reader;
	uint32_t count;

	if (!load->is_unload)
		return VT_SUCCESS; /* no records */
	uint32_t *loaded = list_loaded(load, &count);
	uint8_t *is_merged = calloc((size_t)reader->module_count + 1, 1);

	if (!loaded || !is_merged) {
		free(loaded);
		free(is_merged);
		return VT_NO_MEMORY;
	}
	for (uint32_t i = 0; i < reader->module_count; i++) {
		if (!load->is_unload[i])
			continue;
		uint32_t target = find_loaded(reader, loaded, count, &reader->modules[i]);
		if (target == PROFILE_NONE)
			continue;
		reader->modules[target].unload_tsc = reader->modules[i].unload_tsc;
		is_merged[i] = 1;
	}
	drop_merged(reader, is_merged);
	free(loaded);
	free(is_merged);
	return VT_SUCCESS;
}

static void take_mappings(struct profile_reader *reader)
{
	const struct profile_records *records = &reader->records[PROFILE_STREAM_MAPPINGS];
	const struct profile_mapping *mappings = records->items;

	for (uint32_t i = 0; i < records->count; i++) {
		if (mappings[i].module_index >= reader->module_record_count)
			continue;
		uint32_t module = reader->module_of_record[mappings[i].module_index];
		if (module == PROFILE_NONE)
			continue;
		reader->modules[module].pgoff = mappings[i].pgoff;
		if (mappings[i].image != PROFILE_NONE)
			reader->modules[module].image = mappings[i].image;
	}
}

TBRW_U32 profile_reader_load_modules(struct profile_reader *reader)
{
	struct load load = {.reader = reader};
	TBRW_U32 code = TBRW_reading_section(reader->file, TBRW_MODULE_SECTION);

	if (code == VT_SUCCESS) {
		code = TBRW_enumerate_modules(reader->file, take_records, &load, 0);
		TBRW_done_section(reader->file, TBRW_MODULE_SECTION);
	}
	code = profile_reader_tolerate(reader, code);
	if (code == VT_SUCCESS)
		code = merge_unloads(&load);
	free(load.is_unload);
	if (code == VT_SUCCESS)
		take_mappings(reader);
	return code;
}
