/* Modules: the records of the module section, with the times that binding gives them. */
#include "containers/array.h"
#include "profile/read/reader_private.h"
#include <assert.h>
#include <stdlib.h>

struct module_load {
	TBRW_MODULE *records;
	size_t count;
	size_t capacity;
};

static TBRW_U32 take_records(TBRW_MODULE *records, TBRW_U32 size, TBRW_U32 count, void *user)
{
	struct module_load *load = user;

	if (size / sizeof(*records) < count)
		return VT_INVALID_SAMPLE_FILE;
	if (load->count + count >= PROFILE_NONE ||
	    !array_reserve(&load->records, &load->capacity, load->count + count, sizeof(*records)))
		return VT_NO_MEMORY;
	memcpy(load->records + load->count, records, count * sizeof(*records));
	load->count += count;
	return TRUE;
}

/* Times that are sample numbers say nothing to whoever reads modules; binding knows them. */
static TBRW_U32 make_module(struct profile_reader *reader, const TBRW_MODULE *record,
			    const struct tb5_bind_module *bound, struct profile_module_info *module)
{
	*module = (struct profile_module_info){
		.pid = record->module_associated_pid,
		.image = PROFILE_NONE,
		.start = bound->address,
		.length = bound->end - bound->address,
		.load_tsc = bound->tsc ? bound->load : 0,
		.unload_tsc = bound->tsc ? bound->unload : UINT64_MAX,
		.cs = (uint16_t)record->module_code_selector,
		.is_32bit = record->module_segment_type == TBRW_MODE_32BIT,
		.is_executable = bound->exe,
		.is_global = bound->global,
	};
	TBRW_U32 code = profile_reader_string(reader, record->module_path, &module->path);
	if (code == VT_SUCCESS && reader->is_plain && !*module->path)
		code = profile_reader_string(reader, record->module_name, &module->path);
	return code;
}

/* A module for each record but the UNLOADED records joined to another one. */
static TBRW_U32 make_modules(struct profile_reader *reader, const struct module_load *load)
{
	reader->modules = reallocarray(NULL, load->count + 1, sizeof(*reader->modules));
	reader->module_of_record =
		reallocarray(NULL, load->count + 1, sizeof(*reader->module_of_record));
	if (!reader->modules || !reader->module_of_record ||
	    !tb5_binder_seal(&reader->binder, load->records, load->count))
		return VT_NO_MEMORY;
	assert(reader->binder.module_count == load->count);
	TBRW_U32 code = VT_SUCCESS;
	for (size_t i = 0; i < load->count && code == VT_SUCCESS; i++) {
		const struct tb5_bind_module *bound = &reader->binder.modules[i];
		reader->module_of_record[i] = bound->joined ? PROFILE_NONE : reader->module_count;
		if (!bound->joined)
			code = make_module(reader, &load->records[i], bound,
					   &reader->modules[reader->module_count++]);
	}
	return code;
}

uint32_t profile_module_of_record(const struct profile_reader *reader, uint64_t record)
{
	return record < reader->binder.module_count ? reader->module_of_record[record]
						    : PROFILE_NONE;
}

static void take_mappings(struct profile_reader *reader)
{
	const struct profile_records *records = &reader->records[PROFILE_STREAM_MAPPINGS];
	const struct profile_mapping *mappings = records->items;

	for (uint32_t i = 0; i < records->count; i++) {
		uint32_t module = profile_module_of_record(reader, mappings[i].module_index);
		if (module == PROFILE_NONE)
			continue;
		reader->modules[module].pgoff = mappings[i].pgoff;
		reader->modules[module].rva = mappings[i].rva;
		if (mappings[i].image != PROFILE_NONE)
			reader->modules[module].image = mappings[i].image;
	}
}

TBRW_U32 profile_reader_load_modules(struct profile_reader *reader)
{
	struct module_load load = {0};
	TBRW_U32 code = TBRW_reading_section(reader->file, TBRW_MODULE_SECTION);

	if (code == VT_SUCCESS) {
		code = TBRW_enumerate_modules(reader->file, take_records, &load, 0);
		TBRW_done_section(reader->file, TBRW_MODULE_SECTION);
	}
	code = profile_reader_tolerate(reader, code);
	if (code == VT_SUCCESS)
		code = make_modules(reader, &load);
	free(load.records);
	if (code == VT_SUCCESS)
		take_mappings(reader);
	return code;
}
