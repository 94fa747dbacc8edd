/*
 * Runs at each sample of a followed thread, or at each tick of a CPU to draw samples of followed
 * threads. Sends exactly the used part of the thread's stack, in chunks, to the CPU's ring, instead
 * of the kernel's sample. A case unknown to the program leaves the sample to the kernel, with its
 * plain copy of the stack.
 *
 * The output event has the sampling event's format: address, thread, time and registers are the
 * kernel's own. Only helpers of Linux 5.17 are used.
 */
#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>

#include "collector/bpf/follow.bpf.h"
#include "collector/bpf/interrupted.bpf.h"
#include "collector/bpf/stack_chunk.h"
#include "collector/bpf/stack_copy.bpf.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

/* Return values: perf_event drops the sample on 0 and writes it on 1 (bpf_overflow_handler,
 * kernel/events/core.c). */
enum { SAMPLE_SENT = 0, SAMPLE_PLAIN = 1 };

/* Set by source.c; source.h describes them. */
__u32 share = ~0u;
__u64 interval_ns = 1;
__u32 copies = 1;

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct range);
} ranges SEC(".maps");

/* A sample in kernel mode takes the registers of the user code that entered the kernel. */
#if defined(__TARGET_ARCH_x86)
static __u64 stack_pointer(const struct bpf_perf_event_data *context, struct task_struct *task)
{
	__u64 cs = context->regs.cs;
	if ((cs & 3) == 3)
		return is_user_64(cs) ? context->regs.rsp : 0;
	return entered_stack_pointer(task);
}
#elif defined(__TARGET_ARCH_arm64)
static __u64 stack_pointer(const struct bpf_perf_event_data *context, struct task_struct *task)
{
	if (is_user_64(context->regs.pstate))
		return context->regs.sp;
	return (context->regs.pstate & 0xf) == 0 ? 0 : entered_stack_pointer(task);
}
#endif

/* bpf_perf_prog_read_value refuses inherited events (perf_event_read_local), although their count
 * is up to date: the timer of the task clock reads the count before each sample. */
static __u64 read_count(struct bpf_perf_event_data *context)
{
	struct bpf_perf_event_data_kern *kernel = (void *)context;
	struct perf_event *event = 0;
	__u64 count = 0;
	if (bpf_core_read(&event, sizeof(event), &kernel->event) != 0)
		return 0;
	bpf_core_read(&count, sizeof(count), &event->count);
	return count;
}

/* Whether the ring of the samples is more than half full: its reader is late. An inherited event
 * writes to its parent's (perf_output_begin, kernel/events/ring_buffer.c). */
static _Bool is_crowded(struct bpf_perf_event_data *context)
{
	struct bpf_perf_event_data_kern *kernel = (void *)context;
	struct perf_event *event = 0, *parent = 0;
	if (bpf_core_read(&event, sizeof(event), &kernel->event) != 0 ||
	    bpf_core_read(&parent, sizeof(parent), &event->parent) != 0)
		return 0;
	return is_ring_crowded(parent ? parent : event, 4);
}

static void forget_range(struct task_struct *task)
{
	struct range *known = bpf_task_storage_get(&ranges, task, 0, 0);
	if (known)
		known->high = 0;
}

/* Draws whether a tick is a sample (sampling_keeps). period: the distance of ticks. */
static _Bool is_drawn(__u64 period)
{
	return period >= interval_ns || bpf_get_prandom_u32() < (period << 32) / interval_ns;
}

static _Bool is_in_memory(struct slot *slot, __u64 sp)
{
	return bpf_probe_read_user(slot->bytes, 1, (const void *)sp) == 0;
}

/* Draws by share, where there is a stack to copy. A plain sample is drawn once, by its reader. */
static _Bool is_left_out(struct slot *slot, __u64 sp)
{
	return bpf_get_prandom_u32() > share && is_in_memory(slot, sp);
}

/* Sends the sample without a stack: a stack left out costs nothing. absent: STACK_CHUNK_* bits.
 * drawn: never falls back to a plain sample, which its reader would draw again; a full ring then
 * loses the sample, and ticks are counted as refused. */
static int send_bare(struct bpf_perf_event_data *context, struct slot *slot, __u16 absent,
		     _Bool drawn)
{
	slot->chunk.magic = STACK_CHUNK_MAGIC;
	slot->chunk.count = read_count(context);
	slot->chunk.period = context->sample_period;
	slot->chunk.offset = slot->chunk.size = slot->chunk.total = 0;
	slot->chunk.absent = absent;
	slot->chunk.below = 0;
	slot->chunk.outer_base = slot->chunk.outer_offset = 0;
	if (bpf_perf_event_output(context, &outputs, BPF_F_CURRENT_CPU, &slot->chunk.magic,
				  sizeof(slot->chunk) - sizeof(slot->chunk.raw_size)) == 0)
		return SAMPLE_SENT;
	if (!drawn || absent & STACK_CHUNK_TICK)
		count_refused();
	return drawn ? SAMPLE_SENT : SAMPLE_PLAIN;
}

/* The stacks of a sample. */
struct stacks {
	struct range range;
	struct range outer;
	__u64 sp;
	__u64 outer_sp; /* 0: there is none */
};

enum { COPY_SENT = 1, COPY_LACKS_END = 2 };

/* A global function: the programs and their ways here are too many to check it in each. */
__attribute__((noinline)) int send_copy(struct bpf_perf_event_data *context, struct slot *slot,
					const struct stacks *stacks)
{
	if (!slot || !stacks)
		return 0;
	struct copy copy = {.context = context, .slot = slot, .head = &slot->chunk.magic};
	copy.head_size = sizeof(slot->chunk) - sizeof(slot->chunk.raw_size);
	if (stacks->outer_sp != 0 || stacks->range.high - stacks->sp + RED_ZONE > always_bytes)
		copy.is_crowded = is_crowded(context);
	send_stack(&copy, &stacks->range, stacks->sp, &stacks->outer, stacks->outer_sp);
	return (copy.sent > 0 ? COPY_SENT : 0) | (copy.absent_at_end ? COPY_LACKS_END : 0);
}

/* Of a handler on an alternate stack also what the signal interrupted. */
static void find_outer(struct task_struct *task, struct slot *slot, struct range *known,
		       struct stacks *stacks)
{
	__u64 sp = interrupted_stack_pointer(slot, stacks->range.low, stacks->range.high);
	if (sp == 0) {
		find_range(task, stacks->sp, known, &stacks->range);
		return;
	}
	find_range(task, sp, known, &stacks->outer);
	stacks->outer_sp = stacks->outer.high > sp ? sp : 0;
}

/* draws: ticks are still to be drawn: here, or by the reader for a plain sample. */
static int sample(struct bpf_perf_event_data *context, _Bool draws)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct slot *slot = bpf_map_lookup_elem(&slots, &cpu);
	struct task_struct *task = bpf_get_current_task_btf();
	__u64 sp = stack_pointer(context, task);
	if (!slot || sp == 0)
		return SAMPLE_PLAIN;
	struct range *known =
		bpf_task_storage_get(&ranges, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	struct stacks stacks = {.sp = sp};
	_Bool is_alternate = find_alternate(task, sp, &stacks.range);
	if (!is_alternate)
		find_range(task, sp, known, &stacks.range);
	if (stacks.range.high <= sp || (draws && !is_in_memory(slot, sp)))
		return SAMPLE_PLAIN;
	if (draws && !is_drawn(context->sample_period))
		return send_bare(context, slot, STACK_CHUNK_LEFT_OUT | STACK_CHUNK_TICK, 1);
	if (is_left_out(slot, sp))
		return send_bare(context, slot, STACK_CHUNK_LEFT_OUT, draws);
	if (is_alternate)
		find_outer(task, slot, known, &stacks);
	slot->chunk.magic = STACK_CHUNK_MAGIC;
	slot->chunk.count = read_count(context);
	slot->chunk.period = context->sample_period;
	int sent = send_copy(context, slot, &stacks);
	/* The top of a stack is in use; an absent top means the mapping has changed. */
	if (sent & COPY_LACKS_END)
		forget_range(task);
	if (sent & COPY_SENT)
		return SAMPLE_SENT;
	return draws ? send_bare(context, slot, STACK_CHUNK_LEFT_OUT, 1) : SAMPLE_PLAIN;
}

SEC("perf_event")
int sample_stack(struct bpf_perf_event_data *context)
{
	return sample(context, context->sample_period < interval_ns);
}

/* The event's distance of ticks now; the context has the one of its opening. */
static __u64 read_period(struct bpf_perf_event_data *context)
{
	struct bpf_perf_event_data_kern *kernel = (void *)context;
	struct perf_event *event = 0;
	__u64 period = 0;
	if (bpf_core_read(&event, sizeof(event), &kernel->event) == 0)
		bpf_core_read(&period, sizeof(period), &event->hw.sample_period);
	return period;
}

/* An ending thread is in the kernel, without a stack. The sample's own ids are 0 or -1 once the
 * kernel has freed them (perf_event_pid_type, kernel/events/core.c). */
static void send_ending(struct bpf_perf_event_data *context, __u64 ids)
{
	struct thread_account account = {
		.magic = THREAD_ACCOUNT_MAGIC,
		.pid = ids >> 32,
		.tid = (__u32)ids,
		.kind = THREAD_ACCOUNT_ENDING,
	};
	if (bpf_perf_event_output(context, &outputs, BPF_F_CURRENT_CPU, &account.magic,
				  sizeof(account) - sizeof(account.raw_size)) != 0)
		count_refused();
}

/* Runs at each tick of a CPU's clock. */
SEC("perf_event")
int sample_cpu(struct bpf_perf_event_data *context)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u64 ids = bpf_get_current_pid_tgid();
	__u32 process = ids >> 32;
	if (process == held || !is_followed(process) || !is_drawn(read_period(context)))
		return SAMPLE_SENT;
	if (has_events(task))
		return copies ? sample(context, 0) : SAMPLE_PLAIN;
	if (has_ended(task))
		send_ending(context, ids);
	return SAMPLE_SENT;
}

char LICENSE[] SEC("license") = "GPL";
