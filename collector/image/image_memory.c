#include "collector/image/image_memory.h"

#include "collector/image/image_file.h"
#include "collector/image/maps.h"
#include "containers/array.h"
#include <assert.h>
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FILE_SIZE_MAX = 256 * 1024 * 1024, VDSO_SIZE_MAX = 64 * 1024 };

/* A copy of the mapped parts of a file. */
struct copy {
	const struct image_source *source;
	int memory_fd;
	bool found;     /* the wanted mapping; inode and device are its file's */
	uint64_t limit; /* of size */
	uint64_t inode;
	uint32_t device_major;
	uint32_t device_minor;
	uint8_t *bytes; /* by file offset; holes are 0 */
	size_t size;
	size_t capacity;
};

static bool find_file(const struct maps_entry *entry, void *user)
{
	struct copy *copy = user;
	if (entry->start != copy->source->start)
		return true;
	copy->found = entry->inode != 0;
	copy->inode = entry->inode;
	copy->device_major = entry->device_major;
	copy->device_minor = entry->device_minor;
	return false;
}

static bool is_of_file(const struct copy *copy, const struct maps_entry *entry)
{
	return entry->inode == copy->inode && entry->device_major == copy->device_major &&
	       entry->device_minor == copy->device_minor;
}

/* Whether the mapping is a segment to copy. */
static bool is_wanted(const struct copy *copy, const struct maps_entry *entry)
{
	return is_of_file(copy, entry) && !entry->writable && entry->pgoff <= copy->limit &&
	       entry->end - entry->start <= copy->limit - entry->pgoff;
}

static bool begins_file(const struct copy *copy, const struct maps_entry *entry)
{
	char magic[SELFMAG];
	return entry->pgoff == 0 &&
	       pread(copy->memory_fd, magic, SELFMAG, (off_t)entry->start) == SELFMAG &&
	       memcmp(magic, ELFMAG, SELFMAG) == 0;
}

/* Copies segments, from the one with the file's ELF header on. */
static bool read_segment(const struct maps_entry *entry, void *user)
{
	struct copy *copy = user;
	if (!is_wanted(copy, entry) || (!copy->bytes && !begins_file(copy, entry)))
		return true;
	size_t length = (size_t)(entry->end - entry->start);
	size_t end = (size_t)entry->pgoff + length;
	if (end > copy->size) {
		if (!array_reserve(&copy->bytes, &copy->capacity, end, 1))
			return copy->found = false;
		assert(copy->bytes && end <= copy->capacity);
		memset(copy->bytes + copy->size, 0, end - copy->size);
		copy->size = end;
	}
	/* Unreadable bytes (beyond the file's end, or all of the segment) stay 0. */
	ssize_t got =
		pread(copy->memory_fd, copy->bytes + entry->pgoff, length, (off_t)entry->start);
	(void)got;
	return true;
}

static bool read_file(struct copy *copy, uint64_t *budget)
{
	pid_t pid = (pid_t)copy->source->pid;
	copy->limit = *budget < FILE_SIZE_MAX ? *budget : FILE_SIZE_MAX;
	if (maps_read(NULL, pid, find_file, copy) < 0 || !copy->found ||
	    maps_read(NULL, pid, read_segment, copy) < 0)
		return false;
	*budget -= copy->size;
	return copy->found && copy->size > 0;
}

static bool is_mapped_file(const struct copy *copy, const struct uw_module *module)
{
	const struct image_source *source = copy->source;
	return image_file_has_build_id(module, source) &&
	       (source->build_id_size > 0 || source->inode == copy->inode);
}

static int open_memory(uint32_t pid)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/%u/mem", pid);
	return open(path, O_RDONLY | O_CLOEXEC);
}

void image_memory_open(const struct image_source *source, struct image_opened *opened)
{
	struct copy copy = {.source = source};
	struct uw_module *module = NULL;
	copy.memory_fd = open_memory(source->pid);
	if (copy.memory_fd < 0)
		return;
	if (!read_file(&copy, &opened->budget) ||
	    uw_module_from_memory(copy.bytes, copy.size, &module) < 0)
		module = NULL;
	close(copy.memory_fd);
	free(copy.bytes);
	/* Between the record and now, something else may have been mapped there. */
	if (module && !is_mapped_file(&copy, module)) {
		uw_module_unref(module);
		module = NULL;
	}
	opened->module = module;
	opened->inode = copy.inode;
	opened->device_major = copy.device_major;
	opened->device_minor = copy.device_minor;
}

void image_memory_open_vdso(const struct image_source *source, struct image_opened *opened)
{
	uint64_t size = source->end - source->start;
	int fd = open_memory(source->pid);
	uint8_t *bytes = size <= VDSO_SIZE_MAX ? malloc((size_t)size) : NULL;
	if (fd < 0 || !bytes ||
	    pread(fd, bytes, (size_t)size, (off_t)source->start) != (ssize_t)size ||
	    uw_module_from_memory(bytes, (size_t)size, &opened->module) < 0)
		opened->module = NULL;
	free(bytes);
	if (fd >= 0)
		close(fd);
}
