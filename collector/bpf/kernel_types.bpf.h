/* Fields of the kernel's types used by the BPF programs; their places come from the kernel's
 * BTF. */
#ifndef COLLECTOR_BPF_KERNEL_TYPES_BPF_H
#define COLLECTOR_BPF_KERNEL_TYPES_BPF_H

#include <linux/bpf.h>

enum {
	/* task_struct.flags: PF_ names of linux/sched.h */
	TASK_EXITING = 0x4,
	TASK_IO_WORKER = 0x10,
	TASK_KERNEL_THREAD = 0x200000,
	/* of task_struct.__state */
	TASK_STOPPED_OR_TRACED = 0xc,
	TASK_MAY_SLEEP = 0x1000 + 0x3 /* sleeps, interruptibly or not, or for a lock (PREEMPT_RT) */
};

/* The registers of user code at its entry into the kernel. */
#if defined(__TARGET_ARCH_x86)
struct pt_regs___kernel {
	unsigned long r10;
	unsigned long r9;
	unsigned long r8;
	unsigned long dx;
	unsigned long si;
	unsigned long di;
	unsigned long orig_ax;
	unsigned long ip;
	unsigned long cs;
	unsigned long sp;
} __attribute__((preserve_access_index));

struct thread_info {
	__u32 status;
} __attribute__((preserve_access_index));
#else
struct pt_regs___kernel {
	unsigned long long regs[31];
	unsigned long long sp;
	unsigned long long pc;
	unsigned long long pstate;
	unsigned long long orig_x0;
	__s32 syscallno;
} __attribute__((preserve_access_index));
#endif

struct inode {
	unsigned short i_mode;
	unsigned long i_ino;
} __attribute__((preserve_access_index));

struct file {
	struct inode *f_inode;
} __attribute__((preserve_access_index));

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
} __attribute__((preserve_access_index));

struct files_struct {
	struct fdtable *fdt;
} __attribute__((preserve_access_index));

struct sigset {
	unsigned long sig[1];
};

struct sigpending {
	struct sigset signal;
} __attribute__((preserve_access_index));

struct mm_struct {
	unsigned long start_stack;
} __attribute__((preserve_access_index));

struct thread_struct {
#if defined(__TARGET_ARCH_x86)
	unsigned long fsbase;
#else
	struct {
		unsigned long tp_value;
	} uw;
#endif
} __attribute__((preserve_access_index));

struct sched_entity {
	__u64 sum_exec_runtime;
} __attribute__((preserve_access_index));

struct task_struct {
#if defined(__TARGET_ARCH_x86)
	struct thread_info thread_info;
#endif
	unsigned int __state;
	int on_cpu; /* not in kernels for one CPU */
	struct sigpending pending;
	int pid;  /* a thread's id */
	int tgid; /* its process's */
	unsigned int flags;
	__u64 start_time;
	unsigned long sas_ss_sp; /* of the alternate signal stack */
	unsigned long sas_ss_size;
	struct mm_struct *mm;
	struct files_struct *files;
	struct sched_entity se;
	struct thread_struct thread;
} __attribute__((preserve_access_index));

/* Since Linux 6.2. */
struct task_struct___one_context {
	void *perf_event_ctxp;
} __attribute__((preserve_access_index));

/* Before: of the hardware's events, and of software's. */
struct task_struct___two_contexts {
	void *perf_event_ctxp[2];
} __attribute__((preserve_access_index));

struct vm_area_struct {
	unsigned long vm_start;
	unsigned long vm_end;
} __attribute__((preserve_access_index));

struct event_count {
	__s64 value;
};

struct hw_perf_event {
	__u64 sample_period;
} __attribute__((preserve_access_index));

struct ring_count {
	__u64 a;
} __attribute__((preserve_access_index));

/* kernel/events/internal.h; perf_event_mmap_page: linux/perf_event.h. */
struct perf_event_mmap_page {
	__u64 data_tail;
	__u64 data_size;
} __attribute__((preserve_access_index));

struct perf_buffer {
	struct ring_count head;
	struct perf_event_mmap_page *user_page;
} __attribute__((preserve_access_index));

struct perf_event {
	struct perf_event *parent;
	struct perf_buffer *rb;
	struct event_count count;
	struct hw_perf_event hw;
} __attribute__((preserve_access_index));

/* An array of events has entries at ptrs. */
struct bpf_array {
	void *ptrs[0];
} __attribute__((preserve_access_index));

struct bpf_event_entry {
	struct perf_event *event;
} __attribute__((preserve_access_index));

struct bpf_perf_event_data_kern {
	void *regs;
	void *data;
	struct perf_event *event;
} __attribute__((preserve_access_index));

#endif
