#include "collector/agent/stack.h"

#include "collector/agent/agent.h"
#include <errno.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	PAGE = 4096,
	PROBES_MAX = 64, /* pages looked at for one record */
};

/* Whether a page is in memory, without the danger of a fault: the kernel copies the set of signals
 * before it finds that the request is none. */
static bool is_readable(uintptr_t page)
{
	int error = errno;
	long result = syscall(SYS_rt_sigprocmask, ~0, page, NULL, 8);
	bool is_there = result < 0 && errno == EINVAL;
	errno = error;
	return is_there;
}

/* What was in memory may be there no more: a coroutine's stack that lay below the thread's. The
 * page of the first byte is in use. */
static bool is_all_readable(uintptr_t first, size_t size)
{
	uintptr_t page = (first & ~(uintptr_t)(PAGE - 1)) + PAGE;
	while (page < first + size && is_readable(page))
		page += PAGE;
	return page >= first + size;
}

/* The end of the thread's own stack, which sp lies on; 0: it lies on another one. glibc keeps the
 * thread's descriptor at the top of its stack, whoever provided that. */
static uintptr_t find_top(uintptr_t sp)
{
	if (pthread_equal(pthread_self(), agent.main_thread))
		return sp < agent.main_top && agent.main_top - sp < agent.main_depth
			       ? agent.main_top
			       : 0;
	uintptr_t top = (uintptr_t)pthread_self();
	if (sp >= top)
		return 0;
	uintptr_t low = agent_thread.stack_low;
	if (low == 0 || low > top)
		low = top & ~(uintptr_t)(PAGE - 1);
	uintptr_t page = sp & ~(uintptr_t)(PAGE - 1);
	if (page >= low)
		return top;
	if (low - page > (uintptr_t)PROBES_MAX * PAGE)
		return 0;
	/* Only a stack without a gap is the thread's own. */
	for (uintptr_t at = page; at < low; at += PAGE)
		if (!is_readable(at))
			return 0;
	agent_thread.stack_low = page;
	return top;
}

struct agent_stack agent_stack_of(const struct channel_registers *registers, uint64_t most)
{
	uintptr_t sp = (uintptr_t)registers->value[1];
	uintptr_t top = find_top(sp) & ~(uintptr_t)7;
	if (sp % 8 != 0 || top <= sp)
		return (struct agent_stack){0};
	if (most > CHANNEL_STACK_MAX)
		most = CHANNEL_STACK_MAX;
	bool is_whole = top - sp <= most;
	size_t size = is_whole ? top - sp : (size_t)(most & ~7ull);
	if (!is_all_readable(sp, size))
		return (struct agent_stack){0};
	return (struct agent_stack){.bytes = (const void *)sp, .size = size, .is_whole = is_whole};
}
