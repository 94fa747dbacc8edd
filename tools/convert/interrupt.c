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
	siginfo_t info;
	int number = sigwaitinfo(&interrupt->signals, &info);
	while (number < 0 && errno == EINTR) /* stopped and continued */
		number = sigwaitinfo(&interrupt->signals, &info);
	if (number < 0 || info.si_pid == getpid()) /* interrupt_hold's */
		return NULL;
	if (interrupt->clean)
		interrupt->clean(interrupt->user);
	/* Not through stdio: the other thread may hold its lock. Clears a progress bar. */
	dprintf(STDERR_FILENO, "%s%s: %s\n", isatty(STDERR_FILENO) ? "\r\033[K" : "",
		program_invocation_short_name, interrupt->text);
	end_by(number);
	return NULL;
}

void interrupt_begin(struct interrupt *interrupt)
{
	static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	struct sigaction action;
	*interrupt = (struct interrupt){0};
	sigemptyset(&interrupt->signals);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (sigaction(numbers[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN) {
			sigaddset(&interrupt->signals, numbers[i]);
			interrupt->first = numbers[i];
		}
	pthread_sigmask(SIG_BLOCK, &interrupt->signals, &interrupt->before);
}

void interrupt_watch_with(struct interrupt *interrupt, const char *text, interrupt_clean *clean,
			  void *user)
{
	interrupt->text = text;
	interrupt->clean = clean;
	interrupt->user = user;
	interrupt->is_watched =
		interrupt->first != 0 &&
		pthread_create(&interrupt->thread, NULL, watch_signals, interrupt) == 0;
	/* Without the thread the signals end the program without a message or a clean end. */
	if (!interrupt->is_watched)
		pthread_sigmask(SIG_SETMASK, &interrupt->before, NULL);
}

void interrupt_watch(struct interrupt *interrupt, const char *text)
{
	interrupt_begin(interrupt);
	interrupt_watch_with(interrupt, text, NULL, NULL);
}

void interrupt_hold(struct interrupt *interrupt)
{
	pthread_sigmask(SIG_BLOCK, &interrupt->signals, NULL);
	if (!interrupt->is_watched)
		return;
	/* Not pthread_cancel: it could end the thread amid its cleaning. */
	pthread_kill(interrupt->thread, interrupt->first);
	pthread_join(interrupt->thread, NULL);
	interrupt->is_watched = false;
}

void interrupt_release(struct interrupt *interrupt)
{
	pthread_sigmask(SIG_SETMASK, &interrupt->before, NULL);
}
