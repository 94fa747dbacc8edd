#include "tests/collector/record_encode.h"

#include "collector/bpf/stack_chunk.h"
#include "collector/bpf/wait_head.h"
#include "collector/machine/registers.h"
#include "profile/profile.h"
#include <linux/perf_event.h>
#include <string.h>

struct output {
	uint8_t *bytes;
	size_t capacity;
	size_t size;
	bool ok;
};

static void put(struct output *output, const void *bytes, size_t size)
{
	if (!output->ok || size > output->capacity - output->size) {
		output->ok = false;
		return;
	}
	if (size > 0)
		memcpy(output->bytes + output->size, bytes, size);
	output->size += size;
}

static void put_u64(struct output *output, uint64_t value)
{
	put(output, &value, sizeof(value));
}

static void put_u32_pair(struct output *output, uint32_t first, uint32_t second)
{
	put(output, &first, sizeof(first));
	put(output, &second, sizeof(second));
}

static void put_text(struct output *output, const char *text)
{
	static const char zeros[8];
	size_t length = strlen(text) + 1;
	put(output, text, length);
	put(output, zeros, (8 - length % 8) % 8);
}

/* The reverse of registers_unpack, which is asked where it puts each value. Registers that it drops
 * are 0. */
static void pack_registers(const struct record_sample *sample, uint64_t *values)
{
	uint64_t numbers[REGISTERS_COUNT_MAX];
	struct uw_regs places = {0};
	uint64_t flags = 0;
	uint16_t segment = 0;
	memset(values, 0, registers_count() * sizeof(*values));
	for (size_t i = 0; i < registers_count(); i++)
		numbers[i] = i + 1;
	registers_unpack(numbers, sample->abi == RECORD_REGISTERS_32, &places, &flags, &segment);
	for (size_t i = 0; i < UW_REGS_MAX; i++)
		if (places.value[i] > 0)
			values[places.value[i] - 1] = sample->regs.value[i];
	if (flags > 0)
		values[flags - 1] = sample->processor_flags;
	if (segment > 0)
		values[segment - 1] = sample->code_segment;
}

static void put_registers(struct output *output, const struct record_sample *sample)
{
	uint64_t values[REGISTERS_COUNT_MAX];
	uint64_t abi = sample->abi == RECORD_REGISTERS_NONE ? PERF_SAMPLE_REGS_ABI_NONE
		       : sample->abi == RECORD_REGISTERS_32 ? PERF_SAMPLE_REGS_ABI_32
							    : PERF_SAMPLE_REGS_ABI_64;
	put_u64(output, abi);
	if (sample->abi == RECORD_REGISTERS_NONE)
		return;
	pack_registers(sample, values);
	put(output, values, registers_count() * sizeof(uint64_t));
}

static void put_stack(struct output *output, const struct uw_stack *stack)
{
	put_u64(output, stack->requested);
	if (stack->requested == 0)
		return;
	put(output, stack->bytes, stack->size);
	for (size_t i = stack->size; i < stack->requested; i++)
		put(output, "", 1);
	put_u64(output, stack->size);
}

static void put_account(struct output *output, const struct record *record)
{
	struct thread_account account = {
		.raw_size = sizeof(account) - sizeof(account.raw_size),
		.magic = THREAD_ACCOUNT_MAGIC,
		.pid = record->pid,
		.tid = record->tid,
		.kind = THREAD_ACCOUNT_ENDING,
	};
	if (record->kind == RECORD_ACCOUNT) {
		account.kind =
			record->account.is_renamed ? THREAD_ACCOUNT_RENAMED : THREAD_ACCOUNT_WHOLE;
		account.cpu_ns = record->account.cpu_ns;
	}
	put(output, &account, sizeof(account));
}

/* BPF sends it, or says that it does not. */
static bool has_chunk(const struct record_sample *sample)
{
	return sample->part.total > 0 || sample->choice == RECORD_LEFT_OUT ||
	       sample->choice == RECORD_TICK;
}

/* Like BPF's: begin_ns is before the record, and less than 2^32 ns. */
static struct wait_head make_head(const struct record *record)
{
	const struct record_wait *wait = &record->wait;
	struct wait_head head = {
		.magic = WAIT_HEAD_MAGIC,
		.kind = record->kind == RECORD_WAKE ? WAIT_HEAD_WAKE : WAIT_HEAD_WAIT,
		.flags = (wait->is_interrupted ? WAIT_HEAD_INTERRUPTED : 0) |
			 (wait->is_unended ? WAIT_HEAD_UNENDED : 0) |
			 (wait->is_before ? WAIT_HEAD_BEFORE : 0) |
			 (wait->is_32bit ? WAIT_HEAD_COMPAT : 0) |
			 (wait->is_away ? WAIT_HEAD_AWAY : 0) |
			 (wait->sample.choice == RECORD_LEFT_OUT ? WAIT_HEAD_BUDGET : 0),
		.pid = record->pid,
		.tid = record->tid,
		.age_ns = record->time_ns - wait->call.begin_ns,
		.woken_ns = record->time_ns - wait->woken_ns,
		.blocked_ns = wait->blocked_ns,
		.ready_ns = wait->ready_ns,
		.stopped_ns = wait->stopped_ns,
		.wake_ns = wait->wake,
		.waker_pid = wait->waker_pid,
		.waker_tid = wait->waker_tid,
		.syscall = wait->call.number == PROFILE_NO_SYSCALL ? -1 : wait->call.number,
		.blocks = wait->blocks,
		.result = wait->result,
		.file_inode = wait->file_inode,
		.file_mode = wait->file_mode,
	};
	memcpy(head.args, wait->call.arguments, sizeof(head.args));
	return head;
}

static bool is_wait(const struct record *record)
{
	return record->kind == RECORD_WAIT || record->kind == RECORD_WAKE;
}

/* Behind the head of a wait. */
static void put_chunk(struct output *output, const struct record *record)
{
	static const char zeros[8];
	const struct record_sample *sample = &record->sample;
	size_t padding = (8 - sample->stack.size % 8) % 8;
	struct stack_chunk chunk = {
		.magic = STACK_CHUNK_MAGIC,
		.count = sample->count,
		.period = sample->period,
		.offset = sample->part.offset,
		.size = (uint32_t)sample->stack.size,
		.total = sample->part.total,
		.absent = (uint16_t)(sample->part.absent |
				     (sample->stack.ends ? STACK_CHUNK_ENDS : 0) |
				     (sample->part.total == 0 ? STACK_CHUNK_LEFT_OUT : 0) |
				     (sample->choice == RECORD_TICK ? STACK_CHUNK_TICK : 0)),
		.below = sample->part.below,
		.outer_base = sample->part.outer_base,
		.outer_offset = sample->part.outer_offset,
	};
	uint32_t size =
		(uint32_t)(sizeof(chunk) - sizeof(chunk.raw_size) + sample->stack.size + padding);
	chunk.raw_size = size;
	if (is_wait(record)) {
		struct wait_head head = make_head(record);
		head.raw_size = size + (uint32_t)sizeof(head);
		put(output, &head, sizeof(head));
	}
	put(output, &chunk, sizeof(chunk));
	put(output, sample->stack.bytes, sample->stack.size);
	put(output, zeros, padding);
}

/* With an account it is a sample of nothing. */
static void encode_sample(const struct record_format *format, const struct record *record,
			  struct output *output)
{
	static const struct record nothing;
	bool is_account = record->kind == RECORD_ACCOUNT || record->kind == RECORD_ENDING;
	const struct record_sample *sample =
		record->kind == RECORD_ACCOUNT ? &nothing.sample : &record->sample;
	bool is_sent = format->raw && (is_account || is_wait(record) || has_chunk(sample));
	if ((is_account || is_wait(record)) && !format->raw)
		output->ok = false;
	put_u64(output, sample->ip);
	put_u32_pair(output, record->pid, record->tid);
	put_u64(output, record->time_ns);
	put_u32_pair(output, record->cpu, 0);
	put_u64(output, sample->period);
	if (format->count)
		put_u64(output, sample->count);
	if (format->count && format->lost)
		put_u64(output, 0);
	if (format->callchain) {
		put_u64(output, sample->callchain_length + 1);
		put_u64(output, (uint64_t)PERF_CONTEXT_KERNEL);
		put(output, sample->callchain, sample->callchain_length * sizeof(uint64_t));
	}
	if (format->raw && is_account)
		put_account(output, record);
	else if (is_sent)
		put_chunk(output, record);
	else if (format->raw)
		put_u32_pair(output, sizeof(uint32_t), 0);
	if (format->registers)
		put_registers(output, sample);
	if (format->stack && !is_sent)
		put_stack(output, &sample->stack);
}

static void encode_mmap(const struct record *record, struct output *output)
{
	const struct record_mmap *map = &record->mmap;
	put_u32_pair(output, record->pid, record->tid);
	put_u64(output, map->start);
	put_u64(output, map->length);
	put_u64(output, map->pgoff);
	if (map->build_id_size > 0) {
		uint8_t id[24] = {(uint8_t)map->build_id_size};
		memcpy(id + 4, map->build_id, sizeof(map->build_id));
		put(output, id, sizeof(id));
	} else {
		put_u32_pair(output, map->device_major, map->device_minor);
		put_u64(output, map->inode);
		put_u64(output, 0);
	}
	put_u32_pair(output, 0, 0);
	put_text(output, map->path);
}

static uint32_t encode_other(const struct record *record, struct output *output)
{
	switch (record->kind) {
	case RECORD_MMAP:
		encode_mmap(record, output);
		return PERF_RECORD_MMAP2;
	case RECORD_COMM:
		put_u32_pair(output, record->pid, record->tid);
		put_text(output, record->comm.name);
		return PERF_RECORD_COMM;
	case RECORD_FORK:
	case RECORD_EXIT:
		put_u32_pair(output, record->pid, record->fork.parent_pid);
		put_u32_pair(output, record->tid, record->fork.parent_tid);
		put_u64(output, record->time_ns);
		return record->kind == RECORD_FORK ? PERF_RECORD_FORK : PERF_RECORD_EXIT;
	case RECORD_COUNT:
		put_u32_pair(output, record->pid, record->tid);
		put_u64(output, record->count);
		return PERF_RECORD_READ;
	case RECORD_LOST:
		put_u64(output, 0);
		put_u64(output, record->lost);
		return PERF_RECORD_LOST;
	case RECORD_THROTTLE:
	case RECORD_UNTHROTTLE:
		put_u64(output, record->time_ns);
		put_u64(output, 0);
		put_u64(output, 0);
		return record->kind == RECORD_THROTTLE ? PERF_RECORD_THROTTLE
						       : PERF_RECORD_UNTHROTTLE;
	case RECORD_SWITCH:
		return PERF_RECORD_SWITCH;
	default:
		output->ok = false;
		return 0;
	}
}

static uint16_t encode_misc(const struct record *record)
{
	if (record_has_stack(record))
		return record->sample.in_kernel ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER;
	if (record->kind == RECORD_MMAP && record->mmap.build_id_size > 0)
		return PERF_RECORD_MISC_USER | PERF_RECORD_MISC_MMAP_BUILD_ID;
	if (record->kind == RECORD_COMM && record->comm.exec)
		return PERF_RECORD_MISC_USER | PERF_RECORD_MISC_COMM_EXEC;
	if (record->kind == RECORD_SWITCH)
		return (uint16_t)((record->switched.out ? PERF_RECORD_MISC_SWITCH_OUT : 0) |
				  (record->switched.preempted ? PERF_RECORD_MISC_SWITCH_OUT_PREEMPT
							      : 0));
	return PERF_RECORD_MISC_USER;
}

size_t record_encode(const struct record_format *format, const struct record *record, void *bytes,
		     size_t capacity)
{
	struct perf_event_header header = {.misc = encode_misc(record)};
	struct output output = {bytes, capacity < UINT16_MAX ? capacity : UINT16_MAX, 0, true};
	put(&output, &header, sizeof(header));
	if (record->kind == RECORD_SAMPLE || record->kind == RECORD_ACCOUNT ||
	    record->kind == RECORD_ENDING || is_wait(record)) {
		header.type = PERF_RECORD_SAMPLE;
		encode_sample(format, record, &output);
	} else {
		header.type = encode_other(record, &output);
		put_u32_pair(&output, record->pid, record->tid);
		put_u64(&output, record->time_ns);
		put_u32_pair(&output, record->cpu, 0);
	}
	if (!output.ok)
		return 0;
	header.size = (uint16_t)output.size;
	memcpy(bytes, &header, sizeof(header));
	return output.size;
}
