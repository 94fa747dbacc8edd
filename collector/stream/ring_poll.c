#include "collector/stream/ring_poll.h"

#include <sys/resource.h>

enum {
	VAIN_MAX = 3,   /* wake-ups for nothing in one poll, */
	VAIN_MS = 4,    /* and one more each so many ms */
	BLIND_MS = 200, /* until the rings are tried again */
	BYTES_PER_MS = 1 << 20 /* what comes on one CPU, at most */,
	PARTS = 2 /* of a ring: one may be filled already */
};

enum { PATIENCE_LEAST_MS = 3, PATIENCE_MAX_MS = 10 };

int ring_poll_patience_ms(size_t ring_size)
{
	size_t fills_ms = ring_size / PARTS / BYTES_PER_MS;
	if (fills_ms < PATIENCE_LEAST_MS)
		return 0;
	return fills_ms < PATIENCE_MAX_MS ? (int)fills_ms : PATIENCE_MAX_MS;
}

/* How often the calling thread has slept. */
static long sleeps(void)
{
	struct rusage usage;
	return getrusage(RUSAGE_THREAD, &usage) == 0 ? usage.ru_nvcsw : 0;
}

/* Polls the rings too, for a short time where they were left out before. */
static int poll_all(struct ring_poll *rings, struct pollfd *polls, size_t count, int wait_ms)
{
	long before = sleeps();
	int ready = poll(polls, (nfds_t)count, wait_ms);
	rings->is_noisy = sleeps() - before > VAIN_MAX + wait_ms / VAIN_MS;
	rings->blind_ms = rings->is_noisy ? BLIND_MS : 0;
	return ready;
}

int ring_poll(struct ring_poll *rings, struct pollfd *polls, size_t count, int *wait_ms)
{
	if (*wait_ms < 0 || rings->patience_ms == 0)
		return poll(polls, (nfds_t)count, *wait_ms);
	if (rings->is_noisy && *wait_ms > rings->patience_ms)
		*wait_ms = rings->patience_ms;
	if (rings->blind_ms <= 0)
		return poll_all(rings, polls, count, *wait_ms);
	rings->blind_ms -= *wait_ms;
	return poll(polls, 1, *wait_ms);
}
