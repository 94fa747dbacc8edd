#include "tools/output.h"
#include "tools/xalloc.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

static int open_temporary(struct output *output)
{
	output->temporary = xalloc_printf("%s.XXXXXX", output->path);
	int fd = mkostemp(output->temporary, O_CLOEXEC);
	if (fd < 0)
		return -1;
	/* mkostemp makes private files; a report is as public as the umask lets it be. */
	mode_t mask = umask(0);
	umask(mask);
	fchmod(fd, 0666 & ~mask);
	return fd;
}

int output_open(struct output *output, const char *path)
{
	struct stat status;
	memset(output, 0, sizeof(*output));
	if (!path || strcmp(path, "-") == 0) {
		output->stream = stdout;
		return 0;
	}
	output->path = xalloc_text(path);
	bool in_place = stat(path, &status) == 0 && !S_ISREG(status.st_mode);
	int fd = in_place ? open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY) : open_temporary(output);
	int error = fd < 0 ? errno : 0;
	if (fd >= 0) {
		output->stream = fdopen(fd, "w");
		if (!output->stream) {
			error = errno;
			close(fd);
			if (output->temporary)
				unlink(output->temporary);
		}
	}
	if (error) {
		free(output->temporary);
		free(output->path);
		memset(output, 0, sizeof(*output));
	}
	return error;
}

static void release(struct output *output)
{
	free(output->temporary);
	free(output->path);
	memset(output, 0, sizeof(*output));
}

int output_finish(struct output *output)
{
	int error = 0;
	errno = 0;
	if (fflush(output->stream) != 0 || ferror(output->stream))
		error = errno ? errno : EIO;
	/* Some file systems report a full disk only when the file is closed. */
	if (output->path && fclose(output->stream) != 0 && !error)
		error = errno;
	if (output->temporary) {
		if (!error && rename(output->temporary, output->path) != 0)
			error = errno;
		if (error)
			unlink(output->temporary);
	}
	release(output);
	return error == EPIPE ? 0 : error;
}

void output_abandon(struct output *output)
{
	if (output->path)
		fclose(output->stream);
	if (output->temporary)
		unlink(output->temporary);
	release(output);
}

unsigned output_width(const struct output *output)
{
	struct winsize size;
	int fd = fileno(output->stream);
	if (!isatty(fd))
		return 0;
	const char *columns = getenv("COLUMNS");
	unsigned long number = columns ? strtoul(columns, NULL, 10) : 0;
	if (number > 0 && number <= 10000)
		return (unsigned)number;
	if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
		return size.ws_col;
	return 80;
}
