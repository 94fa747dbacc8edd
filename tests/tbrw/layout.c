/* Where every member of every public structure lies, on LP64 and on ILP32: compiling this file is
 * the test. Only structures that hold a pointer differ. */
#include "tbrw/tbrw.h"
#include <stddef.h>

#define LP64                    (sizeof(void *) == 8)
#define SIZE(type, lp64, ilp32) _Static_assert(sizeof(type) == (LP64 ? lp64 : ilp32), #type)
#define AT(type, member, lp64, ilp32) \
	_Static_assert(offsetof(type, member) == (LP64 ? lp64 : ilp32), #type "." #member)

SIZE(TBRW_STRING_OR_ID, 8, 8);
AT(TBRW_STRING_OR_ID, soi_uniqueid, 0, 0);
AT(TBRW_STRING_OR_ID, soi_ptr, 0, 0);

SIZE(TBRW_CPUID_IA32, 24, 24);
AT(TBRW_CPUID_IA32, cpuid_eax_input, 0, 0);
AT(TBRW_CPUID_IA32, cpuid_eax, 4, 4);
AT(TBRW_CPUID_IA32, cpuid_ebx, 8, 8);
AT(TBRW_CPUID_IA32, cpuid_ecx, 12, 12);
AT(TBRW_CPUID_IA32, cpuid_edx, 16, 16);
AT(TBRW_CPUID_IA32, reserved, 20, 20);

SIZE(TBRW_CPUID_IA64, 24, 24);
AT(TBRW_CPUID_IA64, cpuid_select, 0, 0);
AT(TBRW_CPUID_IA64, cpuid_val, 8, 8);
AT(TBRW_CPUID_IA64, reserved, 16, 16);

SIZE(TBRW_CPU_ARCH, 16, 12);
AT(TBRW_CPU_ARCH, arch_size, 0, 0);
AT(TBRW_CPU_ARCH, arch_type, 4, 4);
AT(TBRW_CPU_ARCH, arch_num_cpuid, 6, 6);
AT(TBRW_CPU_ARCH, cpuid_ia32_array, 8, 8);
AT(TBRW_CPU_ARCH, cpuid_ia64_array, 8, 8);

SIZE(TBRW_CPU, 64, 56);
AT(TBRW_CPU, cpu_size, 0, 0);
AT(TBRW_CPU, cpu_number, 4, 4);
AT(TBRW_CPU, cpu_native_arch_type, 8, 8);
AT(TBRW_CPU, cpu_intel_processor_number, 12, 12);
AT(TBRW_CPU, cpu_speed_mhz, 16, 16);
AT(TBRW_CPU, cpu_fsb_mhz, 20, 20);
AT(TBRW_CPU, cpu_cache_L2, 24, 24);
AT(TBRW_CPU, cpu_cache_L3, 28, 28);
AT(TBRW_CPU, cpu_tsc_offset, 32, 32);
AT(TBRW_CPU, cpu_package_num, 40, 40);
AT(TBRW_CPU, cpu_core_num, 42, 42);
AT(TBRW_CPU, cpu_hardware_thread_num, 44, 44);
AT(TBRW_CPU, cpu_threads_per_core, 46, 46);
AT(TBRW_CPU, num_cpu_arch_array, 48, 48);
AT(TBRW_CPU, cpu_arch_array, 56, 52);

SIZE(TBRW_NODE, 40, 40);
AT(TBRW_NODE, node_size, 0, 0);
AT(TBRW_NODE, node_type_from_shell, 4, 4);
AT(TBRW_NODE, node_id, 8, 8);
AT(TBRW_NODE, node_num_available, 12, 12);
AT(TBRW_NODE, node_num_used, 16, 16);
AT(TBRW_NODE, node_physical_memory, 24, 24);
AT(TBRW_NODE, cpu_array, 32, 32);

SIZE(TBRW_SYSTEM, 16, 12);
AT(TBRW_SYSTEM, system_size, 0, 0);
AT(TBRW_SYSTEM, system_num_nodes, 4, 4);
AT(TBRW_SYSTEM, node_array, 8, 8);

SIZE(TBRW_HOST, 32, 32);
AT(TBRW_HOST, host_size, 0, 0);
AT(TBRW_HOST, host_ip_address, 8, 8);
AT(TBRW_HOST, host_name, 16, 16);
AT(TBRW_HOST, reserved, 24, 24);

SIZE(TBRW_OS, 40, 40);
AT(TBRW_OS, os_size, 0, 0);
AT(TBRW_OS, os_platform, 4, 4);
AT(TBRW_OS, os_major, 8, 8);
AT(TBRW_OS, os_minor, 12, 12);
AT(TBRW_OS, os_build, 16, 16);
AT(TBRW_OS, os_extra, 20, 20);
AT(TBRW_OS, os_name, 24, 24);
AT(TBRW_OS, os_name_extra, 32, 32);

SIZE(TBRW_APPLICATION, 32, 32);
AT(TBRW_APPLICATION, app_size, 0, 0);
AT(TBRW_APPLICATION, app_reserved, 4, 4);
AT(TBRW_APPLICATION, app_page_size, 8, 8);
AT(TBRW_APPLICATION, app_alloc_granularity, 12, 12);
AT(TBRW_APPLICATION, app_min_app_addr, 16, 16);
AT(TBRW_APPLICATION, app_max_app_addr, 24, 24);

SIZE(TBRW_PID, 48, 48);
AT(TBRW_PID, pid_size, 0, 0);
AT(TBRW_PID, pid_reserved, 4, 4);
AT(TBRW_PID, pid_id, 8, 8);
AT(TBRW_PID, pid_flags, 12, 12);
AT(TBRW_PID, pid_event_when, 16, 16);
AT(TBRW_PID, reserved1, 24, 24);
AT(TBRW_PID, reserved2, 28, 28);
AT(TBRW_PID, pid_path, 32, 32);
AT(TBRW_PID, pid_name, 40, 40);

SIZE(TBRW_TID, 40, 40);
AT(TBRW_TID, tid_size, 0, 0);
AT(TBRW_TID, tid_associated_pid, 4, 4);
AT(TBRW_TID, tid_id, 8, 8);
AT(TBRW_TID, tid_flags, 12, 12);
AT(TBRW_TID, tid_event_when, 16, 16);
AT(TBRW_TID, reserved1, 24, 24);
AT(TBRW_TID, reserved2, 28, 28);
AT(TBRW_TID, tid_name, 32, 32);

SIZE(TBRW_MODULE, 104, 104);
AT(TBRW_MODULE, module_size, 0, 0);
AT(TBRW_MODULE, module_reserved, 4, 4);
AT(TBRW_MODULE, module_associated_pid, 8, 8);
AT(TBRW_MODULE, module_flags, 12, 12);
AT(TBRW_MODULE, module_event_when, 16, 16);
AT(TBRW_MODULE, module_segment_number, 24, 24);
AT(TBRW_MODULE, module_code_selector, 32, 32);
AT(TBRW_MODULE, module_length, 40, 40);
AT(TBRW_MODULE, module_load_address, 48, 48);
AT(TBRW_MODULE, reserved_for_legacy, 56, 56);
AT(TBRW_MODULE, reserved_for_legacy2, 60, 60);
AT(TBRW_MODULE, reserved_for_legacy_flags, 64, 64);
AT(TBRW_MODULE, reserved1, 68, 68);
AT(TBRW_MODULE, module_unload_tsc, 72, 72);
AT(TBRW_MODULE, module_path, 80, 80);
AT(TBRW_MODULE, module_name, 88, 88);
AT(TBRW_MODULE, module_segment_name, 96, 96);

SIZE(TBRW_VERSION_INFO, 16, 16);
AT(TBRW_VERSION_INFO, version_info_size, 0, 0);
AT(TBRW_VERSION_INFO, sampling_driver_version, 4, 4);
AT(TBRW_VERSION_INFO, bind_version, 8, 8);
AT(TBRW_VERSION_INFO, sample_file_version, 12, 12);

SIZE(VTUNE_ANALYZER_FILETIME, 8, 8);
AT(VTUNE_ANALYZER_FILETIME, dwLowDateTime, 0, 0);
AT(VTUNE_ANALYZER_FILETIME, dwHighDateTime, 4, 4);

SIZE(TBRW_STREAM_INFO, 56, 56);
AT(TBRW_STREAM_INFO, stream_info_size, 0, 0);
AT(TBRW_STREAM_INFO, sampling_duration, 4, 4);
AT(TBRW_STREAM_INFO, stream_type, 8, 8);
AT(TBRW_STREAM_INFO, sampling_interval, 12, 12);
AT(TBRW_STREAM_INFO, sampling_start_time, 16, 16);
AT(TBRW_STREAM_INFO, sampling_end_time, 24, 24);
AT(TBRW_STREAM_INFO, command_line, 32, 32);
AT(TBRW_STREAM_INFO, cpu_mask, 40, 40);
AT(TBRW_STREAM_INFO, comment, 48, 48);

SIZE(TBRW_EVENT_DETAIL, 32, 32);
AT(TBRW_EVENT_DETAIL, detail_size, 0, 0);
AT(TBRW_EVENT_DETAIL, detail_access_size, 4, 4);
AT(TBRW_EVENT_DETAIL, detail_method, 6, 6);
AT(TBRW_EVENT_DETAIL, detail_access, 7, 7);
AT(TBRW_EVENT_DETAIL, detail_address, 8, 8);
AT(TBRW_EVENT_DETAIL, detail_value, 16, 16);
AT(TBRW_EVENT_DETAIL, legacy_command, 24, 24);
AT(TBRW_EVENT_DETAIL, reserved1, 25, 25);
AT(TBRW_EVENT_DETAIL, reserved2, 26, 26);
AT(TBRW_EVENT_DETAIL, reserved3, 28, 28);

SIZE(TBRW_EVENT, 48, 48);
AT(TBRW_EVENT, event_size, 0, 0);
AT(TBRW_EVENT, event_id, 4, 4);
AT(TBRW_EVENT, event_num_details, 8, 8);
AT(TBRW_EVENT, event_flags, 12, 12);
AT(TBRW_EVENT, event_sav, 16, 16);
AT(TBRW_EVENT, event_name, 24, 24);
AT(TBRW_EVENT, event_arch_name, 32, 32);
AT(TBRW_EVENT, event_detail_array, 40, 40);

SIZE(TBRW_SAMPREC_DESC_ENTRY, 40, 40);
AT(TBRW_SAMPREC_DESC_ENTRY, force_8_byte_aligned, 0, 0);
AT(TBRW_SAMPREC_DESC_ENTRY, desc_size, 0, 0);
AT(TBRW_SAMPREC_DESC_ENTRY, desc_offset, 4, 4);
AT(TBRW_SAMPREC_DESC_ENTRY, desc_type, 8, 8);
AT(TBRW_SAMPREC_DESC_ENTRY, desc_subtype, 10, 10);
AT(TBRW_SAMPREC_DESC_ENTRY, desc_sub_type, 10, 10);
AT(TBRW_SAMPREC_DESC_ENTRY, desc_data_size, 12, 12);
AT(TBRW_SAMPREC_DESC_ENTRY, desc_access_offset, 16, 16);
AT(TBRW_SAMPREC_DESC_ENTRY, desc_access_type, 24, 24);
AT(TBRW_SAMPREC_DESC_ENTRY, desc_access_method, 25, 25);
AT(TBRW_SAMPREC_DESC_ENTRY, desc_sample_flag, 26, 26);
AT(TBRW_SAMPREC_DESC_ENTRY, reserved0, 27, 27);
AT(TBRW_SAMPREC_DESC_ENTRY, reserved1, 28, 28);
AT(TBRW_SAMPREC_DESC_ENTRY, desc_name, 32, 32);

SIZE(TBRW_CodeDescriptor, 8, 8);
AT(TBRW_CodeDescriptor, lowWord, 0, 0);
AT(TBRW_CodeDescriptor, highWord, 4, 4);

SIZE(TBRW_SampleRecordPC, 32, 32);
AT(TBRW_SampleRecordPC, iip, 0, 0);
AT(TBRW_SampleRecordPC, ipsr, 8, 8);
AT(TBRW_SampleRecordPC, eip, 0, 0);
AT(TBRW_SampleRecordPC, eflags, 4, 4);
AT(TBRW_SampleRecordPC, csd, 8, 8);
AT(TBRW_SampleRecordPC, cs, 16, 16);
AT(TBRW_SampleRecordPC, cpuAndOS, 18, 18);
AT(TBRW_SampleRecordPC, tid, 20, 20);
AT(TBRW_SampleRecordPC, pidRecIndex, 24, 24);
AT(TBRW_SampleRecordPC, bitFields2, 28, 28);

SIZE(TBRW_SampleRecordTSC, 8, 8);
AT(TBRW_SampleRecordTSC, tsc, 0, 0);

SIZE(DATA_BIND_STRUCT, 24, 24);
AT(DATA_BIND_STRUCT, module_index, 0, 0);
AT(DATA_BIND_STRUCT, pid_index, 8, 8);
AT(DATA_BIND_STRUCT, tid_index, 16, 16);

SIZE(MODULE_BIND_STRUCT, 8, 8);
AT(MODULE_BIND_STRUCT, pid_index, 0, 0);

SIZE(TID_BIND_STRUCT, 8, 8);
AT(TID_BIND_STRUCT, pid_index, 0, 0);
