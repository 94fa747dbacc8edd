#include "tools/perf_data/perf_record.h"

#include "tools/memory/xalloc.h"
#include <assert.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
	COMM_LIMIT = 16,   /* TASK_COMM_LEN */
	PATH_LIMIT = 4096, /* PATH_MAX */
	SYMBOL_LIMIT = 256,
	FINISHED_ROUND = 68, /* tools/perf/Documentation/perf.data-file-format.txt */
	BUILD_ID_MAX = 20,
	FLUSH_SIZE = 256 << 10,
};

void perf_bytes_add(struct perf_bytes *bytes, const void *more, size_t size)
{
	xalloc_room(&bytes->bytes, &bytes->capacity, bytes->size + size, 1);
	memcpy(bytes->bytes + bytes->size, more, size);
	bytes->size += size;
}

void perf_bytes_add_u32(struct perf_bytes *bytes, uint32_t number)
{
	perf_bytes_add(bytes, &number, sizeof(number));
}

void perf_bytes_add_u64(struct perf_bytes *bytes, uint64_t number)
{
	perf_bytes_add(bytes, &number, sizeof(number));
}

/* The bytes of whole characters (UTF-8) below the limit. */
static size_t measure_text(const char *text, size_t limit)
{
	size_t length = strnlen(text, limit);
	if (length < limit)
		return length;
	for (length--; length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80; length--)
		;
	return length;
}

void perf_bytes_add_text(struct perf_bytes *bytes, const char *text, size_t limit, size_t align)
{
	static const char zeros[64];
	size_t length = measure_text(text, limit);
	perf_bytes_add(bytes, text, length);
	perf_bytes_add(bytes, zeros, align - length % align);
}

void perf_writer_flush(struct perf_writer *writer)
{
	fwrite(writer->records.bytes, 1, writer->records.size, writer->stream);
	writer->records.size = 0;
}

void perf_writer_finish(struct perf_writer *writer)
{
	free(writer->records.bytes);
	*writer = (struct perf_writer){0};
}

void perf_writer_begin(struct perf_writer *writer, uint32_t type, uint16_t flags)
{
	const struct perf_event_header header = {.type = type, .misc = flags};
	writer->start = writer->records.size;
	perf_bytes_add(&writer->records, &header, sizeof(header));
}

static void count_record(struct perf_writer *writer, size_t size)
{
	writer->written += size;
	if (writer->records.size >= FLUSH_SIZE)
		perf_writer_flush(writer);
}

void perf_writer_end(struct perf_writer *writer)
{
	size_t whole = writer->records.size - writer->start;
	uint16_t size = (uint16_t)whole;
	memcpy(writer->records.bytes + writer->start + offsetof(struct perf_event_header, size),
	       &size, sizeof(size));
	count_record(writer, whole);
}

/* The identity behind records that are no samples: struct sample_id of the header. */
static void end_with_cpu(struct perf_writer *writer, const struct perf_task *task, uint32_t cpu)
{
	struct perf_bytes *record = &writer->records;
	perf_bytes_add_u32(record, task->pid);
	perf_bytes_add_u32(record, task->tid);
	perf_bytes_add_u64(record, task->time_ns);
	perf_bytes_add_u64(record, cpu); /* 32 bits of it unused */
	perf_bytes_add_u64(record, PERF_EVENT_SAMPLES);
	perf_writer_end(writer);
}

/* Without a CPU. */
static void end_with_id(struct perf_writer *writer, const struct perf_task *task)
{
	end_with_cpu(writer, task, 0);
}

void perf_write_comm(struct perf_writer *writer, const struct perf_task *task, const char *name,
		     bool is_exec)
{
	struct perf_bytes *record = &writer->records;
	perf_writer_begin(writer, PERF_RECORD_COMM, is_exec ? PERF_RECORD_MISC_COMM_EXEC : 0);
	perf_bytes_add_u32(record, task->pid);
	perf_bytes_add_u32(record, task->tid);
	perf_bytes_add_text(record, name, COMM_LIMIT, 8);
	end_with_id(writer, task);
}

static void write_life(struct perf_writer *writer, uint32_t type, uint16_t flags,
		       const struct perf_task *task, uint32_t parent)
{
	struct perf_bytes *record = &writer->records;
	perf_writer_begin(writer, type, flags);
	perf_bytes_add_u32(record, task->pid);
	perf_bytes_add_u32(record, parent);
	perf_bytes_add_u32(record, task->tid);
	perf_bytes_add_u32(record, parent);
	perf_bytes_add_u64(record, task->time_ns);
	end_with_id(writer, task);
}

void perf_write_fork(struct perf_writer *writer, const struct perf_task *task, uint32_t parent)
{
	/* perf gives the child its parent's mappings, unless the flag says that they are given. */
	bool is_thread = task->pid != task->tid;
	write_life(writer, PERF_RECORD_FORK, is_thread ? 0 : PERF_RECORD_MISC_FORK_EXEC, task,
		   parent);
}

void perf_write_exit(struct perf_writer *writer, const struct perf_task *task)
{
	write_life(writer, PERF_RECORD_EXIT, 0, task, task->pid);
}

static void add_file(struct perf_bytes *record, const struct perf_mapping *mapping)
{
	if (mapping->build_id_size == 0) {
		perf_bytes_add_u32(record, mapping->device_major);
		perf_bytes_add_u32(record, mapping->device_minor);
		perf_bytes_add_u64(record, mapping->inode);
		perf_bytes_add_u64(record, 0); /* generation */
		return;
	}
	char build_id[BUILD_ID_MAX] = {0};
	memcpy(build_id, mapping->build_id, mapping->build_id_size);
	perf_bytes_add_u32(record, mapping->build_id_size);
	perf_bytes_add(record, build_id, sizeof(build_id));
}

void perf_write_mapping(struct perf_writer *writer, const struct perf_task *task,
			const struct perf_mapping *mapping)
{
	struct perf_bytes *record = &writer->records;
	uint16_t flags = mapping->build_id_size > 0 ? PERF_RECORD_MISC_MMAP_BUILD_ID : 0;
	perf_writer_begin(writer, PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER | flags);
	perf_bytes_add_u32(record, task->pid);
	perf_bytes_add_u32(record, task->tid);
	perf_bytes_add_u64(record, mapping->start);
	perf_bytes_add_u64(record, mapping->length);
	perf_bytes_add_u64(record, mapping->pgoff);
	add_file(record, mapping);
	perf_bytes_add_u32(record, PROT_READ | PROT_EXEC);
	perf_bytes_add_u32(record, MAP_PRIVATE);
	perf_bytes_add_text(record, mapping->path, PATH_LIMIT, 8);
	end_with_id(writer, task);
}

void perf_write_symbol(struct perf_writer *writer, uint64_t start, uint32_t length,
		       const char *name)
{
	struct perf_bytes *record = &writer->records;
	perf_writer_begin(writer, PERF_RECORD_KSYMBOL, PERF_RECORD_MISC_KERNEL);
	perf_bytes_add_u64(record, start);
	perf_bytes_add_u32(record, length);
	perf_bytes_add_u32(record, PERF_RECORD_KSYMBOL_TYPE_UNKNOWN); /* and no flags */
	perf_bytes_add_text(record, name, SYMBOL_LIMIT, 8);
	end_with_id(writer, &(struct perf_task){.pid = UINT32_MAX});
}

void perf_write_switch(struct perf_writer *writer, const struct perf_task *task, uint32_t cpu,
		       enum perf_switch_kind kind)
{
	static const uint16_t flags[] = {
		[PERF_SWITCH_IN] = 0,
		[PERF_SWITCH_OUT] = PERF_RECORD_MISC_SWITCH_OUT,
		[PERF_SWITCH_OUT_PREEMPTED] =
			PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT,
	};
	perf_writer_begin(writer, PERF_RECORD_SWITCH, flags[kind]);
	end_with_cpu(writer, task, cpu);
}

uint64_t perf_record_context(uint64_t address)
{
	return address >> 63 ? PERF_CONTEXT_KERNEL : PERF_CONTEXT_USER;
}

/* What is in front of a sample's callchain, by the event's sample_type. */
struct sample_head {
	struct perf_event_header header;
	uint64_t id;
	uint64_t ip;
	uint32_t pid, tid;
	uint64_t time;
	uint64_t cpu; /* and 32 bits unused */
	uint64_t period;
	uint64_t count; /* of the chain's entries */
};
_Static_assert(sizeof(struct sample_head) == 64, "no padding");

/* Results are exported by the million samples: each byte is written once, in one piece. */
void perf_write_sample(struct perf_writer *writer, const struct perf_sample *sample)
{
	assert(sample->count >= 2 && sample->count <= PERF_RECORD_CHAIN_MAX);
	struct perf_bytes *records = &writer->records;
	size_t chain_size = sample->count * sizeof(*sample->chain);
	const struct sample_head head = {
		.header = {.type = PERF_RECORD_SAMPLE,
			   .misc = sample->chain[0] == PERF_CONTEXT_KERNEL ? PERF_RECORD_MISC_KERNEL
									   : PERF_RECORD_MISC_USER,
			   .size = (uint16_t)(sizeof(head) + chain_size)},
		.id = sample->event,
		.ip = sample->chain[1],
		.pid = sample->task.pid,
		.tid = sample->task.tid,
		.time = sample->task.time_ns,
		.cpu = sample->cpu,
		.period = sample->period,
		.count = sample->count,
	};
	xalloc_room(&records->bytes, &records->capacity, records->size + head.header.size, 1);
	memcpy(records->bytes + records->size, &head, sizeof(head));
	memcpy(records->bytes + records->size + sizeof(head), sample->chain, chain_size);
	records->size += head.header.size;
	count_record(writer, head.header.size);
}

void perf_write_round(struct perf_writer *writer)
{
	perf_writer_begin(writer, FINISHED_ROUND, 0);
	perf_writer_end(writer);
}
