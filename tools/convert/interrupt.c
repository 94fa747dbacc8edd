#include "tools/convert/interrupt.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

/* Ends the program by the signal, so a shell sees the reason. */
static void end_by(int number)
{
	sigset_t one;
	signal(number, SIG_DFL);
	sigemptyset(&one);
	sigaddset(&one, number);
	pthread_sigmask(SIG_UNBLOCK, &one, NULL);
	raise(number);
}

static void *watch_signals(void *user)
{
	const struct interrupt *interrupt = user;
	int number;
	if (sigwait(&interrupt->signals, &number) != 0)
		return NULL;
	/* Not through stdio: the other thread may hold its lock. Clears a progress bar. */
	dprintf(STDERR_FILENO, "%s%s: %s\n", isatty(STDERR_FILENO) ? "\r\033[K" : "",
		program_invocation_short_name, interrupt->text);
	end_by(number);
	return NULL;
}

void interrupt_watch(struct interrupt *interrupt, const char *text)
{
	static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	struct sigaction action;
	interrupt->text = text;
	sigemptyset(&interrupt->signals);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (sigaction(numbers[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
			sigaddset(&interrupt->signals, numbers[i]);
	pthread_sigmask(SIG_BLOCK, &interrupt->signals, &interrupt->before);
	interrupt->is_watched =
		pthread_create(&interrupt->thread, NULL, watch_signals, interrupt) == 0;
	/* Without the thread the signals end the program without a message. */
	if (!interrupt->is_watched)
		pthread_sigmask(SIG_SETMASK, &interrupt->before, NULL);
}

void interrupt_hold(struct interrupt *interrupt)
{
	pthread_sigmask(SIG_BLOCK, &interrupt->signals, NULL);
	if (!interrupt->is_watched)
		return;
	pthread_cancel(interrupt->thread);
	pthread_join(interrupt->thread, NULL);
	interrupt->is_watched = false;
}

void interrupt_release(struct interrupt *interrupt)
{
	pthread_sigmask(SIG_SETMASK, &interrupt->before, NULL);
}
