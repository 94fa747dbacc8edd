/* Preloaded into tbcollect: its writes to the result stop for a second once, as on a disk that is
 * busy, in the middle of whatever it was doing. */
#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

/* A chunk of samples, not of what is written at the start. */
enum { LARGE = 64 * 1024 };

ssize_t pwritev64(int fd, const struct iovec *iov, int count, off64_t offset);

ssize_t pwritev64(int fd, const struct iovec *iov, int count, off64_t offset)
{
	static int done;
	ssize_t (*real)(int, const struct iovec *, int, off64_t);
	void *symbol = dlsym(RTLD_NEXT, "pwritev64");
	memcpy(&real, &symbol, sizeof(real));
	if (!done && count > 1 && iov[1].iov_len > LARGE) {
		done = 1;
		usleep(1000000);
	}
	return real(fd, iov, count, offset);
}
