/* The global sections. */
#include "tools/tb5/print_tb5.h"
#include "tools/tb5/tb5_text.h"
#include <stdio.h>
#include <stdlib.h>

static void print_arch(const TBRW_CPU_ARCH *arch)
{
	printf("      architecture: type=%u cpuid_entries=%u\n", arch->arch_type,
	       arch->arch_num_cpuid);
	for (unsigned i = 0; arch->cpuid_ia32_array && i < arch->arch_num_cpuid; i++) {
		if (arch->arch_type == TBRW_GST_ITANIUM) {
			const TBRW_CPUID_IA64 *id = &arch->cpuid_ia64_array[i];

			printf("        select=%#llx value=%#llx\n", id->cpuid_select,
			       id->cpuid_val);
		} else {
			const TBRW_CPUID_IA32 *id = &arch->cpuid_ia32_array[i];

			printf("        input=%#x eax=%#x ebx=%#x ecx=%#x edx=%#x\n",
			       id->cpuid_eax_input, id->cpuid_eax, id->cpuid_ebx, id->cpuid_ecx,
			       id->cpuid_edx);
		}
	}
}

static void print_cpu(const TBRW_CPU *cpu)
{
	printf("    cpu %u: native_arch=%u processor_number=%u mhz=%u fsb_mhz=%u l2_kb=%u "
	       "l3_kb=%u tsc_offset=%lld package=%u core=%u thread=%u threads_per_core=%u\n",
	       cpu->cpu_number, cpu->cpu_native_arch_type, cpu->cpu_intel_processor_number,
	       cpu->cpu_speed_mhz, cpu->cpu_fsb_mhz, cpu->cpu_cache_L2, cpu->cpu_cache_L3,
	       cpu->cpu_tsc_offset, cpu->cpu_package_num, cpu->cpu_core_num,
	       cpu->cpu_hardware_thread_num, cpu->cpu_threads_per_core);
	for (TBRW_U32 a = 0; cpu->cpu_arch_array && a < cpu->num_cpu_arch_array; a++)
		print_arch(&cpu->cpu_arch_array[a]);
}

static TBRW_U32 print_hardware(struct printer *p)
{
	TBRW_U32 size = 0;
	TBRW_U32 code = TBRW_get_system(p->file, 0, NULL, &size);

	if (code != VT_BUFFER_TOO_SMALL)
		return code;
	TBRW_SYSTEM *system = malloc(size);
	if (!system)
		return VT_NO_MEMORY;
	code = TBRW_get_system(p->file, size, system, NULL);
	for (TBRW_U32 n = 0;
	     code == VT_SUCCESS && system->node_array && n < system->system_num_nodes; n++) {
		const TBRW_NODE *node = &system->node_array[n];

		printf("  node %u: type=%u cpus=%u used=%u memory_mb=%llu\n", node->node_id,
		       node->node_type_from_shell, node->node_num_available, node->node_num_used,
		       node->node_physical_memory);
		for (TBRW_U32 c = 0; node->cpu_array && c < node->node_num_available; c++)
			print_cpu(&node->cpu_array[c]);
	}
	free(system);
	return code;
}

static TBRW_U32 print_software(struct printer *p)
{
	TBRW_HOST host;
	TBRW_OS os;
	TBRW_APPLICATION app;
	TBRW_U32 code = TBRW_get_host(p->file, sizeof(host), &host, NULL);

	if (code == VT_SUCCESS) {
		fputs("  host:", stdout);
		print_string(p->file, "name", host.host_name);
		print_string(p->file, "ip_address", host.host_ip_address);
		putchar('\n');
	} else if (code != VT_ENTRY_NOT_FOUND) {
		return code;
	}
	code = TBRW_get_os(p->file, sizeof(os), &os, NULL);
	if (code == VT_SUCCESS) {
		printf("  os: platform=%#x version=%u.%u build=%u extra=%u", os.os_platform,
		       os.os_major, os.os_minor, os.os_build, os.os_extra);
		print_string(p->file, "name", os.os_name);
		print_string(p->file, "name_extra", os.os_name_extra);
		putchar('\n');
	} else if (code != VT_ENTRY_NOT_FOUND) {
		return code;
	}
	code = TBRW_get_application(p->file, sizeof(app), &app, NULL);
	if (code == VT_SUCCESS)
		printf("  application: page_size=%u granularity=%u min_address=%#llx "
		       "max_address=%#llx\n",
		       app.app_page_size, app.app_alloc_granularity, app.app_min_app_addr,
		       app.app_max_app_addr);
	return code == VT_ENTRY_NOT_FOUND ? VT_SUCCESS : code;
}

static TBRW_U32 print_processes(TBRW_PID *pids, TBRW_U32 size, TBRW_U32 count, void *user)
{
	struct printer *p = user;

	(void)size;
	for (TBRW_U32 i = 0; i < count; i++) {
		if (!print_next_entry(p))
			return FALSE;
		printf(" process pid=%u flags=%#x when=%llu", pids[i].pid_id, pids[i].pid_flags,
		       pids[i].pid_event_when);
		print_string(p->file, "name", pids[i].pid_name);
		print_string(p->file, "path", pids[i].pid_path);
		putchar('\n');
	}
	return TRUE;
}

static TBRW_U32 print_threads(TBRW_TID *tids, TBRW_U32 size, TBRW_U32 count, void *user)
{
	struct printer *p = user;

	(void)size;
	for (TBRW_U32 i = 0; i < count; i++) {
		if (!print_next_entry(p))
			return FALSE;
		printf(" thread pid=%u tid=%u flags=%#x when=%llu", tids[i].tid_associated_pid,
		       tids[i].tid_id, tids[i].tid_flags, tids[i].tid_event_when);
		print_string(p->file, "name", tids[i].tid_name);
		putchar('\n');
	}
	return TRUE;
}

static TBRW_U32 print_process_section(struct printer *p)
{
	TBRW_U32 code = TBRW_enumerate_processes(p->file, print_processes, p, 0);

	if (code != VT_SUCCESS)
		return code;
	print_end_entries(p);
	return TBRW_enumerate_threads(p->file, print_threads, p, 0);
}

static TBRW_U32 print_modules(TBRW_MODULE *modules, TBRW_U32 size, TBRW_U32 count, void *user)
{
	struct printer *p = user;

	(void)size;
	for (TBRW_U32 i = 0; i < count; i++) {
		const TBRW_MODULE *m = &modules[i];

		if (!print_next_entry(p))
			return FALSE;
		printf(" module pid=%u flags=%#x address=%#llx length=%#llx when=%llu",
		       m->module_associated_pid, m->module_flags, m->module_load_address,
		       m->module_length, m->module_event_when);
		if (m->module_unload_tsc == ~0ull)
			fputs(" unload=never", stdout);
		else
			printf(" unload=%llu", m->module_unload_tsc);
		printf(" mode=%u cs=%#x", m->module_segment_type, m->module_code_selector);
		print_string(p->file, "path", m->module_path);
		print_string(p->file, "name", m->module_name);
		print_string(p->file, "segment", m->module_segment_name);
		putchar('\n');
	}
	return TRUE;
}

static TBRW_U32 print_module_section(struct printer *p)
{
	return TBRW_enumerate_modules(p->file, print_modules, p, 0);
}

static TBRW_U32 print_user_global(struct printer *p)
{
	TBRW_U32 size = 0;
	TBRW_U32 code = TBRW_get_user_defined_global(p->file, 0, NULL, &size);

	if (code == VT_BUFFER_NULL && size == 0) {
		print_bytes(p, NULL, 0);
		return VT_SUCCESS;
	}
	if (code != VT_BUFFER_TOO_SMALL)
		return code;
	unsigned char *data = malloc(size);
	if (!data)
		return VT_NO_MEMORY;
	code = TBRW_get_user_defined_global(p->file, size, data, NULL);
	if (code == VT_SUCCESS)
		print_bytes(p, data, size);
	free(data);
	return code;
}

static TBRW_U32 print_version_info(struct printer *p)
{
	TBRW_VERSION_INFO info;
	TBRW_U32 code = TBRW_get_version_info(p->file, sizeof(info), &info, NULL);

	if (code == VT_SUCCESS)
		printf("  driver=%#x bind=%#x sample_file=%#x\n", info.sampling_driver_version,
		       info.bind_version, info.sample_file_version);
	return code;
}

struct global_section {
	TBRW_SECTION_IDENTIFIER id;
	const char *name;
	TBRW_U32 (*print)(struct printer *p);
};

static const struct global_section global_sections[] = {
	{TBRW_VERSION_INFO_SECTION, "version information", print_version_info},
	{TBRW_HARDWARE_SECTION, "hardware", print_hardware},
	{TBRW_SOFTWARE_SECTION, "software", print_software},
	{TBRW_PROCESS_THREAD_SECTION, "processes and threads", print_process_section},
	{TBRW_MODULE_SECTION, "modules", print_module_section},
	{TBRW_USER_DEFINED_GLOBAL_SECTION, "user-defined", print_user_global},
};

static int print_global_section(struct printer *p, const struct global_section *section)
{
	TBRW_U32 code = TBRW_reading_section(p->file, section->id);

	printf("[%s]\n", section->name);
	if (code == VT_SECTION_NOT_EXIST) {
		puts("  (none)");
		return EXIT_SUCCESS;
	}
	if (code == VT_SUCCESS)
		code = section->print(p);
	print_end_entries(p);
	TBRW_done_section(p->file, section->id);
	return code == VT_SUCCESS ? EXIT_SUCCESS
				  : tb5_text_fail("cannot read the section", section->name, code,
						  "collect again, or recover what is left with "
						  "tbconvert recover");
}

int print_global_sections(struct printer *p)
{
	int status = EXIT_SUCCESS;

	for (size_t i = 0; i < sizeof(global_sections) / sizeof(*global_sections); i++)
		status |= print_global_section(p, &global_sections[i]);
	return status;
}
