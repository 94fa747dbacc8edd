/* The software, version information and user-defined global sections. */
#include "tbrw/api/access.h"
#include "tbrw/file/file.h"

TBRW_U32 TBRW_set_host(TBRW_PTR ptr, TBRW_HOST *host)
{
	return tb5_access_add(ptr, TB5_NO_STREAM, TB5_HOST, host);
}

TBRW_U32 TBRW_get_host(TBRW_PTR ptr, TBRW_U32 size_of_buffer, void *buf_ptr,
		       TBRW_U32 *size_buffer_used)
{
	return tb5_access_get(ptr, TB5_NO_STREAM, TB5_HOST, size_of_buffer, buf_ptr,
			      size_buffer_used);
}

TBRW_U32 TBRW_set_os(TBRW_PTR ptr, TBRW_OS *os)
{
	return tb5_access_add(ptr, TB5_NO_STREAM, TB5_OS, os);
}

TBRW_U32 TBRW_get_os(TBRW_PTR ptr, TBRW_U32 size_of_buffer, void *buf_ptr,
		     TBRW_U32 *size_buffer_used)
{
	return tb5_access_get(ptr, TB5_NO_STREAM, TB5_OS, size_of_buffer, buf_ptr,
			      size_buffer_used);
}

TBRW_U32 TBRW_set_application(TBRW_PTR ptr, TBRW_APPLICATION *application)
{
	return tb5_access_add(ptr, TB5_NO_STREAM, TB5_APPLICATION, application);
}

TBRW_U32 TBRW_get_application(TBRW_PTR ptr, TBRW_U32 size_of_buffer, void *buf_ptr,
			      TBRW_U32 *size_buffer_used)
{
	return tb5_access_get(ptr, TB5_NO_STREAM, TB5_APPLICATION, size_of_buffer, buf_ptr,
			      size_buffer_used);
}

TBRW_U32 TBRW_set_version_info(TBRW_PTR tbrw_ptr, TBRW_VERSION_INFO *version_info)
{
	return tb5_access_add(tbrw_ptr, TB5_NO_STREAM, TB5_VERSION_INFO, version_info);
}

TBRW_U32 TBRW_get_version_info(TBRW_PTR tbrw_ptr, TBRW_U32 size_of_buffer, void *buf_ptr,
			       TBRW_U32 *size_buffer_used)
{
	return tb5_access_get(tbrw_ptr, TB5_NO_STREAM, TB5_VERSION_INFO, size_of_buffer, buf_ptr,
			      size_buffer_used);
}

TBRW_U32 TBRW_set_user_defined_global(TBRW_PTR ptr, TBRW_U32 size_of_data, void *data_ptr)
{
	return tb5_access_append(ptr, TB5_NO_STREAM, TB5_USER_GLOBAL, data_ptr, size_of_data);
}

TBRW_U32 TBRW_get_user_defined_global(TBRW_PTR ptr, TBRW_U32 size_of_buffer, void *buf_ptr,
				      TBRW_U32 *size_buffer_used)
{
	return tb5_access_get(ptr, TB5_NO_STREAM, TB5_USER_GLOBAL, size_of_buffer, buf_ptr,
			      size_buffer_used);
}
