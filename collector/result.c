#include "collector/result.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NUMBER_MAX = 999999 };

/* The number of a name like r000hs; -1 for other names. */
static long number_of(const char *name)
{
	char *end;
	if (name[0] != 'r' || !isdigit((unsigned char)name[1]))
		return -1;
	long number = strtol(name + 1, &end, 10);
	bool letters =
		islower((unsigned char)end[0]) && islower((unsigned char)end[1]) && end[2] == '\0';
	return letters && end - name >= 4 && number <= NUMBER_MAX ? number : -1;
}

static long find_next_number(void)
{
	long next = 0;
	DIR *here = opendir(".");
	if (here == NULL)
		return 0;
	for (struct dirent *entry; (entry = readdir(here)) != NULL;) {
		long number = number_of(entry->d_name);
		if (number >= next)
			next = number + 1;
	}
	closedir(here);
	return next;
}

static int create_next(struct result *result, struct failure *failure)
{
	for (long number = find_next_number(); number <= NUMBER_MAX; number++) {
		snprintf(result->directory, sizeof(result->directory), "r%03ldhs", number);
		if (mkdir(result->directory, 0777) == 0) {
			result->created = true;
			return 0;
		}
		if (errno != EEXIST)
			break;
	}
	return failure_set(failure, FAILURE_EXIT,
			   "cannot make the result directory %s here: %s; choose another place "
			   "with "
			   "-r DIR",
			   result->directory, strerror(errno));
}

static int create_named(struct result *result, const char *directory, struct failure *failure)
{
	size_t length = strlen(directory);
	while (length > 1 && directory[length - 1] == '/')
		length--;
	if (length >= sizeof(result->directory))
		return failure_set(failure, FAILURE_EXIT_USAGE,
				   "the result directory's name is too long");
	memcpy(result->directory, directory, length);
	result->directory[length] = '\0';
	if (mkdir(result->directory, 0777) == 0) {
		result->created = true;
		return 0;
	}
	struct stat status;
	if (errno == EEXIST && stat(result->directory, &status) == 0 && S_ISDIR(status.st_mode))
		return 0;
	return failure_set(failure, FAILURE_EXIT,
			   "cannot make the result directory %s: %s; choose another one with -r "
			   "DIR",
			   result->directory,
			   errno == EEXIST ? "a file is there" : strerror(errno));
}

int result_create(struct result *result, const char *directory, struct failure *failure)
{
	*result = (struct result){0};
	int made = directory != NULL ? create_named(result, directory, failure)
				     : create_next(result, failure);
	if (made < 0)
		return -1;
	/* "." and ".." name no file. */
	const char *name = strrchr(result->directory, '/');
	name = name != NULL ? name + 1 : result->directory;
	if (name[0] == '\0' || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		name = "result";
	snprintf(result->file, sizeof(result->file), "%s/%.250s.tb5", result->directory, name);
	struct stat status;
	if (lstat(result->file, &status) == 0)
		return failure_set(failure, FAILURE_EXIT,
				   "the directory %s already holds a result; choose another one "
				   "with "
				   "-r DIR",
				   result->directory);
	if (access(result->directory, W_OK | X_OK) < 0) {
		int error = errno;
		result_remove(result);
		return failure_set(failure, FAILURE_EXIT,
				   "cannot write to the result directory %s: %s; choose another "
				   "one "
				   "with -r DIR",
				   result->directory, strerror(error));
	}
	return 0;
}

void result_remove(const struct result *result)
{
	if (result->file[0] != '\0')
		unlink(result->file);
	if (result->created)
		rmdir(result->directory);
}
