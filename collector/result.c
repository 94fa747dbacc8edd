#include "collector/result.h"

#include "tbrw/profile/place.h"
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
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

/* 0, or -1 with errno. A umask may take rights from the owner too; a chmod of the name afterwards
 * would follow a link that somebody put in its place. */
static int make_directory(const char *path)
{
	mode_t before = umask(077);
	int made = mkdir(path, 0700);
	umask(before);
	return made;
}

static int create_next(struct result *result, struct failure *failure)
{
	int error = 0; /* all numbers are taken */
	for (long number = find_next_number(); number <= NUMBER_MAX; number++) {
		snprintf(result->directory, sizeof(result->directory), "r%03ldhs", number);
		if (make_directory(result->directory) == 0) {
			result->created = true;
			return 0;
		}
		error = errno;
		if (error != EEXIST)
			break;
	}
	return failure_set(failure, FAILURE_EXIT,
			   "cannot make a result directory r@@@hs here: %s; choose another place "
			   "with -r DIR",
			   error == 0 || error == EEXIST ? "no number is free" : strerror(error));
}

/* What another user put there would be theirs to look into and to change. */
static int take_existing(const char *directory, struct failure *failure)
{
	struct stat status;
	const char *why = "a file is there";
	switch (profile_place_of(directory)) {
	case PROFILE_PLACE_LINK:
		why = "a symbolic link that another user made is there";
		break;
	case PROFILE_PLACE_OTHERS:
		why = "what is there belongs to another user";
		break;
	case PROFILE_PLACE_MISSING:
		why = "a symbolic link that leads nowhere is there";
		break;
	case PROFILE_PLACE_OURS:
		if (stat(directory, &status) == 0 && S_ISDIR(status.st_mode))
			return 0;
	}
	return failure_set(failure, FAILURE_EXIT,
			   "cannot make the result directory %s: %s; choose another one with -r "
			   "DIR",
			   directory, why);
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
	if (make_directory(result->directory) == 0) {
		result->created = true;
		return 0;
	}
	if (errno == EEXIST)
		return take_existing(result->directory, failure);
	return failure_set(failure, FAILURE_EXIT,
			   "cannot make the result directory %s: %s; choose another one with -r "
			   "DIR",
			   result->directory, strerror(errno));
}

/* Whether a file of a result is there already. */
static bool holds_result(const char *directory)
{
	bool found = false;
	DIR *entries = opendir(directory);
	if (entries == NULL)
		return false;
	for (struct dirent *entry; !found && (entry = readdir(entries)) != NULL;) {
		size_t length = strlen(entry->d_name);
		found = length > 4 && strcmp(entry->d_name + length - 4, ".tb5") == 0;
	}
	closedir(entries);
	return found;
}

/* The result's name: the directory's last component, unless it names no file. */
static const char *name_of(const char *directory)
{
	const char *slash = strrchr(directory, '/');
	const char *name = slash != NULL ? slash + 1 : directory;
	bool usable = name[0] != '\0' && strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
	return usable ? name : "result";
}

static int check_directory(const struct result *result, struct failure *failure)
{
	if (holds_result(result->directory))
		return failure_set(failure, FAILURE_EXIT,
				   "the directory %s already holds a result; choose another one "
				   "with "
				   "-r DIR",
				   result->directory);
	if (access(result->directory, W_OK | X_OK) < 0)
		return failure_set(failure, FAILURE_EXIT,
				   "cannot write to the result directory %s: %s; choose another "
				   "one "
				   "with -r DIR",
				   result->directory, strerror(errno));
	return 0;
}

int result_create(struct result *result, const char *directory, struct failure *failure)
{
	*result = (struct result){.held = -1};
	int made = directory != NULL ? create_named(result, directory, failure)
				     : create_next(result, failure);
	if (made == 0 && check_directory(result, failure) == 0) {
		snprintf(result->file, sizeof(result->file), "%s/%.250s.tb5", result->directory,
			 name_of(result->directory));
		return 0;
	}
	result_remove(result); /* no file: what lies in a directory that was there stays */
	*result = (struct result){.held = -1};
	return -1;
}

int result_hold(struct result *result, struct failure *failure)
{
	result->held = open(result->file, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (result->held < 0)
		return failure_set_error(failure, errno, "cannot find the result %s", result->file);
	return 0;
}

static bool is_held_at(const struct stat *held, const char *path)
{
	struct stat status;
	return lstat(path, &status) == 0 && status.st_dev == held->st_dev &&
	       status.st_ino == held->st_ino;
}

/* The name by which the kernel knows the file now. */
static bool follow(struct result *result, const struct stat *held)
{
	char link[64];
	char path[sizeof(result->file)];
	snprintf(link, sizeof(link), "/proc/self/fd/%d", result->held);
	ssize_t length = readlink(link, path, sizeof(path) - 1);
	if (length <= 0)
		return false;
	path[length] = '\0';
	size_t place = (size_t)(strrchr(path, '/') - path);
	if (!is_held_at(held, path) || place >= sizeof(result->directory))
		return false;
	memcpy(result->file, path, (size_t)length + 1);
	path[place] = '\0';
	memcpy(result->directory, path, place + 1);
	return true;
}

int result_check(struct result *result, struct failure *failure)
{
	struct stat held;
	bool known = fstat(result->held, &held) == 0;
	if (known && held.st_nlink == 0)
		return failure_set(failure, FAILURE_EXIT,
				   "the result %s was deleted during the collection: nothing of it "
				   "is "
				   "left; collect again",
				   result->file);
	if (known && (is_held_at(&held, result->file) || follow(result, &held)))
		return 0;
	return failure_set(failure, FAILURE_EXIT,
			   "the result %s cannot be reached any more: its directory was unmounted "
			   "or "
			   "covered during the collection",
			   result->file);
}

void result_remove(const struct result *result)
{
	if (result->file[0] != '\0')
		unlink(result->file);
	if (result->created)
		rmdir(result->directory);
}

void result_finish(struct result *result)
{
	if (result->held >= 0)
		close(result->held);
	result->held = -1;
}
