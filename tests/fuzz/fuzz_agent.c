/*
 * Feeds the reader of the memory shared with the library in the target. The input is a script of a
 * hostile writer: a byte for the ring, one for what else changes, and the bytes written there. What
 * decodes must lie inside its record and be in order, and all must end.
 */
#include "collector/agent/channel.h"
#include "collector/preload/agent_source.h"
#include "collector/stream/drain.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { RINGS = 4 };

/* Records are taken here, not by a drain. */
bool drain_add_source(struct drain *drain, const struct source *source)
{
	(void)drain, (void)source;
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool holds)
{
	if (!holds)
		abort();
}

static struct channel *make_channel(void)
{
	static struct channel *channel;
	if (!channel)
		channel = mmap(NULL, CHANNEL_SIZE, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	expect(channel != MAP_FAILED);
	for (size_t ring = 0; ring < RINGS; ring++) {
		channel->controls[ring] = (struct channel_control){0};
		channel->owners[ring] = 0;
	}
	return channel;
}

static void take_all(const struct source *source)
{
	const void *bytes;
	size_t size;
	uint64_t time_ns;
	uint64_t last_ns = 0;
	source->kind->refresh(source);
	while (source->kind->peek(source, &bytes, &size)) {
		struct record record;
		expect(source->kind->time(source, bytes, size, &time_ns));
		expect(time_ns >= last_ns);
		last_ns = time_ns;
		if (source->kind->decode(source, bytes, size, &record)) {
			const struct uw_stack *stack = &record.sync.sample.stack;
			expect(record.time_ns == time_ns && record.sync.begin_ns <= time_ns);
			expect(stack->size == 0 ||
			       (stack->bytes >= (const uint8_t *)bytes &&
				stack->bytes + stack->size <= (const uint8_t *)bytes + size));
		}
		source->kind->consume(source, size);
	}
}

/* Writes bytes into a ring and moves its head as told. Returns the script's rest. */
static const uint8_t *write_piece(struct channel *channel, const uint8_t *at, const uint8_t *end)
{
	size_t ring = at[0] % RINGS;
	unsigned what = at[1];
	size_t count = (size_t)(end - at - 3) < at[2] ? (size_t)(end - at - 3) : at[2];
	struct channel_control *control = &channel->controls[ring];
	for (size_t i = 0; i < count; i++)
		channel->rings[ring][(control->head + i) % CHANNEL_RING_SIZE] = at[3 + i];
	channel->owners[ring] = what & 1 ? (uint64_t)getpid() << 32 | (uint32_t)gettid() : what;
	control->head += what & 2 ? count / 8 * 8 : count;
	if (what & 4)
		control->head += (uint64_t)what << (what % 60);
	if (what & 8)
		control->tail = what;
	return at + 3 + count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct channel *channel = make_channel();
	struct agent_source *agent = agent_source_create(channel);
	struct agent_source_counts counts;
	if (!agent)
		return 0;
	struct source source = agent_source_of(agent);
	const uint8_t *end = data + size;
	while (end - data >= 3) {
		bool takes = (data[1] & 16) != 0;
		bool refreshes = (data[1] & 32) != 0;
		data = write_piece(channel, data, end);
		if (takes)
			source.kind->take(&source);
		if (refreshes)
			take_all(&source);
	}
	take_all(&source);
	agent_source_counts(agent, &counts);
	agent_source_destroy(agent);
	return 0;
}
