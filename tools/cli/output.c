#include "tools/cli/output.h"

#include "tools/cli/pager.h"
#include "tools/memory/xalloc.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

/* path_resolution(7): as many as the kernel follows. */
#define LINKS_MAX 40

/* Results are exported by the gigabyte: some calls of the kernel are enough. */
#define STREAM_SIZE (256u << 10)

/* For exit(), which failures far below call; at another time than the output's. */
struct output_exit {
	const struct output *output; /* NULL: it is closed */
};

static void unlink_at_exit(int status, void *user)
{
	struct output_exit *at_exit = user;
	(void)status;
	if (at_exit->output)
		output_unlink(at_exit->output);
	free(at_exit);
}

static void watch_exit(struct output *output)
{
	struct output_exit *at_exit = xalloc_zeroed(1, sizeof(*at_exit));
	if (on_exit(unlink_at_exit, at_exit) != 0) {
		free(at_exit);
		return;
	}
	at_exit->output = output;
	output->exit = at_exit;
}

/* Beside the output, in the same folder. */
static int open_temporary(struct output *output, mode_t mode)
{
	unsigned number;
	int fd = -1;
	do {
		free(output->temporary);
		output->temporary = NULL;
		if (getrandom(&number, sizeof(number), 0) < 0)
			return -1;
		output->temporary = xalloc_printf("%s.%08x", output->path, number);
		fd = openat(output->folder, output->temporary,
			    O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR);
	} while (fd < 0 && errno == EEXIST);
	if (fd >= 0) {
		watch_exit(output);
		fchmod(fd, mode);
	}
	return fd;
}

void output_unlink(const struct output *output)
{
	if (output->temporary)
		unlinkat(output->folder, output->temporary, 0);
}

static void keep(struct output *output, const char *bytes, size_t size)
{
	xalloc_room(&output->kept, &output->kept_capacity, output->kept_size + size, 1);
	memcpy(output->kept + output->kept_size, bytes, size);
	output->kept_size += size;
}

static void write_all(struct output *output, const char *bytes, size_t size)
{
	size_t written = 0;
	if (output->is_kept) {
		keep(output, bytes, size);
		return;
	}
	while (!output->error && written < size) {
		ssize_t now = write(output->fd, bytes + written, size - written);
		if (now > 0)
			written += (size_t)now;
		else if (now == 0 || errno != EINTR)
			output->error = now == 0 ? EIO : errno;
	}
}

/* bytes NULL: the end. */
static void write_to_terminal(struct output *output, const char *bytes, size_t size)
{
	size_t shown_size;
	char *shown = terminal_filter_piece(&output->filter, bytes, size, &shown_size);
	write_all(output, shown, shown_size);
	free(shown);
}

/* Keeps the errno value of the first failure: stdio remembers only the fact of a failed write. */
static ssize_t write_bytes(void *cookie, const char *bytes, size_t size)
{
	struct output *output = cookie;
	if (output->is_terminal)
		write_to_terminal(output, bytes, size);
	else
		write_all(output, bytes, size);
	return output->error ? 0 : (ssize_t)size;
}

/* For formats with places of later parts in front. What is appended to has no such place. */
static int seek_bytes(void *cookie, off64_t *offset, int whence)
{
	const struct output *output = cookie;
	int flags = fcntl(output->fd, F_GETFL);
	if (flags < 0 || flags & O_APPEND) {
		errno = ESPIPE;
		return -1;
	}
	off64_t place = lseek(output->fd, *offset, whence);
	if (place >= 0)
		*offset = place;
	return place < 0 ? -1 : 0;
}

static int open_stream(struct output *output)
{
	static const cookie_io_functions_t functions = {.write = write_bytes, .seek = seek_bytes};
	output->is_terminal = isatty(output->fd);
	output->stream = fopencookie(output, "w", functions);
	if (!output->stream)
		return errno;
	if (!output->is_terminal)
		setvbuf(output->stream, NULL, _IOFBF, STREAM_SIZE);
	return 0;
}

static void release_output(struct output *output)
{
	if (output->exit)
		output->exit->output = NULL;
	if (output->folder >= 0)
		close(output->folder);
	free(output->temporary);
	free(output->path);
	free(output->kept);
	*output = (struct output){.folder = -1};
}

static bool is_standard(const char *path)
{
	return !path || strcmp(path, "-") == 0;
}

const char *output_name(const char *path)
{
	return is_standard(path) ? "standard output" : path;
}

/* The kernel's rule for protected links and FIFOs: proc(5), fs.protected_symlinks. */
static bool is_ours(const struct stat *status)
{
	return status->st_uid == geteuid() || status->st_uid == 0;
}

/* The target of the link at fd, a relative one behind the link's folder; NULL and an errno value if
 * the link must not be followed. */
static char *read_link(int fd, const struct stat *link, const char *path, int *error)
{
	char target[PATH_MAX];
	ssize_t size = readlinkat(fd, "", target, sizeof(target));
	const char *slash = strrchr(path, '/');
	if (!is_ours(link))
		*error = EACCES;
	else if (size <= 0)
		*error = errno;
	else if (size == sizeof(target))
		*error = ENAMETOOLONG;
	if (*error)
		return NULL;
	int folder = target[0] == '/' || !slash ? 0 : (int)(slash + 1 - path);
	return xalloc_printf("%.*s%.*s", folder, path, (int)size, target);
}

/* Follows one link, if the path is one. Returns 0 or an errno value. */
static int follow_link(struct output *output, bool *is_followed, bool *is_descriptor)
{
	struct stat status;
	struct statfs place;
	int error = 0;
	*is_followed = false;
	int fd = open(output->path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return 0; /* opening the file reports the failure */
	if (fstat(fd, &status) == 0 && S_ISLNK(status.st_mode)) {
		*is_descriptor = fstatfs(fd, &place) == 0 && place.f_type == PROC_SUPER_MAGIC;
		char *next = *is_descriptor ? NULL : read_link(fd, &status, output->path, &error);
		*is_followed = next != NULL;
		if (next) {
			free(output->path);
			output->path = next;
		}
	}
	close(fd);
	return error;
}

/* Links stay; their target is the output. A link to an open file below /proc (/dev/stdout) names no
 * file. */
static int follow_links(struct output *output, bool *is_descriptor)
{
	bool is_followed = true;
	*is_descriptor = false;
	for (unsigned i = 0; i < LINKS_MAX && is_followed; i++) {
		int error = follow_link(output, &is_followed, is_descriptor);
		if (error)
			return error;
	}
	return is_followed ? ELOOP : 0;
}

/* Opens the path's folder and keeps the name in it, so a later rename or link changes nothing. */
static int hold_folder(struct output *output)
{
	char *slash = strrchr(output->path, '/');
	const char *name = slash ? slash + 1 : output->path;
	char *folder = slash ? xalloc_text_of(output->path, (size_t)(slash + 1 - output->path))
			     : xalloc_text(".");
	char *held = xalloc_text(name[0] ? name : ".");
	output->folder = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	free(folder);
	free(output->path);
	output->path = held;
	return output->folder < 0 ? errno : 0;
}

/* Opens a device or a pipe in place; for a regular or a new file, a temporary one to replace it. */
static int open_path(struct output *output)
{
	struct stat status;
	bool is_descriptor;
	int error = follow_links(output, &is_descriptor);
	if (!error && is_descriptor)
		return open(output->path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY);
	if (!error)
		error = hold_folder(output);
	bool exists =
		!error && fstatat(output->folder, output->path, &status, AT_SYMLINK_NOFOLLOW) == 0;
	if (exists && S_ISFIFO(status.st_mode) && !is_ours(&status))
		error = EACCES;
	if (error) {
		errno = error;
		return -1;
	}
	if (exists && !S_ISREG(status.st_mode))
		return openat(output->folder, output->path,
			      O_WRONLY | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY);
	return open_temporary(output, exists && is_ours(&status) ? status.st_mode & 0777
								 : S_IRUSR | S_IWUSR);
}

int output_open(struct output *output, const char *path)
{
	*output = (struct output){.folder = -1};
	if (is_standard(path)) {
		output->fd = STDOUT_FILENO;
		return open_stream(output);
	}
	output->path = xalloc_text(path);
	output->fd = open_path(output);
	int error = output->fd < 0 ? errno : open_stream(output);
	if (error && output->fd >= 0) {
		close(output->fd);
		output_unlink(output);
	}
	if (error)
		release_output(output);
	return error;
}

/* Returns 0, or the errno value of the first failure. */
static int close_stream(struct output *output)
{
	errno = 0; /* an earlier failure is not reported again */
	bool has_failed = fclose(output->stream) != 0;
	if (output->is_terminal)
		write_to_terminal(output, NULL, 0);
	int error = output->error;
	if (has_failed && !error)
		error = errno ? errno : EIO;
	/* Some file systems report a full disk only when the file is closed. */
	if (output->path && close(output->fd) != 0 && !error)
		error = errno;
	return error;
}

void output_page(struct output *output)
{
	const char *command = output->is_terminal && !output->path ? pager_choose() : NULL;
	if (!command)
		return;
	output->pager = xalloc_zeroed(1, sizeof(*output->pager));
	pager_begin(output->pager, command);
}

void output_keep(struct output *output)
{
	fflush(output->stream);
	output->is_kept = true;
}

char *output_take(struct output *output, size_t *size)
{
	fflush(output->stream);
	char *taken = output->kept ? output->kept : xalloc_zeroed(1, 1);
	*size = output->kept_size;
	output->kept = NULL;
	output->kept_size = output->kept_capacity = 0;
	return taken;
}

/* Returns the errno value of a pager that was not there. */
static int end_pager(struct output *output)
{
	int error = output->pager ? pager_end(output->pager) : 0;
	free(output->pager);
	output->pager = NULL;
	return error;
}

int output_finish(struct output *output)
{
	int error = close_stream(output);
	int pager_error = end_pager(output);
	if (pager_error)
		error = pager_error;
	if (output->temporary) {
		if (!error &&
		    renameat(output->folder, output->temporary, output->folder, output->path) != 0)
			error = errno;
		if (error)
			output_unlink(output);
	}
	release_output(output);
	return error == EPIPE ? 0 : error;
}

void output_abandon(struct output *output)
{
	close_stream(output);
	end_pager(output);
	output_unlink(output);
	release_output(output);
}

unsigned output_width(const struct output *output)
{
	struct winsize size;
	const char *columns = getenv("COLUMNS");
	unsigned long number = columns ? strtoul(columns, NULL, 10) : 0;
	if (number > 0 && number <= 10000)
		return (unsigned)number;
	if (!output->is_terminal)
		return 0;
	if (ioctl(output->fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
		return size.ws_col;
	return 80;
}

static void set_colour(void *user, enum terminal_colour colour)
{
	struct output *output = user;
	const char *code = terminal_colour_code(colour);
	fflush(output->stream);
	write_all(output, code, strlen(code));
}

static bool is_set(const char *name)
{
	const char *value = getenv(name);
	return value && value[0] != '\0';
}

const struct terminal_painter *output_painter(struct output *output)
{
	const char *force = getenv("CLICOLOR_FORCE");
	const char *terminal = getenv("TERM");
	bool is_forced = force && force[0] != '\0' && strcmp(force, "0") != 0;
	bool is_able = output->is_terminal && !(terminal && strcmp(terminal, "dumb") == 0);
	if (output->path || is_set("NO_COLOR") || !(is_forced || is_able))
		return NULL;
	output->painter = (struct terminal_painter){set_colour, output};
	return &output->painter;
}
