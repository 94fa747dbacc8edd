/* What threads wait for of each other: barriers, ends of threads, initializations. */
#include "collector/agent/wait.h"

AGENT_EXPORT int pthread_barrier_wait(pthread_barrier_t *barrier)
{
	const struct real_functions *real = agent_real();
	struct agent_call call = AGENT_CALL(CHANNEL_BARRIER, barrier);
	if (!agent_wait_begin(&call))
		return real->barrier_wait(barrier);
	int result = real->barrier_wait(barrier);
	struct channel_registers registers;
	AGENT_REGISTERS_TAKE(&registers);
	/* glibc's answer for the last one to come: it did not wait, and woke the others. */
	if (result == PTHREAD_BARRIER_SERIAL_THREAD) {
		agent_wait_cancel(&call);
		call.flags = CHANNEL_ALL;
		agent_wake_end(&call, &registers);
	} else {
		agent_wait_end(&call, result == 0 ? 0 : CHANNEL_FAILED, 0, &registers);
	}
	return result;
}

AGENT_EXPORT int pthread_barrier_init(pthread_barrier_t *barrier,
				      const pthread_barrierattr_t *attributes, unsigned count)
{
	int result = agent_real()->barrier_init(barrier, attributes, count);
	struct agent_call call = AGENT_CALL(CHANNEL_BARRIER, barrier);
	struct channel_registers registers;
	AGENT_REGISTERS_TAKE(&registers);
	if (result == 0)
		agent_note_new(&call, &registers);
	return result;
}

/* The id of a thread that has not ended; 0: it has. A thread's clock is named by its id
 * (include/linux/posix-timers_types.h: the lowest three bits are the kind of clock). */
static uint32_t find_tid(pthread_t thread)
{
	clockid_t clock;
	return pthread_getcpuclockid(thread, &clock) == 0 ? ~((uint32_t)clock >> 3) & 0x1fffffff
							  : 0;
}

AGENT_EXPORT int pthread_join(pthread_t thread, void **value)
{
	const struct real_functions *real = agent_real();
	struct agent_call call = AGENT_CALL(CHANNEL_JOIN, (void *)thread);
	uint32_t tid = find_tid(thread);
	if (tid == 0)
		return real->join(thread, value);
	return AGENT_WAIT(&call, tid, agent_flags_of, real->join(thread, value));
}

AGENT_EXPORT int pthread_timedjoin_np(pthread_t thread, void **value, const struct timespec *until)
{
	const struct real_functions *real = agent_real();
	struct agent_call call = AGENT_CALL(CHANNEL_JOIN, (void *)thread);
	uint32_t tid = find_tid(thread);
	if (tid == 0)
		return real->timedjoin(thread, value, until);
	return AGENT_WAIT(&call, tid, agent_flags_of, real->timedjoin(thread, value, until));
}

AGENT_EXPORT int pthread_clockjoin_np(pthread_t thread, void **value, clockid_t clock,
				      const struct timespec *until)
{
	const struct real_functions *real = agent_real();
	struct agent_call call = AGENT_CALL(CHANNEL_JOIN, (void *)thread);
	uint32_t tid = find_tid(thread);
	if (tid == 0)
		return real->clockjoin(thread, value, clock, until);
	return AGENT_WAIT(&call, tid, agent_flags_of, real->clockjoin(thread, value, clock, until));
}

/* glibc's once control (sysdeps/nptl/internaltypes.h): somebody initializes, or it is done. */
enum { ONCE_IN_PROGRESS = 1, ONCE_DONE = 2 };

AGENT_EXPORT int pthread_once(pthread_once_t *control, void (*initialize)(void))
{
	const struct real_functions *real = agent_real();
	int state = __atomic_load_n(control, __ATOMIC_ACQUIRE);
	if (state & ONCE_DONE)
		return real->once(control, initialize);
	struct agent_call call = AGENT_CALL(CHANNEL_ONCE, control);
	struct channel_registers registers;
	if (!(state & ONCE_IN_PROGRESS)) {
		/* Most likely it is up to us. */
		bool is_active = agent_is_active();
		call.begin_ns = is_active ? agent_now() : 0;
		int result = real->once(control, initialize);
		AGENT_REGISTERS_TAKE(&registers);
		call.flags = CHANNEL_ALL;
		if (is_active && agent_is_awaited(control))
			agent_wake_end(&call, &registers);
		return result;
	}
	return AGENT_WAIT(&call, 0, agent_flags_of, real->once(control, initialize));
}
