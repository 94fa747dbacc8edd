#include "tools/tb5/tbrw_dat.h"

#include "tbrw/tbrw.h"

static const struct dat_record records[DAT_KINDS] = {
	[DAT_HOST] = {sizeof(TBRW_HOST),
		      2,
		      {offsetof(TBRW_HOST, host_ip_address), offsetof(TBRW_HOST, host_name)}},
	[DAT_OS] = {sizeof(TBRW_OS),
		    2,
		    {offsetof(TBRW_OS, os_name), offsetof(TBRW_OS, os_name_extra)}},
	[DAT_APPLICATION] = {sizeof(TBRW_APPLICATION), 0, {0}},
	[DAT_PROCESS] = {sizeof(TBRW_PID),
			 2,
			 {offsetof(TBRW_PID, pid_path), offsetof(TBRW_PID, pid_name)}},
	[DAT_THREAD] = {sizeof(TBRW_TID), 1, {offsetof(TBRW_TID, tid_name)}},
	[DAT_MODULE] = {sizeof(TBRW_MODULE),
			3,
			{offsetof(TBRW_MODULE, module_path), offsetof(TBRW_MODULE, module_name),
			 offsetof(TBRW_MODULE, module_segment_name)}},
	[DAT_VERSION_INFO] = {sizeof(TBRW_VERSION_INFO), 0, {0}},
	[DAT_STREAM_INFO] = {sizeof(TBRW_STREAM_INFO),
			     3,
			     {offsetof(TBRW_STREAM_INFO, command_line),
			      offsetof(TBRW_STREAM_INFO, cpu_mask),
			      offsetof(TBRW_STREAM_INFO, comment)}},
	[DAT_EVENT] = {sizeof(TBRW_EVENT),
		       2,
		       {offsetof(TBRW_EVENT, event_name), offsetof(TBRW_EVENT, event_arch_name)}},
	[DAT_DESCRIPTOR] = {sizeof(TBRW_SAMPREC_DESC_ENTRY),
			    1,
			    {offsetof(TBRW_SAMPREC_DESC_ENTRY, desc_name)}},
};

const struct dat_record *dat_record_of(uint32_t kind)
{
	return kind && kind < DAT_KINDS ? &records[kind] : NULL;
}
