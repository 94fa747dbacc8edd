/* The system call that a thread is in, by the registers at its entry into the kernel. */
#ifndef COLLECTOR_BPF_WAIT_CALL_BPF_H
#define COLLECTOR_BPF_WAIT_CALL_BPF_H

#include "collector/bpf/kernel_types.bpf.h"
#include "collector/bpf/wait_head.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

enum {
	CALL_INTERRUPTED = 4, /* EINTR */
	KILL_BIT = 1 << 8,    /* of a set of signals: SIGKILL */
	KERNEL_STACK_SIZE = 16384,
	/* linux/errno.h; a user never sees them */
	RESTART_SYS = 512,
	RESTART_NO_INTR = 513,
	RESTART_NO_HAND = 514,
	RESTART_BLOCK = 516
};

struct call {
	__s32 syscall; /* -1: in none, but in a page fault or interrupt of user code */
	__u32 flags;   /* WAIT_HEAD_COMPAT */
	__u64 args[6]; /* syscall -1: the address of the code */
};

#if defined(__TARGET_ARCH_x86)
enum { STATUS_COMPAT = 2 }; /* TS_COMPAT */

enum {
	CALL_WRITE = 1,
	CALL_CLOSE = 3,
	CALL_WRITEV = 20,
	CALL_NANOSLEEP = 35,
	CALL_SENDFILE = 40,
	CALL_CONNECT = 42,
	CALL_SENDTO = 44,
	CALL_SENDMSG = 46,
	CALL_SHUTDOWN = 48,
	CALL_EXECVE = 59,
	CALL_EXIT = 60,
	CALL_FUTEX = 202,
	CALL_RESTART = 219,
	CALL_CLOCK_NANOSLEEP = 230,
	CALL_EXIT_GROUP = 231,
	CALL_SENDMMSG = 307,
	CALL_EXECVEAT = 322
};

static __s32 syscall_of(const struct pt_regs___kernel *regs)
{
	return (__s32)regs->orig_ax;
}

static void read_call(struct task_struct *task, struct call *call)
{
	struct pt_regs___kernel *regs = (void *)bpf_task_pt_regs(task);
	call->syscall = (__s32)regs->orig_ax;
	call->args[0] = call->syscall < 0 ? regs->ip : regs->di;
	call->args[1] = regs->si;
	call->args[2] = regs->dx;
	call->args[3] = regs->r10;
	call->args[4] = regs->r8;
	call->args[5] = regs->r9;
	call->flags = task->thread_info.status & STATUS_COMPAT ? WAIT_HEAD_COMPAT : 0;
}
#elif defined(__TARGET_ARCH_arm64)
enum {
	CALL_CLOSE = 57,
	CALL_WRITE = 64,
	CALL_WRITEV = 66,
	CALL_SENDFILE = 71,
	CALL_EXIT = 93,
	CALL_EXIT_GROUP = 94,
	CALL_FUTEX = 98,
	CALL_NANOSLEEP = 101,
	CALL_CLOCK_NANOSLEEP = 115,
	CALL_RESTART = 128,
	CALL_CONNECT = 203,
	CALL_SENDTO = 206,
	CALL_SHUTDOWN = 210,
	CALL_SENDMSG = 211,
	CALL_EXECVE = 221,
	CALL_SENDMMSG = 269,
	CALL_EXECVEAT = 281
};

static __s32 syscall_of(const struct pt_regs___kernel *regs)
{
	return regs->syscallno;
}

static void read_call(struct task_struct *task, struct call *call)
{
	struct pt_regs___kernel *regs = (void *)bpf_task_pt_regs(task);
	call->syscall = regs->syscallno;
	call->args[0] = call->syscall < 0 ? regs->pc : regs->orig_x0;
	call->args[1] = regs->regs[1];
	call->args[2] = regs->regs[2];
	call->args[3] = regs->regs[3];
	call->args[4] = regs->regs[4];
	call->args[5] = regs->regs[5];
	/* AArch32: bit 4 of the saved state. */
	call->flags = regs->pstate & 0x10 ? WAIT_HEAD_COMPAT : 0;
}
#endif

/* A call that gives something to another thread, maybe through the network's protocols. */
static _Bool is_sending(__s32 syscall)
{
	return syscall == CALL_WRITE || syscall == CALL_CLOSE || syscall == CALL_WRITEV ||
	       syscall == CALL_SENDFILE || syscall == CALL_CONNECT || syscall == CALL_SENDTO ||
	       syscall == CALL_SENDMSG || syscall == CALL_SHUTDOWN || syscall == CALL_SENDMMSG;
}

/* Woken by a call on the same word, or by a timer. */
static _Bool is_futex_or_sleep(__s32 syscall)
{
	return syscall == CALL_FUTEX || syscall == CALL_NANOSLEEP ||
	       syscall == CALL_CLOCK_NANOSLEEP;
}

static _Bool is_exec(__s32 syscall)
{
	return syscall == CALL_EXECVE || syscall == CALL_EXECVEAT;
}

static _Bool is_exit(__s32 syscall)
{
	return syscall == CALL_EXIT || syscall == CALL_EXIT_GROUP;
}

/* The kernel's way to say that the call is to be made again, or to end with EINTR: a signal's
 * handler decides, later. */
static _Bool is_restart(__s64 result)
{
	return result == -RESTART_SYS || result == -RESTART_NO_INTR || result == -RESTART_NO_HAND ||
	       result == -RESTART_BLOCK;
}

/* The file of a descriptor: its kind and number; 0: there is none. A call without a descriptor may
 * have another argument that looks like one. */
static void read_file(struct task_struct *task, __u64 descriptor, struct wait_head *head)
{
	struct fdtable *table = BPF_CORE_READ(task, files, fdt);
	struct file **files = BPF_CORE_READ(table, fd);
	struct file *file = 0;
	head->file_inode = head->file_mode = 0;
	if (descriptor >= BPF_CORE_READ(table, max_fds) ||
	    bpf_probe_read_kernel(&file, sizeof(file), files + descriptor) != 0 || !file)
		return;
	struct inode *inode = BPF_CORE_READ(file, f_inode);
	head->file_mode = BPF_CORE_READ(inode, i_mode);
	head->file_inode = BPF_CORE_READ(inode, i_ino);
}

/* The thread will never see its call's end. */
static _Bool has_kill(struct task_struct *task)
{
	return (BPF_CORE_READ(task, pending.signal.sig[0]) & KILL_BIT) != 0;
}

#endif
