#include "collector/host/host.h"

#include "collector/host/cpus.h"
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

/* The number in a one-number file such as "4096K"; 0 when there is none. */
static unsigned long read_number(const char *format, unsigned number)
{
	char path[256];
	unsigned long value = 0;
	/* The formats are this file's own. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	snprintf(path, sizeof(path), format, number);
#pragma GCC diagnostic pop
	char text[64] = "";
	FILE *file = fopen(path, "re");
	if (!file)
		return 0;
	if (fgets(text, sizeof(text), file))
		value = strtoul(text, NULL, 10);
	fclose(file);
	return value;
}

/* The text after "key ... : " in a file such as /proc/cpuinfo, or after KEY= in os-release. */
static void read_field(const char *path, const char *key, char separator, char *value, size_t size)
{
	char line[512];
	value[0] = '\0';
	FILE *file = fopen(path, "re");
	if (!file)
		return;
	while (fgets(line, sizeof(line), file)) {
		char *at = strchr(line, separator);
		if (!at || strncmp(line, key, strlen(key)) != 0)
			continue;
		at += 1 + strspn(at + 1, " \t\"");
		at[strcspn(at, "\"\n")] = '\0';
		snprintf(value, size, "%s", at);
		break;
	}
	fclose(file);
}

static void set_text(TBRW_CHAR *wide, const char *text)
{
	TBRW_U32 size = HOST_TEXT_MAX;
	if (TBRW_convert_utf8_to_wcs(text, wide, &size) != VT_SUCCESS)
		wide[0] = L'\0';
}

#if defined(__x86_64__)
static void add_cpuid(struct host *host, unsigned leaf)
{
	TBRW_CPUID_IA32 *entry = &host->cpuid[host->architecture.arch_num_cpuid];
	if (host->architecture.arch_num_cpuid == HOST_CPUID_MAX ||
	    !__get_cpuid_count(leaf, 0, &entry->cpuid_eax, &entry->cpuid_ebx, &entry->cpuid_ecx,
			       &entry->cpuid_edx))
		return;
	entry->cpuid_eax_input = leaf;
	host->architecture.arch_num_cpuid++;
}
#endif

static void fill_architecture(struct host *host)
{
	host->architecture = (TBRW_CPU_ARCH){.arch_size = sizeof(TBRW_CPU_ARCH),
					     .arch_type = TBRW_GST_UNK,
					     .cpuid_ia32_array = host->cpuid};
#if defined(__x86_64__)
	static const unsigned leaves[] = {0,          1,          2,          4,
					  6,          7,          0xa,        0xd,
					  0x15,       0x16,       0x80000000, 0x80000001,
					  0x80000002, 0x80000003, 0x80000004, 0x80000007,
					  0x80000008};
	_Static_assert(sizeof(leaves) / sizeof(leaves[0]) <= HOST_CPUID_MAX, "all have room");
	host->architecture.arch_type = TBRW_GST_EM64T;
	for (size_t i = 0; i < sizeof(leaves) / sizeof(leaves[0]); i++)
		add_cpuid(host, leaves[i]);
#endif
}

static void fill_cpu(struct host *host, TBRW_CPU *cpu, uint32_t number, TBRW_U32 mhz)
{
	struct cpus siblings = {0};
	char path[128];
	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/topology/thread_siblings_list",
		 number);
	*cpu = (TBRW_CPU){
		.cpu_size = sizeof(TBRW_CPU),
		.cpu_number = number,
		.cpu_native_arch_type = CPU_ARCHITECTURE_IA32,
		.cpu_speed_mhz = mhz,
		.cpu_cache_L2 =
			(TBRW_U32)read_number("/sys/devices/system/cpu/cpu%u/cache/index2/size",
					      number),
		.cpu_cache_L3 =
			(TBRW_U32)read_number("/sys/devices/system/cpu/cpu%u/cache/index3/size",
					      number),
		.cpu_package_num = (TBRW_U16)
			read_number("/sys/devices/system/cpu/cpu%u/topology/physical_package_id",
				    number),
		.cpu_core_num =
			(TBRW_U16)read_number("/sys/devices/system/cpu/cpu%u/topology/core_id",
					      number),
		.cpu_threads_per_core = 1,
		.num_cpu_arch_array = 1,
		.cpu_arch_array = &host->architecture,
	};
	if (cpus_read(path, &siblings) < 0)
		return;
	cpu->cpu_threads_per_core = (TBRW_U16)siblings.count;
	for (size_t i = 0; i < siblings.count; i++)
		if (siblings.numbers[i] == number)
			cpu->cpu_hardware_thread_num = (TBRW_U16)i;
	cpus_finish(&siblings);
}

static TBRW_U64 node_memory_mb(uint32_t node)
{
	char path[128];
	char text[64];
	snprintf(path, sizeof(path), "/sys/devices/system/node/node%u/meminfo", node);
	/* "Node 0 MemTotal:  24573172 kB" is the first line. */
	read_field(path, "Node", ':', text, sizeof(text));
	if (text[0] == '\0' && node == 0)
		read_field("/proc/meminfo", "MemTotal", ':', text, sizeof(text));
	return strtoull(text, NULL, 10) / 1024;
}

/* The CPUs of one node that are online. Without NUMA files all CPUs are node 0's. */
static void read_node_cpus(uint32_t node, struct cpus *cpus)
{
	char path[128];
	snprintf(path, sizeof(path), "/sys/devices/system/node/node%u/cpulist", node);
	if (cpus_read(path, cpus) < 0 && node == 0 && cpus_online(cpus) < 0)
		*cpus = (struct cpus){0};
}

static int fill_system(struct host *host)
{
	struct cpus nodes = {0};
	struct cpus online = {0};
	uint32_t node_zero[] = {0};
	struct cpus one_node = {.numbers = node_zero, .count = 1};
	char mhz[64];
	if (cpus_online(&online) < 0)
		return -1;
	read_field("/proc/cpuinfo", "cpu MHz", ':', mhz, sizeof(mhz));
	bool numa = cpus_read("/sys/devices/system/node/online", &nodes) == 0;
	struct cpus *list = numa ? &nodes : &one_node;
	host->nodes = calloc(list->count, sizeof(*host->nodes));
	host->cpus = calloc(online.count, sizeof(*host->cpus));
	size_t used = 0;
	for (size_t i = 0; host->nodes && host->cpus && i < list->count; i++) {
		struct cpus members;
		read_node_cpus(list->numbers[i], &members);
		size_t first = used;
		for (size_t m = 0; m < members.count && used < online.count; m++)
			fill_cpu(host, &host->cpus[used++], members.numbers[m],
				 (TBRW_U32)strtoul(mhz, NULL, 10));
		host->nodes[i] = (TBRW_NODE){
			.node_size = sizeof(TBRW_NODE),
			.node_id = list->numbers[i],
			.node_num_available = (TBRW_U32)(used - first),
			.node_num_used = (TBRW_U32)(used - first),
			.node_physical_memory = node_memory_mb(list->numbers[i]),
			.cpu_array = host->cpus + first,
		};
		cpus_finish(&members);
	}
	host->system = (TBRW_SYSTEM){.system_size = sizeof(TBRW_SYSTEM),
				     .system_num_nodes = (TBRW_U32)list->count,
				     .node_array = host->nodes};
	cpus_finish(&online);
	if (numa)
		cpus_finish(&nodes);
	return host->nodes && host->cpus ? 0 : -1;
}

/* "6.1.0-13-amd64" -> 6, 1, 0 */
static void read_version(const char *release, TBRW_U32 version[3])
{
	const char *at = release;
	for (int i = 0; i < 3; i++) {
		char *end;
		version[i] = (TBRW_U32)strtoul(at, &end, 10);
		at = *end == '.' ? end + 1 : end;
	}
}

static void set_software(struct host *host, const char *name, const char *os, const char *release,
			 const TBRW_U32 version[3])
{
	set_text(host->host_name, name);
	set_text(host->ip_address, ""); /* a host has many; the name identifies it */
	set_text(host->os_name, os);
	set_text(host->os_release, release);
	host->host = (TBRW_HOST){.host_size = sizeof(TBRW_HOST),
				 .host_ip_address.soi_ptr = host->ip_address,
				 .host_name.soi_ptr = host->host_name};
	host->os = (TBRW_OS){.os_size = sizeof(TBRW_OS),
			     .os_platform = TBRW_OSFAMILY_LINUX64,
			     .os_major = version[0],
			     .os_minor = version[1],
			     .os_build = version[2],
			     .os_name.soi_ptr = host->os_name,
			     .os_name_extra.soi_ptr = host->os_release};
	host->application = (TBRW_APPLICATION){
		.app_size = sizeof(TBRW_APPLICATION),
		.app_page_size = (TBRW_U32)sysconf(_SC_PAGESIZE),
		.app_alloc_granularity = (TBRW_U32)sysconf(_SC_PAGESIZE),
		.app_max_app_addr =
			0x7fffffffefff, /* x86-64, arch/x86/include/asm/page_64_types.h */
	};
}

static void fill_software(struct host *host)
{
	struct utsname names = {0};
	char pretty[HOST_TEXT_MAX];
	char release[HOST_TEXT_MAX];
	TBRW_U32 version[3];
	uname(&names);
	read_field("/etc/os-release", "PRETTY_NAME", '=', pretty, sizeof(pretty));
	read_version(names.release, version);
	snprintf(release, sizeof(release), "%.64s %.64s %.64s", names.sysname, names.release,
		 names.machine);
	set_software(host, names.nodename, pretty[0] != '\0' ? pretty : names.sysname, release,
		     version);
	host->application.app_min_app_addr = read_number("/proc/sys/vm/mmap_min_addr", 0);
}

struct host *host_create(void)
{
	struct host *host = calloc(1, sizeof(*host));
	if (!host)
		return NULL;
	fill_architecture(host);
	fill_software(host);
	if (fill_system(host) < 0) {
		host_destroy(host);
		return NULL;
	}
	return host;
}

enum { OTHER_CPUS_MAX = 8192, BRAND_LEAF = 0x80000002, BRAND_LEAVES = 3, BRAND_SIZE = 16 };

/* The processor's name, as its CPUID gives it (AMD64 manual, volume 3, function 8000_0002h). */
static void set_brand(struct host *host, const char *cpu)
{
	char brand[BRAND_LEAVES * BRAND_SIZE] = "";
	snprintf(brand, sizeof(brand), "%s", cpu);
	for (unsigned i = 0; i < BRAND_LEAVES && cpu[0]; i++) {
		TBRW_CPUID_IA32 *entry = &host->cpuid[host->architecture.arch_num_cpuid++];
		const char *part = brand + (size_t)i * BRAND_SIZE;
		entry->cpuid_eax_input = BRAND_LEAF + i;
		memcpy(&entry->cpuid_eax, part, 4);
		memcpy(&entry->cpuid_ebx, part + 4, 4);
		memcpy(&entry->cpuid_ecx, part + 8, 4);
		memcpy(&entry->cpuid_edx, part + 12, 4);
	}
}

/* One node with all CPUs. */
static int fill_other_system(struct host *host, const struct host_facts *facts)
{
	TBRW_U32 count = facts->cpus < OTHER_CPUS_MAX ? facts->cpus : OTHER_CPUS_MAX;
	host->nodes = calloc(1, sizeof(*host->nodes));
	host->cpus = calloc(count + 1, sizeof(*host->cpus));
	if (!host->nodes || !host->cpus)
		return -1;
	for (TBRW_U32 i = 0; i < count; i++)
		host->cpus[i] = (TBRW_CPU){.cpu_size = sizeof(TBRW_CPU),
					   .cpu_number = i,
					   .cpu_native_arch_type = CPU_ARCHITECTURE_IA32,
					   .cpu_threads_per_core = 1,
					   .num_cpu_arch_array = 1,
					   .cpu_arch_array = &host->architecture};
	*host->nodes = (TBRW_NODE){.node_size = sizeof(TBRW_NODE),
				   .node_num_available = count,
				   .node_num_used = count,
				   .node_physical_memory = facts->memory_kb / 1024,
				   .cpu_array = host->cpus};
	host->system = (TBRW_SYSTEM){.system_size = sizeof(TBRW_SYSTEM),
				     .system_num_nodes = 1,
				     .node_array = host->nodes};
	return 0;
}

struct host *host_create_other(const struct host_facts *facts)
{
	char release[HOST_TEXT_MAX];
	TBRW_U32 version[3];
	struct host *host = calloc(1, sizeof(*host));
	if (!host)
		return NULL;
	host->architecture =
		(TBRW_CPU_ARCH){.arch_size = sizeof(TBRW_CPU_ARCH),
				.arch_type = strcmp(facts->arch, "x86_64") == 0 ? TBRW_GST_EM64T
										: TBRW_GST_UNK,
				.cpuid_ia32_array = host->cpuid};
	set_brand(host, facts->cpu);
	snprintf(release, sizeof(release), "Linux %.64s %.64s", facts->release, facts->arch);
	read_version(facts->release, version);
	set_software(host, facts->name, "Linux", release, version);
	if (fill_other_system(host, facts) < 0) {
		host_destroy(host);
		return NULL;
	}
	return host;
}

void host_destroy(struct host *host)
{
	if (!host)
		return;
	free(host->nodes);
	free(host->cpus);
	free(host);
}
