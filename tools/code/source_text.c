#include "tools/code/source_text.h"

#include "profile/base/visible.h"
#include "program/regular_file.h"
#include "tools/memory/xalloc.h"
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TAB_WIDTH 8u

/* Nobody reads further. */
#define LINE_MAX_BYTES 4096

#define PATH_PARTS_MAX 64u

/* The status is of when it was opened: a file that grows is read up to there. */
static int read_bytes(struct source_text *text, int fd, const struct stat *status, size_t *size)
{
	if (status->st_size > (off_t)SOURCE_TEXT_MAX)
		return EFBIG;
	*size = 0;
	text->bytes = xalloc_zeroed((size_t)status->st_size + 1, 1);
	while (*size < (size_t)status->st_size) {
		ssize_t got = read(fd, text->bytes + *size, (size_t)status->st_size - *size);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return errno;
		if (got == 0)
			break;
		*size += (size_t)got;
	}
	return 0;
}

static void find_lines(struct source_text *text, size_t size)
{
	size_t capacity = 0;
	size_t at = 0;
	while (at < size) {
		const char *end = memchr(text->bytes + at, '\n', size - at);
		xalloc_room(&text->starts, &capacity, (size_t)text->count + 2,
			    sizeof(*text->starts));
		text->starts[text->count++] = at;
		at = end ? (size_t)(end - text->bytes) + 1 : size;
		text->starts[text->count] = at;
	}
}

static int read_file(struct source_text *text, const char *path)
{
	struct stat status;
	size_t size;
	int fd = regular_file_open(path, 0, &status);
	if (fd < 0)
		return errno;
	int error = read_bytes(text, fd, &status, &size);
	close(fd);
	if (error) {
		free(text->bytes);
		text->bytes = NULL;
		return error;
	}
	text->path = xalloc_text(path);
	/* Dates beyond what ns can tell are none. */
	if (status.st_mtim.tv_sec >= 0 && status.st_mtim.tv_sec < INT64_MAX / 1000000000)
		text->changed_ns =
			(int64_t)status.st_mtim.tv_sec * 1000000000 + status.st_mtim.tv_nsec;
	find_lines(text, size);
	return 0;
}

/* Ends of /a/b/c.c: a/b/c.c, b/c.c, c.c. */
static bool read_below(struct source_text *text, const char *directory, const char *path)
{
	const char *end = path + strspn(path, "/");
	for (unsigned parts = 0; *end && parts < PATH_PARTS_MAX && strlen(end) < PATH_MAX;
	     parts++) {
		char *whole = xalloc_printf("%s/%s", directory, end);
		int error = read_file(text, whole);
		free(whole);
		if (!error)
			return true;
		end += strcspn(end, "/");
		end += strspn(end, "/");
	}
	return false;
}

int source_text_read(struct source_text *text, const char *path, const char *const *directories)
{
	*text = (struct source_text){0};
	if (path[0] == '\0')
		return ENOENT;
	for (; directories && *directories && !path_leads_up(path); directories++)
		if (read_below(text, *directories, path))
			return 0;
	return read_file(text, path);
}

/* Columns count characters, not the bytes of UTF-8. */
static char *expand_tabs(const char *at, const char *end)
{
	char *wide = xalloc_zeroed((size_t)(end - at) * TAB_WIDTH + 1, 1);
	size_t length = 0;
	size_t column = 0;
	for (; at < end; at++) {
		size_t spaces = *at == '\t' ? TAB_WIDTH - column % TAB_WIDTH : 0;
		if (spaces > 0)
			memset(wide + length, ' ', spaces);
		else
			wide[length] = *at ? *at : '?';
		length += spaces > 0 ? spaces : 1;
		column += spaces > 0 ? spaces : ((unsigned char)*at & 0xc0) != 0x80;
	}
	return wide;
}

char *source_text_line(const struct source_text *text, uint32_t line)
{
	if (line == 0 || line > text->count)
		return xalloc_text("");
	const char *at = text->bytes + text->starts[line - 1];
	const char *end = text->bytes + text->starts[line];
	if (end - at > LINE_MAX_BYTES)
		end = at + LINE_MAX_BYTES;
	while (end > at && (end[-1] == '\n' || end[-1] == '\r'))
		end--;
	char *wide = expand_tabs(at, end);
	char *visible = xalloc_zeroed(PROFILE_VISIBLE_FACTOR * strlen(wide) + 1, 1);
	profile_visible_text(wide, visible);
	free(wide);
	return visible;
}

void source_text_finish(struct source_text *text)
{
	free(text->path);
	free(text->bytes);
	free(text->starts);
	*text = (struct source_text){0};
}
