#include "tools/convert/import_external.h"

#include "profile/base/external_name.h"
#include "profile/read/reader.h"
#include "tools/cli/arguments.h"
#include "tools/convert/hold.h"
#include "tools/convert/interrupt.h"
#include "tools/convert/progress.h"
#include "tools/external/external_import.h"
#include "tools/memory/xalloc.h"
#include "tools/terminal/diagnose.h"
#include "tools/text/path.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/* A result's files: the tb5 file, and its name for messages. */
struct target {
	const char *path;
	struct profile_reader *reader;
	bool is_quiet;
};

static bool ends_with(const char *name, const char *suffix)
{
	size_t length = strlen(name), end = strlen(suffix);
	return length > end && strcasecmp(name + length - end, suffix) == 0;
}

bool import_external_is_result(const char *name)
{
	struct stat status;
	return ends_with(name, ".tb5") || (stat(name, &status) == 0 && S_ISDIR(status.st_mode));
}

bool import_external_is_csv(const char *name)
{
	return ends_with(name, ".csv");
}

static void show_progress(uint64_t bytes, void *user)
{
	progress_update(user, bytes);
}

static const char *plural_of(uint64_t count)
{
	return count == 1 ? "" : "s";
}

static void report_import(const struct external_import *import, const struct target *target)
{
	struct profile_host_info host;
	profile_reader_host(target->reader, &host);
	if (import->is_foreign)
		diagnose("%s: not known to be of this result's host, %s, by its name "
			 "(NAME-hostname-HOST.csv): its times are shown as UTC, %" PRIu64
			 " row%s with process or thread ids left out",
			 import->name, host.name[0] ? host.name : "which has no name",
			 import->rows_bound, plural_of(import->rows_bound));
	if (import->rows_outside > 0)
		diagnose("%s: %" PRIu64 " of %" PRIu64
			 " rows lie before or behind the collection; check their clock",
			 import->name, import->rows_outside, import->rows);
	if (import->bad_rows > 0)
		diagnose("%s: %" PRIu64 " bad row%s left out", import->name, import->bad_rows,
			 plural_of(import->bad_rows));
	if (!target->is_quiet)
		diagnose("%s: %" PRIu64 " row%s imported (%" PRIu64 " task%s, %" PRIu64
			 " frame%s, %" PRIu64 " value%s of counters)%s",
			 import->name, import->rows, plural_of(import->rows), import->tasks,
			 plural_of(import->tasks), import->frames, plural_of(import->frames),
			 import->values, plural_of(import->values),
			 import->is_replaced ? ", in place of those imported before" : "");
}

/* Reads the file at fd. Returns 0, or the exit status. */
static int import_descriptor(const struct target *target, const char *name, int fd)
{
	struct progress progress;
	struct interrupt interrupt;
	struct stat status;
	struct external_import import = {.reader = target->reader,
					 .result = target->path,
					 .name = name,
					 .fd = fd,
					 .on_progress = show_progress,
					 .user = &progress};
	if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
		diagnose("cannot import %s: no regular file; name a CSV file", name);
		return EXIT_FAILURE;
	}
	char *words = xalloc_printf("stopped; %s is not imported, the result is as before", name);
	interrupt_watch(&interrupt, words);
	progress_begin(&progress, "Importing", (uint64_t)status.st_size);
	int code = external_import(&import);
	progress_end(&progress);
	interrupt_hold(&interrupt);
	interrupt_release(&interrupt);
	free(words);
	if (code != 0)
		return code;
	if (!import.is_unchanged)
		report_import(&import, target);
	else if (!target->is_quiet)
		diagnose("%s: imported before, and not changed since; nothing to do", name);
	return 0;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(path_base_name(*(char *const *)a), path_base_name(*(char *const *)b));
}

/* A file replaces an earlier one of its name: of two in one call, only one would be left. */
static int check_names(char **names, size_t count)
{
	int status = 0;
	char **sorted = xalloc_zeroed(count, sizeof(*sorted));
	memcpy(sorted, names, count * sizeof(*sorted));
	qsort(sorted, count, sizeof(*sorted), compare_names);
	for (size_t i = 1; i < count && status == 0; i++) {
		if (compare_names(&sorted[i - 1], &sorted[i]) != 0)
			continue;
		diagnose("cannot import %s and %s: one would replace the other; give one of them "
			 "another name",
			 sorted[i - 1], sorted[i]);
		status = EXIT_USAGE;
	}
	free(sorted);
	return status;
}

static int import_file(const struct target *target, const char *name)
{
	int fd = open(name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0) {
		diagnose("cannot import %s: %s; name a CSV file", name, strerror(errno));
		return EXIT_FAILURE;
	}
	int status = import_descriptor(target, name, fd);
	close(fd);
	return status;
}

int import_external_files(const char *result, char **names, size_t count)
{
	struct target target = {0};
	char *path = NULL, *held = NULL;
	int status = check_names(names, count);
	if (status == 0)
		status = arguments_find_result(result, NULL, &path);
	if (status == 0)
		status = hold_result(path, &held);
	if (status == 0)
		status = arguments_open_result(held, path, &target.reader);
	target.path = held;
	int first = status;
	for (size_t i = 0; i < count && status == 0; i++) {
		int code = import_file(&target, names[i]);
		first = first ? first : code;
	}
	if (target.reader)
		profile_reader_close(target.reader);
	free(held);
	free(path);
	return first;
}

static int is_external(const struct dirent *entry)
{
	struct profile_external_name parts;
	return profile_external_name_split(entry->d_name, &parts);
}

/* Whether the tb5 file is DIR/DIR.tb5: another directory's files are not all of the result. */
static bool is_in_own_directory(const char *path)
{
	char *real = realpath(path, NULL);
	if (!real)
		return false;
	char *directory = path_directory(real);
	const char *name = path_base_name(real), *own = path_base_name(directory);
	size_t length = strlen(own);
	bool is_own = strncmp(name, own, length) == 0 && strcmp(name + length, ".tb5") == 0;
	free(directory);
	free(real);
	return is_own;
}

static bool is_same_place(const char *path, const char *other)
{
	struct stat a, b;
	return stat(path, &a) == 0 && stat(other, &b) == 0 && a.st_dev == b.st_dev &&
	       a.st_ino == b.st_ino;
}

bool import_external_looks_into(const char *folder, const char *path)
{
	char *real = realpath(folder, NULL);
	if (!real)
		return false;
	char *directory = path_directory(path);
	char *own = xalloc_printf("%s/%s.tb5", real, path_base_name(real));
	bool looks = access(own, F_OK) == 0 ||
		     (is_in_own_directory(path) && is_same_place(folder, directory));
	free(own);
	free(directory);
	free(real);
	return looks;
}

/* In a directory of several users, one of them can have left a file for us. */
static bool is_owned(int fd, const char *path)
{
	struct stat file, result;
	return fstat(fd, &file) == 0 && stat(path, &result) == 0 &&
	       (file.st_uid == result.st_uid || file.st_uid == geteuid() || file.st_uid == 0);
}

static void import_left_file(struct target *target, int folder, const char *name)
{
	if (!target->reader && profile_reader_open(target->path, &target->reader) != VT_SUCCESS) {
		target->reader = NULL;
		return;
	}
	/* No links: the owner of a file that one leads to did not put it here. */
	int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		diagnose("cannot import %s: %s", name,
			 errno == ELOOP ? "it is a symbolic link, which is not followed here"
					: strerror(errno));
	else if (!is_owned(fd, target->path))
		diagnose("%s: of another user than the result; not imported", name);
	else
		import_descriptor(target, name, fd);
	if (fd >= 0)
		close(fd);
}

void import_external_left(const char *path, bool is_quiet)
{
	struct target target = {.path = path, .is_quiet = is_quiet};
	struct dirent **entries;
	if (!is_in_own_directory(path))
		return;
	char *directory = path_directory(path);
	int folder = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	free(directory);
	int count = folder < 0 ? -1 : scandirat(folder, ".", &entries, is_external, alphasort);
	for (int i = 0; i < count; i++) {
		import_left_file(&target, folder, entries[i]->d_name);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
	if (target.reader)
		profile_reader_close(target.reader);
	if (folder >= 0)
		close(folder);
}
