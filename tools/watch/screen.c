#include "tools/watch/screen.h"

#include "tools/memory/xalloc.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

/* ctlseqs of xterm: the alternate screen, the cursor, wrapping at the right edge. */
#define ENTER   "\x1b[?1049h\x1b[?25l\x1b[?7l"
#define LEAVE   "\x1b[?7h\x1b[?25h\x1b[?1049l"
#define HOME    "\x1b[H"
#define LINE_UP "\x1b[K" /* the rest of the line */
#define REST_UP "\x1b[J" /* the rest of the screen */

static const int ending[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

/* Also in handlers of signals. */
static void put(int fd, const char *bytes, size_t size)
{
	while (size > 0) {
		ssize_t written = write(fd, bytes, size);
		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return;
		bytes += written;
		size -= (size_t)written;
	}
}

/* SA_RESETHAND: the signal ends the program when the handler returns. */
static void end_by(int number)
{
	put(STDOUT_FILENO, LEAVE, strlen(LEAVE));
	raise(number);
}

/* Unless the signal is ignored. */
static void set_handler(int number, void (*handler)(int number), unsigned flags)
{
	struct sigaction before;
	struct sigaction action = {.sa_handler = handler, .sa_flags = (int)flags};
	sigemptyset(&action.sa_mask);
	if (sigaction(number, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
		sigaction(number, &action, NULL);
}

static void handle_stop(int number)
{
	int error = errno;
	sigset_t stop;
	put(STDOUT_FILENO, LEAVE, strlen(LEAVE));
	signal(number, SIG_DFL);
	sigemptyset(&stop);
	sigaddset(&stop, number);
	raise(number);
	sigprocmask(SIG_UNBLOCK, &stop, NULL); /* stopped here */
	set_handler(number, handle_stop, SA_RESTART);
	put(STDOUT_FILENO, ENTER, strlen(ENTER));
	errno = error;
}

static void set_handlers(void)
{
	for (size_t i = 0; i < sizeof(ending) / sizeof(ending[0]); i++)
		set_handler(ending[i], end_by, SA_RESETHAND);
	set_handler(SIGTSTP, handle_stop, SA_RESTART);
}

static void reset_handlers(void)
{
	struct sigaction now;
	for (size_t i = 0; i < sizeof(ending) / sizeof(ending[0]); i++)
		if (sigaction(ending[i], NULL, &now) == 0 && now.sa_handler == end_by)
			signal(ending[i], SIG_DFL);
	if (sigaction(SIGTSTP, NULL, &now) == 0 && now.sa_handler == handle_stop)
		signal(SIGTSTP, SIG_DFL);
}

bool screen_is_there(void)
{
	const char *terminal = getenv("TERM");
	return isatty(STDOUT_FILENO) && terminal && terminal[0] && strcmp(terminal, "dumb") != 0;
}

unsigned screen_rows(void)
{
	struct winsize size;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0)
		return size.ws_row;
	return 24;
}

/* For the program's exit, which has no arguments: between screen_begin and screen_end. */
static const struct screen *begun;

/* Memory may have run out: the terminal is as before, and the messages are on it. */
static void leave_at_exit(void)
{
	char bytes[1024];
	ssize_t size;
	if (!begun)
		return;
	if (begun->is_drawn)
		put(STDOUT_FILENO, LEAVE, strlen(LEAVE));
	for (off_t at = 0;
	     begun->errors >= 0 && (size = pread(begun->kept, bytes, sizeof(bytes), at)) > 0;
	     at += size)
		put(begun->errors, bytes, (size_t)size);
}

void screen_begin(struct screen *screen)
{
	*screen = (struct screen){.errors = -1};
	begun = screen;
	atexit(leave_at_exit);
	screen->kept = memfd_create("messages", MFD_CLOEXEC);
	if (screen->kept >= 0)
		screen->errors = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	if (screen->errors >= 0)
		dup2(screen->kept, STDERR_FILENO);
}

static void enter(struct screen *screen)
{
	if (screen->is_drawn)
		return;
	screen->is_drawn = true;
	set_handlers();
	put(STDOUT_FILENO, ENTER, strlen(ENTER));
}

/* One write, so that the terminal shows no half of it. */
void screen_draw(struct screen *screen, const char *text, size_t size)
{
	unsigned rows = screen_rows();
	size_t lines = 0;
	size_t end = 0;
	for (; end < size && lines < rows; end++)
		lines += text[end] == '\n';
	char *bytes = xalloc_zeroed(end + lines * strlen(LINE_UP) + sizeof(HOME REST_UP), 1);
	char *at = stpcpy(bytes, HOME);
	for (size_t i = 0; i < end; i++) {
		if (text[i] == '\n') {
			at = stpcpy(at, LINE_UP);
			/* A line feed behind the last line would scroll. */
			if (--lines == 0 && i + 1 == end)
				break;
		}
		*at++ = text[i];
	}
	at = stpcpy(at, REST_UP);
	enter(screen);
	put(STDOUT_FILENO, bytes, (size_t)(at - bytes));
	free(bytes);
}

char *screen_take_errors(const struct screen *screen)
{
	struct stat status;
	size_t size = 0;
	if (screen->errors >= 0 && fstat(screen->kept, &status) == 0)
		size = (size_t)status.st_size;
	char *text = xalloc_zeroed(size + 1, 1);
	if (size > 0 && pread(screen->kept, text, size, 0) != (ssize_t)size)
		text[0] = '\0';
	if (size > 0 && ftruncate(screen->kept, 0) == 0)
		lseek(screen->kept, 0, SEEK_SET);
	return text;
}

void screen_end(struct screen *screen)
{
	begun = NULL;
	if (screen->is_drawn) {
		put(STDOUT_FILENO, LEAVE, strlen(LEAVE));
		reset_handlers();
	}
	screen->is_drawn = false;
	char *errors = screen_take_errors(screen);
	if (screen->errors >= 0) {
		dup2(screen->errors, STDERR_FILENO);
		close(screen->errors);
		put(STDERR_FILENO, errors, strlen(errors));
	}
	free(errors);
	if (screen->kept >= 0)
		close(screen->kept);
}
