/*
 * Copies the used part of a thread's user stack, in chunks, to the CPU's ring. Each record is the
 * program's head, the chunk's head and the bytes.
 */
#ifndef COLLECTOR_BPF_STACK_COPY_BPF_H
#define COLLECTOR_BPF_STACK_COPY_BPF_H

#include "collector/bpf/kernel_types.bpf.h"
#include "collector/bpf/output.bpf.h"
#include "collector/bpf/stack_chunk.h"
#include "collector/bpf/wait_thread.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

enum {
	/* A program starts with its arguments above the stack pointer. */
	START_STACK_EXTRA = 256,
	ELAPSED_MAX = 1 << 20
};

/* Set by the loader; stack_source.h describes them. */
__u64 always_bytes = 4096;
__u64 refill_bytes = 1;
__u64 gather_bytes = 65536;

/* A stack to copy. */
struct part {
	__u64 start;
	__u64 size;
	__u64 ends; /* STACK_CHUNK_ENDS, or 0 */
};

/* A program's state on a CPU, where nothing interrupts it that uses the same slot. What does
 * not fit on the program's stack is here: on Linux 6.1 all calls have 512 bytes together. */
struct slot {
	__u64 tokens;
	__u64 filled_ns;
	struct part first;     /* of the copy being made, */
	struct part second;    /* the interrupted stack; size 0: there is none */
	__u32 frame_step;      /* interrupted.bpf.h: where the last signal's frame lay */
	__u32 frame_misses;    /* searches for one since then */
	struct wait_head wait; /* right before the chunk: records about waits have both */
	struct stack_chunk chunk;
	__u8 bytes[STACK_CHUNK_BYTES + STACK_CHUNK_PAGE];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* the loader: as many as there are CPUs, for each program */
	__type(key, __u32);
	__type(value, struct slot);
} slots SEC(".maps");

struct copy {
	void *context;
	struct slot *slot;
	void *head; /* where the record begins, in the slot */
	__u64 head_size;
	__u32 first_chunks;
	__u32 sp_page; /* bit of the stack pointer's page among those of the first chunk */
	__u32 sent;    /* chunks */
	__u32 absent_at_end;
	__u32 ends;       /* STACK_CHUNK_ENDS, or 0 */
	_Bool is_crowded; /* the ring: it takes no large stacks */
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

/* The stack pointer of the 64-bit user code that entered the kernel, from the registers at the top
 * of the kernel's stack; 0: there is none. */
#if defined(__TARGET_ARCH_x86)
/* User code in 64-bit mode: privilege 3, and not the selector of 32-bit code (0x23). */
static _Bool is_user_64(__u64 cs)
{
	return (cs & 3) == 3 && (cs & 0xffff) != 0x23;
}

static __u64 entered_stack_pointer(struct task_struct *task)
{
	struct pt_regs___kernel *entered = (struct pt_regs___kernel *)bpf_task_pt_regs(task);
	return is_user_64(BPF_CORE_READ(entered, cs)) ? BPF_CORE_READ(entered, sp) : 0;
}

enum { RED_ZONE = STACK_CHUNK_RED_ZONE };

static __u64 thread_pointer(struct task_struct *task)
{
	return BPF_CORE_READ(task, thread.fsbase);
}
#elif defined(__TARGET_ARCH_arm64)
/* EL0 (mode bits 0) and not AArch32 (bit 4). */
static _Bool is_user_64(__u64 pstate)
{
	return (pstate & 0x1f) == 0;
}

static __u64 entered_stack_pointer(struct task_struct *task)
{
	struct pt_regs___kernel *entered = (struct pt_regs___kernel *)bpf_task_pt_regs(task);
	return is_user_64(BPF_CORE_READ(entered, pstate)) ? BPF_CORE_READ(entered, sp) : 0;
}

enum { RED_ZONE = 0 };

static __u64 thread_pointer(struct task_struct *task)
{
	return BPF_CORE_READ(task, thread.uw.tp_value);
}
#endif

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
static void find_range(struct task_struct *task, __u64 sp, struct range *known, struct range *range)
{
	/* Read by helper: following pointers directly makes the verifier search all types by name.
	 */
	__u64 start = BPF_CORE_READ(task, mm, start_stack);
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

static _Bool same_page(__u64 a, __u64 b)
{
	return ((a ^ b) & -(__u64)STACK_CHUNK_PAGE) == 0;
}

/* A copy starts with the red zone, or with the part of the red zone in memory: a guard page may lie
 * below a stack. */
__attribute__((noinline)) __u64 find_start(struct slot *slot, __u64 sp)
{
	__u64 start = sp - RED_ZONE;
	if (!slot || same_page(start, sp) ||
	    bpf_probe_read_user(slot->bytes, RED_ZONE, (const void *)start) == 0)
		return start;
	return sp & -(__u64)STACK_CHUNK_PAGE;
}

/* The bytes of a stack to copy. Large stacks share the ring's capacity over time; of a mapping with
 * other data beside the stack, as coroutines have, at most always_bytes are copied. */
__attribute__((noinline)) __u64 choose_total(struct slot *slot, __u64 size, __u64 is_whole)
{
	if (!slot)
		return 0;
	__u64 now = bpf_ktime_get_ns();
	__u64 elapsed = (now - slot->filled_ns) >> 10;
	slot->filled_ns = now;
	slot->tokens += lesser(elapsed, ELAPSED_MAX) * refill_bytes;
	slot->tokens = lesser(slot->tokens, gather_bytes);
	size = lesser(size, STACK_CHUNK_TOTAL_MAX);
	if (size > greater(always_bytes, is_whole ? slot->tokens : 0))
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

/* Copies size bytes; returns the bits of absent pages. */
__attribute__((noinline)) __u32 copy_chunk(struct slot *slot, __u64 from, __u64 size)
{
	struct pages pages = {slot, from, from + size, 0};
	if (!slot || size > STACK_CHUNK_BYTES)
		return 0;
	if (bpf_probe_read_user(slot->bytes, size, (const void *)from) != 0)
		bpf_loop(STACK_CHUNK_PAGES, copy_page, &pages, 0);
	return pages.absent;
}

/* Sends chunk number index, counted over both stacks; 1 ends the loop. */
static long send_chunk(__u32 index, struct copy *copy)
{
	struct slot *slot = copy->slot;
	_Bool is_second = index >= copy->first_chunks;
	__u64 start = is_second ? slot->second.start : slot->first.start;
	__u64 end = start + (is_second ? slot->second.size : slot->first.size);
	__u64 before = is_second ? slot->first.size : 0;
	__u64 number = is_second ? index - copy->first_chunks : index;
	__u64 from = (start & -(__u64)STACK_CHUNK_PAGE) + number * STACK_CHUNK_BYTES;
	__u64 to = lesser(from + STACK_CHUNK_BYTES, end);
	from = greater(from, start);
	__u64 size = to - from;
	if (from >= to || size > STACK_CHUNK_BYTES)
		return 1;
	__u32 absent = copy_chunk(slot, from, size);
	/* Even the page of the stack pointer is absent: the kernel's own sample says so. */
	if (index == 0 && (absent & copy->sp_page))
		return 1;
	slot->chunk.offset = before + (from - start);
	slot->chunk.size = size;
	slot->chunk.absent = absent | copy->ends;
	copy->absent_at_end =
		absent & 1u << ((to - 1 - (from & -(__u64)STACK_CHUNK_PAGE)) / STACK_CHUNK_PAGE);
	/* The kernel puts raw_size in front. */
	if (bpf_perf_event_output(copy->context, &outputs, BPF_F_CURRENT_CPU, copy->head,
				  copy->head_size + size) != 0) {
		count_refused();
		return 1;
	}
	copy->sent++;
	return 0;
}

static void choose_part(const struct copy *copy, const struct range *range, __u64 sp,
			struct part *part)
{
	part->start = find_start(copy->slot, sp);
	part->size = choose_total(copy->slot, range->high - part->start,
				  range->whole && !copy->is_crowded);
	part->ends = part->size == range->high - part->start ? STACK_CHUNK_ENDS : 0;
}

static __u32 count_chunks(const struct part *part)
{
	__u64 end = part->start % STACK_CHUNK_PAGE + part->size;
	return (end + STACK_CHUNK_BYTES - 1) / STACK_CHUNK_BYTES;
}

/* Sends the stack at sp in chunks, and behind it the one that a signal interrupted, at outer_sp; 0:
 * there is none. Where the inner stack is not copied to its end, the signal's frame, there is no
 * way on. What of their mappings is known is in copy->slot->chunk. */
static void send_stack(struct copy *copy, const struct range *range, __u64 sp,
		       const struct range *outer, __u64 outer_sp)
{
	struct slot *slot = copy->slot;
	struct part *first = &slot->first, *second = &slot->second;
	*second = (struct part){};
	choose_part(copy, range, sp, first);
	if (outer_sp != 0 && first->ends)
		choose_part(copy, outer, outer_sp, second);
	if (first->size + second->size > STACK_CHUNK_TOTAL_MAX)
		*second = (struct part){};
	_Bool has_second = second->size > 0;
	copy->sp_page = same_page(first->start, sp) ? 1 : 2;
	copy->ends = has_second ? second->ends : first->ends;
	slot->chunk.total = first->size + second->size;
	slot->chunk.below = sp - first->start;
	slot->chunk.outer_base = second->start;
	slot->chunk.outer_offset = has_second ? first->size : 0;
	copy->first_chunks = count_chunks(first);
	bpf_loop(STACK_CHUNK_TOTAL_MAX / STACK_CHUNK_BYTES + 3, send_chunk, copy, 0);
}

#endif
