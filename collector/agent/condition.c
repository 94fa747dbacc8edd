/* Condition variables. A wait always blocks, and first releases its mutex, for which others may be
 * waiting. */
#include "collector/agent/wait.h"

/* The release of the mutex comes a moment later, inside the wait. */
static void release(pthread_mutex_t *mutex, void *site, const struct channel_registers *registers)
{
	struct agent_call call = {.object = mutex, .site = site, .type = CHANNEL_MUTEX};
	if (agent_is_awaited(mutex) && agent_wake_begin(&call))
		agent_wake_end(&call, registers);
}

AGENT_EXPORT int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
	const struct real_functions *real = agent_real();
	struct agent_call call = AGENT_CALL(CHANNEL_CONDITION, condition);
	if (!agent_wait_begin(&call))
		return real->cond_wait(condition, mutex);
	struct channel_registers registers;
	AGENT_REGISTERS_TAKE(&registers);
	release(mutex, call.site, &registers);
	int result = real->cond_wait(condition, mutex);
	AGENT_REGISTERS_TAKE(&registers);
	agent_wait_end(&call, agent_mutex_flags_of(result), 0, &registers);
	return result;
}

AGENT_EXPORT int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
					const struct timespec *until)
{
	const struct real_functions *real = agent_real();
	struct agent_call call = AGENT_CALL(CHANNEL_CONDITION, condition);
	if (!agent_wait_begin(&call))
		return real->cond_timedwait(condition, mutex, until);
	struct channel_registers registers;
	AGENT_REGISTERS_TAKE(&registers);
	release(mutex, call.site, &registers);
	int result = real->cond_timedwait(condition, mutex, until);
	AGENT_REGISTERS_TAKE(&registers);
	agent_wait_end(&call, agent_mutex_flags_of(result), 0, &registers);
	return result;
}

AGENT_EXPORT int pthread_cond_clockwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
					clockid_t clock, const struct timespec *until)
{
	const struct real_functions *real = agent_real();
	struct agent_call call = AGENT_CALL(CHANNEL_CONDITION, condition);
	if (!agent_wait_begin(&call))
		return real->cond_clockwait(condition, mutex, clock, until);
	struct channel_registers registers;
	AGENT_REGISTERS_TAKE(&registers);
	release(mutex, call.site, &registers);
	int result = real->cond_clockwait(condition, mutex, clock, until);
	AGENT_REGISTERS_TAKE(&registers);
	agent_wait_end(&call, agent_mutex_flags_of(result), 0, &registers);
	return result;
}

AGENT_EXPORT int pthread_cond_signal(pthread_cond_t *condition)
{
	const struct real_functions *real = agent_real();
	if (!agent_is_awaited(condition))
		return real->cond_signal(condition);
	struct agent_call call = AGENT_CALL(CHANNEL_CONDITION, condition);
	if (!agent_wake_begin(&call))
		return real->cond_signal(condition);
	int result = real->cond_signal(condition);
	struct channel_registers registers;
	AGENT_REGISTERS_TAKE(&registers);
	agent_wake_end(&call, &registers);
	return result;
}

AGENT_EXPORT int pthread_cond_broadcast(pthread_cond_t *condition)
{
	const struct real_functions *real = agent_real();
	if (!agent_is_awaited(condition))
		return real->cond_broadcast(condition);
	struct agent_call call = AGENT_CALL(CHANNEL_CONDITION, condition);
	call.flags = CHANNEL_ALL;
	if (!agent_wake_begin(&call))
		return real->cond_broadcast(condition);
	int result = real->cond_broadcast(condition);
	struct channel_registers registers;
	AGENT_REGISTERS_TAKE(&registers);
	agent_wake_end(&call, &registers);
	return result;
}

AGENT_EXPORT int pthread_cond_init(pthread_cond_t *condition, const pthread_condattr_t *attributes)
{
	int result = agent_real()->cond_init(condition, attributes);
	struct agent_call call = AGENT_CALL(CHANNEL_CONDITION, condition);
	struct channel_registers registers;
	AGENT_REGISTERS_TAKE(&registers);
	if (result == 0)
		agent_note_new(&call, &registers);
	return result;
}
