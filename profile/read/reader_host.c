/* The machine, from the software and hardware sections. */
#include "profile/read/reader_private.h"
#include <stdlib.h>
#include <string.h>

/* CPUID leaves of the processor's brand string, 16 bytes each. */
#define CPUID_BRAND_FIRST 0x80000002u
#define CPUID_BRAND_LAST  0x80000004u
#define CPUID_BRAND_SIZE  48

/* A machine without a description is no error. */
static TBRW_U32 unless_memory(TBRW_U32 code)
{
	return code == VT_NO_MEMORY ? code : VT_SUCCESS;
}

static TBRW_U32 load_names(struct profile_reader *reader)
{
	TBRW_HOST host;
	TBRW_OS os;
	const char *name = "", *extra = "";
	TBRW_U32 code = TBRW_get_host(reader->file, sizeof(host), &host, NULL);

	if (code == VT_SUCCESS)
		code = profile_reader_string(reader, host.host_name, &reader->host.name);
	if (code == VT_NO_MEMORY)
		return code;
	code = TBRW_get_os(reader->file, sizeof(os), &os, NULL);
	if (code != VT_SUCCESS)
		return unless_memory(code);
	code = profile_reader_string(reader, os.os_name, &name);
	if (code == VT_SUCCESS)
		code = profile_reader_string(reader, os.os_name_extra, &extra);
	reader->host.os = name;
	if (code != VT_SUCCESS || !*extra)
		return code;
	size_t size = strlen(name) + 1 + strlen(extra);
	char *both = malloc(size + 1);
	if (!both)
		return VT_NO_MEMORY;
	stpcpy(stpcpy(stpcpy(both, name), *name ? " " : ""), extra);
	const char *kept = profile_strpool_add(&reader->made_names, both, strlen(both));
	free(both);
	if (kept)
		reader->host.os = kept;
	return kept ? VT_SUCCESS : VT_NO_MEMORY;
}

static void take_leaf(const TBRW_CPUID_IA32 *leaf, char brand[CPUID_BRAND_SIZE + 1])
{
	uint32_t words[4] = {leaf->cpuid_eax, leaf->cpuid_ebx, leaf->cpuid_ecx, leaf->cpuid_edx};

	if (leaf->cpuid_eax_input >= CPUID_BRAND_FIRST && leaf->cpuid_eax_input <= CPUID_BRAND_LAST)
		memcpy(brand + (leaf->cpuid_eax_input - CPUID_BRAND_FIRST) * sizeof(words), words,
		       sizeof(words));
}

static TBRW_U32 take_brand(struct profile_reader *reader, const TBRW_CPU *cpu)
{
	char brand[CPUID_BRAND_SIZE + 1] = "";

	/* An array may be missing, whatever its number says (TBRW_set_system). */
	for (TBRW_U32 a = 0; cpu->cpu_arch_array && a < cpu->num_cpu_arch_array; a++) {
		const TBRW_CPU_ARCH *arch = &cpu->cpu_arch_array[a];
		if (arch->arch_type == TBRW_GST_ITANIUM || !arch->cpuid_ia32_array)
			continue;
		for (TBRW_U32 i = 0; i < arch->arch_num_cpuid; i++)
			take_leaf(&arch->cpuid_ia32_array[i], brand);
	}
	const char *start = brand + strspn(brand, " ");
	size_t length = strlen(start);
	while (length > 0 && start[length - 1] == ' ')
		length--;
	const char *kept = profile_strpool_add(&reader->made_names, start, length);
	if (kept)
		reader->host.cpu = kept;
	return kept ? VT_SUCCESS : VT_NO_MEMORY;
}

static TBRW_U32 take_system(struct profile_reader *reader, const TBRW_SYSTEM *system)
{
	uint64_t cpus = 0;
	TBRW_U32 code = VT_SUCCESS;

	TBRW_U32 nodes = system->node_array ? system->system_num_nodes : 0;
	for (TBRW_U32 i = 0; i < nodes && code == VT_SUCCESS; i++) {
		const TBRW_NODE *node = &system->node_array[i];
		cpus += node->node_num_available;
		if (!*reader->host.cpu && node->cpu_array && node->node_num_available > 0)
			code = take_brand(reader, &node->cpu_array[0]);
	}
	reader->host.logical_cpus = cpus > UINT32_MAX ? UINT32_MAX : (uint32_t)cpus;
	return code;
}

static TBRW_U32 load_system(struct profile_reader *reader)
{
	TBRW_U32 size = 0;
	TBRW_U32 code = TBRW_get_system(reader->file, 0, NULL, &size);

	if (code != VT_BUFFER_TOO_SMALL || size < sizeof(TBRW_SYSTEM))
		return unless_memory(code);
	TBRW_SYSTEM *system = malloc(size);
	if (!system)
		return VT_NO_MEMORY;
	code = TBRW_get_system(reader->file, size, system, NULL);
	code = code == VT_SUCCESS ? take_system(reader, system) : unless_memory(code);
	free(system);
	return code;
}

TBRW_U32 profile_reader_load_host(struct profile_reader *reader)
{
	reader->host = (struct profile_host_info){.name = "", .os = "", .cpu = ""};
	TBRW_U32 code = TBRW_reading_section(reader->file, TBRW_SOFTWARE_SECTION);
	if (code == VT_SUCCESS) {
		code = load_names(reader);
		TBRW_done_section(reader->file, TBRW_SOFTWARE_SECTION);
	}
	if (code == VT_NO_MEMORY)
		return code;
	code = TBRW_reading_section(reader->file, TBRW_HARDWARE_SECTION);
	if (code == VT_SUCCESS) {
		code = load_system(reader);
		TBRW_done_section(reader->file, TBRW_HARDWARE_SECTION);
	}
	return unless_memory(code);
}
