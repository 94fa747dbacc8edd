/* The machine that a result is of. */
#include "tests/profile/fixture.h"
#include <string.h>

static void *wide(const wchar_t *text)
{
	union {
		const wchar_t *given;
		void *taken;
	} both = {.given = text};

	return both.taken;
}

static void set_machine(struct profile_writer *writer)
{
	/* The last is no part of the name, which takes all of the three before it. */
	TBRW_CPUID_IA32 leaves[5] = {{.cpuid_eax_input = 0}};
	TBRW_CPU_ARCH arch = {
		.arch_size = sizeof(arch),
		.arch_type = TBRW_GST_EM64T,
		.arch_num_cpuid = 5,
		.cpuid_ia32_array = leaves,
	};
	TBRW_CPU cpus[3] = {{.cpu_size = sizeof(cpus[0])}};
	TBRW_NODE node = {
		.node_size = sizeof(node),
		.node_num_available = 3,
		.node_num_used = 3,
		.cpu_array = cpus,
	};
	TBRW_SYSTEM system = {
		.system_size = sizeof(system),
		.system_num_nodes = 1,
		.node_array = &node,
	};
	char brand[48] = "   Fast CPU of the second generation @ 3.25 GHz";
	leaves[4] =
		(TBRW_CPUID_IA32){0x80000005u, 0x58585858, 0x58585858, 0x58585858, 0x58585858, 0};
	for (uint32_t i = 0; i < 3; i++) {
		leaves[i + 1].cpuid_eax_input = 0x80000002u + i;
		memcpy(&leaves[i + 1].cpuid_eax, brand + 16 * i, 16);
		cpus[i] = (TBRW_CPU){
			.cpu_size = sizeof(cpus[i]),
			.cpu_number = i,
			.num_cpu_arch_array = 1,
			.cpu_arch_array = &arch,
		};
	}
	assert_success(profile_writer_set_system(writer, &system));
	ck_assert_uint_eq(profile_writer_set_system(writer, &system), VT_BAD_PARAMETER);
}

/* Loop: the array that is missing, of nodes, CPUs, architectures, CPUID leaves. */
START_TEST(machine_without_array)
{
	TBRW_CPU_ARCH arch = {.arch_size = sizeof(arch), .arch_num_cpuid = 5};
	TBRW_CPU cpu = {.cpu_size = sizeof(cpu), .num_cpu_arch_array = 1};
	TBRW_NODE node = {.node_size = sizeof(node), .node_num_available = 1};
	TBRW_SYSTEM system = {.system_size = sizeof(system), .system_num_nodes = 1};
	struct profile_writer *writer = fixture_create();
	struct profile_host_info info;

	system.node_array = _i > 0 ? &node : NULL;
	node.cpu_array = _i > 1 ? &cpu : NULL;
	cpu.cpu_arch_array = _i > 2 ? &arch : NULL;
	assert_success(profile_writer_set_system(writer, &system));
	fixture_finish(writer);
	struct profile_reader *reader = fixture_open();
	profile_reader_host(reader, &info);
	ck_assert_str_eq(info.cpu, "");
	profile_reader_close(reader);
}
END_TEST

START_TEST(host)
{
	TBRW_HOST machine = {.host_size = sizeof(machine), .host_name.soi_ptr = wide(L"node17")};
	TBRW_OS os = {
		.os_size = sizeof(os),
		.os_platform = TBRW_OSFAMILY_LINUX64,
		.os_name.soi_ptr = wide(L"Linux"),
		.os_name_extra.soi_ptr = wide(L"6.18.5"),
	};
	TBRW_APPLICATION application = {.app_size = sizeof(application), .app_page_size = 4096};
	struct profile_writer *writer = fixture_create();
	struct profile_host_info info;

	set_machine(writer);
	assert_success(profile_writer_set_software(writer, &machine, &os, &application));
	ck_assert_uint_eq(profile_writer_set_software(writer, &machine, &os, &application),
			  VT_BAD_PARAMETER);
	fixture_finish(writer);
	struct profile_reader *reader = fixture_open();
	profile_reader_host(reader, &info);
	ck_assert_str_eq(info.name, "node17");
	ck_assert_str_eq(info.os, "Linux 6.18.5");
	ck_assert_str_eq(info.cpu, "Fast CPU of the second generation @ 3.25 GHz");
	ck_assert_uint_eq(info.logical_cpus, 3);
	profile_reader_close(reader);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("profile host");
	TCase *tcase = fixture_case(suite);

	tcase_add_loop_test(tcase, machine_without_array, 0, 4);
	tcase_add_test(tcase, host);
	return run_suite(suite);
}
