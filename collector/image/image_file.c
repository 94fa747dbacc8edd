#include "collector/image/image_file.h"

#include "program/mapped_file.h"
#include <errno.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <time.h>

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

int64_t image_file_date(uint64_t time_ns)
{
	struct timespec raw;
	struct timespec real;
	/* MONOTONIC first: a delay between the calls then errs towards "unchanged". */
	if (time_ns == 0 || clock_gettime(CLOCK_MONOTONIC_RAW, &raw) < 0 ||
	    clock_gettime(CLOCK_REALTIME, &real) < 0)
		return 0;
	return (int64_t)(real.tv_sec - raw.tv_sec) * 1000000000 + (real.tv_nsec - raw.tv_nsec) +
	       (int64_t)time_ns;
}

static int take_module(void *user, int fd, const struct stat *status, const char *path)
{
	struct image_opened *opened = user;
	(void)path;
	if (uw_module_open(fd, &opened->module) < 0) {
		opened->module = NULL;
		return errno == EINVAL ? ENOEXEC : errno;
	}
	opened->inode = status->st_ino;
	opened->device_major = major(status->st_dev);
	opened->device_minor = minor(status->st_dev);
	opened->owner = status->st_uid;
	return 0;
}

void image_file_open(const struct image_source *source, struct image_opened *opened)
{
	struct mapped_file file = {.path = source->path,
				   .build_id = source->build_id,
				   .build_id_size = source->build_id_size,
				   .inode = source->inode,
				   .mapped_ns = image_file_date(source->mapped_ns),
				   .pid = source->pid,
				   .start = source->start,
				   .end = source->end};
	opened->error = mapped_file_open(&file, take_module, opened, &opened->changed_ns);
}
