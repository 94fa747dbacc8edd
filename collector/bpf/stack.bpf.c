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
#include "collector/bpf/stack_chunk.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

/* Return values: perf_event drops the sample on 0 and writes it on 1 (bpf_overflow_handler,
 * kernel/events/core.c). */
enum { SAMPLE_SENT = 0, SAMPLE_PLAIN = 1 };

enum {
	/* A program starts with its arguments above the stack pointer. */
	START_STACK_EXTRA = 256,
	ELAPSED_MAX = 1 << 20
};

/* Set by source.c; source.h describes them. */
__u64 always_bytes = 4096;
__u64 refill_bytes = 1;
__u64 gather_bytes = 65536;
__u32 share = ~0u;
__u64 interval_ns = 1;
__u32 copies = 1;

/* One CPU's state. Another program's sample never interrupts a program at its sample. */
struct slot {
	__u64 tokens;
	__u64 filled_ns;
	struct stack_chunk chunk;
	__u8 bytes[STACK_CHUNK_BYTES + STACK_CHUNK_PAGE];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* source.c: as many as there are CPUs */
	__type(key, __u32);
	__type(value, struct slot);
} slots SEC(".maps");

/* The mapping around a thread's stack, as last seen. */
struct range {
	__u64 low;
	__u64 high;
	__u64 start; /* mm_struct.start_stack of the program at that time */
	__u64 whole; /* the mapping holds this stack alone */
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct range);
} ranges SEC(".maps");

struct copy {
	struct bpf_perf_event_data *context;
	struct slot *slot;
	__u64 start;
	__u64 total;
	__u32 sp_page; /* bit of the stack pointer's page among those of the first chunk */
	__u32 sent;    /* chunks */
	__u32 absent_at_end;
	__u32 ends; /* STACK_CHUNK_ENDS, or 0 */
};

/* Global functions: the verifier checks each once instead of in every state of every caller;
 * loading takes a tenth of the time. */
__attribute__((noinline)) __u64 lesser(__u64 a, __u64 b)
{
	return a < b ? a : b;
}

__attribute__((noinline)) __u64 greater(__u64 a, __u64 b)
{
	return a > b ? a : b;
}

/* The stack pointer of 64-bit user code; 0: there is none. A sample in kernel mode takes the
 * registers of the user code that entered the kernel, from the top of the kernel's stack. */
#if defined(__TARGET_ARCH_x86)
struct pt_regs___kernel {
	unsigned long cs;
	unsigned long sp;
} __attribute__((preserve_access_index));

/* User code in 64-bit mode: privilege 3, and not the selector of 32-bit code (0x23). */
static _Bool is_user_64(__u64 cs)
{
	return (cs & 3) == 3 && (cs & 0xffff) != 0x23;
}

static __u64 stack_pointer(const struct bpf_perf_event_data *context, struct task_struct *task)
{
	__u64 cs = context->regs.cs;
	if ((cs & 3) == 3)
		return is_user_64(cs) ? context->regs.rsp : 0;
	struct pt_regs___kernel *entered = (struct pt_regs___kernel *)bpf_task_pt_regs(task);
	return is_user_64(BPF_CORE_READ(entered, cs)) ? BPF_CORE_READ(entered, sp) : 0;
}

enum { RED_ZONE = STACK_CHUNK_RED_ZONE };

static __u64 thread_pointer(struct task_struct *task)
{
	return BPF_CORE_READ(task, thread.fsbase);
}
#elif defined(__TARGET_ARCH_arm64)
struct pt_regs___kernel {
	unsigned long long sp;
	unsigned long long pstate;
} __attribute__((preserve_access_index));

static __u64 stack_pointer(const struct bpf_perf_event_data *context, struct task_struct *task)
{
	/* EL0 (mode bits 0) and not AArch32 (bit 4). */
	if ((context->regs.pstate & 0x1f) == 0)
		return context->regs.sp;
	if ((context->regs.pstate & 0xf) == 0)
		return 0;
	struct pt_regs___kernel *entered = (struct pt_regs___kernel *)bpf_task_pt_regs(task);
	return (BPF_CORE_READ(entered, pstate) & 0x1f) == 0 ? BPF_CORE_READ(entered, sp) : 0;
}

enum { RED_ZONE = 0 };

static __u64 thread_pointer(struct task_struct *task)
{
	return BPF_CORE_READ(task, thread.uw.tp_value);
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

static long note_range(struct task_struct *task, struct vm_area_struct *vma, struct range *range)
{
	range->low = vma->vm_start;
	range->high = vma->vm_end;
	return 0;
}

/* Trims a mapping to its stack. A first thread's outermost frame is where the program's stack
 * started, with the arguments above. Another thread's outermost frame lies below the control block,
 * which the C libraries put on top of the stack. Other mappings hold other data too. */
static void trim_range(struct task_struct *task, __u64 sp, struct range *range)
{
	__u64 control = thread_pointer(task);
	range->whole = 1;
	if (range->start >= sp && range->start < range->high)
		range->high = lesser(range->start + START_STACK_EXTRA, range->high);
	else if (control > sp && control < range->high)
		range->high = control;
	else
		range->whole = 0;
}

/* The stack around sp; high is 0 if none is found. Looking up the mapping takes the lock of the
 * address space: it is done only when the thread's stack changes. Without randomization exec puts
 * the new stack in the old one's place, but seldom with the same start. */
static void find_range(struct task_struct *task, __u64 sp, struct range *range)
{
	/* Read by helper: following pointers directly makes the verifier search all types by name.
	 */
	__u64 start = BPF_CORE_READ(task, mm, start_stack);
	struct range *known =
		bpf_task_storage_get(&ranges, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (known && sp >= known->low && sp < known->high && start == known->start) {
		*range = *known;
		return;
	}
	if (bpf_find_vma(task, sp, note_range, range, 0) != 0)
		return;
	range->start = start;
	trim_range(task, sp, range);
	if (known)
		*known = *range;
}

static void forget_range(struct task_struct *task)
{
	struct range *known = bpf_task_storage_get(&ranges, task, 0, 0);
	if (known)
		known->high = 0;
}

static _Bool same_page(__u64 a, __u64 b)
{
	return ((a ^ b) & -(__u64)STACK_CHUNK_PAGE) == 0;
}

/* A copy starts with the red zone, or with the part of the red zone in memory: a guard page may lie
 * below a stack. */
static __u64 find_start(struct slot *slot, __u64 sp)
{
	__u64 start = sp - RED_ZONE;
	if (same_page(start, sp) ||
	    bpf_probe_read_user(slot->bytes, RED_ZONE, (const void *)start) == 0)
		return start;
	return sp & -(__u64)STACK_CHUNK_PAGE;
}

/* The bytes of a stack to copy. Large stacks share the ring's capacity over time; of a mapping with
 * other data beside the stack, as coroutines have, at most always_bytes are copied. */
static __u64 choose_total(struct slot *slot, const struct range *range, __u64 start)
{
	__u64 size = range->high - start;
	__u64 now = bpf_ktime_get_ns();
	__u64 elapsed = (now - slot->filled_ns) >> 10;
	slot->filled_ns = now;
	slot->tokens += lesser(elapsed, ELAPSED_MAX) * refill_bytes;
	slot->tokens = lesser(slot->tokens, gather_bytes);
	size = lesser(size, STACK_CHUNK_TOTAL_MAX);
	if (size > greater(always_bytes, range->whole ? slot->tokens : 0))
		size = always_bytes;
	slot->tokens -= lesser(size, slot->tokens);
	return size;
}

struct pages {
	struct slot *slot;
	__u64 from;
	__u64 to;
	__u32 absent;
};

/* Copies the part of [from, to) in its page number index; 1 ends the loop. A helper's loop spares
 * the verifier every combination of absent pages. */
static long copy_page(__u32 index, struct pages *pages)
{
	__u64 page = (pages->from & -(__u64)STACK_CHUNK_PAGE) + (__u64)index * STACK_CHUNK_PAGE;
	__u64 start = greater(page, pages->from);
	__u64 end = lesser(page + STACK_CHUNK_PAGE, pages->to);
	__u64 offset = start - pages->from;
	__u64 size = end - start;
	if (start >= end || offset >= STACK_CHUNK_BYTES || size > STACK_CHUNK_PAGE)
		return 1;
	if (bpf_probe_read_user(pages->slot->bytes + offset, size, (const void *)start) != 0)
		pages->absent |= 1u << (index & 31);
	return 0;
}

/* Sends chunk number index; 1 ends the loop. */
static long send_chunk(__u32 index, struct copy *copy)
{
	struct slot *slot = copy->slot;
	__u64 end = copy->start + copy->total;
	__u64 from = (copy->start & -(__u64)STACK_CHUNK_PAGE) + (__u64)index * STACK_CHUNK_BYTES;
	__u64 to = lesser(from + STACK_CHUNK_BYTES, end);
	from = greater(from, copy->start);
	__u64 size = to - from;
	if (from >= to || size > STACK_CHUNK_BYTES)
		return 1;
	struct pages pages = {slot, from, to, 0};
	if (bpf_probe_read_user(slot->bytes, size, (const void *)from) != 0)
		bpf_loop(STACK_CHUNK_PAGES, copy_page, &pages, 0);
	__u32 absent = pages.absent;
	/* Even the page of the stack pointer is absent: the kernel's own sample says so. */
	if (index == 0 && (absent & copy->sp_page))
		return 1;
	slot->chunk.offset = from - copy->start;
	slot->chunk.size = size;
	slot->chunk.absent = absent | copy->ends;
	copy->absent_at_end =
		absent & 1u << ((to - 1 - (from & -(__u64)STACK_CHUNK_PAGE)) / STACK_CHUNK_PAGE);
	/* The kernel puts raw_size in front. */
	if (bpf_perf_event_output(copy->context, &outputs, BPF_F_CURRENT_CPU, &slot->chunk.magic,
				  sizeof(slot->chunk) - sizeof(slot->chunk.raw_size) + size) != 0) {
		count_refused();
		return 1;
	}
	copy->sent++;
	return 0;
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
	if (bpf_perf_event_output(context, &outputs, BPF_F_CURRENT_CPU, &slot->chunk.magic,
				  sizeof(slot->chunk) - sizeof(slot->chunk.raw_size)) == 0)
		return SAMPLE_SENT;
	if (!drawn || absent & STACK_CHUNK_TICK)
		count_refused();
	return drawn ? SAMPLE_SENT : SAMPLE_PLAIN;
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
	struct range range = {};
	find_range(task, sp, &range);
	if (range.high <= sp || (draws && !is_in_memory(slot, sp)))
		return SAMPLE_PLAIN;
	if (draws && !is_drawn(context->sample_period))
		return send_bare(context, slot, STACK_CHUNK_LEFT_OUT | STACK_CHUNK_TICK, 1);
	if (is_left_out(slot, sp))
		return send_bare(context, slot, STACK_CHUNK_LEFT_OUT, draws);
	__u64 start = find_start(slot, sp);
	struct copy copy = {.context = context, .slot = slot, .start = start};
	copy.sp_page = same_page(start, sp) ? 1 : 2;
	copy.total = choose_total(slot, &range, start);
	copy.ends = copy.total == range.high - start ? STACK_CHUNK_ENDS : 0;
	slot->chunk.magic = STACK_CHUNK_MAGIC;
	slot->chunk.count = read_count(context);
	slot->chunk.period = context->sample_period;
	slot->chunk.total = copy.total;
	slot->chunk.below = sp - start;
	bpf_loop(STACK_CHUNK_TOTAL_MAX / STACK_CHUNK_BYTES + 1, send_chunk, &copy, 0);
	/* The top of a stack is in use; an absent top means the mapping has changed. */
	if (copy.absent_at_end)
		forget_range(task);
	if (copy.sent > 0)
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
