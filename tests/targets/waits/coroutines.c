/* coroutines: stacks of coroutines lie right below the thread's own, without a gap. It waits on
 * each, takes the upper one away, and waits on the lower one again: who copies a stack by what was
 * in memory before dies here. */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>

enum { PAGE = 4096, LOWER = 4 * PAGE, UPPER = 4 * PAGE, OWN = 64 * PAGE };

struct stacks {
	char *lower; /* then the upper coroutine's, then the thread's own */
	ucontext_t thread;
	sem_t never;
};

/* Of ten milliseconds, for something that does not come. */
static void wait_on(struct stacks *stacks)
{
	struct timespec until;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += 10000000;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	while (sem_timedwait(&stacks->never, &until) < 0 && errno == EINTR)
		continue;
}

static void run_on(struct stacks *stacks, char *stack, size_t size)
{
	ucontext_t coroutine;
	getcontext(&coroutine);
	coroutine.uc_stack.ss_sp = stack;
	coroutine.uc_stack.ss_size = size;
	coroutine.uc_link = &stacks->thread;
	makecontext(&coroutine, (void (*)(void))wait_on, 1, stacks);
	swapcontext(&stacks->thread, &coroutine);
}

static void *run(void *user)
{
	struct stacks *stacks = user;
	wait_on(stacks);
	run_on(stacks, stacks->lower + LOWER, UPPER);
	run_on(stacks, stacks->lower, LOWER);
	munmap(stacks->lower + LOWER, UPPER);
	run_on(stacks, stacks->lower, LOWER);
	return NULL;
}

int main(void)
{
	static struct stacks stacks;
	pthread_attr_t attributes;
	pthread_t thread;
	void *memory = mmap(NULL, LOWER + UPPER + OWN, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED || sem_init(&stacks.never, 0, 0) < 0)
		return 1;
	stacks.lower = memory;
	pthread_attr_init(&attributes);
	pthread_attr_setstack(&attributes, stacks.lower + LOWER + UPPER, OWN);
	if (pthread_create(&thread, &attributes, run, &stacks) != 0)
		return 1;
	pthread_join(thread, NULL);
	puts("waited");
	return 0;
}
