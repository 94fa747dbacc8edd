/*
 * A signal's handler on an alternate stack: where that stack lies, and the stack pointer of the
 * code that the signal interrupted.
 */
#ifndef COLLECTOR_BPF_INTERRUPTED_BPF_H
#define COLLECTOR_BPF_INTERRUPTED_BPF_H

#include "collector/bpf/kernel_types.bpf.h"
#include "collector/bpf/stack_copy.bpf.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

/* Whether sp is on the task's alternate stack, which *range is then. A handler with SS_AUTODISARM
 * runs on one that the kernel has forgotten. */
static _Bool find_alternate(struct task_struct *task, __u64 sp, struct range *range)
{
	__u64 low = BPF_CORE_READ(task, sas_ss_sp);
	__u64 size = BPF_CORE_READ(task, sas_ss_size);
	if (sp - low >= size)
		return 0;
	*range = (struct range){.low = low, .high = low + size, .whole = 1};
	return 1;
}

#if defined(__TARGET_ARCH_x86)
/* The signal's frame lies at the top of the stack, below the saved state of the floating point
 * unit, whose size differs: it begins at a multiple of 64 bytes (get_sigframe,
 * arch/x86/kernel/signal.c; arch/x86/include/asm/sigframe.h). With all of AMX's it has 11 KB. */
enum {
	STATE_ALIGNMENT = 64,
	STATES_MAX = 192,
	SIGNAL_FRAME_BELOW = 456,   /* from the state down to struct rt_sigframe, with alignment */
	SIGNAL_FRAME_STACK = 24,    /* in it: uc.uc_stack, */
	SIGNAL_FRAME_POINTER = 168, /* uc.uc_mcontext.sp */
	MISSES_MAX = 16,            /* in a row; from then on, each MISSES_EACH-th searches */
	MISSES_EACH = 64
};

struct frame_search {
	__u64 low; /* the alternate stack */
	__u64 high;
	struct slot *slot;
	__u64 found; /* the frame; 0: none */
};

/* A frame has the alternate stack itself, as sigaltstack(2) was told it. 1 ends the loop. */
static long look_at_frame(__u32 step, struct frame_search *search)
{
	__u64 top = search->high & -(__u64)STATE_ALIGNMENT;
	__u64 at = top - (__u64)step * STATE_ALIGNMENT - SIGNAL_FRAME_BELOW;
	__u64 stack[3] = {};
	if (at < search->low)
		return 1;
	if (bpf_probe_read_user(stack, sizeof(stack), (const void *)(at + SIGNAL_FRAME_STACK)) != 0)
		return 0;
	if (stack[0] != search->low || stack[2] != search->high - search->low)
		return 0;
	search->found = at;
	search->slot->frame_step = step;
	search->slot->frame_misses = 0;
	return 1;
}

/* The stack pointer of the interrupted code; 0: not found. Nearly all frames of a machine lie at
 * the same distance: the last one's is tried first. */
__attribute__((noinline)) __u64 interrupted_stack_pointer(struct slot *slot, __u64 low, __u64 high)
{
	struct frame_search search = {.low = low, .high = high, .slot = slot};
	__u64 sp = 0;
	if (!slot)
		return 0;
	look_at_frame(slot->frame_step, &search);
	if (!search.found) {
		__u32 misses = slot->frame_misses++;
		if (misses < MISSES_MAX || misses % MISSES_EACH == 0)
			bpf_loop(STATES_MAX, look_at_frame, &search, 0);
	}
	if (search.found)
		bpf_probe_read_user(&sp, sizeof(sp),
				    (const void *)(search.found + SIGNAL_FRAME_POINTER));
	return sp;
}
#else
static __u64 interrupted_stack_pointer(struct slot *slot, __u64 low, __u64 high)
{
	(void)slot;
	(void)low;
	(void)high;
	return 0;
}
#endif

#endif
