#include "tools/csv_export/output_folder.h"

#include "tools/memory/xalloc.h"
#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

/* Each is of a file begun meanwhile. */
enum { CLEANINGS_MAX = 100 };

/* For exit(), which failures far below call; at another time than the folder's. */
struct output_folder_exit {
	struct output_folder *folder; /* NULL: it is closed */
};

static void abandon_at_exit(int status, void *user)
{
	struct output_folder_exit *at_exit = user;
	(void)status;
	if (at_exit->folder)
		output_folder_abandon(at_exit->folder);
	free(at_exit);
}

static void watch_exit(struct output_folder *folder)
{
	struct output_folder_exit *at_exit = xalloc_zeroed(1, sizeof(*at_exit));
	if (on_exit(abandon_at_exit, at_exit) != 0) {
		free(at_exit);
		return;
	}
	at_exit->folder = folder;
	folder->exit = at_exit;
}

static void keep_error(struct output_folder *folder, int error)
{
	if (folder->error == 0)
		folder->error = error;
}

/* Returns 0 or an errno value. */
static int open_partial(struct output_folder *folder)
{
	unsigned number;
	int made;
	do {
		if (getrandom(&number, sizeof(number), 0) < 0)
			return errno;
		free(folder->name);
		folder->name = xalloc_printf(".partial.%08x", number);
		made = mkdirat(folder->folder, folder->name, S_IRWXU);
	} while (made < 0 && errno == EEXIST);
	if (made < 0)
		return errno;
	folder->partial = openat(folder->folder, folder->name,
				 O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return folder->partial < 0 ? errno : 0;
}

static void close_all(struct output_folder *folder)
{
	if (folder->exit)
		folder->exit->folder = NULL;
	if (folder->partial >= 0)
		close(folder->partial);
	if (folder->name)
		unlinkat(folder->folder, folder->name, AT_REMOVEDIR);
	if (folder->folder >= 0)
		close(folder->folder);
	for (size_t i = 0; i < folder->count; i++)
		free(folder->files[i]);
	free(folder->files);
	free(folder->name);
	free(folder->path);
	*folder = (struct output_folder){.folder = -1, .partial = -1};
}

int output_folder_open(struct output_folder *folder, const char *path)
{
	*folder = (struct output_folder){.folder = -1, .partial = -1, .path = xalloc_text(path)};
	folder->is_made = mkdir(path, S_IRWXU) == 0;
	int error = folder->is_made || errno == EEXIST ? 0 : errno;
	watch_exit(folder);
	if (!error) {
		folder->folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		error = folder->folder < 0 ? errno : open_partial(folder);
	}
	if (!error)
		return 0;
	keep_error(folder, error);
	output_folder_abandon(folder);
	return error;
}

bool output_folder_has(const struct output_folder *folder, const char *name)
{
	for (size_t i = 0; i < folder->count; i++)
		if (strcmp(folder->files[i], name) == 0)
			return true;
	return false;
}

static void end_file(struct output_folder *folder)
{
	if (!folder->stream)
		return;
	/* Some file systems report a full disk only when the file is closed. */
	errno = 0;
	bool has_failed = ferror(folder->stream) != 0;
	if (fclose(folder->stream) != 0 || has_failed)
		keep_error(folder, errno ? errno : EIO);
	folder->stream = NULL;
}

void output_folder_begin(struct output_folder *folder, const char *name)
{
	assert(!strchr(name, '/') && !output_folder_has(folder, name));
	end_file(folder);
	int fd = openat(folder->partial, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			S_IRUSR | S_IWUSR);
	if (fd < 0)
		keep_error(folder, errno);
	folder->files = xalloc_resize(folder->files, folder->count + 1, sizeof(*folder->files));
	folder->files[folder->count++] = xalloc_text(name);
	folder->stream = fd >= 0 ? fdopen(fd, "w") : fopen("/dev/null", "we");
	if (!folder->stream)
		xalloc_fail();
}

int output_folder_finish(struct output_folder *folder)
{
	end_file(folder);
	for (size_t i = 0; i < folder->count && folder->error == 0; i++)
		if (renameat(folder->partial, folder->files[i], folder->folder, folder->files[i]) !=
		    0)
			keep_error(folder, errno);
	int error = folder->error;
	if (error)
		output_folder_abandon(folder);
	else
		close_all(folder);
	return error;
}

static void remove_files(const struct output_folder *folder)
{
	int fd = openat(folder->folder, folder->name,
			O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *entries = fd >= 0 ? fdopendir(fd) : NULL;
	const struct dirent *entry;
	if (!entries) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while ((entry = readdir(entries)))
		unlinkat(fd, entry->d_name, 0); /* but . and .. */
	closedir(entries);
}

void output_folder_clean(const struct output_folder *folder)
{
	bool is_removed = !folder->name;
	/* Again, if another file was begun: none can be in a folder that is gone. */
	for (size_t i = 0; i < CLEANINGS_MAX && !is_removed; i++) {
		remove_files(folder);
		is_removed = unlinkat(folder->folder, folder->name, AT_REMOVEDIR) == 0 ||
			     errno != ENOTEMPTY;
	}
	if (folder->is_made)
		rmdir(folder->path);
}

void output_folder_abandon(struct output_folder *folder)
{
	end_file(folder);
	output_folder_clean(folder);
	close_all(folder);
}
