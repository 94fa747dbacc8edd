#include "collector/signals.h"

#include <errno.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

int signals_init(struct signals *signals, sigset_t *old, struct failure *failure)
{
	static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCHLD};
	sigset_t mask;
	sigemptyset(&mask);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		sigaddset(&mask, numbers[i]);
	sigprocmask(SIG_BLOCK, &mask, old);
	signals->fd = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	if (signals->fd >= 0)
		return 0;
	sigprocmask(SIG_SETMASK, old, NULL);
	return failure_set(failure, FAILURE_EXIT, "cannot receive signals: %s", strerror(errno));
}

void signals_finish(struct signals *signals, const sigset_t *old)
{
	struct signals_event event;
	if (signals->fd < 0)
		return;
	while (signals_next(signals, &event))
		continue;
	close(signals->fd);
	signals->fd = -1;
	sigprocmask(SIG_SETMASK, old, NULL);
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
