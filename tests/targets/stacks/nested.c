/*
 * nested [MS [ROUNDS]]: signal handlers that are interrupted by signals, all on alternate stacks.
 * Each round takes MS, thirds of which are for
 * - a handler that is interrupted by a signal of its own, handled further down the same stack;
 * - a handler that burns, and is interrupted wherever it is by a timer, whose handler burns too;
 * - a handler that is interrupted by a signal of its own, handled on a second alternate stack.
 *
 * The stacks adjoin, each right below what it leads back to, so that a copy that begins in any
 * of them, and is large enough, holds all frames. All of their pages are in memory: the kernel's
 * copies end where one is not.
 */
#include "tests/targets/work.h"
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/time.h>

#ifndef SS_AUTODISARM
#define SS_AUTODISARM (1U << 31) /* Linux, include/uapi/linux/signal.h */
#endif

#define PAGE          ((size_t)4096)
#define THREAD_SIZE   (6 * PAGE)
#define TICK_EVERY_US 2000

WORK_FUNCTION(nested_burn_raised)
WORK_FUNCTION(nested_burn_outer)
WORK_FUNCTION(nested_burn_tick)
WORK_FUNCTION(nested_burn_apart)

WORK_KEEP void handler_raises(int signal_number);
WORK_KEEP void handler_burns(int signal_number);
WORK_KEEP void handler_leaves(int signal_number);
WORK_KEEP void handler_raised(int signal_number);
WORK_KEEP void handler_tick(int signal_number);
WORK_KEEP void handler_apart(int signal_number);
WORK_KEEP void nested_interrupt(int signal_number);
WORK_KEEP void nested_victim(int signal_number);
WORK_KEEP void *nested_thread(void *argument);

/* Handlers have no other way to their arguments. */
static volatile sig_atomic_t burn_ms;
static volatile uint64_t tick_ns;
static uint64_t rounds;
static stack_t first, second;

WORK_KEEP void handler_raised(int signal_number)
{
	(void)signal_number;
	nested_burn_raised((uint64_t)burn_ms * WORK_MS);
	__asm__ volatile("" ::: "memory");
}

WORK_KEEP void handler_tick(int signal_number)
{
	(void)signal_number;
	tick_ns += nested_burn_tick(WORK_MS);
}

WORK_KEEP void handler_apart(int signal_number)
{
	(void)signal_number;
	nested_burn_apart((uint64_t)burn_ms * WORK_MS);
	__asm__ volatile("" ::: "memory");
}

WORK_KEEP void nested_interrupt(int signal_number)
{
	raise(signal_number);
	__asm__ volatile("" ::: "memory");
}

WORK_KEEP void handler_raises(int signal_number)
{
	(void)signal_number;
	nested_interrupt(SIGUSR2);
	__asm__ volatile("" ::: "memory");
}

/* The clock of this thread runs in the timer's handler too, so that the two share the time. */
WORK_KEEP void handler_burns(int signal_number)
{
	struct itimerval timer = {.it_interval = {.tv_usec = TICK_EVERY_US},
				  .it_value = {.tv_usec = TICK_EVERY_US}};

	(void)signal_number;
	setitimer(ITIMER_REAL, &timer, NULL);
	nested_burn_outer((uint64_t)burn_ms * WORK_MS);
	timer = (struct itimerval){0};
	setitimer(ITIMER_REAL, &timer, NULL);
}

static void set_stack(const stack_t *stack, unsigned flags)
{
	stack_t flagged = *stack;

	flagged.ss_flags = (int)flags;
	if (sigaltstack(&flagged, NULL) != 0)
		exit(3);
}

/* The kernel disarmed the first stack when this handler began, and arms it when it returns. */
WORK_KEEP void handler_leaves(int signal_number)
{
	(void)signal_number;
	set_stack(&second, 0);
	nested_interrupt(SIGQUIT);
	__asm__ volatile("" ::: "memory");
}

WORK_KEEP void nested_victim(int signal_number)
{
	raise(signal_number);
	__asm__ volatile("" ::: "memory");
}

WORK_KEEP void *nested_thread(void *argument)
{
	sigset_t alarm;

	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	if (pthread_sigmask(SIG_UNBLOCK, &alarm, NULL) != 0)
		exit(3);
	set_stack(&first, 0);
	for (uint64_t i = 0; i < rounds; i++) {
		nested_victim(SIGUSR1);
		nested_victim(SIGHUP);
		set_stack(&first, SS_AUTODISARM);
		nested_victim(SIGTERM);
		set_stack(&first, 0);
	}
	return argument;
}

static void handle(int signal_number, void (*handler)(int))
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};

	if (sigaction(signal_number, &action, NULL) != 0)
		exit(3);
}

/* Lowest first: the second alternate stack, the first, the thread's own. */
static void make_stacks(pthread_attr_t *attributes)
{
	/* A signal's frame is larger where the CPU has more state. */
	size_t size = (3 * (size_t)getauxval(AT_MINSIGSTKSZ) / PAGE + 2) * PAGE;
	char *memory = mmap(NULL, 2 * size + THREAD_SIZE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	if (memory == MAP_FAILED || pthread_attr_init(attributes) != 0 ||
	    pthread_attr_setstack(attributes, memory + 2 * size, THREAD_SIZE) != 0)
		exit(3);
	first = (stack_t){.ss_sp = memory + size, .ss_size = size, .ss_flags = (int)SS_AUTODISARM};
	second = (stack_t){.ss_sp = memory, .ss_size = size};
}

int main(int argc, char **argv)
{
	pthread_attr_t attributes;
	pthread_t thread;
	sigset_t alarm;

	burn_ms = (sig_atomic_t)(work_argument(argc, argv, 1, 3000) / 3);
	rounds = work_argument(argc, argv, 2, 1);
	handle(SIGUSR1, handler_raises);
	handle(SIGUSR2, handler_raised);
	handle(SIGHUP, handler_burns);
	handle(SIGALRM, handler_tick);
	handle(SIGTERM, handler_leaves);
	handle(SIGQUIT, handler_apart);
	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &alarm, NULL); /* the timer's signals are the thread's */
	make_stacks(&attributes);
	if (pthread_create(&thread, &attributes, nested_thread, NULL) != 0 ||
	    pthread_join(thread, NULL) != 0)
		return 3;
	work_print("nested_burn_tick", tick_ns);
	work_print("process_ns", work_process_ns());
	return 0;
}
