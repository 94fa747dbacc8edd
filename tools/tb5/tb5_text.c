#include "tools/tb5/tb5_text.h"

#include "tools/terminal/diagnose.h"
#include <stdio.h>
#include <stdlib.h>

char *tb5_text_of(TBRW_PTR file, TBRW_STRING_OR_ID id)
{
	TBRW_U32 wide_size = 0, size = 0;
	TBRW_CHAR *wide = NULL;
	char *text = NULL;

	if (!id.soi_uniqueid)
		return calloc(1, 1);
	if (TBRW_convert_uniqueid_to_string(file, 0, &id, NULL, &wide_size) != VT_BUFFER_TOO_SMALL)
		return NULL;
	wide = malloc(wide_size);
	if (wide &&
	    TBRW_convert_uniqueid_to_string(file, wide_size, &id, wide, NULL) == VT_SUCCESS &&
	    TBRW_convert_wcs_to_utf8(wide, NULL, &size) == VT_BUFFER_TOO_SMALL) {
		text = malloc(size);
		if (text)
			TBRW_convert_wcs_to_utf8(wide, text, &size);
	}
	free(wide);
	return text;
}

TBRW_U32 tb5_text_widen(const char *utf8, TBRW_CHAR **wide)
{
	TBRW_U32 size = 0;
	TBRW_U32 code = TBRW_convert_utf8_to_wcs(utf8, NULL, &size);
	TBRW_CHAR *buffer;

	if (code != VT_BUFFER_TOO_SMALL)
		return code;
	buffer = malloc(size * sizeof(*buffer));
	if (!buffer)
		return VT_NO_MEMORY;
	code = TBRW_convert_utf8_to_wcs(utf8, buffer, &size);
	if (code == VT_SUCCESS)
		*wide = buffer;
	else
		free(buffer);
	return code;
}

TBRW_U32 tb5_text_open(TBRW_PTR *file, const char *path, TBRW_U32 access_mode)
{
	TBRW_CHAR *wide = NULL;
	TBRW_U32 code = tb5_text_widen(path, &wide);

	if (code != VT_SUCCESS)
		return code == VT_INVALID_STRING ? VT_INVALID_SAMPLE_FILE_NAME : code;
	code = TBRW_open(file, wide, access_mode);
	free(wide);
	return code;
}

int tb5_text_fail(const char *what, const char *name, TBRW_U32 code, const char *advice)
{
	char text[DIAGNOSE_CODE_SIZE];

	fflush(stdout);
	diagnose("%s %s: %s; %s", what, name, diagnose_code(code, text), advice);
	return EXIT_FAILURE;
}
