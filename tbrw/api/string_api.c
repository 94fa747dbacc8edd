#include "tbrw/file/record.h"
#include "tbrw/file/utf8.h"
#include <stdlib.h>

TBRW_U32 TBRW_convert_uniqueid_to_string(TBRW_PTR ptr, TBRW_U32 size_of_buffer,
					 TBRW_STRING_OR_ID *string_id, TBRW_CHAR *buffer,
					 TBRW_U32 *size_buffer_needed)
{
	struct tb5_file *file;
	TBRW_U32 code = tb5_file_get(ptr, &file);
	size_t utf8_size;
	size_t length;
	char *utf8;

	if (code != VT_SUCCESS)
		return code;
	if (!string_id)
		return VT_UNEXPECTED_NULL_PTR;
	if (!string_id->soi_uniqueid)
		return VT_INVALID_STRING;
	if (!(string_id->soi_uniqueid & TB5_STRING_ID_BIT))
		return VT_UNEXPECTED_MISMATCH_IN_STRING_TYPES;
	code = tb5_strings_get(&file->strings, &file->cache, string_id->soi_uniqueid, &utf8,
			       &utf8_size);
	if (code != VT_SUCCESS)
		return code;
	code = VT_INVALID_STRING;
	if (tb5_utf8_to_wcs(utf8, utf8_size, NULL, 0, &length))
		code = tb5_buffer_check((length + 1) * sizeof(TBRW_CHAR), size_of_buffer, buffer,
					size_buffer_needed);
	if (code == VT_SUCCESS) {
		tb5_utf8_to_wcs(utf8, utf8_size, buffer, length, &length);
		buffer[length] = 0;
	}
	free(utf8);
	return code;
}
