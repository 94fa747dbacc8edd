/* The data types of the TBRW API: TBRW User Guide 2.3, chapter 8 and sections 6.10 and 9.5.
 *
 * The guide publishes the structures and most enumerations, but not every number. Where the
 * number is ours the comment says "own value"; nothing here claims to match another
 * implementation's binary interface or files. Structures are little-endian and naturally aligned;
 * their sizes are asserted at the end. */
#ifndef TBRW_TYPES_H
#define TBRW_TYPES_H

#include <wchar.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef wchar_t TBRW_CHAR;
typedef unsigned char TBRW_U8;
typedef unsigned short TBRW_U16;
typedef unsigned int TBRW_U32;
typedef signed int TBRW_S32;
/* The 32-bit ABI of x86 aligns these to 4 bytes in structures, every other ABI to 8. */
#if defined(__i386__)
typedef signed long long TBRW_S64 __attribute__((aligned(8)));
typedef unsigned long long TBRW_U64 __attribute__((aligned(8)));
#else
typedef signed long long TBRW_S64;
typedef unsigned long long TBRW_U64;
#endif

/* An open tb5 file. Opaque. */
typedef void *TBRW_PTR;

/* Given to TBRW: a pointer to a wide string, or NULL for none. TBRW copies the string.
 * Got from TBRW: a unique id of that file (bit 63 set), or 0 for none, which
 * TBRW_convert_uniqueid_to_string turns into the string. */
typedef struct __string_or_id {
	union {
		TBRW_U64 soi_uniqueid;
		TBRW_CHAR *soi_ptr;
	};
} TBRW_STRING_OR_ID;

/* Access modes of TBRW_open; own values. */
#define TBRW_FILE_READ          0x1u
#define TBRW_FILE_WRITE         0x2u
#define TBRW_FILE_CREATE_ALWAYS 0x4u

/* The index that says "no such module, process or thread" in bind results; own value. */
#define TBRW_INDEX_NONE (~(TBRW_U64)0)

/* ---- Section identifiers (8.2) ---- */

typedef enum {
	TBRW_HARDWARE_SECTION,
	TBRW_SOFTWARE_SECTION,
	TBRW_PROCESS_THREAD_SECTION,
	TBRW_MODULE_SECTION,
	TBRW_USER_DEFINED_GLOBAL_SECTION,
	TBRW_VERSION_INFO_SECTION
} TBRW_SECTION_IDENTIFIER;

typedef enum {
	TBRW_EVENT_DESCRIPTION_SECTION,
	TBRW_DATA_DESCRIPTION_SECTION,
	TBRW_DATA_SECTION,
	TBRW_USER_DEFINED_STREAM_SECTION,
	TBRW_STREAM_INFO_SECTION
} TBRW_STREAM_SECTION_IDENTIFIER;

/* ---- Hardware (8.3) ---- */

/* Processor architectures of TBRW_CPU_ARCH.arch_type, numbered as in Intel's open drivers. */
typedef enum {
	TBRW_GST_UNK = 0,
	TBRW_GST_X86 = 1,
	TBRW_GST_ITANIUM = 2,
	TBRW_GST_SA = 3,
	TBRW_GST_XSC = 4,
	TBRW_GST_EM64T = 5,
	TBRW_GST_CS860 = 6
} TBRW_GEN_ENTRY_SUBTYPES;

/* TBRW_CPU.cpu_native_arch_type; own values. */
#define CPU_ARCHITECTURE_IA32    1u
#define CPU_ARCHITECTURE_IA64    2u
#define CPU_ARCHITECTURE_INTEL64 3u
#define CPU_ARCHITECTURE_AARCH64 0x100u

typedef struct __TBRW_cpuid_ia32 {
	TBRW_U32 cpuid_eax_input;
	TBRW_U32 cpuid_eax;
	TBRW_U32 cpuid_ebx;
	TBRW_U32 cpuid_ecx;
	TBRW_U32 cpuid_edx;
	TBRW_U32 reserved;
} TBRW_CPUID_IA32;
typedef TBRW_CPUID_IA32 TBRW_CPUD_IA32; /* 8.3 spells the structure's name without the I */

typedef struct __TBRW_cpuid_ia64 {
	TBRW_U64 cpuid_select;
	TBRW_U64 cpuid_val;
	TBRW_U64 reserved;
} TBRW_CPUID_IA64;

typedef struct __TBRW_cpu_arch {
	TBRW_U32 arch_size;      /* sizeof(TBRW_CPU_ARCH) */
	TBRW_U16 arch_type;      /* TBRW_GEN_ENTRY_SUBTYPES */
	TBRW_U16 arch_num_cpuid; /* entries of the array below */
	union {
		TBRW_CPUID_IA32 *cpuid_ia32_array;
		TBRW_CPUID_IA64 *cpuid_ia64_array; /* if arch_type is TBRW_GST_ITANIUM */
	};
} TBRW_CPU_ARCH;

typedef struct __TBRW_cpu {
	TBRW_U32 cpu_size; /* sizeof(TBRW_CPU) */
	TBRW_U32 cpu_number;
	TBRW_U32 cpu_native_arch_type; /* CPU_ARCHITECTURE_ */
	TBRW_U32 cpu_intel_processor_number;
	TBRW_U32 cpu_speed_mhz;
	TBRW_U32 cpu_fsb_mhz;
	TBRW_U32 cpu_cache_L2;   /* KB */
	TBRW_U32 cpu_cache_L3;   /* KB */
	TBRW_S64 cpu_tsc_offset; /* TSC of this CPU minus TSC of CPU 0 */
	TBRW_U16 cpu_package_num;
	TBRW_U16 cpu_core_num;
	TBRW_U16 cpu_hardware_thread_num;
	TBRW_U16 cpu_threads_per_core;
	TBRW_U32 num_cpu_arch_array; /* entries of the array below */
	TBRW_CPU_ARCH *cpu_arch_array;
} TBRW_CPU;

typedef struct __TBRW_node {
	TBRW_U32 node_size; /* sizeof(TBRW_NODE) */
	TBRW_U32 node_type_from_shell;
	TBRW_U32 node_id;
	TBRW_U32 node_num_available; /* CPUs on this node, and entries of the array below */
	TBRW_U32 node_num_used;
	TBRW_U64 node_physical_memory; /* MB */
	TBRW_CPU *cpu_array;
} TBRW_NODE;

typedef struct __TBRW_system {
	TBRW_U32 system_size;      /* sizeof(TBRW_SYSTEM) */
	TBRW_U32 system_num_nodes; /* entries of the array below */
	TBRW_NODE *node_array;
} TBRW_SYSTEM;

/* ---- Software (8.4) ---- */

/* TBRW_OS.os_platform (7.1); an own platform takes a number from 0x100 to 0x1FF. */
#define TBRW_OSFAMILY_WIN32   0x00000001
#define TBRW_OSFAMILY_WIN64   0x00000002
#define TBRW_OSFAMILY_Wince   0x00000003
#define TBRW_OSFAMILY_XOS     0x00000004
#define TBRW_OSFAMILY_LINUX32 0x00000005
#define TBRW_OSFAMILY_LINUX64 0x00000006

typedef struct __TBRW_host {
	TBRW_U32 host_size; /* sizeof(TBRW_HOST) */
	TBRW_STRING_OR_ID host_ip_address;
	TBRW_STRING_OR_ID host_name;
	TBRW_U32 reserved;
} TBRW_HOST;

typedef struct __TBRW_os {
	TBRW_U32 os_size;     /* sizeof(TBRW_OS) */
	TBRW_U32 os_platform; /* TBRW_OSFAMILY_ */
	TBRW_U32 os_major;
	TBRW_U32 os_minor;
	TBRW_U32 os_build;
	TBRW_U32 os_extra;
	TBRW_STRING_OR_ID os_name;
	TBRW_STRING_OR_ID os_name_extra;
} TBRW_OS;

typedef struct __TBRW_application {
	TBRW_U32 app_size; /* sizeof(TBRW_APPLICATION) */
	TBRW_U32 app_reserved;
	TBRW_U32 app_page_size;         /* bytes */
	TBRW_U32 app_alloc_granularity; /* bytes */
	TBRW_U64 app_min_app_addr;
	TBRW_U64 app_max_app_addr;
} TBRW_APPLICATION;

/* ---- Processes and threads (8.5) ---- */

/* pid_flags and tid_flags; own values. A record without CREATE and TERMINATE counts as CREATE. */
#define TBRW_PID_CREATE    0x1u
#define TBRW_PID_TERMINATE 0x2u
#define TBRW_PID_TSC_USED  0x4u /* pid_event_when is a TSC */
#define TBRW_PID_DEDUCED   0x8u /* set by bind: nobody wrote this process */
#define TBRW_TID_CREATE    0x1u
#define TBRW_TID_TERMINATE 0x2u
#define TBRW_TID_TSC_USED  0x4u
#define TBRW_TID_DEDUCED   0x8u

typedef struct __TBRW_pid {
	TBRW_U32 pid_size; /* sizeof(TBRW_PID) */
	TBRW_U32 pid_reserved;
	TBRW_U32 pid_id;    /* comparable to a sample's pidRecIndex */
	TBRW_U32 pid_flags; /* TBRW_PID_ */
	TBRW_U64 pid_event_when;
	TBRW_U32 reserved1;
	TBRW_U32 reserved2;
	TBRW_STRING_OR_ID pid_path;
	TBRW_STRING_OR_ID pid_name;
} TBRW_PID;

typedef struct __TBRW_tid {
	TBRW_U32 tid_size; /* sizeof(TBRW_TID) */
	TBRW_U32 tid_associated_pid;
	TBRW_U32 tid_id;    /* comparable to a sample's tid */
	TBRW_U32 tid_flags; /* TBRW_TID_ */
	TBRW_U64 tid_event_when;
	TBRW_U32 reserved1;
	TBRW_U32 reserved2;
	TBRW_STRING_OR_ID tid_name;
} TBRW_TID;

/* ---- Modules (8.6, 6.6) ---- */

/* module_flags; own values. A record without LOADED and UNLOADED counts as LOADED. */
#define TBRW_MODULE_LOADED                    0x01u
#define TBRW_MODULE_UNLOADED                  0x02u
#define TBRW_MODULE_TSC_USED                  0x04u /* times are TSCs, else sample numbers */
#define TBRW_MODULE_IS_EXE                    0x08u
#define TBRW_MODULE_GLOBAL_LOAD               0x10u /* in every process; the pid is not used */
#define TBRW_MODULE_1ST_MODULE_REC_IN_PROCESS 0x20u

/* module_segment_type and TBRW_SampleRecordPC.codeMode, numbered as MODE_ in open drivers. */
#define TBRW_MODE_V86    0
#define TBRW_MODE_16BIT  1
#define TBRW_MODE_32BIT  2
#define TBRW_MODE_64BIT  3
#define TBRW_MODE_64_BIT TBRW_MODE_64BIT /* the spelling of a comment in 6.6 */

/* A LOADED record holds the load time in module_event_when and, if it was known when the record
 * was written, the unload time in module_unload_tsc (all ones: not unloaded). An UNLOADED record
 * for it repeats pid, load address, length and module_event_when, and sets module_unload_tsc. An
 * UNLOADED record whose module_unload_tsc is all ones or 0 was unloaded at module_event_when. */
typedef struct __TBRW_module {
	TBRW_U32 module_size; /* sizeof(TBRW_MODULE) */
	TBRW_U32 module_reserved;
	TBRW_U32 module_associated_pid;
	TBRW_U32 module_flags;      /* TBRW_MODULE_ */
	TBRW_U64 module_event_when; /* 0: before collection began */
	TBRW_U32 module_segment_number;
	TBRW_U32 module_segment_type : 2; /* TBRW_MODE_ */
	TBRW_U32 : 30;
	TBRW_U32 module_code_selector;
	TBRW_U64 module_length; /* bytes */
	TBRW_U64 module_load_address;
	TBRW_U32 reserved_for_legacy;
	TBRW_U32 reserved_for_legacy2;
	TBRW_U32 reserved_for_legacy_flags;
	TBRW_U32 reserved1;
	TBRW_U64 module_unload_tsc;
	TBRW_STRING_OR_ID module_path;
	TBRW_STRING_OR_ID module_name;
	TBRW_STRING_OR_ID module_segment_name;
} TBRW_MODULE;

/* ---- Version information (8.7) ---- */

typedef struct __TBRW_version_info {
	TBRW_U32 version_info_size;       /* sizeof(TBRW_VERSION_INFO) */
	TBRW_U32 sampling_driver_version; /* 0xFFFFFFFF: unknown */
	TBRW_U32 bind_version;
	TBRW_U32 sample_file_version;
} TBRW_VERSION_INFO;

/* ---- Streams (8.8, 8.9) ---- */

typedef enum {
	TBRW_SAMPLING_STREAM = 1,
	TBRW_AGGREGATED_STREAM,
	TBRW_BOOKMARK_STREAM,
	TBRW_BIND_DATA_INFORMATION_STREAM, /* this and the next three: written by bind only */
	TBRW_BIND_MODULE_INFORMATION_STREAM,
	TBRW_BIND_PID_INFORMATION_STREAM,
	TBRW_BIND_TID_INFORMATION_STREAM,
	TBRW_CUSTOM_STREAM
} TBRW_STREAM_TYPE;

/* 100 ns units since 1601-01-01 UTC, low and high half. */
typedef struct __VTUNE_ANALYZER_FILETIME {
	TBRW_U32 dwLowDateTime;
	TBRW_U32 dwHighDateTime;
} VTUNE_ANALYZER_FILETIME;

typedef struct __TBRW_stream_info {
	TBRW_U32 stream_info_size;  /* sizeof(TBRW_STREAM_INFO) */
	TBRW_U32 sampling_duration; /* milliseconds */
	TBRW_U32 stream_type;       /* TBRW_STREAM_TYPE */
	TBRW_U32 sampling_interval; /* microseconds (8.8; 6.8 says milliseconds) */
	VTUNE_ANALYZER_FILETIME sampling_start_time;
	VTUNE_ANALYZER_FILETIME sampling_end_time;
	TBRW_STRING_OR_ID command_line;
	TBRW_STRING_OR_ID cpu_mask;
	TBRW_STRING_OR_ID comment; /* names a custom stream */
} TBRW_STREAM_INFO;

/* ---- Events (8.10) ---- */

/* event_flags; own values. */
#define TBRW_EVENT_EBS 0x1u /* event based: event_sav counts events */
#define TBRW_EVENT_TBS 0x2u /* time based: event_sav is in microseconds */

/* detail_method; the guide names only TBRW_MSR, the others and the values are ours. */
typedef enum { TBRW_MSR = 0, TBRW_PCI, TBRW_MEMORY, TBRW_OTHER } TBRW_ACCESS_METHOD;

typedef struct __TBRW_event_detail {
	TBRW_U32 detail_size;        /* sizeof(TBRW_EVENT_DETAIL) */
	TBRW_U16 detail_access_size; /* bits */
	TBRW_U8 detail_method;       /* TBRW_ACCESS_METHOD */
	TBRW_U8 detail_access;       /* 0 read, 1 write */
	TBRW_U64 detail_address;
	TBRW_U64 detail_value;
	TBRW_U8 legacy_command;
	TBRW_U8 reserved1;
	TBRW_U16 reserved2;
	TBRW_U32 reserved3;
} TBRW_EVENT_DETAIL;

typedef struct __TBRW_event {
	TBRW_U32 event_size;        /* sizeof(TBRW_EVENT) */
	TBRW_U32 event_id;          /* a sample's eventIndex */
	TBRW_U32 event_num_details; /* entries of the array below */
	TBRW_U32 event_flags;       /* TBRW_EVENT_ */
	TBRW_U64 event_sav;         /* sample after value */
	TBRW_STRING_OR_ID event_name;
	TBRW_STRING_OR_ID event_arch_name;
	TBRW_EVENT_DETAIL *event_detail_array;
} TBRW_EVENT;

/* ---- Data descriptors (8.11) ---- */

typedef struct __tbrw_samprec_desc_entry {
	union {
		TBRW_U64 force_8_byte_aligned;
		struct {
			TBRW_U32 desc_size;            /* sizeof(TBRW_SAMPREC_DESC_ENTRY) */
			TBRW_U32 desc_offset;          /* bytes from the start of the entry */
			TBRW_U16 desc_type;            /* TBRW_DESC_TYPE */
			union {                        /* both spellings of the guide */
				TBRW_U16 desc_subtype; /* TBRW_DESC_SUBTYPE */
				TBRW_U16 desc_sub_type;
			};
			TBRW_U32 desc_data_size; /* bytes */
			TBRW_U64 desc_access_offset;
			TBRW_U8 desc_access_type;   /* 0 read, 1 write */
			TBRW_U8 desc_access_method; /* 0 register, 1 memory */
			TBRW_U8 desc_sample_flag;
			TBRW_U8 reserved0;
			TBRW_U32 reserved1;
			TBRW_STRING_OR_ID desc_name;
		};
	};
} TBRW_SAMPREC_DESC_ENTRY;

/* ---- The sample record (6.10) ---- */

typedef struct TBRW_CodeDescriptor_s {
	union {
		TBRW_U32 lowWord;
		struct {
			TBRW_U32 limitLow : 16;
			TBRW_U32 baseLow : 16;
		};
	};
	union {
		TBRW_U32 highWord;
		struct {
			TBRW_U32 baseMid : 8;
			TBRW_U32 accessed : 1;
			TBRW_U32 readable : 1;
			TBRW_U32 conforming : 1;
			TBRW_U32 oneOne : 2;
			TBRW_U32 dpl : 2;
			TBRW_U32 present : 1;
			TBRW_U32 limitHigh : 4;
			TBRW_U32 sys : 1;
			TBRW_U32 longMode : 1;
			TBRW_U32 defaultSize : 1;
			TBRW_U32 granularity : 1;
			TBRW_U32 baseHigh : 8;
		};
	};
} TBRW_CodeDescriptor;

typedef struct TBRW_SampleRecordPC_s {
	union {
		struct { /* 64-bit form, IA64PC = 1 (6.11) */
			TBRW_U64 iip;
			TBRW_U64 ipsr;
		};
		struct { /* 32-bit form, IA64PC = 0 */
			TBRW_U32 eip;
			TBRW_U32 eflags;
			TBRW_CodeDescriptor csd;
		};
	};
	TBRW_U16 cs;
	union {
		TBRW_U16 cpuAndOS;
		struct {
			TBRW_U16 cpuNum : 12;
			TBRW_U16 notVmid0 : 1;
			TBRW_U16 codeMode : 2; /* TBRW_MODE_ */
			TBRW_U16 : 1;
		};
	};
	TBRW_U32 tid;
	TBRW_U32 pidRecIndex; /* the process id if pidRecIndexRaw */
	union {
		TBRW_U32 bitFields2;
		struct {
			TBRW_U32 mrIndex : 20;
			TBRW_U32 eventIndex : 8; /* event_id */
			TBRW_U32 tidIsRaw : 1;
			TBRW_U32 IA64PC : 1;
			TBRW_U32 pidRecIndexRaw : 1;
			TBRW_U32 mrIndexNone : 1;
		};
	};
} TBRW_SampleRecordPC, *TBRW_PSampleRecordPC;

typedef struct TBRW_SampleRecordTSC_s {
	TBRW_U64 tsc;
} TBRW_SampleRecordTSC, *TBRW_PSampleRecordTSC;

/* ---- Bind results (8.12); any index may be TBRW_INDEX_NONE ---- */

/* One per sample. */
typedef struct __data_bind_struct {
	TBRW_U64 module_index;
	TBRW_U64 pid_index;
	TBRW_U64 tid_index;
} DATA_BIND_STRUCT;

/* One per module record. */
typedef struct __module_bind_struct {
	TBRW_U64 pid_index;
} MODULE_BIND_STRUCT;

/* One per thread record. */
typedef struct __tid_bind_struct {
	TBRW_U64 pid_index;
} TID_BIND_STRUCT;

/* ---- Callbacks of the enumerate_ functions (5.9, 9.5) ----
 * Called with runs of entries, in order, until there are none left or the callback does not return
 * TRUE (1). FALSE (0) ends the enumeration with success; any other value ends it and becomes the
 * enumerate function's result. Sizes are those of the whole run, in bytes. The entries belong to
 * TBRW, must not be changed and are gone when the callback returns. A callback may call get_ and
 * convert_ functions of the same file. */

#ifndef TRUE
#define TRUE 1
#endif
#ifndef FALSE
#define FALSE 0
#endif

typedef TBRW_U32 TBRW_DATA_CALLBACK(void *data, TBRW_U32 data_size, TBRW_U32 num_entries,
				    void *user_ptr);
typedef TBRW_U32 TBRW_PID_CALLBACK(TBRW_PID *pid, TBRW_U32 pid_data_size, TBRW_U32 num_entries,
				   void *user_ptr);
typedef TBRW_U32 TBRW_TID_CALLBACK(TBRW_TID *tid, TBRW_U32 tid_data_size, TBRW_U32 num_entries,
				   void *user_ptr);
typedef TBRW_U32 TBRW_MODULE_CALLBACK(TBRW_MODULE *module, TBRW_U32 module_data_size,
				      TBRW_U32 num_entries, void *user_ptr);
/* One event per call; its details follow it directly and event_detail_array points at them. */
typedef TBRW_U32 TBRW_EVENT_CALLBACK(TBRW_EVENT *event, TBRW_U32 event_data_size,
				     TBRW_U32 num_entries, void *user_ptr);
typedef TBRW_U32 TBRW_DATA_DESC_CALLBACK(TBRW_SAMPREC_DESC_ENTRY *data_desc,
					 TBRW_U32 data_desc_size, TBRW_U32 num_entries,
					 void *user_ptr);
/* The raw form as 5.9 writes it; TBRW_enumerate_data takes the form of 9.5. */
typedef TBRW_U32 DATA_CALLBACK(const void *data, TBRW_U32 data_size, TBRW_U32 num_entries,
			       void *user_ptr);
typedef TBRW_U32 BIND_DATA_CALLBACK(const void *data, TBRW_U32 sizeof_data_buffer,
				    TBRW_U64 num_entries, const DATA_BIND_STRUCT *bind_table,
				    TBRW_U32 sizeof_bind_buffer, void *user_ptr);
typedef TBRW_U32 BIND_MODULE_CALLBACK(const TBRW_MODULE *data, TBRW_U32 sizeof_data_buffer,
				      TBRW_U64 num_entries, const MODULE_BIND_STRUCT *bind_table,
				      TBRW_U32 sizeof_bind_buffer, void *user_ptr);
typedef TBRW_U32 BIND_TID_CALLBACK(const TBRW_TID *data, TBRW_U32 sizeof_data_buffer,
				   TBRW_U64 num_entries, const TID_BIND_STRUCT *bind_table,
				   TBRW_U32 sizeof_bind_buffer, void *user_ptr);

#ifdef __cplusplus
}
#define TBRW_STATIC_ASSERT static_assert
#else
#define TBRW_STATIC_ASSERT _Static_assert
#endif
#define TBRW_ASSERT_SIZE(type, size) TBRW_STATIC_ASSERT(sizeof(type) == (size), #type)
TBRW_ASSERT_SIZE(TBRW_STRING_OR_ID, 8);
TBRW_ASSERT_SIZE(TBRW_CPUID_IA32, 24);
TBRW_ASSERT_SIZE(TBRW_CPUID_IA64, 24);
TBRW_ASSERT_SIZE(TBRW_CPU_ARCH, sizeof(void *) == 8 ? 16 : 12);
TBRW_ASSERT_SIZE(TBRW_CPU, sizeof(void *) == 8 ? 64 : 56);
TBRW_ASSERT_SIZE(TBRW_NODE, 40);
TBRW_ASSERT_SIZE(TBRW_SYSTEM, sizeof(void *) == 8 ? 16 : 12);
TBRW_ASSERT_SIZE(TBRW_HOST, 32);
TBRW_ASSERT_SIZE(TBRW_OS, 40);
TBRW_ASSERT_SIZE(TBRW_APPLICATION, 32);
TBRW_ASSERT_SIZE(TBRW_PID, 48);
TBRW_ASSERT_SIZE(TBRW_TID, 40);
TBRW_ASSERT_SIZE(TBRW_MODULE, 104);
TBRW_ASSERT_SIZE(TBRW_VERSION_INFO, 16);
TBRW_ASSERT_SIZE(VTUNE_ANALYZER_FILETIME, 8);
TBRW_ASSERT_SIZE(TBRW_STREAM_INFO, 56);
TBRW_ASSERT_SIZE(TBRW_EVENT_DETAIL, 32);
TBRW_ASSERT_SIZE(TBRW_EVENT, 48);
TBRW_ASSERT_SIZE(TBRW_SAMPREC_DESC_ENTRY, 40);
TBRW_ASSERT_SIZE(TBRW_CodeDescriptor, 8);
TBRW_ASSERT_SIZE(TBRW_SampleRecordPC, 32);
TBRW_ASSERT_SIZE(TBRW_SampleRecordTSC, 8);
TBRW_ASSERT_SIZE(DATA_BIND_STRUCT, 24);
TBRW_ASSERT_SIZE(MODULE_BIND_STRUCT, 8);
TBRW_ASSERT_SIZE(TID_BIND_STRUCT, 8);
#undef TBRW_ASSERT_SIZE
#undef TBRW_STATIC_ASSERT

#endif
