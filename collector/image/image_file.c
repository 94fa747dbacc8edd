#include "collector/image/image_file.h"

#include "program/regular_file.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

bool image_file_is_path(const char *path)
{
	/* "//anon", "/dev/zero" and "/SYSV..." are anonymous memory under a name (mm/mmap.c,
	 * perf_event_mmap_event; mm/shmem.c). */
	return path[0] == '/' && strncmp(path, "//anon", 6) != 0 &&
	       strncmp(path, "/dev/zero", 9) != 0 && strncmp(path, "/SYSV", 5) != 0 &&
	       strncmp(path, "/anon_hugepage", 14) != 0;
}

uint32_t image_file_build_id(const struct uw_module *module, uint8_t id[static IMAGE_BUILD_ID_MAX])
{
	uint8_t bytes[IMAGE_BUILD_ID_MAX];
	size_t size = uw_module_build_id(module, bytes, sizeof(bytes));
	if (size > sizeof(bytes))
		return 0;
	memcpy(id, bytes, size);
	return (uint32_t)size;
}

bool image_file_has_build_id(const struct uw_module *module, const struct image_source *source)
{
	uint8_t id[IMAGE_BUILD_ID_MAX];
	return source->build_id_size == 0 ||
	       (image_file_build_id(module, id) == source->build_id_size &&
		memcmp(id, source->build_id, source->build_id_size) == 0);
}

/* Whether the opened file is the mapped one. Device numbers are not compared: maps and stat
 * differ on overlay and subvolume file systems. */
static bool is_mapped_file(const struct image_source *source, const struct stat *status,
			   const struct uw_module *module)
{
	return image_file_has_build_id(module, source) &&
	       (source->build_id_size > 0 || source->inode == status->st_ino);
}

static int64_t ns_of(const struct timespec *time)
{
	return (int64_t)time->tv_sec * 1000000000 + time->tv_nsec;
}

/* A date as CLOCK_MONOTONIC_RAW; 0 for one before that began, or to come, as dates of modification
 * can be set. */
static uint64_t raw_time(const struct timespec *date)
{
	struct timespec real;
	struct timespec raw;
	/* In this order, so that what comes between the two makes dates earlier, and no file that
	 * is there unchanged a changed one. */
	if (clock_gettime(CLOCK_MONOTONIC_RAW, &raw) < 0 ||
	    clock_gettime(CLOCK_REALTIME, &real) < 0)
		return 0;
	if (date->tv_sec > real.tv_sec || date->tv_sec < real.tv_sec - raw.tv_sec - 1)
		return 0;
	int64_t age = ns_of(&real) - ns_of(date);
	return age >= 0 && age < ns_of(&raw) ? (uint64_t)(ns_of(&raw) - age) : 0;
}

/* When the file, which has no build-id, was changed, if that was after it was mapped, else 0: its
 * bytes may be others now, or its inode another file's. The time of the last change cannot be set,
 * as that of modification can, but deleting a file is a change too. */
static uint64_t changed_since(const struct image_source *source, const struct stat *status)
{
	if (source->mapped_ns == 0 || source->build_id_size > 0)
		return 0;
	uint64_t time = raw_time(status->st_nlink > 0 ? &status->st_ctim : &status->st_mtim);
	return time > source->mapped_ns ? time : 0;
}

/* What is tried to open one file. */
struct search {
	const struct image_source *source;
	struct profile_image *record;
	struct image_file_found *found;
	bool ran_out;    /* of descriptors */
	bool is_denied;  /* a place where the file may be */
	bool is_refused; /* the mapped file was found, and is none that can be used */
	int error;       /* 0: there was no file wherever it was looked for; else what came last */
};

/* fd: -1 where the file could not even be opened */
static void note_failure(struct search *search, int fd, const struct stat *status, int error)
{
	const struct image_source *source = search->source;
	bool is_unusable = error == ENOEXEC || error == EINVAL; /* or another file */
	search->ran_out |= error == EMFILE || error == ENFILE;
	search->is_denied |= error == EACCES || error == EPERM;
	search->is_refused |= fd >= 0 && is_unusable && source->build_id_size == 0 &&
			      source->inode == status->st_ino;
	if (error != ENOENT && error != ESRCH)
		search->error = is_unusable ? EEXIST : error;
}

static struct uw_module *try_path(struct search *search, const char *path)
{
	const struct image_source *source = search->source;
	struct profile_image *record = search->record;
	struct stat status;
	struct uw_module *module = NULL;
	int fd = regular_file_open(path, 0, &status);
	if (fd < 0 || uw_module_open(fd, &module) < 0) {
		module = NULL;
		note_failure(search, fd, &status, errno);
	}
	if (fd >= 0)
		close(fd);
	if (!module)
		return NULL;
	if (!is_mapped_file(source, &status, module)) {
		search->error = EEXIST;
		uw_module_unref(module);
		return NULL;
	}
	search->found->changed_ns = changed_since(source, &status);
	if (search->found->changed_ns != 0) {
		uw_module_unref(module);
		return NULL;
	}
	search->found->owner = status.st_uid;
	if (record->inode == 0) {
		record->inode = status.st_ino;
		record->device_major = major(status.st_dev);
		record->device_minor = minor(status.st_dev);
	}
	return module;
}

/* Whether there is no use in looking elsewhere. */
static bool is_over(const struct search *search, const struct uw_module *module)
{
	return module || search->is_refused || search->found->changed_ns != 0;
}

static int reason(const struct search *search)
{
	if (search->is_refused)
		return ENOEXEC;
	if (search->found->changed_ns != 0)
		return ESTALE;
	if (search->ran_out)
		return EMFILE;
	if (search->is_denied)
		return EACCES;
	return search->error != 0 ? search->error : ENOENT;
}

struct uw_module *image_file_open(const struct image_source *source, struct profile_image *record,
				  struct image_file_found *found)
{
	char path[4200];
	struct uw_module *module = NULL;
	struct search search = {.source = source, .record = record, .found = found};
	found->changed_ns = 0;
	snprintf(path, sizeof(path), "/proc/%u/map_files/%" PRIx64 "-%" PRIx64, source->pid,
		 source->start, source->end);
	module = try_path(&search, path);
	if (!is_over(&search, module)) {
		snprintf(path, sizeof(path), "/proc/%u/root%s", source->pid, source->path);
		module = try_path(&search, path);
	}
	if (!is_over(&search, module)) {
		int error = search.error;
		snprintf(path, sizeof(path), "/proc/%u/exe", source->pid);
		module = try_path(&search, path);
		if (search.error == EEXIST)
			search.error = error; /* most are not the program */
	}
	if (!is_over(&search, module))
		module = try_path(&search, source->path);
	errno = reason(&search);
	return module;
}
