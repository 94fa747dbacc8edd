/* print_tb5: shows what a tb5 file holds, through the public TBRW API alone. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tbrw/tbrw.h"

#define PROGRAM "print_tb5"

static const char usage[] = "Usage: " PROGRAM " [--limit N] FILE\n"
			    "Prints every section and stream of a tb5 file.\n"
			    "\n"
			    "  -n, --limit N  print at most N entries of each section\n"
			    "  -h, --help     print this and exit\n"
			    "  -V, --version  print the version and exit\n";

/* What the callbacks need. */
struct printer {
	TBRW_PTR file;
	uint64_t limit;       /* entries of a section */
	uint64_t index;       /* of the next entry */
	bool cut;             /* the limit kept an entry of this section from being printed */
	struct field *fields; /* of the stream being printed */
	size_t field_count;
	bool no_memory;
};

struct field {
	TBRW_SAMPREC_DESC_ENTRY descriptor;
	char *name;
};

/* ---- Text ---- */

/* Keeps output on its line, and terminals from obeying what a file holds. */
static void print_escaped(const char *utf8, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		unsigned char c = (unsigned char)utf8[i];

		if (c == '"' || c == '\\')
			printf("\\%c", c);
		else if (c == '\n')
			fputs("\\n", stdout);
		else if (c == '\t')
			fputs("\\t", stdout);
		else if (c < 0x20 || c == 0x7f)
			printf("\\x%02x", c);
		else
			putchar(c);
	}
}

/* The string for an id as UTF-8, "" for none. NULL: it cannot be read. The caller frees it. */
static char *text_of(TBRW_PTR file, TBRW_STRING_OR_ID id)
{
	TBRW_U32 wide_size = 0, size = 0;
	TBRW_CHAR *wide;
	char *text = NULL;

	if (!id.soi_uniqueid)
		return calloc(1, 1);
	if (TBRW_convert_uniqueid_to_string(file, 0, &id, NULL, &wide_size) != VT_BUFFER_TOO_SMALL)
		return NULL;
	wide = malloc(wide_size);
	if (wide &&
	    TBRW_convert_uniqueid_to_string(file, wide_size, &id, wide, NULL) == VT_SUCCESS &&
	    TBRW_convert_wcs_to_utf8(wide, NULL, &size) == VT_BUFFER_TOO_SMALL) {
		text = malloc(size);
		if (text)
			TBRW_convert_wcs_to_utf8(wide, text, &size);
	}
	free(wide);
	return text;
}

static void print_string(TBRW_PTR file, const char *name, TBRW_STRING_OR_ID id)
{
	char *text = text_of(file, id);

	if (!id.soi_uniqueid)
		printf(" %s=-", name);
	else if (!text)
		printf(" %s=(unreadable string %#llx)", name, id.soi_uniqueid);
	else {
		printf(" %s=\"", name);
		print_escaped(text, strlen(text));
		putchar('"');
	}
	free(text);
}

static const char *error_text(TBRW_U32 code, char *buffer, TBRW_U32 size)
{
	const TBRW_CHAR *text;

	if (TBRW_error_string(code, &text) != VT_SUCCESS ||
	    TBRW_convert_wcs_to_utf8(text, buffer, &size) != VT_SUCCESS)
		return "unknown error";
	return buffer;
}

/* Reports on one line; `advice` says what to do. */
static int fail(const char *what, const char *name, TBRW_U32 code, const char *advice)
{
	char text[256];

	fflush(stdout);
	fprintf(stderr, PROGRAM ": %s %s: %s; %s\n", what, name,
		error_text(code, text, sizeof text), advice);
	return EXIT_FAILURE;
}

/* Counts an entry; false when the limit is reached. */
static bool next_entry(struct printer *p)
{
	p->cut = p->index >= p->limit;
	if (p->cut)
		return false;
	printf("  %" PRIu64 ":", p->index++);
	return true;
}

/* Ends a list of entries. */
static void end_entries(struct printer *p)
{
	if (p->cut)
		printf("  (limited to %" PRIu64 " entries)\n", p->limit);
	p->cut = false;
	p->index = 0;
}

/* ---- Global sections ---- */

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
	TBRW_U32 ret = TBRW_get_system(p->file, 0, NULL, &size);
	TBRW_SYSTEM *system;

	if (ret != VT_BUFFER_TOO_SMALL)
		return ret;
	system = malloc(size);
	if (!system)
		return VT_NO_MEMORY;
	ret = TBRW_get_system(p->file, size, system, NULL);
	for (TBRW_U32 n = 0;
	     ret == VT_SUCCESS && system->node_array && n < system->system_num_nodes; n++) {
		const TBRW_NODE *node = &system->node_array[n];

		printf("  node %u: type=%u cpus=%u used=%u memory_mb=%llu\n", node->node_id,
		       node->node_type_from_shell, node->node_num_available, node->node_num_used,
		       node->node_physical_memory);
		for (TBRW_U32 c = 0; node->cpu_array && c < node->node_num_available; c++)
			print_cpu(&node->cpu_array[c]);
	}
	free(system);
	return ret;
}

static TBRW_U32 print_software(struct printer *p)
{
	TBRW_HOST host;
	TBRW_OS os;
	TBRW_APPLICATION app;
	TBRW_U32 ret = TBRW_get_host(p->file, sizeof host, &host, NULL);

	if (ret == VT_SUCCESS) {
		fputs("  host:", stdout);
		print_string(p->file, "name", host.host_name);
		print_string(p->file, "ip_address", host.host_ip_address);
		putchar('\n');
	} else if (ret != VT_ENTRY_NOT_FOUND) {
		return ret;
	}
	ret = TBRW_get_os(p->file, sizeof os, &os, NULL);
	if (ret == VT_SUCCESS) {
		printf("  os: platform=%#x version=%u.%u build=%u extra=%u", os.os_platform,
		       os.os_major, os.os_minor, os.os_build, os.os_extra);
		print_string(p->file, "name", os.os_name);
		print_string(p->file, "name_extra", os.os_name_extra);
		putchar('\n');
	} else if (ret != VT_ENTRY_NOT_FOUND) {
		return ret;
	}
	ret = TBRW_get_application(p->file, sizeof app, &app, NULL);
	if (ret == VT_SUCCESS)
		printf("  application: page_size=%u granularity=%u min_address=%#llx "
		       "max_address=%#llx\n",
		       app.app_page_size, app.app_alloc_granularity, app.app_min_app_addr,
		       app.app_max_app_addr);
	return ret == VT_ENTRY_NOT_FOUND ? VT_SUCCESS : ret;
}

static TBRW_U32 print_processes(TBRW_PID *pids, TBRW_U32 size, TBRW_U32 count, void *user)
{
	struct printer *p = user;

	(void)size;
	for (TBRW_U32 i = 0; i < count; i++) {
		if (!next_entry(p))
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
		if (!next_entry(p))
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
	TBRW_U32 ret = TBRW_enumerate_processes(p->file, print_processes, p, 0);

	if (ret != VT_SUCCESS)
		return ret;
	end_entries(p);
	return TBRW_enumerate_threads(p->file, print_threads, p, 0);
}

static TBRW_U32 print_modules(TBRW_MODULE *modules, TBRW_U32 size, TBRW_U32 count, void *user)
{
	struct printer *p = user;

	(void)size;
	for (TBRW_U32 i = 0; i < count; i++) {
		const TBRW_MODULE *m = &modules[i];

		if (!next_entry(p))
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

static void print_bytes(struct printer *p, const unsigned char *data, TBRW_U32 size)
{
	printf("  %u bytes\n", size);
	for (TBRW_U32 i = 0; i < size; i += 16) {
		if (!next_entry(p))
			return;
		for (TBRW_U32 j = i; j < size && j < i + 16; j++)
			printf(" %02x", data[j]);
		putchar('\n');
	}
}

static TBRW_U32 print_user_global(struct printer *p)
{
	TBRW_U32 size = 0;
	TBRW_U32 ret = TBRW_get_user_defined_global(p->file, 0, NULL, &size);
	unsigned char *data;

	if (ret != VT_BUFFER_TOO_SMALL)
		return ret == VT_BUFFER_NULL ? VT_SUCCESS : ret;
	data = malloc(size);
	if (!data)
		return VT_NO_MEMORY;
	ret = TBRW_get_user_defined_global(p->file, size, data, NULL);
	if (ret == VT_SUCCESS)
		print_bytes(p, data, size);
	free(data);
	return ret;
}

static TBRW_U32 print_version_info(struct printer *p)
{
	TBRW_VERSION_INFO info;
	TBRW_U32 ret = TBRW_get_version_info(p->file, sizeof info, &info, NULL);

	if (ret == VT_SUCCESS)
		printf("  driver=%#x bind=%#x sample_file=%#x\n", info.sampling_driver_version,
		       info.bind_version, info.sample_file_version);
	return ret;
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
	TBRW_U32 ret = TBRW_reading_section(p->file, section->id);

	printf("[%s]\n", section->name);
	if (ret == VT_SECTION_NOT_EXIST) {
		puts("  (none)");
		return EXIT_SUCCESS;
	}
	if (ret == VT_SUCCESS)
		ret = section->print(p);
	end_entries(p);
	TBRW_done_section(p->file, section->id);
	return ret == VT_SUCCESS
		       ? EXIT_SUCCESS
		       : fail("cannot read the section", section->name, ret,
			      "collect again, or recover what is left with tbconvert recover");
}

/* ---- Streams ---- */

static TBRW_U32 print_stream_info(struct printer *p, TBRW_U32 stream)
{
	static const char *const types[] =
		{"?",           "sampling",     "aggregated",  "bookmark", "bind data",
		 "bind module", "bind process", "bind thread", "custom"};
	TBRW_STREAM_INFO info;
	TBRW_U32 ret = TBRW_get_stream_info(p->file, stream, sizeof info, &info, NULL);

	if (ret != VT_SUCCESS)
		return ret;
	printf("  type=%u (%s) duration_ms=%u interval_us=%u start=0x%x%08x end=0x%x%08x",
	       info.stream_type, types[info.stream_type <= 8 ? info.stream_type : 0],
	       info.sampling_duration, info.sampling_interval,
	       info.sampling_start_time.dwHighDateTime, info.sampling_start_time.dwLowDateTime,
	       info.sampling_end_time.dwHighDateTime, info.sampling_end_time.dwLowDateTime);
	print_string(p->file, "comment", info.comment);
	print_string(p->file, "command_line", info.command_line);
	print_string(p->file, "cpu_mask", info.cpu_mask);
	putchar('\n');
	return VT_SUCCESS;
}

static TBRW_U32 print_events(TBRW_EVENT *event, TBRW_U32 size, TBRW_U32 count, void *user)
{
	struct printer *p = user;

	(void)size;
	(void)count;
	if (!next_entry(p))
		return FALSE;
	printf(" event id=%u flags=%#x sample_after=%llu", event->event_id, event->event_flags,
	       event->event_sav);
	print_string(p->file, "name", event->event_name);
	print_string(p->file, "arch", event->event_arch_name);
	putchar('\n');
	for (TBRW_U32 i = 0; i < event->event_num_details; i++) {
		const TBRW_EVENT_DETAIL *d = &event->event_detail_array[i];

		printf("      detail: method=%u access=%u bits=%u address=%#llx value=%#llx "
		       "command=%u\n",
		       d->detail_method, d->detail_access, d->detail_access_size, d->detail_address,
		       d->detail_value, d->legacy_command);
	}
	return TRUE;
}

static TBRW_U32 print_event_section(struct printer *p, TBRW_U32 stream)
{
	puts("  events:");
	return TBRW_enumerate_events(p->file, stream, print_events, p, 0);
}

static TBRW_U32 add_fields(TBRW_SAMPREC_DESC_ENTRY *descriptors, TBRW_U32 size, TBRW_U32 count,
			   void *user)
{
	struct printer *p = user;
	struct field *grown = realloc(p->fields, (p->field_count + count) * sizeof *grown);

	(void)size;
	if (!grown) {
		p->no_memory = true;
		return FALSE;
	}
	p->fields = grown;
	for (TBRW_U32 i = 0; i < count; i++) {
		const TBRW_SAMPREC_DESC_ENTRY *d = &descriptors[i];

		p->fields[p->field_count++] = (struct field){*d, text_of(p->file, d->desc_name)};
		printf("  field offset=%u size=%u type=%#x subtype=%#x", d->desc_offset,
		       d->desc_data_size, d->desc_type, d->desc_subtype);
		print_string(p->file, "name", d->desc_name);
		putchar('\n');
	}
	return TRUE;
}

static TBRW_U32 print_descriptors(struct printer *p, TBRW_U32 stream)
{
	TBRW_U32 ret = TBRW_enumerate_data_descriptor_entries(p->file, stream, add_fields, p);

	return p->no_memory ? VT_NO_MEMORY : ret;
}

static void print_sample(const unsigned char *data)
{
	TBRW_SampleRecordPC pc;

	memcpy(&pc, data, sizeof pc);
	printf(" ip=%#llx flags=%#llx cs=%#x cpu=%u mode=%u tid=%u pid=%u%s event=%u",
	       pc.IA64PC ? pc.iip : pc.eip, pc.IA64PC ? pc.ipsr : pc.eflags, pc.cs, pc.cpuNum,
	       pc.codeMode, pc.tid, pc.pidRecIndex, pc.pidRecIndexRaw ? "" : " (index)",
	       pc.eventIndex);
}

static void print_field(const struct field *field, const unsigned char *entry)
{
	const TBRW_SAMPREC_DESC_ENTRY *d = &field->descriptor;
	const unsigned char *data = entry + d->desc_offset;
	uint64_t value = 0;

	if (d->desc_type == ST_LEGACY_SAMPLE_RECORD &&
	    d->desc_data_size == sizeof(TBRW_SampleRecordPC)) {
		print_sample(data);
		return;
	}
	putchar(' ');
	if (field->name && *field->name)
		print_escaped(field->name, strlen(field->name));
	else
		printf("@%u", d->desc_offset);
	putchar('=');
	switch (d->desc_data_size) {
	case 1:
	case 2:
	case 4:
	case 8:
		memcpy(&value, data, d->desc_data_size);
		printf("%" PRIu64, value);
		break;
	default:
		for (TBRW_U32 i = 0; i < d->desc_data_size; i++)
			printf("%02x", data[i]);
	}
}

static TBRW_U32 print_text(void *data, TBRW_U32 size, TBRW_U32 count, void *user)
{
	struct printer *p = user;

	(void)size;
	p->cut = count > p->limit - p->index;
	if (p->cut)
		count = (TBRW_U32)(p->limit - p->index);
	print_escaped(data, count);
	p->index += count;
	return p->cut ? FALSE : TRUE;
}

static TBRW_U32 print_entries(void *data, TBRW_U32 size, TBRW_U32 count, void *user)
{
	struct printer *p = user;
	const unsigned char *entry = data;

	for (TBRW_U32 i = 0; i < count; i++, entry += size / count) {
		if (!next_entry(p))
			return FALSE;
		for (size_t f = 0; f < p->field_count; f++)
			print_field(&p->fields[f], entry);
		putchar('\n');
	}
	return TRUE;
}

static TBRW_U32 print_data(struct printer *p, TBRW_U32 stream)
{
	bool text = p->field_count == 1 && p->fields[0].descriptor.desc_data_size == 1 &&
		    p->fields[0].descriptor.desc_offset == 0;
	TBRW_U32 ret;

	puts("  data:");
	/* An incomplete file may have lost the descriptors; the rest of it is worth showing. */
	if (!p->field_count) {
		puts("  (its fields were not described)");
		return VT_SUCCESS;
	}
	if (!text)
		return TBRW_enumerate_data(p->file, stream, print_entries, p, 0);
	fputs("  \"", stdout);
	ret = TBRW_enumerate_data(p->file, stream, print_text, p, 0);
	puts("\"");
	return ret;
}

static TBRW_U32 print_user_stream(struct printer *p, TBRW_U32 stream)
{
	TBRW_U32 size = 0;
	TBRW_U32 ret = TBRW_get_user_defined_stream(p->file, stream, 0, NULL, &size);
	unsigned char *data;

	puts("  user-defined:");
	if (ret != VT_BUFFER_TOO_SMALL)
		return ret == VT_BUFFER_NULL ? VT_SUCCESS : ret;
	data = malloc(size);
	if (!data)
		return VT_NO_MEMORY;
	ret = TBRW_get_user_defined_stream(p->file, stream, size, data, NULL);
	if (ret == VT_SUCCESS)
		print_bytes(p, data, size);
	free(data);
	return ret;
}

struct stream_section {
	TBRW_STREAM_SECTION_IDENTIFIER id;
	TBRW_U32 (*print)(struct printer *p, TBRW_U32 stream);
};

/* The descriptors come before the data, which is printed by them. */
static const struct stream_section stream_sections[] = {
	{TBRW_STREAM_INFO_SECTION, print_stream_info},
	{TBRW_EVENT_DESCRIPTION_SECTION, print_event_section},
	{TBRW_DATA_DESCRIPTION_SECTION, print_descriptors},
	{TBRW_DATA_SECTION, print_data},
	{TBRW_USER_DEFINED_STREAM_SECTION, print_user_stream},
};

static TBRW_U32 print_stream_sections(struct printer *p, TBRW_U32 stream)
{
	TBRW_U32 ret = VT_SUCCESS;

	for (size_t i = 0; i < sizeof stream_sections / sizeof *stream_sections; i++) {
		const struct stream_section *s = &stream_sections[i];

		ret = TBRW_reading_stream_section(p->file, stream, s->id);
		if (ret == VT_SECTION_NOT_EXIST) {
			ret = VT_SUCCESS;
			continue;
		}
		if (ret == VT_SUCCESS)
			ret = s->print(p, stream);
		end_entries(p);
		TBRW_done_stream_section(p->file, stream, s->id);
		if (ret != VT_SUCCESS)
			break;
	}
	return ret;
}

static int print_stream(struct printer *p, TBRW_U32 stream)
{
	TBRW_U32 ret = TBRW_reading_stream(p->file, stream);
	char name[32];

	if (ret == VT_STREAM_NOT_EXIST)
		return EXIT_SUCCESS;
	printf("[stream %u]\n", stream);
	p->fields = NULL;
	p->field_count = 0;
	if (ret == VT_SUCCESS)
		ret = print_stream_sections(p, stream);
	TBRW_done_stream(p->file, stream);
	for (size_t i = 0; i < p->field_count; i++)
		free(p->fields[i].name);
	free(p->fields);
	if (ret == VT_SUCCESS)
		return EXIT_SUCCESS;
	snprintf(name, sizeof name, "%u", stream);
	return fail("cannot read stream", name, ret,
		    "collect again, or recover what is left with tbconvert recover");
}

/* ---- The file ---- */

static int print_all(struct printer *p, const char *path)
{
	TBRW_U32 streams = 0;
	TBRW_U32 bound = 0;
	TBRW_U32 verified = TBRW_verify(p->file);
	int status = EXIT_SUCCESS;

	TBRW_get_number_data_streams(p->file, &streams);
	if (streams)
		TBRW_is_bound(p->file, 0, &bound);
	printf("file: %s\ncomplete: %s\nstreams: %u\nbound: %s\n", path,
	       verified == VT_SUCCESS                      ? "yes"
	       : verified == VT_INCOMPLETE_TB5_ENCOUNTERED ? "no, it was never closed"
							   : "damaged",
	       streams, bound ? "yes" : "no");
	/* Damage in one section does not keep the others from being shown. */
	for (size_t i = 0; i < sizeof global_sections / sizeof *global_sections; i++)
		status |= print_global_section(p, &global_sections[i]);
	for (TBRW_U32 n = 0; n < streams; n++)
		status |= print_stream(p, n);
	return status;
}

static int print_file(const char *path, uint64_t limit)
{
	struct printer p = {.limit = limit};
	TBRW_U32 size = 0;
	TBRW_CHAR *wide;
	TBRW_U32 ret = TBRW_convert_utf8_to_wcs(path, NULL, &size);
	int status;

	if (ret != VT_BUFFER_TOO_SMALL)
		return fail("cannot open", path, ret, "give the file a name in UTF-8");
	wide = malloc(size * sizeof *wide);
	ret = wide ? TBRW_convert_utf8_to_wcs(path, wide, &size) : VT_NO_MEMORY;
	if (ret == VT_SUCCESS)
		ret = TBRW_open(&p.file, wide, TBRW_FILE_READ);
	free(wide);
	if (ret != VT_SUCCESS)
		return fail("cannot open", path, ret, "name a tb5 file that tbcollect wrote");
	status = print_all(&p, path);
	TBRW_abort_cleanup_and_close(p.file);
	if (fflush(stdout) == EOF || ferror(stdout)) {
		fprintf(stderr, PROGRAM ": cannot print: %s; free the output's device\n",
			strerror(errno));
		return EXIT_FAILURE;
	}
	return status;
}

static bool parse_limit(const char *text, uint64_t *limit)
{
	char *end;

	errno = 0;
	*limit = strtoull(text, &end, 10);
	return *text >= '0' && *text <= '9' && !*end && !errno;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {{"limit", required_argument, NULL, 'n'},
						{"help", no_argument, NULL, 'h'},
						{"version", no_argument, NULL, 'V'},
						{NULL, 0, NULL, 0}};
	uint64_t limit = UINT64_MAX;
	int option;

	while ((option = getopt_long(argc, argv, "n:hV", options, NULL)) != -1) {
		switch (option) {
		case 'n':
			if (parse_limit(optarg, &limit))
				break;
			fprintf(stderr, PROGRAM ": --limit %s: not a number; give a count\n",
				optarg);
			return 2;
		case 'h':
			fputs(usage, stdout);
			return EXIT_SUCCESS;
		case 'V':
			puts(PROGRAM " " TBCOLLECT_VERSION);
			return EXIT_SUCCESS;
		default:
			fprintf(stderr, "Try '" PROGRAM " --help'.\n");
			return 2;
		}
	}
	if (argc - optind != 1) {
		fputs(usage, stderr);
		return 2;
	}
	return print_file(argv[optind], limit);
}
