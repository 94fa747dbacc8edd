/* Global sections into items. */
#include "tools/tb5/tbrw_reader.h"
#include <stdlib.h>
#include <string.h>

/* Turns a pointer of the buffer into an offset; nothing lies at offset 0. */
static void to_offset(void *pointer, const void *base)
{
	uintptr_t value;

	memcpy(&value, pointer, sizeof(value));
	if (value)
		value -= (uintptr_t)base;
	memcpy(pointer, &value, sizeof(value));
}

/* From the leaves of the tree up: once a pointer is an offset, its array is out of reach. */
static void system_to_offsets(TBRW_SYSTEM *system)
{
	for (TBRW_U32 n = 0; system->node_array && n < system->system_num_nodes; n++) {
		TBRW_NODE *node = &system->node_array[n];

		for (TBRW_U32 c = 0; node->cpu_array && c < node->node_num_available; c++) {
			TBRW_CPU *cpu = &node->cpu_array[c];

			for (TBRW_U32 a = 0; cpu->cpu_arch_array && a < cpu->num_cpu_arch_array;
			     a++)
				to_offset(&cpu->cpu_arch_array[a].cpuid_ia32_array, system);
			to_offset(&cpu->cpu_arch_array, system);
		}
		to_offset(&node->cpu_array, system);
	}
	to_offset(&system->node_array, system);
}

static TBRW_U32 read_hardware(struct reader *r)
{
	TBRW_U32 size = 0;
	TBRW_U32 code = TBRW_get_system(r->file, 0, NULL, &size);

	if (code != VT_BUFFER_TOO_SMALL)
		return code;
	TBRW_SYSTEM *system = malloc(size);
	if (!system)
		return VT_NO_MEMORY;
	code = TBRW_get_system(r->file, size, system, NULL);
	if (code == VT_SUCCESS) {
		system_to_offsets(system);
		reader_put(r, DAT_SYSTEM, system, size);
	}
	free(system);
	return code;
}

static TBRW_U32 read_software(struct reader *r)
{
	TBRW_HOST host;
	TBRW_OS os;
	TBRW_APPLICATION application;
	/* Any of the three may not have been set. */
	TBRW_U32 code = TBRW_get_host(r->file, sizeof(host), &host, NULL);

	if (code == VT_SUCCESS)
		code = reader_put_record(r, DAT_HOST, &host, NULL, 0);
	if (code != VT_SUCCESS && code != VT_ENTRY_NOT_FOUND)
		return code;
	code = TBRW_get_os(r->file, sizeof(os), &os, NULL);
	if (code == VT_SUCCESS)
		code = reader_put_record(r, DAT_OS, &os, NULL, 0);
	if (code != VT_SUCCESS && code != VT_ENTRY_NOT_FOUND)
		return code;
	code = TBRW_get_application(r->file, sizeof(application), &application, NULL);
	if (code == VT_SUCCESS)
		code = reader_put_record(r, DAT_APPLICATION, &application, NULL, 0);
	return code == VT_ENTRY_NOT_FOUND ? VT_SUCCESS : code;
}

static TBRW_U32 see_processes(TBRW_PID *pids, TBRW_U32 size, TBRW_U32 count, void *user)
{
	(void)size;
	for (TBRW_U32 i = 0; i < count; i++) {
		TBRW_U32 code = reader_put_record(user, DAT_PROCESS, &pids[i], NULL, 0);

		if (code != VT_SUCCESS)
			return code;
	}
	return TRUE;
}

static TBRW_U32 see_threads(TBRW_TID *tids, TBRW_U32 size, TBRW_U32 count, void *user)
{
	(void)size;
	for (TBRW_U32 i = 0; i < count; i++) {
		TBRW_U32 code = reader_put_record(user, DAT_THREAD, &tids[i], NULL, 0);

		if (code != VT_SUCCESS)
			return code;
	}
	return TRUE;
}

static TBRW_U32 read_processes(struct reader *r)
{
	TBRW_U32 code = TBRW_enumerate_processes(r->file, see_processes, r, 0);

	return code == VT_SUCCESS ? TBRW_enumerate_threads(r->file, see_threads, r, 0) : code;
}

static TBRW_U32 see_modules(TBRW_MODULE *modules, TBRW_U32 size, TBRW_U32 count, void *user)
{
	(void)size;
	for (TBRW_U32 i = 0; i < count; i++) {
		TBRW_U32 code = reader_put_record(user, DAT_MODULE, &modules[i], NULL, 0);

		if (code != VT_SUCCESS)
			return code;
	}
	return TRUE;
}

static TBRW_U32 read_modules(struct reader *r)
{
	return TBRW_enumerate_modules(r->file, see_modules, r, 0);
}

static TBRW_U32 read_user_global(struct reader *r)
{
	TBRW_U32 size = 0;
	TBRW_U32 code = TBRW_get_user_defined_global(r->file, 0, NULL, &size);

	if (code != VT_BUFFER_TOO_SMALL)
		return code;
	void *data = malloc(size);
	if (!data)
		return VT_NO_MEMORY;
	code = TBRW_get_user_defined_global(r->file, size, data, NULL);
	if (code == VT_SUCCESS)
		reader_put(r, DAT_USER_GLOBAL, data, size);
	free(data);
	return code;
}

static TBRW_U32 read_version_info(struct reader *r)
{
	TBRW_VERSION_INFO info;
	TBRW_U32 code = TBRW_get_version_info(r->file, sizeof(info), &info, NULL);

	return code == VT_SUCCESS ? reader_put_record(r, DAT_VERSION_INFO, &info, NULL, 0) : code;
}

struct global_section {
	TBRW_SECTION_IDENTIFIER id;
	TBRW_U32 (*read)(struct reader *r);
};

static const struct global_section global_sections[] = {
	{TBRW_VERSION_INFO_SECTION, read_version_info},
	{TBRW_HARDWARE_SECTION, read_hardware},
	{TBRW_SOFTWARE_SECTION, read_software},
	{TBRW_PROCESS_THREAD_SECTION, read_processes},
	{TBRW_MODULE_SECTION, read_modules},
	{TBRW_USER_DEFINED_GLOBAL_SECTION, read_user_global},
};

TBRW_U32 reader_global_sections(struct reader *r)
{
	for (size_t i = 0; i < sizeof(global_sections) / sizeof(*global_sections); i++) {
		const struct global_section *section = &global_sections[i];
		TBRW_U32 code = TBRW_reading_section(r->file, section->id);

		if (code == VT_SECTION_NOT_EXIST)
			continue;
		reader_put_section(r, DAT_SECTION, section->id);
		if (code == VT_SUCCESS)
			code = section->read(r);
		if (code == VT_SUCCESS)
			code = TBRW_done_section(r->file, section->id);
		if (code != VT_SUCCESS)
			return code;
		reader_put_section(r, DAT_SECTION_DONE, section->id);
	}
	return VT_SUCCESS;
}
