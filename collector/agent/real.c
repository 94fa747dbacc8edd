#include "collector/agent/real.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

/* Condition variables before GLIBC_2.3.2 had another layout: a name without a version could find
 * their functions. */
#if defined(__x86_64__)
#define CONDITION "GLIBC_2.3.2"
#else
#define CONDITION "GLIBC_2.17"
#endif

struct row {
	const char *name;
	const char *version; /* NULL: the default one */
	size_t place;        /* in struct real_functions */
};

#define ROW(member, name, version)                                     \
	{                                                              \
		name, version, offsetof(struct real_functions, member) \
	}

/* The mutexes' come first: a search that fails allocates its message, and allocators lock. */
static const struct row rows[] = {
	ROW(mutex_lock, "pthread_mutex_lock", NULL),
	ROW(mutex_trylock, "pthread_mutex_trylock", NULL),
	ROW(mutex_unlock, "pthread_mutex_unlock", NULL),
	ROW(mutex_init, "pthread_mutex_init", NULL),
	ROW(mutex_timedlock, "pthread_mutex_timedlock", NULL),
	ROW(mutex_clocklock, "pthread_mutex_clocklock", NULL),
	ROW(spin_lock, "pthread_spin_lock", NULL),
	ROW(spin_trylock, "pthread_spin_trylock", NULL),
	ROW(spin_unlock, "pthread_spin_unlock", NULL),
	ROW(spin_init, "pthread_spin_init", NULL),
	ROW(rwlock_rdlock, "pthread_rwlock_rdlock", NULL),
	ROW(rwlock_tryrdlock, "pthread_rwlock_tryrdlock", NULL),
	ROW(rwlock_timedrdlock, "pthread_rwlock_timedrdlock", NULL),
	ROW(rwlock_clockrdlock, "pthread_rwlock_clockrdlock", NULL),
	ROW(rwlock_wrlock, "pthread_rwlock_wrlock", NULL),
	ROW(rwlock_trywrlock, "pthread_rwlock_trywrlock", NULL),
	ROW(rwlock_timedwrlock, "pthread_rwlock_timedwrlock", NULL),
	ROW(rwlock_clockwrlock, "pthread_rwlock_clockwrlock", NULL),
	ROW(rwlock_unlock, "pthread_rwlock_unlock", NULL),
	ROW(rwlock_init, "pthread_rwlock_init", NULL),
	ROW(cond_wait, "pthread_cond_wait", CONDITION),
	ROW(cond_timedwait, "pthread_cond_timedwait", CONDITION),
	ROW(cond_clockwait, "pthread_cond_clockwait", NULL),
	ROW(cond_signal, "pthread_cond_signal", CONDITION),
	ROW(cond_broadcast, "pthread_cond_broadcast", CONDITION),
	ROW(cond_init, "pthread_cond_init", CONDITION),
	ROW(barrier_wait, "pthread_barrier_wait", NULL),
	ROW(barrier_init, "pthread_barrier_init", NULL),
	ROW(sem_wait, "sem_wait", NULL),
	ROW(sem_trywait, "sem_trywait", NULL),
	ROW(sem_timedwait, "sem_timedwait", NULL),
	ROW(sem_clockwait, "sem_clockwait", NULL),
	ROW(sem_post, "sem_post", NULL),
	ROW(sem_init, "sem_init", NULL),
	ROW(once, "pthread_once", NULL),
	ROW(join, "pthread_join", NULL),
	ROW(timedjoin, "pthread_timedjoin_np", NULL),
	ROW(clockjoin, "pthread_clockjoin_np", NULL),
	ROW(clock_gettime, "clock_gettime", NULL),
};

/* Other C libraries than glibc have it not, and the library must load there too. */
#pragma weak dlvsym

void real_find(struct real_functions *real)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		/* Never a function's last call: the loader looks at the caller, and a jump would
		 * make that somebody else. */
		void *found = rows[i].version && dlvsym
				      ? dlvsym(RTLD_NEXT, rows[i].name, rows[i].version)
				      : NULL;
		if (!found)
			found = dlsym(RTLD_NEXT, rows[i].name);
		memcpy((char *)real + rows[i].place, &found, sizeof(found));
	}
}
