#include "tools/tb5/tbrw_dat.h"

#include "tbrw/tbrw.h"
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Offset and bytes of a member. */
#define AT(type, member)                                               \
	{                                                              \
		offsetof(type, member), sizeof(((type *)NULL)->member) \
	}

/* module_segment_type: two bits of the word in front of the selector. */
#define MODE_PLACE                                                                               \
	{                                                                                        \
		offsetof(TBRW_MODULE, module_code_selector) - sizeof(TBRW_U32), sizeof(TBRW_U32) \
	}

static const struct dat_record records[DAT_KINDS] = {
	[DAT_SYSTEM] = {sizeof(TBRW_SYSTEM), "", {{0}}},
	[DAT_HOST] = {sizeof(TBRW_HOST),
		      "  host: name=%s ip_address=%s",
		      {AT(TBRW_HOST, host_name), AT(TBRW_HOST, host_ip_address)}},
	[DAT_OS] = {sizeof(TBRW_OS),
		    "  os: platform=%x version=%u.%u build=%u extra=%u name=%s name_extra=%s",
		    {AT(TBRW_OS, os_platform), AT(TBRW_OS, os_major), AT(TBRW_OS, os_minor),
		     AT(TBRW_OS, os_build), AT(TBRW_OS, os_extra), AT(TBRW_OS, os_name),
		     AT(TBRW_OS, os_name_extra)}},
	[DAT_APPLICATION] =
		{sizeof(TBRW_APPLICATION),
		 "  application: page_size=%u granularity=%u min_address=%x max_address=%x",
		 {AT(TBRW_APPLICATION, app_page_size), AT(TBRW_APPLICATION, app_alloc_granularity),
		  AT(TBRW_APPLICATION, app_min_app_addr), AT(TBRW_APPLICATION, app_max_app_addr)}},
	[DAT_PROCESS] = {sizeof(TBRW_PID),
			 " process pid=%u flags=%x when=%u name=%s path=%s",
			 {AT(TBRW_PID, pid_id), AT(TBRW_PID, pid_flags),
			  AT(TBRW_PID, pid_event_when), AT(TBRW_PID, pid_name),
			  AT(TBRW_PID, pid_path)}},
	[DAT_THREAD] = {sizeof(TBRW_TID),
			" thread pid=%u tid=%u flags=%x when=%u name=%s",
			{AT(TBRW_TID, tid_associated_pid), AT(TBRW_TID, tid_id),
			 AT(TBRW_TID, tid_flags), AT(TBRW_TID, tid_event_when),
			 AT(TBRW_TID, tid_name)}},
	[DAT_MODULE] = {sizeof(TBRW_MODULE),
			" module pid=%u flags=%x address=%x length=%x when=%u unload=%t mode=%m"
			" cs=%x path=%s name=%s segment=%s",
			{AT(TBRW_MODULE, module_associated_pid), AT(TBRW_MODULE, module_flags),
			 AT(TBRW_MODULE, module_load_address), AT(TBRW_MODULE, module_length),
			 AT(TBRW_MODULE, module_event_when), AT(TBRW_MODULE, module_unload_tsc),
			 MODE_PLACE, AT(TBRW_MODULE, module_code_selector),
			 AT(TBRW_MODULE, module_path), AT(TBRW_MODULE, module_name),
			 AT(TBRW_MODULE, module_segment_name)}},
	[DAT_VERSION_INFO] = {sizeof(TBRW_VERSION_INFO),
			      "  driver=%x bind=%x sample_file=%x",
			      {AT(TBRW_VERSION_INFO, sampling_driver_version),
			       AT(TBRW_VERSION_INFO, bind_version),
			       AT(TBRW_VERSION_INFO, sample_file_version)}},
	[DAT_STREAM_INFO] = {sizeof(TBRW_STREAM_INFO),
			     "  type=%y duration_ms=%u interval_us=%u start=0x%h%8 end=0x%h%8"
			     " comment=%s command_line=%s cpu_mask=%s",
			     {AT(TBRW_STREAM_INFO, stream_type),
			      AT(TBRW_STREAM_INFO, sampling_duration),
			      AT(TBRW_STREAM_INFO, sampling_interval),
			      AT(TBRW_STREAM_INFO, sampling_start_time.dwHighDateTime),
			      AT(TBRW_STREAM_INFO, sampling_start_time.dwLowDateTime),
			      AT(TBRW_STREAM_INFO, sampling_end_time.dwHighDateTime),
			      AT(TBRW_STREAM_INFO, sampling_end_time.dwLowDateTime),
			      AT(TBRW_STREAM_INFO, comment), AT(TBRW_STREAM_INFO, command_line),
			      AT(TBRW_STREAM_INFO, cpu_mask)}},
	[DAT_EVENT] = {sizeof(TBRW_EVENT),
		       " event id=%u flags=%x sample_after=%u name=%s arch=%s",
		       {AT(TBRW_EVENT, event_id), AT(TBRW_EVENT, event_flags),
			AT(TBRW_EVENT, event_sav), AT(TBRW_EVENT, event_name),
			AT(TBRW_EVENT, event_arch_name)}},
	[DAT_EVENT_DETAIL] =
		{sizeof(TBRW_EVENT_DETAIL),
		 "      detail: method=%u access=%u bits=%u address=%x value=%x command=%u",
		 {AT(TBRW_EVENT_DETAIL, detail_method), AT(TBRW_EVENT_DETAIL, detail_access),
		  AT(TBRW_EVENT_DETAIL, detail_access_size), AT(TBRW_EVENT_DETAIL, detail_address),
		  AT(TBRW_EVENT_DETAIL, detail_value), AT(TBRW_EVENT_DETAIL, legacy_command)}},
	[DAT_DESCRIPTOR] = {sizeof(TBRW_SAMPREC_DESC_ENTRY),
			    "  field offset=%u size=%u type=%x subtype=%x name=%s",
			    {AT(TBRW_SAMPREC_DESC_ENTRY, desc_offset),
			     AT(TBRW_SAMPREC_DESC_ENTRY, desc_data_size),
			     AT(TBRW_SAMPREC_DESC_ENTRY, desc_type),
			     AT(TBRW_SAMPREC_DESC_ENTRY, desc_subtype),
			     AT(TBRW_SAMPREC_DESC_ENTRY, desc_name)}},
	[DAT_NODE] = {sizeof(TBRW_NODE),
		      "  node %u: type=%u cpus=%u used=%u memory_mb=%u",
		      {AT(TBRW_NODE, node_id), AT(TBRW_NODE, node_type_from_shell),
		       AT(TBRW_NODE, node_num_available), AT(TBRW_NODE, node_num_used),
		       AT(TBRW_NODE, node_physical_memory)}},
	[DAT_CPU] = {sizeof(TBRW_CPU),
		     "    cpu %u: native_arch=%u processor_number=%u mhz=%u fsb_mhz=%u"
		     " l2_kb=%u l3_kb=%u tsc_offset=%i package=%u core=%u thread=%u"
		     " threads_per_core=%u",
		     {AT(TBRW_CPU, cpu_number), AT(TBRW_CPU, cpu_native_arch_type),
		      AT(TBRW_CPU, cpu_intel_processor_number), AT(TBRW_CPU, cpu_speed_mhz),
		      AT(TBRW_CPU, cpu_fsb_mhz), AT(TBRW_CPU, cpu_cache_L2),
		      AT(TBRW_CPU, cpu_cache_L3), AT(TBRW_CPU, cpu_tsc_offset),
		      AT(TBRW_CPU, cpu_package_num), AT(TBRW_CPU, cpu_core_num),
		      AT(TBRW_CPU, cpu_hardware_thread_num), AT(TBRW_CPU, cpu_threads_per_core)}},
	[DAT_ARCH] = {sizeof(TBRW_CPU_ARCH),
		      "      architecture: type=%u cpuid_entries=%u",
		      {AT(TBRW_CPU_ARCH, arch_type), AT(TBRW_CPU_ARCH, arch_num_cpuid)}},
	[DAT_CPUID_IA32] = {sizeof(TBRW_CPUID_IA32),
			    "        input=%x eax=%x ebx=%x ecx=%x edx=%x",
			    {AT(TBRW_CPUID_IA32, cpuid_eax_input), AT(TBRW_CPUID_IA32, cpuid_eax),
			     AT(TBRW_CPUID_IA32, cpuid_ebx), AT(TBRW_CPUID_IA32, cpuid_ecx),
			     AT(TBRW_CPUID_IA32, cpuid_edx)}},
	[DAT_CPUID_IA64] = {sizeof(TBRW_CPUID_IA64),
			    "        select=%x value=%x",
			    {AT(TBRW_CPUID_IA64, cpuid_select), AT(TBRW_CPUID_IA64, cpuid_val)}},
};

_Static_assert(sizeof(TBRW_CPUID_IA32) == sizeof(TBRW_CPUID_IA64), "one run holds both");

const struct dat_record *dat_record_of(enum dat_kind kind)
{
	assert(kind < DAT_KINDS);
	return &records[kind];
}

size_t dat_texts_of(enum dat_kind kind, size_t texts[DAT_STRINGS_MAX])
{
	const struct dat_record *record = dat_record_of(kind);
	size_t field = 0;
	size_t count = 0;
	for (const char *at = strchr(record->format, '%'); at; at = strchr(at + 1, '%')) {
		if (at[1] == DAT_TEXT)
			texts[count++] = record->fields[field].offset;
		field++;
	}
	return count;
}

uint64_t dat_number(const void *record, struct dat_place place)
{
	uint64_t number = 0;
	assert(place.size <= sizeof(number));
	memcpy(&number, (const unsigned char *)record + place.offset, place.size);
	return number;
}

struct dat_array dat_array_of(enum dat_kind kind, const void *record)
{
	static const struct {
		enum dat_kind entries;
		size_t array;
		struct dat_place count;
	} arrays[DAT_KINDS] = {
		[DAT_SYSTEM] = {DAT_NODE, offsetof(TBRW_SYSTEM, node_array),
				AT(TBRW_SYSTEM, system_num_nodes)},
		[DAT_NODE] = {DAT_CPU, offsetof(TBRW_NODE, cpu_array),
			      AT(TBRW_NODE, node_num_available)},
		[DAT_CPU] = {DAT_ARCH, offsetof(TBRW_CPU, cpu_arch_array),
			     AT(TBRW_CPU, num_cpu_arch_array)},
		[DAT_ARCH] = {DAT_CPUID_IA32, offsetof(TBRW_CPU_ARCH, cpuid_ia32_array),
			      AT(TBRW_CPU_ARCH, arch_num_cpuid)},
		[DAT_EVENT] = {DAT_EVENT_DETAIL, offsetof(TBRW_EVENT, event_detail_array),
			       AT(TBRW_EVENT, event_num_details)},
	};
	if (!arrays[kind].entries)
		return (struct dat_array){0};
	struct dat_place place = {arrays[kind].array, sizeof(uintptr_t)};
	struct dat_array array = {
		.kind = arrays[kind].entries,
		.place = place.offset,
		.pointer = dat_number(record, place),
		.count = dat_number(record, arrays[kind].count),
	};
	if (kind == DAT_ARCH &&
	    dat_number(record, (struct dat_place)AT(TBRW_CPU_ARCH, arch_type)) == TBRW_GST_ITANIUM)
		array.kind = DAT_CPUID_IA64;
	return array;
}

bool dat_system_move(unsigned char *system, uint64_t size, uintptr_t from, uintptr_t to)
{
	uint64_t at = 0;
	uint64_t next = sizeof(TBRW_SYSTEM); /* the next array's place */
	if (size < next)
		return false;
	for (enum dat_kind kind = DAT_SYSTEM, below; kind; kind = below) {
		uint64_t end = next;
		below = 0;
		for (; at < end; at += records[kind].size) {
			struct dat_array array = dat_array_of(kind, system + at);
			if (!array.pointer)
				continue;
			uintptr_t offset = array.pointer - from;
			uintptr_t moved = offset + to;
			if (offset != next ||
			    array.count > (size - next) / records[array.kind].size)
				return false;
			memcpy(system + at + array.place, &moved, sizeof(moved));
			next += array.count * records[array.kind].size;
			below = array.kind;
		}
	}
	return true;
}

int dat_check_arguments(int argc, char **argv, const char *usage, const char *version)
{
	if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
		fputs(usage, stdout);
		return EXIT_SUCCESS;
	}
	if (argc == 2 && strcmp(argv[1], "--version") == 0) {
		puts(version);
		return EXIT_SUCCESS;
	}
	if (argc == 3)
		return -1;
	fputs(usage, stderr);
	return 2;
}
