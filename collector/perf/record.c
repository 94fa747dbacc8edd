#include "collector/perf/record.h"

#include "collector/bpf/stack_chunk.h"
#include "collector/machine/registers.h"
#include "collector/perf/event_ids.h"
#include "profile/profile.h"
#include <assert.h>
#include <linux/perf_event.h>
#include <stddef.h>
#include <string.h>

/* With sample_id_all, records other than samples end with TID, TIME and CPU. */
struct trailer {
	uint32_t pid;
	uint32_t tid;
	uint64_t time;
	uint32_t cpu;
	uint32_t reserved;
};

_Static_assert(sizeof(struct trailer) == RECORD_TRAILER_SIZE,
	       "as perf_event_open(2) has sample_id, without holes");
_Static_assert(offsetof(struct stack_chunk, magic) == sizeof(uint32_t) &&
		       offsetof(struct thread_account, magic) == sizeof(uint32_t) &&
		       offsetof(struct wait_head, magic) == sizeof(uint32_t),
	       "they lie behind the size of the raw field, which is read apart");

/* Reads a record front to back; once it runs out, ok stays false and values are 0. */
struct cursor {
	const uint8_t *at;
	size_t left;
	bool ok;
};

static const uint8_t *take(struct cursor *cursor, uint64_t size)
{
	if (!cursor->ok || size > cursor->left) {
		cursor->ok = false;
		return NULL;
	}
	const uint8_t *at = cursor->at;
	cursor->at += size;
	cursor->left -= (size_t)size;
	return at;
}

static uint64_t take_u64(struct cursor *cursor)
{
	uint64_t value = 0;
	const uint8_t *at = take(cursor, sizeof(value));
	if (at)
		memcpy(&value, at, sizeof(value));
	return value;
}

static uint32_t take_u32(struct cursor *cursor)
{
	uint32_t value = 0;
	const uint8_t *at = take(cursor, sizeof(value));
	if (at)
		memcpy(&value, at, sizeof(value));
	return value;
}

/* A text filling the rest of the cursor; it must end inside. */
static const char *take_text(struct cursor *cursor)
{
	const char *text = (const char *)cursor->at;
	if (!cursor->ok || !memchr(text, '\0', cursor->left))
		cursor->ok = false;
	return text;
}

static bool open_cursor(const void *bytes, size_t size, struct perf_event_header *header,
			struct cursor *cursor)
{
	if (size < sizeof(*header))
		return false;
	memcpy(header, bytes, sizeof(*header));
	*cursor = (struct cursor){(const uint8_t *)bytes + sizeof(*header), size - sizeof(*header),
				  true};
	return header->size == size;
}

static void decode_registers(struct cursor *cursor, struct record_sample *sample)
{
	uint64_t values[REGISTERS_COUNT_MAX];
	uint64_t abi = take_u64(cursor);
	sample->abi = RECORD_REGISTERS_NONE;
	if (abi == PERF_SAMPLE_REGS_ABI_NONE)
		return;
	const uint8_t *at = take(cursor, registers_count() * sizeof(uint64_t));
	if (!at)
		return;
	memcpy(values, at, registers_count() * sizeof(uint64_t));
	bool is_32bit = abi != PERF_SAMPLE_REGS_ABI_64;
	registers_unpack(values, is_32bit, &sample->regs, &sample->processor_flags,
			 &sample->code_segment);
	/* A worker of the kernel's own (io_uring) has unset registers. */
	if (sample->in_kernel && sample->regs.value[registers_machine(is_32bit)->ip] == 0) {
		sample->regs = (struct uw_regs){0};
		return;
	}
	sample->abi = is_32bit ? RECORD_REGISTERS_32 : RECORD_REGISTERS_64;
	if (sample->in_kernel && !is_32bit)
		registers_enter(&sample->regs);
}

static uint64_t stack_pointer(const struct record_sample *sample)
{
	return sample->regs.value[registers_machine(sample->abi == RECORD_REGISTERS_32)->sp];
}

static void decode_stack(struct cursor *cursor, struct record_sample *sample)
{
	uint64_t size = take_u64(cursor);
	if (size == 0)
		return;
	const uint8_t *bytes = take(cursor, size);
	uint64_t copied = take_u64(cursor);
	if (!cursor->ok || copied > size)
		return;
	sample->stack = (struct uw_stack){.base = stack_pointer(sample),
					  .bytes = bytes,
					  .size = (size_t)copied,
					  .requested = (size_t)size};
}

/* Two stacks: each has bytes, and the part is of one of them. */
static bool is_outer_right(const struct stack_chunk *chunk)
{
	if (chunk->outer_base == 0)
		return chunk->outer_offset == 0;
	return chunk->outer_offset > 0 && chunk->outer_offset < chunk->total &&
	       chunk->outer_base <= UINT64_MAX - (chunk->total - chunk->outer_offset) &&
	       (chunk->offset >= chunk->outer_offset ||
		chunk->size <= chunk->outer_offset - chunk->offset);
}

static bool decode_chunk(struct cursor *cursor, const uint8_t *at, uint32_t size,
			 struct record_sample *sample)
{
	struct stack_chunk chunk;
	if (size < sizeof(chunk) - sizeof(chunk.raw_size))
		return false;
	memcpy(&chunk.magic, at, sizeof(chunk) - sizeof(chunk.raw_size));
	size -= (uint32_t)(sizeof(chunk) - sizeof(chunk.raw_size));
	bool left_out = chunk.absent & STACK_CHUNK_LEFT_OUT;
	if (chunk.magic != STACK_CHUNK_MAGIC || (chunk.size == 0) != left_out ||
	    (chunk.total == 0) != left_out || chunk.size > size ||
	    chunk.total > STACK_CHUNK_TOTAL_MAX || chunk.size > chunk.total ||
	    chunk.offset > chunk.total - chunk.size || chunk.below > STACK_CHUNK_RED_ZONE ||
	    !is_outer_right(&chunk)) {
		cursor->ok = false;
		return false;
	}
	sample->count = chunk.count;
	sample->period = chunk.period;
	sample->choice = !left_out                         ? RECORD_KEPT
			 : chunk.absent & STACK_CHUNK_TICK ? RECORD_TICK
							   : RECORD_LEFT_OUT;
	if (left_out)
		return true;
	sample->stack.bytes = at + sizeof(chunk) - sizeof(chunk.raw_size);
	sample->stack.size = sample->stack.requested = chunk.size;
	sample->stack.ends = chunk.absent & STACK_CHUNK_ENDS;
	sample->part = (struct record_part){.offset = chunk.offset,
					    .total = chunk.total,
					    .absent = (uint16_t)(chunk.absent & ~STACK_CHUNK_ENDS),
					    .below = chunk.below,
					    .outer_base = chunk.outer_base,
					    .outer_offset = chunk.outer_offset};
	return true;
}

/* What the BPF programs' raw field has beside a part of a stack; magic 0: none of it. */
struct sent {
	bool is_bpf;
	struct thread_account account;
	struct wait_head wait;
};

/* A head of a wait, and a chunk. */
static void decode_wait(struct cursor *cursor, const uint8_t *at, uint32_t size,
			struct record_sample *sample, struct wait_head *wait)
{
	size_t head_size = sizeof(*wait) - sizeof(wait->raw_size);
	struct stack_chunk chunk;
	cursor->ok = size >= head_size + sizeof(chunk.raw_size);
	if (!cursor->ok)
		return;
	memcpy(&wait->magic, at, head_size);
	at += head_size + sizeof(chunk.raw_size);
	size -= (uint32_t)(head_size + sizeof(chunk.raw_size));
	cursor->ok = decode_chunk(cursor, at, size, sample) && wait->kind <= WAIT_HEAD_WAKE;
	/* No sampling event counted for it. */
	sample->count = sample->period = 0;
	/* Whether the stack was left out or could not be had. */
	if (!(wait->flags & WAIT_HEAD_BUDGET) && sample->choice == RECORD_LEFT_OUT)
		sample->choice = RECORD_KEPT;
}

/* The BPF programs' raw field; the kernel's own samples have an empty one. */
static void decode_raw(struct cursor *cursor, struct record_sample *sample, struct sent *sent)
{
	uint32_t size = take_u32(cursor);
	const uint8_t *at = take(cursor, size);
	struct thread_account *account = &sent->account;
	uint32_t magic = 0;
	if (!at || size < sizeof(magic))
		return;
	memcpy(&magic, at, sizeof(magic));
	if (magic == WAIT_HEAD_MAGIC)
		decode_wait(cursor, at, size, sample, &sent->wait);
	else if (magic != THREAD_ACCOUNT_MAGIC)
		sent->is_bpf = decode_chunk(cursor, at, size, sample);
	else if (size == sizeof(*account) - sizeof(account->raw_size))
		memcpy(&account->magic, at, size);
	else
		cursor->ok = false;
	sent->is_bpf |= magic == WAIT_HEAD_MAGIC || magic == THREAD_ACCOUNT_MAGIC;
}

/* Without a place in user code. */
static void become_ending(struct record *record)
{
	struct record_sample *sample = &record->sample;
	record->kind = RECORD_ENDING;
	*sample = (struct record_sample){.ip = sample->ip,
					 .period = sample->period,
					 .in_kernel = true,
					 .callchain = sample->callchain,
					 .callchain_length = sample->callchain_length};
}

/* A sample of whatever ran at its sending, with an account, perhaps of another thread. */
static void become_account(const struct thread_account *account, struct record *record)
{
	record->pid = account->pid;
	record->tid = account->tid;
	if (account->kind == THREAD_ACCOUNT_ENDING) {
		become_ending(record);
		return;
	}
	record->kind = RECORD_ACCOUNT;
	memset(&record->sample, 0, sizeof(record->sample));
	record->account.cpu_ns = account->cpu_ns;
	record->account.is_renamed = account->kind == THREAD_ACCOUNT_RENAMED;
}

/* The sample of a wait keeps what is the thread's; in a wake-up, of the waker. */
static void become_wait(const struct wait_head *head, struct record *record)
{
	struct record_wait *wait = &record->wait;
	record->kind = head->kind == WAIT_HEAD_WAKE ? RECORD_WAKE : RECORD_WAIT;
	record->pid = head->pid;
	record->tid = head->tid;
	wait->call = (struct record_call){
		.begin_ns = head->age_ns < record->time_ns ? record->time_ns - head->age_ns : 0,
		.number = head->syscall >= 0 && head->syscall < PROFILE_NO_SYSCALL
				  ? (uint16_t)head->syscall
				  : PROFILE_NO_SYSCALL,
	};
	memcpy(wait->call.arguments, head->args, sizeof(head->args));
	if (head->wake_ns > 0 && head->woken_ns < record->time_ns)
		wait->woken_ns = record->time_ns - head->woken_ns;
	wait->blocked_ns = head->blocked_ns;
	wait->ready_ns = head->ready_ns;
	wait->stopped_ns = head->stopped_ns;
	wait->wake = head->wake_ns;
	wait->result = head->result;
	wait->waker_pid = head->waker_pid;
	wait->waker_tid = head->waker_tid;
	wait->blocks = head->blocks;
	wait->file_inode = head->file_inode;
	wait->file_mode = head->file_mode;
	wait->is_interrupted = head->flags & WAIT_HEAD_INTERRUPTED;
	wait->is_unended = head->flags & WAIT_HEAD_UNENDED;
	wait->is_before = head->flags & WAIT_HEAD_BEFORE;
	wait->is_32bit = head->flags & WAIT_HEAD_COMPAT;
	wait->is_away = head->flags & WAIT_HEAD_AWAY;
}

/* Between the marker of the kernel's part and the next one, or the end. */
static bool decode_callchain(struct cursor *cursor, struct record_sample *sample)
{
	uint64_t length = take_u64(cursor);
	uint64_t first = length;
	uint64_t end = length;
	if (length > cursor->left / sizeof(uint64_t))
		return false;
	const uint8_t *at = take(cursor, length * sizeof(uint64_t));
	if (!at)
		return false;
	for (uint64_t i = 0; i < end; i++) {
		uint64_t ip;
		memcpy(&ip, at + i * sizeof(ip), sizeof(ip));
		if (ip == (uint64_t)PERF_CONTEXT_KERNEL && first == length)
			first = i + 1;
		else if (ip >= (uint64_t)PERF_CONTEXT_MAX && first < length)
			end = i;
	}
	sample->callchain = at + first * sizeof(uint64_t);
	sample->callchain_length = end - first;
	return true;
}

static bool decode_sample(const struct record_format *format, struct cursor *cursor, uint16_t misc,
			  struct record *record)
{
	struct record_sample *sample = &record->sample;
	struct sent sent = {0};
	struct event_id added = {0};
	record->kind = RECORD_SAMPLE;
	bool is_added = format->ids && event_ids_find(format->ids, take_u64(cursor), &added);
	sample->in_kernel = (misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
	sample->ip = take_u64(cursor);
	record->pid = take_u32(cursor);
	record->tid = take_u32(cursor);
	record->time_ns = take_u64(cursor);
	record->cpu = take_u32(cursor);
	take_u32(cursor);
	sample->period = added.period > 0 ? added.period : take_u64(cursor);
	if (format->count) {
		sample->count = take_u64(cursor);
		if (format->lost)
			take_u64(cursor);
	}
	if (format->callchain && !decode_callchain(cursor, sample))
		return false;
	if (format->raw && is_added)
		take(cursor, take_u32(cursor)); /* a tracepoint's fields */
	else if (format->raw)
		decode_raw(cursor, sample, &sent);
	sample->is_deep = format->deep_period_ns > 0 && sample->period == format->deep_period_ns;
	if (format->registers)
		decode_registers(cursor, sample);
	if (sample->part.total > 0)
		sample->stack.base = stack_pointer(sample) - sample->part.below;
	if (format->stack && !sent.is_bpf)
		decode_stack(cursor, sample);
	if (is_added) {
		record->kind = RECORD_EVENT;
		sample->event = added.event;
		sample->is_deep = false;
	}
	if (sent.account.magic == THREAD_ACCOUNT_MAGIC)
		become_account(&sent.account, record);
	if (sent.wait.magic == WAIT_HEAD_MAGIC)
		become_wait(&sent.wait, record);
	return cursor->ok;
}

static bool take_trailer(const struct record_format *format, struct cursor *cursor,
			 struct record *record)
{
	struct trailer trailer;
	size_t id_size = format->ids ? sizeof(uint64_t) : 0;
	if (cursor->left < sizeof(trailer) + id_size)
		return false;
	cursor->left -= sizeof(trailer) + id_size;
	memcpy(&trailer, cursor->at + cursor->left, sizeof(trailer));
	record->pid = trailer.pid;
	record->tid = trailer.tid;
	record->time_ns = trailer.time;
	record->cpu = trailer.cpu;
	return true;
}

/* The file behind a mapping: its build-id, or its inode. */
static void decode_file(struct cursor *cursor, uint16_t misc, struct record_mmap *map)
{
	if (misc & PERF_RECORD_MISC_MMAP_BUILD_ID) {
		const uint8_t *id = take(cursor, 24); /* u8 size, 3 reserved bytes, 20 of id */
		if (!id)
			return;
		map->build_id_size = id[0] <= sizeof(map->build_id) ? id[0] : 0;
		memcpy(map->build_id, id + 4, map->build_id_size);
	} else {
		map->device_major = take_u32(cursor);
		map->device_minor = take_u32(cursor);
		map->inode = take_u64(cursor);
		take_u64(cursor); /* inode generation */
	}
	take_u32(cursor); /* protection: only executable mappings are asked for */
	take_u32(cursor);
}

static void decode_mmap(struct cursor *cursor, const struct perf_event_header *header,
			struct record *record)
{
	struct record_mmap *map = &record->mmap;
	record->kind = RECORD_MMAP;
	record->pid = take_u32(cursor);
	record->tid = take_u32(cursor);
	map->start = take_u64(cursor);
	map->length = take_u64(cursor);
	map->pgoff = take_u64(cursor);
	if (header->type == PERF_RECORD_MMAP2)
		decode_file(cursor, header->misc, map);
	map->path = take_text(cursor);
}

static void decode_task(struct cursor *cursor, enum record_kind kind, struct record *record)
{
	record->kind = kind;
	record->pid = take_u32(cursor);
	record->fork.parent_pid = take_u32(cursor);
	record->tid = take_u32(cursor);
	record->fork.parent_tid = take_u32(cursor);
	record->time_ns = take_u64(cursor);
}

/* Only of the trailer's task: the event is a thread's own. */
static void decode_switch(uint16_t misc, struct record *record)
{
	record->kind = RECORD_SWITCH;
	memset(record, 0, record_extent(record));
	record->kind = RECORD_SWITCH;
	record->switched.out = (misc & PERF_RECORD_MISC_SWITCH_OUT) != 0;
	record->switched.preempted =
		record->switched.out && (misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT) != 0;
}

static bool decode_event(const struct perf_event_header *header, struct cursor *cursor,
			 struct record *record)
{
	switch (header->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		decode_mmap(cursor, header, record);
		break;
	case PERF_RECORD_COMM:
		record->kind = RECORD_COMM;
		record->pid = take_u32(cursor);
		record->tid = take_u32(cursor);
		record->comm.exec = (header->misc & PERF_RECORD_MISC_COMM_EXEC) != 0;
		record->comm.name = take_text(cursor);
		break;
	case PERF_RECORD_FORK:
		decode_task(cursor, RECORD_FORK, record);
		break;
	case PERF_RECORD_EXIT:
		decode_task(cursor, RECORD_EXIT, record);
		break;
	case PERF_RECORD_READ:
		record->kind = RECORD_COUNT;
		record->pid = take_u32(cursor);
		record->tid = take_u32(cursor);
		record->count = take_u64(cursor);
		break;
	case PERF_RECORD_LOST:
		record->kind = RECORD_LOST;
		take_u64(cursor);
		record->lost = take_u64(cursor);
		break;
	case PERF_RECORD_LOST_SAMPLES:
		record->kind = RECORD_LOST;
		record->lost = take_u64(cursor);
		break;
	case PERF_RECORD_THROTTLE:
		record->kind = RECORD_THROTTLE;
		break;
	case PERF_RECORD_UNTHROTTLE:
		record->kind = RECORD_UNTHROTTLE;
		break;
	case PERF_RECORD_SWITCH:
		decode_switch(header->misc, record);
		break;
	default:
		record->kind = RECORD_OTHER;
		break;
	}
	return cursor->ok;
}

bool record_decode(const struct record_format *format, const void *bytes, size_t size,
		   struct record *record)
{
	struct perf_event_header header;
	struct cursor cursor;
	if (!open_cursor(bytes, size, &header, &cursor))
		return false;
	if (header.type == PERF_RECORD_SWITCH) {
		decode_switch(header.misc, record);
		return take_trailer(format, &cursor, record);
	}
	memset(record, 0, sizeof(*record));
	if (header.type == PERF_RECORD_SAMPLE)
		return decode_sample(format, &cursor, header.misc, record);
	return take_trailer(format, &cursor, record) && decode_event(&header, &cursor, record);
}

bool record_decode_event(const void *bytes, size_t size, struct record *record)
{
	struct perf_event_header header;
	struct cursor cursor;
	memset(record, 0, sizeof(*record));
	return open_cursor(bytes, size, &header, &cursor) && header.type != PERF_RECORD_SAMPLE &&
	       decode_event(&header, &cursor, record);
}

bool record_decode_switch(uint32_t type, uint16_t misc,
			  const uint8_t trailer[static RECORD_TRAILER_SIZE],
			  struct record_switch *found)
{
	struct trailer task;
	if (type != PERF_RECORD_SWITCH && type != PERF_RECORD_EXIT)
		return false;
	memcpy(&task, trailer, sizeof(task));
	*found = (struct record_switch){task.time, task.pid, task.tid, RECORD_ENDED, task.cpu};
	if (type == PERF_RECORD_SWITCH)
		found->kind = !(misc & PERF_RECORD_MISC_SWITCH_OUT)        ? RECORD_SWITCHED_IN
			      : misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT ? RECORD_PREEMPTED
									   : RECORD_BLOCKED;
	return true;
}

bool record_time(const struct record_format *format, const void *bytes, size_t size,
		 uint64_t *time_ns)
{
	struct perf_event_header header;
	size_t id_size = format->ids ? sizeof(uint64_t) : 0;
	if (size < sizeof(header))
		return false;
	memcpy(&header, bytes, sizeof(header));
	size_t offset = sizeof(header) + id_size + 16; /* after IP and TID */
	if (header.type != PERF_RECORD_SAMPLE)
		offset = size - id_size - 16; /* before CPU */
	if (size < sizeof(header) + id_size + 16 || offset + sizeof(*time_ns) > size)
		return false;
	memcpy(time_ns, (const uint8_t *)bytes + offset, sizeof(*time_ns));
	return true;
}

bool record_has_stack(const struct record *record)
{
	return record->kind == RECORD_SAMPLE || record->kind == RECORD_EVENT ||
	       record->kind == RECORD_WAIT || record->kind == RECORD_WAKE;
}

size_t record_leave_out(struct record *record)
{
	assert(record_has_stack(record));
	size_t size = record->sample.stack.size + record->sample.outer.size;
	record->sample.choice = RECORD_LEFT_OUT;
	record->sample.stack.size = record->sample.outer.size = 0;
	return size;
}
