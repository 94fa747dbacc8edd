/* Spin locks: whoever waits for one uses its CPU all the time. */
#include "collector/agent/wait.h"
#include <errno.h>

AGENT_EXPORT int pthread_spin_lock(pthread_spinlock_t *lock)
{
	const struct real_functions *real = agent_real();
	int result = real->spin_trylock(lock);
	if (__builtin_expect(result != EBUSY, 1))
		return result;
	struct agent_call call = AGENT_CALL(CHANNEL_SPIN, lock);
	return AGENT_WAIT(&call, 0, agent_flags_of, real->spin_lock(lock));
}

AGENT_EXPORT int pthread_spin_unlock(pthread_spinlock_t *lock)
{
	const struct real_functions *real = agent_real();
	if (!agent_is_awaited(lock))
		return real->spin_unlock(lock);
	struct agent_call call = AGENT_CALL(CHANNEL_SPIN, lock);
	if (!agent_wake_begin(&call))
		return real->spin_unlock(lock);
	int result = real->spin_unlock(lock);
	struct channel_registers registers;
	AGENT_REGISTERS_TAKE(&registers);
	agent_wake_end(&call, &registers);
	return result;
}

AGENT_EXPORT int pthread_spin_init(pthread_spinlock_t *lock, int is_shared)
{
	int result = agent_real()->spin_init(lock, is_shared);
	struct agent_call call = AGENT_CALL(CHANNEL_SPIN, lock);
	struct channel_registers registers;
	AGENT_REGISTERS_TAKE(&registers);
	if (result == 0)
		agent_note_new(&call, &registers);
	return result;
}
