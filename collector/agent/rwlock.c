/* Reader-writer locks, tried first as mutexes are. */
#include "collector/agent/valid_time.h"
#include "collector/agent/wait.h"
#include <errno.h>

AGENT_EXPORT int pthread_rwlock_rdlock(pthread_rwlock_t *lock)
{
	const struct real_functions *real = agent_real();
	int result = real->rwlock_tryrdlock(lock);
	if (__builtin_expect(result != EBUSY, 1))
		return result;
	struct agent_call call = AGENT_CALL(CHANNEL_RWLOCK, lock);
	return AGENT_WAIT(&call, 0, agent_flags_of, real->rwlock_rdlock(lock));
}

AGENT_EXPORT int pthread_rwlock_wrlock(pthread_rwlock_t *lock)
{
	const struct real_functions *real = agent_real();
	int result = real->rwlock_trywrlock(lock);
	if (__builtin_expect(result != EBUSY, 1))
		return result;
	struct agent_call call = AGENT_CALL(CHANNEL_RWLOCK, lock);
	return AGENT_WAIT(&call, 0, agent_flags_of, real->rwlock_wrlock(lock));
}

AGENT_EXPORT int pthread_rwlock_timedrdlock(pthread_rwlock_t *lock, const struct timespec *until)
{
	const struct real_functions *real = agent_real();
	struct agent_call call = AGENT_CALL(CHANNEL_RWLOCK, lock);
	if (!agent_is_valid_time(CLOCK_REALTIME, until))
		return real->rwlock_timedrdlock(lock, until);
	int result = real->rwlock_tryrdlock(lock);
	if (result != EBUSY)
		return result;
	return AGENT_WAIT(&call, 0, agent_flags_of, real->rwlock_timedrdlock(lock, until));
}

AGENT_EXPORT int pthread_rwlock_timedwrlock(pthread_rwlock_t *lock, const struct timespec *until)
{
	const struct real_functions *real = agent_real();
	struct agent_call call = AGENT_CALL(CHANNEL_RWLOCK, lock);
	if (!agent_is_valid_time(CLOCK_REALTIME, until))
		return real->rwlock_timedwrlock(lock, until);
	int result = real->rwlock_trywrlock(lock);
	if (result != EBUSY)
		return result;
	return AGENT_WAIT(&call, 0, agent_flags_of, real->rwlock_timedwrlock(lock, until));
}

AGENT_EXPORT int pthread_rwlock_clockrdlock(pthread_rwlock_t *lock, clockid_t clock,
					    const struct timespec *until)
{
	const struct real_functions *real = agent_real();
	struct agent_call call = AGENT_CALL(CHANNEL_RWLOCK, lock);
	if (!agent_is_valid_time(clock, until))
		return real->rwlock_clockrdlock(lock, clock, until);
	int result = real->rwlock_tryrdlock(lock);
	if (result != EBUSY)
		return result;
	return AGENT_WAIT(&call, 0, agent_flags_of, real->rwlock_clockrdlock(lock, clock, until));
}

AGENT_EXPORT int pthread_rwlock_clockwrlock(pthread_rwlock_t *lock, clockid_t clock,
					    const struct timespec *until)
{
	const struct real_functions *real = agent_real();
	struct agent_call call = AGENT_CALL(CHANNEL_RWLOCK, lock);
	if (!agent_is_valid_time(clock, until))
		return real->rwlock_clockwrlock(lock, clock, until);
	int result = real->rwlock_trywrlock(lock);
	if (result != EBUSY)
		return result;
	return AGENT_WAIT(&call, 0, agent_flags_of, real->rwlock_clockwrlock(lock, clock, until));
}

AGENT_EXPORT int pthread_rwlock_unlock(pthread_rwlock_t *lock)
{
	const struct real_functions *real = agent_real();
	if (!agent_is_awaited(lock))
		return real->rwlock_unlock(lock);
	struct agent_call call = AGENT_CALL(CHANNEL_RWLOCK, lock);
	if (!agent_wake_begin(&call))
		return real->rwlock_unlock(lock);
	int result = real->rwlock_unlock(lock);
	struct channel_registers registers;
	AGENT_REGISTERS_TAKE(&registers);
	if (result == 0)
		agent_wake_end(&call, &registers);
	return result;
}

AGENT_EXPORT int pthread_rwlock_init(pthread_rwlock_t *lock, const pthread_rwlockattr_t *attributes)
{
	int result = agent_real()->rwlock_init(lock, attributes);
	struct agent_call call = AGENT_CALL(CHANNEL_RWLOCK, lock);
	struct channel_registers registers;
	AGENT_REGISTERS_TAKE(&registers);
	if (result == 0)
		agent_note_new(&call, &registers);
	return result;
}
