#include "tools/modules/module_copies.h"

#include "profile/base/build_id.h"
#include "tools/memory/xalloc.h"
#include "tools/modules/image_identity.h"
#include "tools/text/path.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BLOCK_SIZE = 1 << 16, NAMED_MAX = 8 /* misses in a line */ };

/* Keeps the first failure, with the name of what could not be written in the folder. */
static int fail(struct module_copies *copies, int error, const char *part, const char *name)
{
	if (copies->error != 0)
		return copies->error;
	copies->error = error;
	copies->where = xalloc_printf("%s%s%s%s%s", copies->path, part[0] ? "/" : "", part,
				      name[0] ? "/" : "", name);
	return error;
}

/* Opens a folder, made if need be, in another one. Returns its descriptor, or -1 with errno. */
static int open_folder(int parent, const char *name)
{
	if (mkdirat(parent, name, S_IRWXU) != 0 && errno != EEXIST)
		return -1;
	return openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

int module_copies_begin(struct module_copies *copies, const char *folder)
{
	unsigned number;
	*copies = (struct module_copies){.folder = -1, .path = xalloc_printf("%s/all", folder)};
	if (getrandom(&number, sizeof(number), 0) < 0)
		return fail(copies, errno, "", "");
	snprintf(copies->temporary, sizeof(copies->temporary), ".partial.%08x", number);
	if (mkdir(folder, S_IRWXU) != 0 && errno != EEXIST)
		return fail(copies, errno, "", "");
	int parent = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (parent < 0)
		return fail(copies, errno, "", "");
	copies->folder = open_folder(parent, "all");
	int error = copies->folder < 0 ? fail(copies, errno, "", "") : 0;
	close(parent);
	return error;
}

void module_copies_clean(const struct module_copies *copies)
{
	unlinkat(copies->folder, copies->temporary, 0);
}

void module_copies_end(struct module_copies *copies)
{
	if (copies->folder >= 0)
		close(copies->folder);
	free(copies->path);
	free(copies->where);
	free(copies->images);
	free(copies->misses);
	*copies = (struct module_copies){.folder = -1};
}

/* A file being copied. */
struct module_copy {
	struct module_copies *copies;
	const char *folder; /* in that of all copies; "": that itself */
	const char *name;
};

/* The next bytes of a file, `size` at most. Returns their count, 0 at the end, or -1 with errno. */
static ssize_t read_block(int fd, uint8_t *block, size_t size, off_t at)
{
	ssize_t count;
	do
		count = pread(fd, block, size, at);
	while (count < 0 && errno == EINTR);
	return count;
}

/* Returns 0 or an errno value. */
static int write_block(int fd, const uint8_t *block, size_t size, off_t at)
{
	for (size_t done = 0; done < size;) {
		ssize_t count = pwrite(fd, block + done, size - done, at + (off_t)done);
		if (count < 0 && errno != EINTR)
			return errno;
		done += count > 0 ? (size_t)count : 0;
	}
	return 0;
}

/* Copies a range. A failed read is the file's, *error is the copy's. */
static int copy_range(int from, int to, off_t at, off_t end, int *error)
{
	uint8_t block[BLOCK_SIZE];
	while (at < end) {
		size_t wanted = end - at < BLOCK_SIZE ? (size_t)(end - at) : BLOCK_SIZE;
		ssize_t count = read_block(from, block, wanted, at);
		if (count <= 0)
			return count < 0 ? errno : ESTALE;
		*error = write_block(to, block, (size_t)count, at);
		if (*error)
			return *error;
		at += count;
	}
	return 0;
}

/* Holes stay holes. */
static int copy_data(int from, int to, off_t size, int *error)
{
	off_t at = 0;
	while (at < size && (at = lseek(from, at, SEEK_DATA)) >= 0 && at < size) {
		off_t end = lseek(from, at, SEEK_HOLE);
		int result = copy_range(from, to, at, end < 0 || end > size ? size : end, error);
		if (result != 0)
			return result;
		at = end < 0 ? size : end;
	}
	if (at < 0 && errno != ENXIO)
		return errno;
	*error = ftruncate(to, size) < 0 ? errno : 0;
	return *error;
}

static bool is_same_time(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

/* Whether the file was written to since the status was taken. */
static bool is_written_to(int fd, const struct stat *before)
{
	struct stat now;
	return fstat(fd, &now) != 0 || now.st_size != before->st_size ||
	       !is_same_time(&now.st_mtim, &before->st_mtim);
}

/* Moves the whole copy to its name. What lies there must be a file: a link is not followed, and
 * not replaced either. */
static int place_copy(const struct module_copy *copy, int folder)
{
	struct stat status;
	if (fstatat(folder, copy->name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
	    !S_ISREG(status.st_mode))
		return S_ISLNK(status.st_mode) ? ELOOP : EEXIST;
	const struct module_copies *copies = copy->copies;
	return renameat(copies->folder, copies->temporary, folder, copy->name) != 0 ? errno : 0;
}

static int place_in_folder(const struct module_copy *copy)
{
	if (!copy->folder[0])
		return place_copy(copy, copy->copies->folder);
	int folder = open_folder(copy->copies->folder, copy->folder);
	if (folder < 0)
		return errno;
	int error = place_copy(copy, folder);
	close(folder);
	return error;
}

/* Fills the temporary file. Returns 0 or the errno value of reading; *error: of writing. */
static int fill_copy(const struct module_copies *copies, int from, const struct stat *status,
		     int *error)
{
	mode_t mode = status->st_mode & (S_IXUSR | S_IXGRP | S_IXOTH) ? S_IRWXU : S_IRUSR | S_IWUSR;
	int to = openat(copies->folder, copies->temporary,
			O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR);
	if (to < 0) {
		*error = errno;
		return *error;
	}
	int result = copy_data(from, to, status->st_size, error);
	if (result == 0 && is_written_to(from, status))
		result = ESTALE;
	if (result == 0 && fchmod(to, mode) != 0)
		*error = errno;
	/* Some file systems report a full disk only when the file is closed. */
	if (close(to) != 0 && *error == 0)
		*error = errno;
	return result ? result : *error;
}

static int take_module(void *user, int fd, const struct stat *status, const char *path)
{
	struct module_copy *copy = user;
	struct module_copies *copies = copy->copies;
	int error = 0;
	(void)path; /* wherever the file was found */
	if (copies->error != 0)
		return copies->error;
	int result = fill_copy(copies, fd, status, &error);
	if (result == 0)
		result = error = place_in_folder(copy);
	if (result != 0)
		module_copies_clean(copies);
	return error ? fail(copies, error, copy->folder, copy->name) : result;
}

static void add_miss(struct module_copies *copies, const char *path, int error)
{
	copies->misses =
		xalloc_resize(copies->misses, copies->miss_count + 1, sizeof(*copies->misses));
	copies->misses[copies->miss_count++] = (struct module_copies_miss){path, error};
}

static bool is_same_file(const struct profile_image *a, const struct profile_image *b)
{
	if (a->build_id_size != b->build_id_size)
		return false;
	return a->build_id_size > 0 ? memcmp(a->build_id, b->build_id, sizeof(a->build_id)) == 0
				    : a->inode == b->inode && a->device_major == b->device_major &&
					      a->device_minor == b->device_minor;
}

/* What is copied already: nothing of this name, others of the name, the file itself. */
enum standing { IS_NEW, IS_OTHER, IS_COPIED };

static enum standing find_standing(const struct module_copies *copies,
				   const struct profile_image *image, const char *name)
{
	enum standing standing = IS_NEW;
	for (size_t i = 0; i < copies->count; i++) {
		const struct profile_image *copied =
			profile_reader_image(copies->reader, copies->images[i]);
		const char *path = profile_reader_text(copies->reader, copied->path);
		if (strcmp(path_base_name(path), name) != 0)
			continue;
		if (is_same_file(copied, image))
			return IS_COPIED;
		standing = IS_OTHER;
	}
	return standing;
}

/* The folder of a file whose name is taken. */
static char *name_folder(const struct mapped_file *file)
{
	if (file->build_id_size == 0)
		return xalloc_printf("inode-%" PRIu64, file->inode);
	char text[PROFILE_BUILD_ID_TEXT_SIZE];
	profile_build_id_print(file->build_id, (uint32_t)file->build_id_size, text);
	return xalloc_text(text);
}

static void copy_module(struct module_copies *copies, const int64_t *dates, uint32_t index)
{
	const struct profile_image *image = profile_reader_image(copies->reader, index);
	struct mapped_file file;
	bool is_unchanged = image_identity_make(copies->reader, dates, index, &file);
	struct module_copy copy = {copies, "", path_base_name(file.path)};
	enum standing standing = find_standing(copies, image, copy.name);
	if (standing == IS_COPIED)
		return;
	if (file.mapped_ns != 0)
		file.mapped_ns = (int64_t)((uint64_t)file.mapped_ns + MAPPED_FILE_SLACK_NS);
	bool is_known = file.build_id_size > 0 || file.inode != 0;
	int64_t changed_ns;
	int error = is_known ? ESTALE : 0;
	char *folder = standing == IS_OTHER ? name_folder(&file) : xalloc_text("");
	copy.folder = folder;
	if (strchr(copy.name, '/'))
		error = ENOENT;
	else if (is_known && is_unchanged)
		error = mapped_file_open(&file, take_module, &copy, &changed_ns);
	free(folder);
	if (error != 0 || !is_known) {
		add_miss(copies, file.path, error);
		return;
	}
	copies->images = xalloc_resize(copies->images, copies->count + 1, sizeof(*copies->images));
	copies->images[copies->count++] = index;
}

static void copy_image(struct module_copies *copies, const int64_t *dates, uint32_t index)
{
	switch (profile_reader_image(copies->reader, index)->kind) {
	case PROFILE_IMAGE_FILE:
		copy_module(copies, dates, index);
		break;
	case PROFILE_IMAGE_VDSO:
		copies->has_vdso = true;
		break;
	case PROFILE_IMAGE_JIT:
		copies->anonymous_count++;
		break;
	case PROFILE_IMAGE_KERNEL:
		copies->has_kernel = true;
		break;
	default:
		break;
	}
}

int module_copies_write(struct module_copies *copies, const struct profile_reader *reader)
{
	uint32_t count = profile_reader_image_count(reader);
	int64_t *dates = image_identity_dates(reader);
	bool *has_code = xalloc_zeroed(count, sizeof(*has_code));
	copies->reader = reader;
	for (uint32_t i = 0; i < profile_reader_frame_count(reader); i++)
		has_code[profile_reader_frame(reader, i)->image] = true;
	for (uint32_t i = 0; i < count && copies->error == 0; i++)
		if (has_code[i])
			copy_image(copies, dates, i);
	free(has_code);
	free(dates);
	return copies->error;
}

static const char *explain(int error)
{
	switch (error) {
	case 0:
		return "nothing is known to recognize it by";
	case ESTALE:
	case EEXIST:
		return "another file by now";
	case ENOENT:
		return "not there";
	case ENXIO:
		return "no regular file";
	default:
		return strerror(error);
	}
}

/* Adds an item to a list in words. */
static void add_item(char **list, char *item)
{
	char *longer = xalloc_printf("%s%s%s", *list, (*list)[0] ? ", " : "", item);
	free(*list);
	free(item);
	*list = longer;
}

char *module_copies_describe(const struct module_copies *copies)
{
	char *list = xalloc_text("");
	for (size_t i = 0; i < copies->miss_count && i < NAMED_MAX; i++)
		add_item(&list, xalloc_printf("%s (%s)", copies->misses[i].path,
					      explain(copies->misses[i].error)));
	if (copies->miss_count > NAMED_MAX)
		add_item(&list, xalloc_printf("%zu other files", copies->miss_count - NAMED_MAX));
	if (copies->has_vdso)
		add_item(&list, xalloc_text("[vdso] (no file)"));
	if (copies->has_kernel)
		add_item(&list, xalloc_text("[kernel] (no file)"));
	if (copies->anonymous_count > 0)
		add_item(&list, xalloc_printf("anonymous memory of %zu %s (no file)",
					      copies->anonymous_count,
					      copies->anonymous_count == 1 ? "image" : "images"));
	size_t missing = copies->miss_count + copies->has_vdso + copies->has_kernel +
			 copies->anonymous_count;
	char *text = xalloc_printf("copied %zu of %zu modules to %s%s%s", copies->count,
				   copies->count + missing, copies->path,
				   missing > 0 ? "; not: " : "", list);
	free(list);
	return text;
}
