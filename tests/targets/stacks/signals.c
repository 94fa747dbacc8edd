/*
 * signals COUNT: counts the SIGINT, SIGTERM and SIGHUP it gets; ends with status 7 once it has
 * COUNT of them and none came for another half second.
 */
#include "tests/targets/work.h"
#include <errno.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	uint64_t count = work_argument(argc, argv, 1, 1);
	struct timespec patience = {.tv_sec = 20};
	struct timespec quiet = {.tv_nsec = (long)(500 * WORK_MS)};
	uint64_t interrupts = 0;
	uint64_t terminations = 0;
	uint64_t hangups = 0;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	work_print("pid", (uint64_t)getpid());
	work_print("ready", 1);
	for (;;) {
		uint64_t got = interrupts + terminations + hangups;
		int signal_number = sigtimedwait(&set, NULL, got < count ? &patience : &quiet);

		if (signal_number < 0 && errno == EINTR) /* stopped and continued */
			continue;
		if (signal_number < 0)
			break;
		interrupts += signal_number == SIGINT;
		terminations += signal_number == SIGTERM;
		hangups += signal_number == SIGHUP;
	}
	work_print("interrupts", interrupts);
	work_print("terminations", terminations);
	work_print("hangups", hangups);
	return 7;
}
