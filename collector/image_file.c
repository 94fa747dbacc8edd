#include "collector/image_file.h"

#include "collector/regular_file.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
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

/* What is tried to open one file. */
struct search {
	const struct image_source *source;
	struct profile_image *record;
	uint32_t *owner;
	bool ran_out;    /* of descriptors */
	bool is_refused; /* the mapped file was found, and is none that can be used */
};

static struct uw_module *try_path(struct search *search, const char *path)
{
	const struct image_source *source = search->source;
	struct profile_image *record = search->record;
	struct stat status;
	struct uw_module *module = NULL;
	int fd = regular_file_open(path, &status);
	if (fd < 0 || uw_module_open(fd, &module) < 0) {
		module = NULL;
		search->ran_out |= errno == EMFILE || errno == ENFILE;
		search->is_refused |= fd >= 0 && (errno == ENOEXEC || errno == EINVAL) &&
				      source->build_id_size == 0 && source->inode == status.st_ino;
	}
	if (fd >= 0)
		close(fd);
	if (module == NULL)
		return NULL;
	if (!is_mapped_file(source, &status, module)) {
		uw_module_unref(module);
		return NULL;
	}
	*search->owner = status.st_uid;
	if (record->inode == 0) {
		record->inode = status.st_ino;
		record->device_major = major(status.st_dev);
		record->device_minor = minor(status.st_dev);
	}
	return module;
}

struct uw_module *image_file_open(const struct image_source *source, struct profile_image *record,
				  uint32_t *owner)
{
	char path[4200];
	struct uw_module *module = NULL;
	struct search search = {.source = source, .record = record, .owner = owner};
	snprintf(path, sizeof(path), "/proc/%u/map_files/%" PRIx64 "-%" PRIx64, source->pid,
		 source->start, source->end);
	module = try_path(&search, path);
	if (module == NULL && !search.is_refused) {
		snprintf(path, sizeof(path), "/proc/%u/root%s", source->pid, source->path);
		module = try_path(&search, path);
	}
	if (module == NULL && !search.is_refused) {
		snprintf(path, sizeof(path), "/proc/%u/exe", source->pid);
		module = try_path(&search, path);
	}
	if (module == NULL && !search.is_refused)
		module = try_path(&search, source->path);
	errno = search.is_refused ? ENOEXEC : search.ran_out ? EMFILE : ENOENT;
	return module;
}

uint32_t image_file_owner(uint32_t pid)
{
	char path[64];
	struct stat status;
	snprintf(path, sizeof(path), "/proc/%u", pid);
	return stat(path, &status) == 0 ? status.st_uid : UINT32_MAX;
}

/* The process's id in its own pid namespace: the last number of NSpid in its status file. */
static uint32_t namespace_pid(uint32_t pid)
{
	char path[64];
	char line[256];
	uint32_t inner = pid;
	snprintf(path, sizeof(path), "/proc/%u/status", pid);
	FILE *file = fopen(path, "re");
	if (file == NULL)
		return pid;
	while (fgets(line, sizeof(line), file) != NULL) {
		if (strncmp(line, "NSpid:", 6) != 0)
			continue;
		char *last = strrchr(line, '\t');
		if (last != NULL)
			inner = (uint32_t)strtoul(last, NULL, 10);
		break;
	}
	fclose(file);
	return inner;
}

char *image_file_perf_map(uint32_t pid)
{
	char theirs[64];
	char *path = NULL;
	struct stat root;
	struct stat our_root;
	snprintf(theirs, sizeof(theirs), "/proc/%u/root", pid);
	bool same_root = stat(theirs, &root) < 0 || stat("/", &our_root) < 0 ||
			 (root.st_dev == our_root.st_dev && root.st_ino == our_root.st_ino);
	if (asprintf(&path, "%s/tmp/perf-%u.map", same_root ? "" : theirs, namespace_pid(pid)) < 0)
		return NULL;
	return path;
}
