#include "collector/session/signals.h"

#include <errno.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

/* Signals whose disposition the collector needs, in the order of struct signals. */
static const struct {
	int number;
	void (*handler)(int);
} dispositions[SIGNALS_DISPOSITIONS] = {
	{SIGCHLD, SIG_DFL}, /* ignored, the kernel would reap the program before us */
	{SIGPIPE, SIG_IGN},
	{SIGXFSZ, SIG_IGN},
};

int signals_init(struct signals *signals, struct failure *failure)
{
	static const int numbers[] = {SIGINT,  SIGTERM, SIGHUP,  SIGQUIT,
				      SIGUSR1, SIGUSR2, SIGALRM, SIGCHLD};
	sigset_t mask;
	sigemptyset(&mask);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		sigaddset(&mask, numbers[i]);
	sigprocmask(SIG_BLOCK, &mask, &signals->mask);
	for (size_t i = 0; i < SIGNALS_DISPOSITIONS; i++) {
		struct sigaction action = {.sa_handler = dispositions[i].handler};
		sigaction(dispositions[i].number, &action, &signals->before[i]);
	}
	signals->fd = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	if (signals->fd >= 0)
		return 0;
	int error = errno;
	signals_restore(signals);
	return failure_set_error(failure, error, "cannot receive signals");
}

void signals_restore(const struct signals *signals)
{
	for (size_t i = 0; i < SIGNALS_DISPOSITIONS; i++)
		sigaction(dispositions[i].number, &signals->before[i], NULL);
	sigprocmask(SIG_SETMASK, &signals->mask, NULL);
}

void signals_finish(struct signals *signals)
{
	struct signals_event event;
	if (signals->fd < 0)
		return;
	while (signals_next(signals, &event))
		continue;
	close(signals->fd);
	signals->fd = -1;
	signals_restore(signals);
}

bool signals_next(struct signals *signals, struct signals_event *event)
{
	struct signalfd_siginfo info;
	if (read(signals->fd, &info, sizeof(info)) != sizeof(info))
		return false;
	*event = (struct signals_event){
		.number = (int)info.ssi_signo,
		.from_terminal = info.ssi_code == SI_KERNEL,
	};
	return true;
}
