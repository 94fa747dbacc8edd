#include "profile/base/wide.h"

#include "containers/array.h"
#include "profile/base/utf8.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool profile_wide_set(struct profile_wide *wide, const char *s)
{
	size_t size = s ? strlen(s) : 0;

	if (!array_reserve(&wide->text, &wide->capacity, size + 1, sizeof(*wide->text)))
		return false;
	profile_utf8_to_wide(s, size, wide->text);
	return true;
}

void profile_wide_finish(struct profile_wide *wide)
{
	free(wide->text);
	*wide = (struct profile_wide){0};
}

static char *narrow(const wchar_t *text, size_t length)
{
	/* A code point takes at most 4 bytes of UTF-8. */
	char *out = reallocarray(NULL, length + 1, 4);
	size_t used = 0;

	for (size_t i = 0; out && i < length && text[i]; i++)
		used += profile_utf8_encode((uint32_t)text[i], out + used);
	if (out)
		out[used] = '\0';
	return out;
}

char *profile_string_get(TBRW_PTR file, TBRW_STRING_OR_ID id, TBRW_U32 *code)
{
	TBRW_U32 size = 0;

	*code = VT_NO_MEMORY;
	if (id.soi_uniqueid == 0)
		return strdup("");
	*code = TBRW_convert_uniqueid_to_string(file, 0, &id, NULL, &size);
	if (*code != VT_BUFFER_TOO_SMALL && *code != VT_SUCCESS)
		return NULL;
	*code = VT_NO_MEMORY;
	wchar_t *text = malloc(size ? size : sizeof(*text));
	if (!text)
		return NULL;
	*code = TBRW_convert_uniqueid_to_string(file, size, &id, text, NULL);
	char *out = NULL;
	if (*code == VT_SUCCESS) {
		out = narrow(text, size / sizeof(*text));
		*code = out ? VT_SUCCESS : VT_NO_MEMORY;
	}
	free(text);
	return out;
}

TBRW_U32 profile_string_short(TBRW_PTR file, TBRW_STRING_OR_ID id, char *out, size_t size)
{
	wchar_t text[256];

	out[0] = '\0';
	if (id.soi_uniqueid == 0)
		return VT_SUCCESS;
	TBRW_U32 code = TBRW_convert_uniqueid_to_string(file, sizeof(text), &id, text, NULL);
	if (code != VT_SUCCESS)
		return code == VT_NO_MEMORY ? code : VT_SUCCESS;
	for (size_t i = 0; i < size && i < sizeof(text) / sizeof(text[0]); i++) {
		if (text[i] < 0 || text[i] > 0x7E)
			break;
		out[i] = (char)text[i];
		if (!text[i])
			return VT_SUCCESS;
	}
	out[0] = '\0';
	return VT_SUCCESS;
}

static bool is_clean(const char *s)
{
	size_t size = strlen(s);

	for (size_t at = 0; at < size;) {
		uint32_t code_point;
		size_t used = profile_utf8_decode(s + at, size - at, &code_point);
		/* U+FFFD stands for what could not be decoded, unless it was there itself. */
		if (code_point == PROFILE_UTF8_REPLACEMENT &&
		    (used != 3 || memcmp(s + at, "\xEF\xBF\xBD", 3) != 0))
			return false;
		at += used;
	}
	return true;
}

static TBRW_U32 open_wide(TBRW_PTR *file, const char *path, TBRW_U32 access_mode)
{
	struct profile_wide wide = {0};

	if (!profile_wide_set(&wide, path))
		return VT_NO_MEMORY;
	TBRW_U32 code = TBRW_open(file, wide.text, access_mode);
	profile_wide_finish(&wide);
	return code;
}

/* Reading follows links, so that the file's own descriptor leads there. */
static TBRW_U32 read_through(TBRW_PTR *file, const char *path)
{
	char through[32];
	int fd = open(path, O_PATH | O_CLOEXEC);

	if (fd < 0)
		return VT_FILE_OPEN_FAILED;
	snprintf(through, sizeof(through), "/proc/self/fd/%d", fd);
	TBRW_U32 code = open_wide(file, through, TBRW_FILE_READ);
	close(fd);
	return code;
}

/* To write, the directory's descriptor has to do, since TBRW follows no link for that. */
static TBRW_U32 open_below(TBRW_PTR *file, const char *path, TBRW_U32 access_mode)
{
	const char *slash = strrchr(path, '/');

	if (!slash || !is_clean(slash + 1))
		return VT_INVALID_SAMPLE_FILE_NAME;
	char *directory = strndup(path, (size_t)(slash - path) + 1);
	if (!directory)
		return VT_NO_MEMORY;
	int fd = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
	free(directory);
	if (fd < 0)
		return access_mode & TBRW_FILE_CREATE_ALWAYS ? VT_SAMP_FILE_CREATE_FAILED
							     : VT_FILE_OPEN_FAILED;
	char *through = NULL;
	TBRW_U32 code = VT_NO_MEMORY;
	if (asprintf(&through, "/proc/self/fd/%d/%s", fd, slash + 1) >= 0) {
		code = open_wide(file, through, access_mode);
		free(through);
	}
	close(fd);
	return code;
}

TBRW_U32 profile_file_open(TBRW_PTR *file, const char *path, TBRW_U32 access_mode)
{
	/* TBRW takes Unicode names only. */
	if (is_clean(path))
		return open_wide(file, path, access_mode);
	return access_mode == TBRW_FILE_READ ? read_through(file, path)
					     : open_below(file, path, access_mode);
}
