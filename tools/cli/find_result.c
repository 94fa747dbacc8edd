#include "tools/cli/find_result.h"

#include "tools/memory/xalloc.h"
#include "tools/text/path.h"
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char extension[] = ".tb5";

static bool has_extension(const char *name)
{
	size_t length = strlen(name);
	size_t tail = sizeof(extension) - 1;
	return length > tail && name[0] != '.' && strcmp(name + length - tail, extension) == 0;
}

/* The status for errno after a failed look at a path. */
static enum find_result_status missing_status(void)
{
	return errno == EACCES ? FIND_RESULT_DENIED : FIND_RESULT_MISSING;
}

static enum find_result_status only_tb5(const char *directory, char **path)
{
	DIR *stream = opendir(directory);
	char *found = NULL;
	bool is_ambiguous = false;
	if (!stream)
		return missing_status();
	for (struct dirent *entry; (entry = readdir(stream));) {
		if (!has_extension(entry->d_name))
			continue;
		is_ambiguous = found != NULL;
		if (is_ambiguous)
			break;
		found = xalloc_printf("%s/%s", directory, entry->d_name);
	}
	closedir(stream);
	if (is_ambiguous) {
		free(found);
		return FIND_RESULT_AMBIGUOUS;
	}
	*path = found;
	return found ? FIND_RESULT_FOUND : FIND_RESULT_NO_TB5;
}

static enum find_result_status in_directory(const char *directory, char **path)
{
	/* "." and links have the name of their directory */
	char *real = realpath(directory, NULL);
	if (!real)
		return missing_status();
	size_t length = strlen(directory);
	while (length > 1 && directory[length - 1] == '/')
		length--;
	char *trimmed = xalloc_text_of(directory, length);
	char *named = xalloc_printf("%s/%s%s", trimmed, path_base_name(real), extension);
	enum find_result_status status = FIND_RESULT_FOUND;
	free(real);
	if (access(named, F_OK) == 0) {
		*path = named;
	} else {
		free(named);
		status = only_tb5(trimmed, path);
	}
	free(trimmed);
	return status;
}

/* The number in r@@@xx; false for any other name. */
static bool result_number(const char *name, unsigned long long *number)
{
	size_t digits = name[0] == 'r' ? strspn(name + 1, "0123456789") : 0;
	if (digits < 3 || digits > 18)
		return false;
	size_t letters = 0;
	const char *tail = name + 1 + digits;
	while (islower((unsigned char)tail[letters]))
		letters++;
	*number = strtoull(name + 1, NULL, 10);
	return letters >= 2 && letters <= 3 && tail[letters] == '\0';
}

bool find_result_is_name(const char *name)
{
	unsigned long long number;
	return result_number(name, &number);
}

struct newest {
	char *path;
	unsigned long long number;
	struct timespec changed;
};

static bool is_newer(const struct newest *newest, unsigned long long number,
		     const struct timespec *changed)
{
	if (!newest->path)
		return true;
	if (changed->tv_sec != newest->changed.tv_sec)
		return changed->tv_sec > newest->changed.tv_sec;
	if (changed->tv_nsec != newest->changed.tv_nsec)
		return changed->tv_nsec > newest->changed.tv_nsec;
	return number > newest->number;
}

static enum find_result_status in_current_directory(char **path)
{
	struct newest newest = {0};
	DIR *stream = opendir(".");
	if (!stream)
		return FIND_RESULT_NO_RESULT;
	for (struct dirent *entry; (entry = readdir(stream));) {
		unsigned long long number;
		struct stat status;
		char *candidate = NULL;
		if (!result_number(entry->d_name, &number) || stat(entry->d_name, &status) != 0 ||
		    !S_ISDIR(status.st_mode) || !is_newer(&newest, number, &status.st_mtim) ||
		    in_directory(entry->d_name, &candidate) != FIND_RESULT_FOUND)
			continue;
		free(newest.path);
		newest = (struct newest){candidate, number, status.st_mtim};
	}
	closedir(stream);
	*path = newest.path;
	return newest.path ? FIND_RESULT_FOUND : FIND_RESULT_NO_RESULT;
}

static enum find_result_status find_named(const char *argument, char **path)
{
	struct stat status;
	if (stat(argument, &status) != 0)
		return missing_status();
	if (S_ISDIR(status.st_mode))
		return in_directory(argument, path);
	*path = xalloc_text(argument);
	return FIND_RESULT_FOUND;
}

enum find_result_status find_result(const char *argument, char **path)
{
	char *found = NULL;
	enum find_result_status status =
		argument ? find_named(argument, &found) : in_current_directory(&found);
	if (status == FIND_RESULT_FOUND && access(found, R_OK) != 0 && errno == EACCES)
		status = FIND_RESULT_DENIED;
	if (status == FIND_RESULT_FOUND)
		*path = found;
	else
		free(found);
	return status;
}

const char *find_result_explain(enum find_result_status status)
{
	switch (status) {
	case FIND_RESULT_MISSING:
		return "no such file or directory; name a result directory or its tb5 file";
	case FIND_RESULT_DENIED:
		return "no permission to read the result; ask its owner, or look as that user";
	case FIND_RESULT_NO_TB5:
		return "no tb5 file in it; name the result directory that tbcollect left";
	case FIND_RESULT_AMBIGUOUS:
		return "several tb5 files in it; name one of them";
	default:
		return "no result directory (r000hs, ...) in the current directory; collect with "
		       "tbcollect or name one";
	}
}
