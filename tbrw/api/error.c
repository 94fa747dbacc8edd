#include "tbrw/tbrw.h"

TBRW_U32 TBRW_error_string(TBRW_U32 error_code, const TBRW_CHAR **error_string)
{
	if (!error_string)
		return VT_UNEXPECTED_NULL_PTR;
	switch (error_code) {
#define TBRW_ERROR_CASE(name, number, text) \
	case number:                        \
		*error_string = L"" text;   \
		return VT_SUCCESS;
		TBRW_ERROR_LIST(TBRW_ERROR_CASE)
#undef TBRW_ERROR_CASE
	default:
		return VT_INVALID_ERROR_CODE;
	}
}

TBRW_U32 TBRW_get_version(TBRW_U32 *major, TBRW_U32 *minor)
{
	if (!major || !minor)
		return VT_UNEXPECTED_NULL_PTR;
	/* The revision of the guide followed here. */
	*major = 2;
	*minor = 3;
	return VT_SUCCESS;
}
