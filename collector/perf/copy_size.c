#include "collector/perf/copy_size.h"

/* CPU time of one CPU whose samples a ring should hold, in case they are not read earlier. */
#define BACKLOG_NS 40000000ull

/* Likewise for ticks: most are not drawn, and lost ones favour no function. */
#define BACKLOG_TICKS_NS 25000000ull

/* Measured with clang and 8 KB copies at 0.1 ms: 63 % of the stacks are guessed with one deep copy
 * in 64, 64 % with one in 8. */
#define DEEP_NS 6400000ull

/* An unprivileged user's ring for each CPU (kernel.perf_event_mlock_kb), with no other source for a
 * stack's rest: of clang's stacks at 1 ms 35 % are guessed with deep copies, none without. */
enum { DEEP_RING_MIN = 512 * 1024 };

/* Whole stacks, as a rule: of clang's at 1 ms 93 % are complete and 4 % guessed with it, of 98 and
 * 1 % with the largest; 69 and 22 % with 32 KB. */
enum { WHOLE_SIZE = 48 * 1024 };

_Static_assert(COPIES_SIZE_MAX % 8 == 0, "the kernel copies whole words");

/* Bytes of the samples of a backlog. */
static uint64_t backlog_bytes(uint32_t size, uint64_t distance_ns, uint64_t backlog_ns)
{
	return (uint64_t)(size + COPIES_SAMPLE_BYTES) * (backlog_ns / distance_ns + 1);
}

static uint64_t backlog_ns(const struct sampling *sampling)
{
	return sampling_is_random(sampling) ? BACKLOG_TICKS_NS : BACKLOG_NS;
}

static struct copies choose_size(size_t ring_size, const struct sampling *sampling,
				 uint64_t deep_interval_ns)
{
	static const uint32_t sizes[] = {COPIES_SIZE_MAX, 56 * 1024, WHOLE_SIZE, 32768,
					 16384,           8192,      4096};
	size_t count = sizeof(sizes) / sizeof(sizes[0]);
	uint64_t backlog = backlog_ns(sampling);
	uint64_t deep_bytes = backlog_bytes(COPIES_SIZE_MAX, deep_interval_ns, backlog);
	bool deep = false;
	for (size_t i = 0; i < count; i++) {
		deep = ring_size >= DEEP_RING_MIN && sizes[i] < WHOLE_SIZE;
		if (backlog_bytes(sizes[i], sampling->tick_ns, backlog) + (deep ? deep_bytes : 0) <=
		    ring_size)
			return (struct copies){sizes[i], deep};
	}
	return (struct copies){sizes[count - 1], deep};
}

struct copies copies_choose(size_t ring_size, struct sampling *sampling, uint64_t deep_interval_ns)
{
	struct copies copies;
	do
		copies = choose_size(ring_size, sampling, deep_interval_ns);
	while (copies.size < WHOLE_SIZE && sampling_lessen(sampling));
	return copies;
}

void copies_fit(size_t ring_size, uint32_t size, struct sampling *sampling)
{
	while (backlog_bytes(size, sampling->tick_ns, backlog_ns(sampling)) > ring_size &&
	       sampling_lessen(sampling))
		continue;
}

uint64_t copies_deep_interval_ns(uint64_t interval_ns)
{
	uint64_t multiple = (DEEP_NS + interval_ns - 1) / interval_ns;
	return (multiple > 2 ? multiple : 2) * interval_ns;
}

uint64_t copies_refill_bytes(size_t ring_size)
{
	return ring_size * 1024 / BACKLOG_NS + 1;
}
