#include "collector/stream/record_copy.h"

#include <assert.h>
#include <string.h>

/* What a record points to: at most two pieces. */
struct pieces {
	const void *bytes[2];
	size_t sizes[2];
};

static struct pieces find_pieces(const struct record *record)
{
	const struct record_sample *sample = &record->sample;
	switch (record->kind) {
	case RECORD_SAMPLE:
	case RECORD_EVENT:
	case RECORD_ENDING:
	case RECORD_WAIT:
	case RECORD_WAKE:
		return (struct pieces){{sample->callchain, sample->stack.bytes},
				       {(size_t)sample->callchain_length * sizeof(uint64_t),
					sample->stack.size + sample->outer.size}};
	case RECORD_SYNC_WAIT:
	case RECORD_SYNC_WAKE:
	case RECORD_SYNC_NEW:
		return (struct pieces){{sample->stack.bytes}, {sample->stack.size}};
	case RECORD_LOOK:
		return (struct pieces){{record->look.file, sample->stack.bytes},
				       {record->look.file ? strlen(record->look.file) + 1 : 0,
					sample->stack.size}};
	case RECORD_MMAP:
		return (struct pieces){{record->mmap.path}, {strlen(record->mmap.path) + 1}};
	case RECORD_COMM:
		return (struct pieces){{record->comm.name}, {strlen(record->comm.name) + 1}};
	default:
		return (struct pieces){0};
	}
}

/* Points a copied record to the copies of its pieces. */
static void relocate(struct record *record, uint8_t *const at[2])
{
	switch (record->kind) {
	case RECORD_SAMPLE:
	case RECORD_EVENT:
	case RECORD_ENDING:
	case RECORD_WAIT:
	case RECORD_WAKE:
		record->sample.callchain = at[0];
		record->sample.stack.bytes = at[1];
		record->sample.outer.bytes = at[1] + record->sample.stack.size;
		break;
	case RECORD_SYNC_WAIT:
	case RECORD_SYNC_WAKE:
	case RECORD_SYNC_NEW:
		record->sample.stack.bytes = at[0];
		break;
	case RECORD_LOOK:
		record->look.file = record->look.file ? (const char *)at[0] : NULL;
		record->sample.stack.bytes = at[1];
		break;
	case RECORD_MMAP:
		record->mmap.path = (const char *)at[0];
		break;
	case RECORD_COMM:
		record->comm.name = (const char *)at[0];
		break;
	default:
		break;
	}
}

static size_t align(size_t size)
{
	return (size + RECORD_COPY_ALIGNMENT - 1) & ~(size_t)(RECORD_COPY_ALIGNMENT - 1);
}

size_t record_copy_size(const struct record *record)
{
	struct pieces pieces = find_pieces(record);
	size_t size = align(pieces.sizes[0]) + align(pieces.sizes[1]);
	assert(size <= RECORD_COPY_MAX);
	return size;
}

void record_copy(struct record *to, const struct record *record, void *bytes)
{
	struct pieces pieces = find_pieces(record);
	assert((uintptr_t)bytes % RECORD_COPY_ALIGNMENT == 0);
	uint8_t *const at[] = {bytes, (uint8_t *)bytes + align(pieces.sizes[0])};
	memcpy(to, record, record_extent(record));
	for (size_t i = 0; i < 2; i++)
		if (pieces.sizes[i] > 0)
			memcpy(at[i], pieces.bytes[i], pieces.sizes[i]);
	relocate(to, at);
}
