/* Mutexes. Each lock is tried first: only what would block is timed, and errors are the C
 * library's, whatever kind of mutex it is. */
#include "collector/agent/valid_time.h"
#include "collector/agent/wait.h"
#include <errno.h>

AGENT_EXPORT int pthread_mutex_lock(pthread_mutex_t *mutex)
{
	const struct real_functions *real = agent_real();
	int result = real->mutex_trylock(mutex);
	if (__builtin_expect(result != EBUSY, 1))
		return result;
	struct agent_call call = AGENT_CALL(CHANNEL_MUTEX, mutex);
	return AGENT_WAIT(&call, 0, agent_mutex_flags_of, real->mutex_lock(mutex));
}

AGENT_EXPORT int pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *until)
{
	const struct real_functions *real = agent_real();
	struct agent_call call = AGENT_CALL(CHANNEL_MUTEX, mutex);
	if (!agent_is_valid_time(CLOCK_REALTIME, until))
		return real->mutex_timedlock(mutex, until);
	int result = real->mutex_trylock(mutex);
	if (result != EBUSY)
		return result;
	return AGENT_WAIT(&call, 0, agent_mutex_flags_of, real->mutex_timedlock(mutex, until));
}

AGENT_EXPORT int pthread_mutex_clocklock(pthread_mutex_t *mutex, clockid_t clock,
					 const struct timespec *until)
{
	const struct real_functions *real = agent_real();
	struct agent_call call = AGENT_CALL(CHANNEL_MUTEX, mutex);
	if (!agent_is_valid_time(clock, until))
		return real->mutex_clocklock(mutex, clock, until);
	int result = real->mutex_trylock(mutex);
	if (result != EBUSY)
		return result;
	return AGENT_WAIT(&call, 0, agent_mutex_flags_of,
			  real->mutex_clocklock(mutex, clock, until));
}

AGENT_EXPORT int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
	const struct real_functions *real = agent_real();
	if (!agent_is_awaited(mutex))
		return real->mutex_unlock(mutex);
	struct agent_call call = AGENT_CALL(CHANNEL_MUTEX, mutex);
	if (!agent_wake_begin(&call))
		return real->mutex_unlock(mutex);
	int result = real->mutex_unlock(mutex);
	struct channel_registers registers;
	AGENT_REGISTERS_TAKE(&registers);
	if (result == 0)
		agent_wake_end(&call, &registers);
	return result;
}

AGENT_EXPORT int pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attributes)
{
	int result = agent_real()->mutex_init(mutex, attributes);
	struct agent_call call = AGENT_CALL(CHANNEL_MUTEX, mutex);
	struct channel_registers registers;
	AGENT_REGISTERS_TAKE(&registers);
	if (result == 0)
		agent_note_new(&call, &registers);
	return result;
}
