#include "collector/model/thread.h"

#include "collector/result/emit.h"
#include <stdio.h>
#include <stdlib.h>

struct thread *thread_create(uint32_t pid, uint32_t tid, const char *name, uint64_t start_ns,
			     size_t rings)
{
	struct thread *thread = calloc(1, sizeof(*thread));
	if (!thread)
		return NULL;
	thread->counts = calloc(rings, sizeof(*thread->counts));
	if (!thread->counts) {
		free(thread);
		return NULL;
	}
	thread->count_size = rings;
	thread->pid = pid;
	thread->tid = tid;
	thread->account_tid = tid;
	thread->start_ns = start_ns;
	thread->end_ns = PROFILE_TIME_NEVER;
	thread_rename(thread, name);
	return thread;
}

void thread_destroy(struct thread *thread)
{
	if (!thread)
		return;
	stack_memory_forget(&thread->stack);
	free(thread->counts);
	free(thread);
}

void thread_rename(struct thread *thread, const char *name)
{
	snprintf(thread->name, sizeof(thread->name), "%s", name);
}

uint64_t thread_advance(struct thread *thread, size_t ring, uint64_t count)
{
	/* While attaching, two events may count a thread for a moment; only the higher count is
	 * used: no time counts twice. */
	if (ring >= thread->count_size || count <= thread->counts[ring].last)
		return 0;
	uint64_t weight = count - thread->counts[ring].last;
	thread->counts[ring].last = count;
	return weight;
}

void thread_note_tick(struct thread *thread, size_t ring, uint64_t time_ns)
{
	if (ring < thread->count_size)
		thread->counts[ring].tick_ns = time_ns;
}

static void add_lack(struct thread_lack *lack, uint64_t tick_ns, uint64_t elapsed_ns)
{
	lack->unseen_ns += (tick_ns < elapsed_ns ? tick_ns : elapsed_ns) / 2;
	lack->busy_ns += tick_ns < elapsed_ns ? tick_ns / 2 : elapsed_ns;
}

struct thread_lack thread_lack(const struct thread *thread, uint64_t tick_ns, uint64_t now_ns)
{
	uint64_t end_ns = thread->end_ns < now_ns ? thread->end_ns : now_ns;
	struct thread_lack lack = {0};
	bool has_ticks = false;
	for (size_t i = 0; i < thread->count_size; i++) {
		uint64_t last_ns = thread->counts[i].tick_ns;
		has_ticks = has_ticks || last_ns != 0;
		if (last_ns != 0 && last_ns < end_ns)
			add_lack(&lack, tick_ns, end_ns - last_ns);
	}
	if (!has_ticks && thread->start_ns < end_ns)
		add_lack(&lack, tick_ns, end_ns - thread->start_ns);
	return lack;
}

uint64_t thread_unseen(struct thread *thread, size_t ring, uint64_t weight, uint64_t interval_ns)
{
	if (ring >= thread->count_size || interval_ns == 0 || interval_ns > INT64_MAX / 4 ||
	    weight > INT64_MAX / 4)
		return 0;
	int64_t *ahead = &thread->counts[ring].ahead_ns;
	int64_t interval = (int64_t)interval_ns;
	int64_t sum = (int64_t)weight + *ahead;
	int64_t intervals = (sum + interval / 2) / interval;
	if (intervals < 1)
		intervals = 1;
	*ahead = sum - intervals * interval;
	/* The samples before make up for less than the sample's own interval. */
	if (*ahead < -interval)
		*ahead = -interval;
	return (uint64_t)((intervals - 1) * interval);
}

bool thread_pass_gap(struct thread *thread, size_t ring, uint64_t gaps)
{
	if (ring >= thread->count_size || thread->counts[ring].gaps == gaps)
		return false;
	thread->counts[ring].gaps = gaps;
	return true;
}

void thread_end(struct thread *thread, struct emit *emit, bool by_clock)
{
	stack_memory_settle(&thread->stack);
	bool is_unwound = thread->stack.counts.walks > 0 || thread->stack.counts.guesses_tested > 0;
	struct profile_thread_life out = {
		.pid = thread->pid,
		.tid = thread->tid,
		.start_ns = thread->start_ns,
		.end_ns = thread->end_ns,
		.cpu_ns = thread->cpu_ns,
		.rest_ns = thread->rest_ns,
		.sampled_ns = thread->sampled_ns,
		.kernel_ns = thread->kernel_ns,
		.unseen_ns = thread->unseen_ns,
		.samples = thread->samples,
		.flags = by_clock ? PROFILE_THREAD_CPU_BY_CLOCK : 0,
		.name = thread->name,
		.unwinding = is_unwound ? &thread->stack.counts : NULL,
	};
	emit_thread(emit, &out);
}
