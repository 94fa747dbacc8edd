/* Semaphores. The waits are cancellation points also where they do not block, so a pending request
 * is looked for first, as glibc does. sem_post may be called from signal handlers. */
#include "collector/agent/valid_time.h"
#include "collector/agent/wait.h"
#include <errno.h>

/* As sem_wait where it need not wait. */
static bool take(const struct real_functions *real, sem_t *semaphore)
{
	int error = errno;
	pthread_testcancel();
	if (real->sem_trywait(semaphore) == 0)
		return true;
	errno = error;
	return false;
}

static unsigned flags_of(int result)
{
	if (result == 0)
		return 0;
	return errno == ETIMEDOUT ? CHANNEL_TIMED_OUT
	       : errno == EINTR   ? CHANNEL_INTERRUPTED
				  : CHANNEL_FAILED;
}

AGENT_EXPORT int sem_wait(sem_t *semaphore)
{
	const struct real_functions *real = agent_real();
	if (take(real, semaphore))
		return 0;
	struct agent_call call = AGENT_CALL(CHANNEL_SEMAPHORE, semaphore);
	return AGENT_WAIT(&call, 0, flags_of, real->sem_wait(semaphore));
}

AGENT_EXPORT int sem_timedwait(sem_t *semaphore, const struct timespec *until)
{
	const struct real_functions *real = agent_real();
	struct agent_call call = AGENT_CALL(CHANNEL_SEMAPHORE, semaphore);
	if (!agent_is_valid_time(CLOCK_REALTIME, until))
		return real->sem_timedwait(semaphore, until);
	if (take(real, semaphore))
		return 0;
	return AGENT_WAIT(&call, 0, flags_of, real->sem_timedwait(semaphore, until));
}

AGENT_EXPORT int sem_clockwait(sem_t *semaphore, clockid_t clock, const struct timespec *until)
{
	const struct real_functions *real = agent_real();
	struct agent_call call = AGENT_CALL(CHANNEL_SEMAPHORE, semaphore);
	if (!agent_is_valid_time(clock, until))
		return real->sem_clockwait(semaphore, clock, until);
	if (take(real, semaphore))
		return 0;
	return AGENT_WAIT(&call, 0, flags_of, real->sem_clockwait(semaphore, clock, until));
}

AGENT_EXPORT int sem_post(sem_t *semaphore)
{
	const struct real_functions *real = agent_real();
	if (!agent_is_awaited(semaphore))
		return real->sem_post(semaphore);
	struct agent_call call = AGENT_CALL(CHANNEL_SEMAPHORE, semaphore);
	if (!agent_wake_begin(&call))
		return real->sem_post(semaphore);
	int result = real->sem_post(semaphore);
	struct channel_registers registers;
	AGENT_REGISTERS_TAKE(&registers);
	if (result == 0)
		agent_wake_end(&call, &registers);
	return result;
}

AGENT_EXPORT int sem_init(sem_t *semaphore, int is_shared, unsigned value)
{
	int result = agent_real()->sem_init(semaphore, is_shared, value);
	struct agent_call call = AGENT_CALL(CHANNEL_SEMAPHORE, semaphore);
	struct channel_registers registers;
	AGENT_REGISTERS_TAKE(&registers);
	if (result == 0)
		agent_note_new(&call, &registers);
	return result;
}
