#include "tbrw/file/content.h"

#include "tbrw/store/seq.h"
#include "tbrw/tbrw.h"
#include <assert.h>
#include <stddef.h>

static const struct tb5_content_spec specs[TB5_STREAM_END] = {
	[TB5_HARDWARE] = {.section = TBRW_HARDWARE_SECTION},
	[TB5_HOST] = {.section = TBRW_SOFTWARE_SECTION,
		      .is_only = true,
		      .record_size = sizeof(TBRW_HOST),
		      .strings = {offsetof(TBRW_HOST, host_ip_address),
				  offsetof(TBRW_HOST, host_name)},
		      .gaps = {{4, 0}, {28, 0}}},
	[TB5_OS] = {.section = TBRW_SOFTWARE_SECTION,
		    .is_only = true,
		    .record_size = sizeof(TBRW_OS),
		    .strings = {offsetof(TBRW_OS, os_name), offsetof(TBRW_OS, os_name_extra)}},
	[TB5_APPLICATION] = {.section = TBRW_SOFTWARE_SECTION,
			     .is_only = true,
			     .record_size = sizeof(TBRW_APPLICATION)},
	[TB5_PROCESSES] = {.section = TBRW_PROCESS_THREAD_SECTION,
			   .record_size = sizeof(TBRW_PID),
			   .strings = {offsetof(TBRW_PID, pid_path), offsetof(TBRW_PID, pid_name)}},
	[TB5_THREADS] = {.section = TBRW_PROCESS_THREAD_SECTION,
			 .record_size = sizeof(TBRW_TID),
			 .strings = {offsetof(TBRW_TID, tid_name)}},
	[TB5_MODULES] = {.section = TBRW_MODULE_SECTION,
			 .record_size = sizeof(TBRW_MODULE),
			 .strings = {offsetof(TBRW_MODULE, module_path),
				     offsetof(TBRW_MODULE, module_name),
				     offsetof(TBRW_MODULE, module_segment_name)},
			 .gaps = {{28, 3 /* module_segment_type */}, {36, 0}}},
	[TB5_USER_GLOBAL] = {.section = TBRW_USER_DEFINED_GLOBAL_SECTION},
	[TB5_VERSION_INFO] = {.section = TBRW_VERSION_INFO_SECTION,
			      .is_only = true,
			      .record_size = sizeof(TBRW_VERSION_INFO)},
	[TB5_EVENTS] = {.section = TBRW_EVENT_DESCRIPTION_SECTION,
			.record_size = sizeof(TBRW_EVENT),
			.strings = {offsetof(TBRW_EVENT, event_name),
				    offsetof(TBRW_EVENT, event_arch_name)}},
	[TB5_EVENT_DETAILS] = {.section = TBRW_EVENT_DESCRIPTION_SECTION,
			       .record_size = sizeof(TBRW_EVENT_DETAIL)},
	[TB5_DESCRIPTORS] = {.section = TBRW_DATA_DESCRIPTION_SECTION,
			     .record_size = sizeof(TBRW_SAMPREC_DESC_ENTRY),
			     .strings = {offsetof(TBRW_SAMPREC_DESC_ENTRY, desc_name)}},
	[TB5_DATA] = {.section = TBRW_DATA_SECTION},
	[TB5_USER_STREAM] = {.section = TBRW_USER_DEFINED_STREAM_SECTION},
	[TB5_STREAM_INFO] = {.section = TBRW_STREAM_INFO_SECTION,
			     .is_only = true,
			     .record_size = sizeof(TBRW_STREAM_INFO),
			     .strings = {offsetof(TBRW_STREAM_INFO, command_line),
					 offsetof(TBRW_STREAM_INFO, cpu_mask),
					 offsetof(TBRW_STREAM_INFO, comment)}},
};
_Static_assert(offsetof(TBRW_HOST, host_ip_address) == 8 && offsetof(TBRW_HOST, reserved) == 24,
	       "gaps");
_Static_assert(offsetof(TBRW_MODULE, module_segment_number) == 24 &&
		       offsetof(TBRW_MODULE, module_code_selector) == 32 &&
		       offsetof(TBRW_MODULE, module_length) == 40,
	       "gaps");

const struct tb5_content_spec *tb5_content_spec(unsigned content)
{
	assert(content >= TB5_GLOBAL_FIRST && content < TB5_STREAM_END);
	return &specs[content];
}
