/* The strings of a file, by their ids. */
#include "tbrw/file/content.h"
#include "tbrw/file/file.h"
#include "tbrw/utf8.h"
#include <stdlib.h>

TBRW_U32 tb5_utf8_of_id(TBRW_PTR ptr, TBRW_STRING_OR_ID id, char **utf8, size_t *size)
{
	struct tb5_file *file;
	char *bytes;
	size_t count, length;
	TBRW_U32 code = tb5_file_get(ptr, &file);

	if (code != VT_SUCCESS)
		return code;
	if (!id.soi_uniqueid)
		return VT_INVALID_STRING;
	if (!(id.soi_uniqueid & TB5_STRING_ID_BIT))
		return VT_UNEXPECTED_MISMATCH_IN_STRING_TYPES;
	code = tb5_strings_get(&file->strings, &file->cache, id.soi_uniqueid, &bytes, &count);
	if (code != VT_SUCCESS)
		return code;
	if (!tb5_utf8_to_wide(bytes, count, NULL, &length)) {
		free(bytes);
		return VT_INVALID_STRING;
	}
	*utf8 = bytes;
	*size = count;
	return VT_SUCCESS;
}

TBRW_U32 TBRW_convert_uniqueid_to_string(TBRW_PTR ptr, TBRW_U32 size_of_buffer,
					 TBRW_STRING_OR_ID *string_id, TBRW_CHAR *buffer,
					 TBRW_U32 *size_buffer_needed)
{
	struct tb5_file *file;
	size_t size, length;
	char *utf8;
	TBRW_U32 code = tb5_file_get(ptr, &file);

	if (code != VT_SUCCESS)
		return code;
	if (!string_id)
		return VT_UNEXPECTED_NULL_PTR;
	code = tb5_utf8_of_id(ptr, *string_id, &utf8, &size);
	if (code != VT_SUCCESS)
		return code;
	tb5_utf8_to_wide(utf8, size, NULL, &length);
	code = tb5_buffer_check((length + 1) * sizeof(TBRW_CHAR), size_of_buffer, buffer,
				size_buffer_needed);
	if (code == VT_SUCCESS) {
		tb5_utf8_to_wide(utf8, size, buffer, &length);
		buffer[length] = 0;
	}
	free(utf8);
	return code;
}
