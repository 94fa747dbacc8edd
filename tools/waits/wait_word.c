#include "tools/waits/wait_word.h"

#include <pthread.h>
#include <stddef.h>

/* struct pthread_barrier has the words in, current_round, count, shared and out. */
enum { BARRIER_ROUND = 4, BARRIER_OUT = 16 };

#define CONDITION_WORDS offsetof(pthread_cond_t, __data.__g_signals)
#define RWLOCK_PHASE    offsetof(pthread_rwlock_t, __data.__wrphase_futex)
#define RWLOCK_WRITERS  offsetof(pthread_rwlock_t, __data.__writers_futex)

/* Objects begin at multiples of 8: of two words, one is at a multiple and one is not. */
_Static_assert(_Alignof(pthread_cond_t) == 8 && CONDITION_WORDS % 8 == 0, "");
_Static_assert(_Alignof(pthread_rwlock_t) == 8 && RWLOCK_PHASE % 8 == 0 && RWLOCK_WRITERS % 8 == 4,
	       "");
_Static_assert(BARRIER_OUT + sizeof(int) <= sizeof(pthread_barrier_t), "");

uint64_t wait_word_distance(enum wait_type type, uint64_t address)
{
	uint64_t rest = address % 8;
	switch (type) {
	case WAIT_TYPE_RWLOCK:
		return rest != 0 ? RWLOCK_WRITERS : RWLOCK_PHASE;
	case WAIT_TYPE_BARRIER:
		return rest != 0 ? BARRIER_ROUND : BARRIER_OUT;
	case WAIT_TYPE_CONDITION:
		return CONDITION_WORDS + rest;
	default:
		return 0;
	}
}
