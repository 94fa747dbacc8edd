/*
 * altstack [MS]: a signal interrupts handler_victim; its handler burns, first on the thread's own
 * stack, then on an alternate one.
 */
#include "tests/targets/work.h"
#include <signal.h>
#include <stdlib.h>

#define ALTERNATE_SIZE ((size_t)64 * 1024)

WORK_FUNCTION(handler_burn_same)
WORK_FUNCTION(handler_burn_alternate)

WORK_KEEP void handler_on_same_stack(int signal_number);
WORK_KEEP void handler_on_alternate_stack(int signal_number);
WORK_KEEP void handler_victim(int signal_number);

/* A handler has no other way to its argument. */
static volatile sig_atomic_t burn_ms;

WORK_KEEP void handler_on_same_stack(int signal_number)
{
	(void)signal_number;
	handler_burn_same((uint64_t)burn_ms * WORK_MS);
	__asm__ volatile("" ::: "memory");
}

WORK_KEEP void handler_on_alternate_stack(int signal_number)
{
	(void)signal_number;
	handler_burn_alternate((uint64_t)burn_ms * WORK_MS);
	__asm__ volatile("" ::: "memory");
}

/* The signal arrives while raise is in its system call, so every stack looks the same. */
WORK_KEEP void handler_victim(int signal_number)
{
	raise(signal_number);
	__asm__ volatile("" ::: "memory");
}

int main(int argc, char **argv)
{
	stack_t stack = {.ss_sp = malloc(ALTERNATE_SIZE), .ss_size = ALTERNATE_SIZE};
	struct sigaction same = {.sa_handler = handler_on_same_stack};
	struct sigaction alternate = {.sa_handler = handler_on_alternate_stack,
				      .sa_flags = SA_ONSTACK};

	burn_ms = (sig_atomic_t)(work_argument(argc, argv, 1, 1000) / 2);
	if (!stack.ss_sp || sigaltstack(&stack, NULL) != 0 ||
	    sigaction(SIGUSR1, &same, NULL) != 0 || sigaction(SIGUSR2, &alternate, NULL) != 0)
		return 3;
	handler_victim(SIGUSR1);
	handler_victim(SIGUSR2);
	work_print("process_ns", work_process_ns());
	return 0;
}
