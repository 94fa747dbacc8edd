#include "tools/convert/recover_system.h"

#include "tools/memory/xalloc.h"
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#define TEXT_CHARS 1024u

/* Structures read have ids for strings, structures to write need pointers; unreadable text is
 * "". */
static void take_text(TBRW_PTR file, TBRW_STRING_OR_ID *text, wchar_t buffer[TEXT_CHARS])
{
	TBRW_U32 size = TEXT_CHARS * sizeof(*buffer);
	buffer[0] = L'\0';
	if (TBRW_convert_uniqueid_to_string(file, size, text, buffer, NULL) != VT_SUCCESS)
		buffer[0] = L'\0';
	text->soi_ptr = buffer;
}

static TBRW_U32 copy_software(TBRW_PTR file, struct profile_writer *writer)
{
	TBRW_HOST host;
	TBRW_OS os;
	TBRW_APPLICATION application;
	wchar_t texts[4][TEXT_CHARS];
	if (TBRW_reading_section(file, TBRW_SOFTWARE_SECTION) != VT_SUCCESS)
		return VT_SUCCESS;
	bool has_host = TBRW_get_host(file, sizeof(host), &host, NULL) == VT_SUCCESS;
	bool has_os = TBRW_get_os(file, sizeof(os), &os, NULL) == VT_SUCCESS;
	bool has_application =
		TBRW_get_application(file, sizeof(application), &application, NULL) == VT_SUCCESS;
	TBRW_done_section(file, TBRW_SOFTWARE_SECTION);
	if (has_host) {
		take_text(file, &host.host_name, texts[0]);
		take_text(file, &host.host_ip_address, texts[1]);
	}
	if (has_os) {
		take_text(file, &os.os_name, texts[2]);
		take_text(file, &os.os_name_extra, texts[3]);
	}
	if (!has_host && !has_os && !has_application)
		return VT_SUCCESS;
	return profile_writer_set_software(writer, has_host ? &host : NULL, has_os ? &os : NULL,
					   has_application ? &application : NULL);
}

static TBRW_U32 copy_hardware(TBRW_PTR file, struct profile_writer *writer)
{
	TBRW_U32 size = 0;
	TBRW_U32 code = VT_SUCCESS;
	if (TBRW_reading_section(file, TBRW_HARDWARE_SECTION) != VT_SUCCESS)
		return VT_SUCCESS;
	TBRW_get_system(file, 0, NULL, &size);
	TBRW_SYSTEM *system = xalloc_zeroed(size, 1);
	bool has_system =
		size >= sizeof(*system) && TBRW_get_system(file, size, system, NULL) == VT_SUCCESS;
	TBRW_done_section(file, TBRW_HARDWARE_SECTION);
	if (has_system)
		code = profile_writer_set_system(writer, system);
	free(system);
	return code;
}

TBRW_U32 recover_system(const char *path, struct profile_writer *writer)
{
	TBRW_PTR file = NULL;
	size_t length = strlen(path);
	TBRW_U32 size = (TBRW_U32)length + 1;
	wchar_t *wide = xalloc_zeroed(length + 1, sizeof(*wide));
	TBRW_U32 code = TBRW_convert_utf8_to_wcs(path, wide, &size);
	if (code == VT_SUCCESS)
		code = TBRW_open(&file, wide, TBRW_FILE_READ);
	free(wide);
	/* The profile reader could open the file; a name not in UTF-8 costs only these sections. */
	if (code != VT_SUCCESS)
		return VT_SUCCESS;
	code = copy_software(file, writer);
	if (code == VT_SUCCESS)
		code = copy_hardware(file, writer);
	TBRW_close(file);
	return code;
}
