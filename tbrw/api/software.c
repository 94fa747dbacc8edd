/* The software, version information and user-defined global sections. */
#include "tbrw/api/section.h"
#include "tbrw/file/record.h"
#include <string.h>

TBRW_U32 TBRW_set_host(TBRW_PTR ptr, TBRW_HOST *host)
{
	struct tb5_file *file;
	TBRW_U32 code = tb5_global_begin_write(ptr, TBRW_SOFTWARE_SECTION, &file);
	TBRW_HOST record;

	if (code != VT_SUCCESS)
		return code;
	if (!host)
		return VT_UNEXPECTED_NULL_PTR;
	if (host->host_size != sizeof(*host))
		return VT_UNSUPPORTED_DATA_SIZE;
	memset(&record, 0, sizeof(record));
	record.host_size = sizeof(record);
	record.reserved = host->reserved;
	code = tb5_file_intern(file, host->host_ip_address, &record.host_ip_address);
	if (code == VT_SUCCESS)
		code = tb5_file_intern(file, host->host_name, &record.host_name);
	if (code != VT_SUCCESS)
		return code;
	return tb5_record_set(file, tb5_file_seq(file, TB5_HOST), &record, sizeof(record));
}

TBRW_U32 TBRW_get_host(TBRW_PTR ptr, TBRW_U32 size_of_buffer, void *buf_ptr,
		       TBRW_U32 *size_buffer_used)
{
	struct tb5_file *file;
	TBRW_U32 code = tb5_global_begin_read(ptr, TBRW_SOFTWARE_SECTION, &file);

	if (code != VT_SUCCESS)
		return code;
	return tb5_record_get(file, tb5_file_seq(file, TB5_HOST), sizeof(TBRW_HOST), size_of_buffer,
			      buf_ptr, size_buffer_used);
}

TBRW_U32 TBRW_set_os(TBRW_PTR ptr, TBRW_OS *os)
{
	struct tb5_file *file;
	TBRW_U32 code = tb5_global_begin_write(ptr, TBRW_SOFTWARE_SECTION, &file);

	if (code != VT_SUCCESS)
		return code;
	if (!os)
		return VT_UNEXPECTED_NULL_PTR;
	if (os->os_size != sizeof(*os))
		return VT_UNSUPPORTED_DATA_SIZE;
	TBRW_OS record = *os;
	code = tb5_file_intern(file, os->os_name, &record.os_name);
	if (code == VT_SUCCESS)
		code = tb5_file_intern(file, os->os_name_extra, &record.os_name_extra);
	if (code != VT_SUCCESS)
		return code;
	return tb5_record_set(file, tb5_file_seq(file, TB5_OS), &record, sizeof(record));
}

TBRW_U32 TBRW_get_os(TBRW_PTR ptr, TBRW_U32 size_of_buffer, void *buf_ptr,
		     TBRW_U32 *size_buffer_used)
{
	struct tb5_file *file;
	TBRW_U32 code = tb5_global_begin_read(ptr, TBRW_SOFTWARE_SECTION, &file);

	if (code != VT_SUCCESS)
		return code;
	return tb5_record_get(file, tb5_file_seq(file, TB5_OS), sizeof(TBRW_OS), size_of_buffer,
			      buf_ptr, size_buffer_used);
}

TBRW_U32 TBRW_set_application(TBRW_PTR ptr, TBRW_APPLICATION *application)
{
	struct tb5_file *file;
	TBRW_U32 code = tb5_global_begin_write(ptr, TBRW_SOFTWARE_SECTION, &file);

	if (code != VT_SUCCESS)
		return code;
	if (!application)
		return VT_UNEXPECTED_NULL_PTR;
	if (application->app_size != sizeof(*application))
		return VT_UNSUPPORTED_DATA_SIZE;
	return tb5_record_set(file, tb5_file_seq(file, TB5_APPLICATION), application,
			      sizeof(*application));
}

TBRW_U32 TBRW_get_application(TBRW_PTR ptr, TBRW_U32 size_of_buffer, void *buf_ptr,
			      TBRW_U32 *size_buffer_used)
{
	struct tb5_file *file;
	TBRW_U32 code = tb5_global_begin_read(ptr, TBRW_SOFTWARE_SECTION, &file);

	if (code != VT_SUCCESS)
		return code;
	return tb5_record_get(file, tb5_file_seq(file, TB5_APPLICATION), sizeof(TBRW_APPLICATION),
			      size_of_buffer, buf_ptr, size_buffer_used);
}

TBRW_U32 TBRW_set_version_info(TBRW_PTR tbrw_ptr, TBRW_VERSION_INFO *version_info)
{
	struct tb5_file *file;
	TBRW_U32 code = tb5_global_begin_write(tbrw_ptr, TBRW_VERSION_INFO_SECTION, &file);

	if (code != VT_SUCCESS)
		return code;
	if (!version_info)
		return VT_UNEXPECTED_NULL_PTR;
	if (version_info->version_info_size != sizeof(*version_info))
		return VT_UNSUPPORTED_DATA_SIZE;
	return tb5_record_set(file, tb5_file_seq(file, TB5_VERSION_INFO), version_info,
			      sizeof(*version_info));
}

TBRW_U32 TBRW_get_version_info(TBRW_PTR tbrw_ptr, TBRW_U32 size_of_buffer, void *buf_ptr,
			       TBRW_U32 *size_buffer_used)
{
	struct tb5_file *file;
	TBRW_U32 code = tb5_global_begin_read(tbrw_ptr, TBRW_VERSION_INFO_SECTION, &file);

	if (code != VT_SUCCESS)
		return code;
	return tb5_record_get(file, tb5_file_seq(file, TB5_VERSION_INFO), sizeof(TBRW_VERSION_INFO),
			      size_of_buffer, buf_ptr, size_buffer_used);
}

TBRW_U32 TBRW_set_user_defined_global(TBRW_PTR ptr, TBRW_U32 size_of_data, void *data_ptr)
{
	struct tb5_file *file;
	TBRW_U32 code = tb5_global_begin_write(ptr, TBRW_USER_DEFINED_GLOBAL_SECTION, &file);

	if (code != VT_SUCCESS)
		return code;
	if (!data_ptr)
		return VT_BUFFER_NULL;
	return tb5_file_append(file, tb5_file_seq(file, TB5_USER_GLOBAL), data_ptr, size_of_data);
}

TBRW_U32 TBRW_get_user_defined_global(TBRW_PTR ptr, TBRW_U32 size_of_buffer, void *buf_ptr,
				      TBRW_U32 *size_buffer_used)
{
	struct tb5_file *file;
	TBRW_U32 code = tb5_global_begin_read(ptr, TBRW_USER_DEFINED_GLOBAL_SECTION, &file);

	if (code != VT_SUCCESS)
		return code;
	return tb5_bytes_get(file, tb5_file_seq(file, TB5_USER_GLOBAL), size_of_buffer, buf_ptr,
			     size_buffer_used);
}
