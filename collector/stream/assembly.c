#include "collector/stream/assembly.h"

#include "collector/bpf/stack_chunk.h"
#include "containers/array.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* One ring's unfinished sample. */
struct pending {
	struct record record; /* as its first part came, the stack apart */
	uint8_t *bytes;
	size_t capacity;
	size_t size; /* that came; 0: nothing is unfinished */
	bool absent;
};

struct assembly {
	size_t count;
	struct pending rings[];
};

struct assembly *assembly_create(size_t rings)
{
	struct assembly *assembly = calloc(1, sizeof(*assembly) + rings * sizeof(struct pending));
	if (assembly)
		assembly->count = rings;
	return assembly;
}

void assembly_destroy(struct assembly *assembly)
{
	if (!assembly)
		return;
	for (size_t i = 0; i < assembly->count; i++)
		free(assembly->rings[i].bytes);
	free(assembly);
}

static bool is_part(const struct record *record)
{
	return record_has_stack(record) && record->sample.part.total > 0;
}

static bool continues(const struct pending *pending, const struct record *record)
{
	return is_part(record) && record->sample.part.offset == pending->size &&
	       record->sample.part.total == pending->record.sample.part.total &&
	       record->kind == pending->record.kind && record->tid == pending->record.tid &&
	       record->sample.stack.base == pending->record.sample.stack.base &&
	       record->sample.part.outer_base == pending->record.sample.part.outer_base &&
	       record->sample.part.outer_offset == pending->record.sample.part.outer_offset;
}

/* The outer stack's bytes come last. */
static void part_outer(struct record_sample *sample, bool is_whole)
{
	size_t size = sample->stack.size, inner = sample->part.outer_offset;
	if (sample->part.outer_base == 0)
		return;
	sample->outer = (struct uw_stack){.base = sample->part.outer_base,
					  .bytes = sample->stack.bytes + inner,
					  .size = size > inner ? size - inner : 0,
					  .requested = size > inner ? size - inner : 0,
					  .ends = sample->stack.ends};
	sample->stack.size = sample->stack.requested = size < inner ? size : inner;
	sample->stack.ends = is_whole;
}

/* The sample with what came of its stack. */
static void finish(struct pending *pending, struct record *record)
{
	bool is_whole = !pending->absent && pending->size == pending->record.sample.part.total;
	*record = pending->record;
	record->sample.stack.bytes = pending->bytes;
	record->sample.stack.size = pending->size;
	record->sample.stack.requested = pending->size;
	record->sample.stack.ends = pending->record.sample.stack.ends && is_whole;
	part_outer(&record->sample, is_whole);
	record->sample.stack_absent = pending->absent;
	record->sample.part = (struct record_part){0};
	pending->size = 0;
}

bool assembly_cut(struct assembly *assembly, size_t ring, const struct record *record,
		  struct record *unfinished)
{
	assert(ring < assembly->count);
	struct pending *pending = &assembly->rings[ring];
	if (pending->size == 0 || (record && continues(pending, record)))
		return false;
	finish(pending, unfinished);
	return true;
}

/* Absent pages are counted from the page that the part starts in. */
static void mark_absent(const struct record_sample *part, uint8_t *bytes)
{
	uint32_t outer = part->part.outer_offset;
	bool is_outer = outer > 0 && part->part.offset >= outer;
	uint64_t start = is_outer ? part->part.outer_base + (part->part.offset - outer)
				  : part->stack.base + part->part.offset;
	uint64_t end = start + part->stack.size;
	uint64_t page = start & ~(uint64_t)(STACK_CHUNK_PAGE - 1);
	for (unsigned i = 0; i <= STACK_CHUNK_PAGES && page < end; i++, page += STACK_CHUNK_PAGE) {
		uint64_t from = page < start ? start : page;
		uint64_t to = page + STACK_CHUNK_PAGE < end ? page + STACK_CHUNK_PAGE : end;
		if (part->part.absent >> i & 1)
			memset(bytes + (from - start), ASSEMBLY_ABSENT_BYTE, (size_t)(to - from));
	}
}

/* Without memory the sample keeps its registers: it must not be lost. */
static bool give_up(struct pending *pending, struct record *record)
{
	pending->size = 0;
	record->sample.stack.size = record->sample.stack.requested = 0;
	record->sample.stack.ends = false;
	record->sample.part = (struct record_part){0};
	return true;
}

bool assembly_add(struct assembly *assembly, struct record *record)
{
	struct pending *pending = &assembly->rings[record->source];
	struct record_sample *sample = &record->sample;
	if (!is_part(record))
		return true;
	assert(pending->size == 0 || continues(pending, record)); /* by assembly_cut */
	if (sample->stack.size == sample->part.total && sample->part.absent == 0) {
		sample->part = (struct record_part){0};
		return true;
	}
	/* A later part whose first one is missing: its sample came without it. */
	if (sample->part.offset != pending->size ||
	    sample->stack.size > sample->part.total - sample->part.offset)
		return false;
	if (pending->size == 0) {
		pending->record = *record;
		pending->absent = false;
	}
	size_t callchain_size = (size_t)pending->record.sample.callchain_length * sizeof(uint64_t);
	if (!array_reserve(&pending->bytes, &pending->capacity, sample->part.total + callchain_size,
			   1))
		return give_up(pending, record);
	/* The first part's record goes back to the kernel before the last one comes. */
	if (pending->size == 0 && callchain_size > 0)
		pending->record.sample.callchain = memcpy(pending->bytes + sample->part.total,
							  sample->callchain, callchain_size);
	assert(pending->size + sample->stack.size <= pending->capacity);
	uint8_t *to = pending->bytes + pending->size;
	memcpy(to, sample->stack.bytes, sample->stack.size);
	mark_absent(sample, to);
	pending->absent = pending->absent || sample->part.absent != 0;
	pending->size += sample->stack.size;
	pending->record.time_ns = record->time_ns;
	if (pending->size < sample->part.total)
		return false;
	finish(pending, record);
	return true;
}
