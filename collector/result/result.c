#include "collector/result/result.h"

#include "profile/base/external_name.h"
#include "profile/base/place.h"
#include <assert.h>
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
	if (!here)
		return 0;
	for (struct dirent *entry; (entry = readdir(here));) {
		long number = number_of(entry->d_name);
		if (number >= next)
			next = number + 1;
	}
	closedir(here);
	return next;
}

/* 0, or -1 with errno. A umask may take rights from the owner too; a later chmod by name would
 * follow a link put in its place. */
static int make_directory(const char *path)
{
	mode_t before = umask(077);
	int made = mkdir(path, 0700);
	umask(before);
	return made;
}

static int create_next(struct result *result, const char *suffix, struct failure *failure)
{
	int error = 0; /* all numbers are taken */
	for (long number = find_next_number(); number <= NUMBER_MAX; number++) {
		snprintf(result->directory, sizeof(result->directory), "r%03ld%s", number, suffix);
		if (make_directory(result->directory) == 0) {
			result->created = true;
			return 0;
		}
		error = errno;
		if (error != EEXIST)
			break;
	}
	return failure_set(failure, FAILURE_EXIT,
			   "cannot make a result directory r@@@%s here: %s; choose another place "
			   "with -r DIR",
			   suffix,
			   error == 0 || error == EEXIST ? "no number is free" : strerror(error));
}

/* Refuses a place of another user, who could read and change the result there. */
static int refuse_existing(const char *directory, enum profile_place place, struct failure *failure)
{
	const char *why = "a file is there";
	switch (place) {
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
		break;
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
		return 0;
	return failure_set(failure, FAILURE_EXIT,
			   "cannot make the result directory %s: %s; choose another one with -r "
			   "DIR",
			   result->directory, strerror(errno));
}

/* Takes hold of the directory; its name does not matter afterwards. */
static int open_place(struct result *result, struct failure *failure)
{
	enum profile_place place;
	if (!result->created) {
		result->place = profile_place_open(result->directory, &place);
		return result->place >= 0 ? 0 : refuse_existing(result->directory, place, failure);
	}
	result->place = open(result->directory, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (result->place >= 0)
		return 0;
	result->created = false; /* another one is there now */
	return failure_set(failure, FAILURE_EXIT,
			   "cannot open the result directory %s just after it was made: %s; choose "
			   "a place where only you can write with -r DIR",
			   result->directory, strerror(errno));
}

/* NULL: they cannot be read. */
static DIR *open_entries(int place)
{
	int fd = openat(place, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *entries = fd >= 0 ? fdopendir(fd) : NULL;
	if (!entries && fd >= 0)
		close(fd);
	return entries;
}

/* Whether a file of a result is there already. */
static bool holds_result(int place)
{
	bool found = false;
	DIR *entries = open_entries(place);
	if (!entries)
		return false;
	for (struct dirent *entry; !found && (entry = readdir(entries));) {
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
	const char *name = slash ? slash + 1 : directory;
	bool usable = name[0] != '\0' && strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
	return usable ? name : "result";
}

static const char *file_name(const struct result *result)
{
	const char *slash = strrchr(result->file, '/');
	assert(slash);
	return slash + 1;
}

static int check_directory(const struct result *result, struct failure *failure)
{
	if (holds_result(result->place))
		return failure_set(failure, FAILURE_EXIT,
				   "the directory %s already holds a result; choose another one "
				   "with -r DIR",
				   result->directory);
	if (faccessat(result->place, ".", W_OK | X_OK, 0) < 0)
		return failure_set(failure, FAILURE_EXIT,
				   "cannot write to the result directory %s: %s; choose another "
				   "one with -r DIR",
				   result->directory, strerror(errno));
	return 0;
}

int result_create(struct result *result, const char *directory, const char *suffix,
		  struct failure *failure)
{
	*result = (struct result){.place = -1, .held = -1};
	int made = directory ? create_named(result, directory, failure)
			     : create_next(result, suffix, failure);
	if (made == 0 && open_place(result, failure) == 0 &&
	    check_directory(result, failure) == 0) {
		snprintf(result->file, sizeof(result->file), "%s/%.250s.tb5", result->directory,
			 name_of(result->directory));
		profile_place_file(result->place, file_name(result), result->through,
				   sizeof(result->through));
		return 0;
	}
	result_remove(result); /* no file yet; the contents of an existing directory stay */
	result_finish(result);
	return -1;
}

/* Another user's directory may have replaced ours between its making and its opening. Ours has the
 * owner of our file; on a network's file system, that owner need not be us. */
static int check_owner(struct result *result, struct failure *failure)
{
	struct stat place;
	struct stat file;
	if (!result->created || (fstat(result->place, &place) == 0 &&
				 fstat(result->held, &file) == 0 && place.st_uid == file.st_uid))
		return 0;
	result->created = false;
	return failure_set(failure, FAILURE_EXIT,
			   "another user has put a directory in the place of the new result "
			   "directory %s; choose a place where only you can write with -r DIR",
			   result->directory);
}

int result_hold(struct result *result, struct failure *failure)
{
	result->held = openat(result->place, file_name(result), O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (result->held < 0)
		return failure_set_error(failure, errno, "cannot find the result %s", result->file);
	return check_owner(result, failure);
}

static bool is_held_at(const struct stat *held, const char *path)
{
	struct stat status;
	return lstat(path, &status) == 0 && status.st_dev == held->st_dev &&
	       status.st_ino == held->st_ino;
}

/* Updates the file's name by the kernel's name for it. */
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
				   "is left; collect again",
				   result->file);
	if (known && (is_held_at(&held, result->file) || follow(result, &held)))
		return 0;
	return failure_set(failure, FAILURE_EXIT,
			   "the result %s cannot be reached any more: its directory was unmounted "
			   "or covered during the collection",
			   result->file);
}

bool result_is_ours(const struct result *result)
{
	struct stat held;
	return fstat(result->held, &held) == 0 && held.st_uid == geteuid();
}

static bool is_custom_file(const char *name)
{
	struct profile_external_name parts;
	return strcmp(name, RESULT_CUSTOM_LOG) == 0 || profile_external_name_split(name, &parts);
}

static void remove_custom_files(int place)
{
	DIR *entries = open_entries(place);
	if (!entries)
		return;
	for (struct dirent *entry; (entry = readdir(entries));)
		if (is_custom_file(entry->d_name))
			unlinkat(place, entry->d_name, 0);
	closedir(entries);
}

void result_remove(const struct result *result)
{
	struct stat place;
	if (result->created && result->place >= 0)
		remove_custom_files(result->place);
	if (result->file[0] != '\0')
		unlinkat(result->place, file_name(result), 0);
	if (result->created && result->place >= 0 && fstat(result->place, &place) == 0 &&
	    is_held_at(&place, result->directory))
		rmdir(result->directory);
}

void result_finish(struct result *result)
{
	if (result->held >= 0)
		close(result->held);
	if (result->place >= 0)
		close(result->place);
	*result = (struct result){.place = -1, .held = -1};
}
