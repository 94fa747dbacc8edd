#include "collector/options/analysis_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const key_names[ANALYSIS_KEY_COUNT] = {
	[ANALYSIS_KEY_BASE] = "base",
	[ANALYSIS_KEY_SAMPLING] = "sampling",
	[ANALYSIS_KEY_INTERVAL] = "interval",
	[ANALYSIS_KEY_SWITCHES] = "switches",
	[ANALYSIS_KEY_WAITS] = "waits",
	[ANALYSIS_KEY_WAIT_THRESHOLD] = "wait-threshold",
	[ANALYSIS_KEY_WAIT_SOURCE] = "wait-source",
	[ANALYSIS_KEY_WAKER_STACKS] = "waker-stacks",
	[ANALYSIS_KEY_IO_WAITS] = "io-waits",
	[ANALYSIS_KEY_STACKS] = "stacks",
	[ANALYSIS_KEY_EVENT] = "event",
};

enum {
	KEY_LENGTH_MAX = 32, /* of keys for which a similar one is looked for */
	MISTAKES_MAX = 3     /* in similar ones */
};

const char *analysis_key_name(enum analysis_key key)
{
	return key_names[key];
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* The number of characters to insert, leave out or replace (Levenshtein's distance). Neither text
 * is longer than KEY_LENGTH_MAX. */
static size_t distance(const char *left, const char *right)
{
	size_t row[KEY_LENGTH_MAX + 1];
	size_t length = strlen(right);
	for (size_t i = 0; i <= length; i++)
		row[i] = i;
	for (size_t l = 0; left[l]; l++) {
		size_t diagonal = row[0];
		row[0] = l + 1;
		for (size_t r = 0; r < length; r++) {
			size_t replaced = diagonal + (left[l] != right[r]);
			diagonal = row[r + 1];
			row[r + 1] = least(replaced, least(diagonal, row[r]) + 1);
		}
	}
	return row[length];
}

/* NULL: none is similar. */
static const char *find_similar(const char *key)
{
	const char *similar = NULL;
	size_t nearest = MISTAKES_MAX + 1;
	for (int i = 0; i < ANALYSIS_KEY_COUNT && strlen(key) <= KEY_LENGTH_MAX; i++) {
		size_t mistakes = distance(key, key_names[i]);
		if (mistakes < nearest && mistakes < strlen(key_names[i])) {
			nearest = mistakes;
			similar = key_names[i];
		}
	}
	return similar;
}

static int refuse_key(const char *path, unsigned line, const char *key, struct failure *failure)
{
	const char *similar = find_similar(key);
	return failure_set(failure, FAILURE_EXIT_USAGE, "%s:%u: unknown key '%.64s': %s%s%s", path,
			   line, key, similar ? "did you mean '" : "see tbcollect-analysis(5)",
			   similar ? similar : "", similar ? "'?" : "");
}

static int find_key(const char *name)
{
	for (int i = 0; i < ANALYSIS_KEY_COUNT; i++)
		if (strcmp(name, key_names[i]) == 0)
			return i;
	return -1;
}

/* The text without white space around it; writes an end to it. */
static char *trim(char *text)
{
	text += strspn(text, " \t\r");
	size_t length = strlen(text);
	while (length > 0 && strchr(" \t\r", text[length - 1]))
		length--;
	text[length] = '\0';
	return text;
}

/* A comment begins the line, or follows white space. */
static void cut_comment(char *text)
{
	for (char *c = text; (c = strchr(c, '#')); c++) {
		if (c == text || c[-1] == ' ' || c[-1] == '\t') {
			*c = '\0';
			return;
		}
	}
}

const struct analysis_setting *analysis_file_find(const struct analysis_file *file,
						  enum analysis_key key)
{
	for (size_t i = 0; i < file->count; i++)
		if (file->settings[i].key == key)
			return &file->settings[i];
	return NULL;
}

static int add_setting(struct analysis_file *file, const struct analysis_setting *setting,
		       const char *path, struct failure *failure)
{
	const struct analysis_setting *before = analysis_file_find(file, setting->key);
	if (before && setting->key != ANALYSIS_KEY_EVENT)
		return failure_set(failure, FAILURE_EXIT_USAGE,
				   "%s:%u: %s is given in line %u already: leave one out", path,
				   setting->line, analysis_key_name(setting->key), before->line);
	if (file->count == ANALYSIS_SETTINGS_MAX)
		return failure_set(failure, FAILURE_EXIT_USAGE,
				   "%s:%u: more than %d settings: use several files", path,
				   setting->line, (int)ANALYSIS_SETTINGS_MAX);
	file->settings[file->count++] = *setting;
	return 0;
}

static int parse_line(struct analysis_file *file, char *text, const char *path, unsigned line,
		      struct failure *failure)
{
	cut_comment(text);
	char *key = trim(text);
	char *equals = strchr(key, '=');
	if (key[0] == '\0')
		return 0;
	if (!equals || equals == key)
		return failure_set(failure, FAILURE_EXIT_USAGE,
				   "%s:%u: no setting: write key = value, or # and a comment", path,
				   line);
	*equals = '\0';
	key = trim(key);
	const char *value = trim(equals + 1);
	int found = find_key(key);
	if (found < 0)
		return refuse_key(path, line, key, failure);
	if (value[0] == '\0')
		return failure_set(failure, FAILURE_EXIT_USAGE,
				   "%s:%u: %s has no value: write %s = VALUE, or leave it out",
				   path, line, key, key);
	return add_setting(file, &(struct analysis_setting){(enum analysis_key)found, line, value},
			   path, failure);
}

int analysis_file_parse(struct analysis_file *file, size_t size, const char *path,
			struct failure *failure)
{
	unsigned line = 1;
	file->count = 0;
	file->text[size] = '\0';
	for (char *at = file->text; at; line++) {
		char *end = memchr(at, '\n', (size_t)(file->text + size - at));
		if (end)
			*end = '\0';
		if (strlen(at) != (size_t)((end ? end : file->text + size) - at))
			return failure_set(failure, FAILURE_EXIT_USAGE,
					   "%s:%u: no text: give a custom analysis", path, line);
		if (parse_line(file, at, path, line, failure) < 0)
			return -1;
		at = end ? end + 1 : NULL;
	}
	return 0;
}

/* Bytes read; -1 with errno. */
static ssize_t read_all(int fd, char *text, size_t size)
{
	size_t used = 0;
	while (used < size) {
		ssize_t more = read(fd, text + used, size - used);
		if (more < 0 && errno == EINTR)
			continue;
		if (more < 0)
			return -1;
		if (more == 0)
			break;
		used += (size_t)more;
	}
	return (ssize_t)used;
}

int analysis_file_read(const char *path, struct analysis_file *file, struct failure *failure)
{
	struct stat status;
	/* Not blocked by a pipe that nobody writes to. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return failure_set_error(failure, errno, "cannot open the custom analysis %s",
					 path);
	bool is_file = fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
	ssize_t size = is_file ? read_all(fd, file->text, sizeof(file->text)) : 0;
	int error = errno;
	close(fd);
	if (!is_file)
		return failure_set(failure, FAILURE_EXIT,
				   "cannot read the custom analysis %s: no regular file", path);
	if (size < 0)
		return failure_set_error(failure, error, "cannot read the custom analysis %s",
					 path);
	if (size > ANALYSIS_FILE_SIZE_MAX)
		return failure_set(failure, FAILURE_EXIT,
				   "cannot read the custom analysis %s: larger than %d bytes", path,
				   (int)ANALYSIS_FILE_SIZE_MAX);
	return analysis_file_parse(file, (size_t)size, path, failure);
}
