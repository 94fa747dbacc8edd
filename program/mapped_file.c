#include "program/mapped_file.h"

#include "program/build_id.h"
#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
	LINKS_MAX = 16384, /* links to mapped files, read for each missing file */
	PLACE_SIZE = PATH_MAX + 64
};

enum place {
	PLACE_MAPPING,
	PLACE_ROOT,
	PLACE_PROGRAM,
	PLACE_HERE,
	PLACE_DELETED,
	PLACE_CACHE,
	PLACE_NONE
};

static const enum place present[] = {PLACE_MAPPING, PLACE_ROOT, PLACE_PROGRAM, PLACE_HERE,
				     PLACE_NONE};
static const enum place past[] = {PLACE_HERE, PLACE_ROOT, PLACE_DELETED, PLACE_CACHE, PLACE_NONE};

/* As the kernel ends the links of deleted files. */
static const char suffix[] = " (deleted)";

static bool is_link_of(int directory, const char *name, const char *path)
{
	char target[PATH_MAX + sizeof(suffix)];
	ssize_t length = readlinkat(directory, name, target, sizeof(target));
	size_t known = strlen(path);
	size_t end = sizeof(suffix) - 1;
	/* The file was deleted before it was mapped. */
	if (known > end && strcmp(path + known - end, suffix) == 0)
		known -= end;
	return length > 0 && (size_t)length == known + end && memcmp(target, path, known) == 0 &&
	       memcmp(target + known, suffix, end) == 0;
}

/* Finds a link in /proc/PID to the deleted file of this path. Other deleted files may have had the
 * same path. */
static bool find_deleted(uint32_t pid, const char *path, char *found)
{
	bool is_found = false;
	snprintf(found, PLACE_SIZE, "/proc/%u/exe", pid);
	if (is_link_of(AT_FDCWD, found, path))
		return true;
	int length = snprintf(found, PLACE_SIZE, "/proc/%u/map_files", pid);
	DIR *directory = opendir(found);
	const struct dirent *entry;
	for (int i = 0; directory && !is_found && i < LINKS_MAX && (entry = readdir(directory));
	     i++) {
		is_found = is_link_of(dirfd(directory), entry->d_name, path);
		if (is_found)
			snprintf(found + length, PLACE_SIZE - (size_t)length, "/%s", entry->d_name);
	}
	if (directory)
		closedir(directory);
	return is_found;
}

static bool fits(int length)
{
	return length >= 0 && length < PLACE_SIZE;
}

/* perf's cache of files (perf-buildid-cache(1)): ~/.debug/.build-id/12/3456.../elf. */
static bool name_cached(const struct mapped_file *file, char *path)
{
	const char *home = secure_getenv("HOME");
	if (!home || home[0] != '/' || file->build_id_size < 2 ||
	    file->build_id_size > BUILD_ID_MAX)
		return false;
	char place[BUILD_ID_PLACE_SIZE];
	build_id_place(file->build_id, file->build_id_size, place);
	return fits(snprintf(path, PLACE_SIZE, "%s/.debug/.build-id/%s/elf", home, place));
}

static bool name_place(const struct mapped_file *file, enum place place, char *path)
{
	bool has_process = file->pid > 0 && file->path[0] == '/';
	switch (place) {
	case PLACE_MAPPING:
		return fits(snprintf(path, PLACE_SIZE, "/proc/%u/map_files/%" PRIx64 "-%" PRIx64,
				     file->pid, file->start, file->end));
	case PLACE_ROOT:
		return has_process &&
		       fits(snprintf(path, PLACE_SIZE, "/proc/%u/root%s", file->pid, file->path));
	case PLACE_PROGRAM:
		return fits(snprintf(path, PLACE_SIZE, "/proc/%u/exe", file->pid));
	case PLACE_HERE:
		return fits(snprintf(path, PLACE_SIZE, "%s", file->path));
	case PLACE_DELETED:
		return has_process && (file->build_id_size > 0 || file->inode > 0) &&
		       find_deleted(file->pid, file->path, path);
	case PLACE_CACHE:
		return name_cached(file, path);
	default:
		return false;
	}
}

static int64_t ns_of(const struct timespec *time)
{
	return (int64_t)((uint64_t)time->tv_sec * 1000000000u) + time->tv_nsec;
}

static bool is_changed(const struct mapped_file *file, const struct stat *status,
		       int64_t *changed_ns)
{
	const struct timespec *changed = status->st_nlink > 0 ? &status->st_ctim : &status->st_mtim;
	struct timespec now;
	if (file->mapped_ns == 0 || clock_gettime(CLOCK_REALTIME, &now) < 0 ||
	    changed->tv_sec < 0 || changed->tv_sec > now.tv_sec || ns_of(changed) > ns_of(&now) ||
	    ns_of(changed) <= file->mapped_ns)
		return false;
	*changed_ns = ns_of(changed);
	return true;
}

/* 0: the file is the mapped one; else the errno of the difference. */
static int compare(const struct mapped_file *file, int fd, const struct stat *status,
		   int64_t *changed_ns)
{
	uint8_t id[BUILD_ID_MAX];
	if (file->build_id_size > 0)
		return build_id_read(fd, id) == (ssize_t)file->build_id_size &&
				       memcmp(id, file->build_id, file->build_id_size) == 0
			       ? 0
			       : EEXIST;
	if (file->inode != 0 && file->inode != status->st_ino)
		return EEXIST;
	return is_changed(file, status, changed_ns) ? ESTALE : 0;
}

static int try_place(const struct mapped_file *file, const char *path, regular_file_take *take,
		     void *user, int64_t *changed_ns)
{
	struct stat status;
	int fd = regular_file_open(path, 0, &status);
	if (fd < 0)
		return errno == ENOEXEC ? ENXIO : errno;
	int error = compare(file, fd, &status, changed_ns);
	if (error == 0)
		error = take(user, fd, &status, path);
	close(fd);
	return error;
}

/* The higher, the more telling is the error. */
static size_t rank(int error)
{
	static const int ranks[] = {ENXIO, EACCES, EEXIST, EMFILE, ESTALE, ENOEXEC};
	for (size_t i = 0; i < sizeof(ranks) / sizeof(ranks[0]); i++)
		if (ranks[i] == error)
			return i + 2;
	return error == ENOENT ? 0 : 1;
}

int mapped_file_open(const struct mapped_file *file, regular_file_take *take, void *user,
		     int64_t *changed_ns)
{
	char path[PLACE_SIZE];
	int result = ENOENT;
	if (path_leads_up(file->path))
		return ENOENT;
	for (const enum place *place = file->end > 0 ? present : past; *place != PLACE_NONE;
	     place++) {
		if (!name_place(file, *place, path))
			continue;
		int error = try_place(file, path, take, user, changed_ns);
		if (error == 0)
			return 0;
		assert(error > 0);
		error = error == ENFILE ? EMFILE : error == EPERM ? EACCES : error;
		bool is_gone = error == ESRCH || (*place == PLACE_PROGRAM && error == EEXIST);
		if (!is_gone && rank(error) > rank(result))
			result = error;
		/* The mapped file was found: files elsewhere are others. */
		if (*place != PLACE_HERE && (error == ENOEXEC || error == ESTALE))
			break;
	}
	return result;
}
