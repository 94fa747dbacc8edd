#include "tools/waits/wait_call.h"

#include <stddef.h>

/* Linux, arch/x86/entry/syscalls/syscall_64.tbl: calls in which threads wait. */
static const struct known_call {
	uint16_t number;
	uint16_t type; /* enum wait_type */
	const char *name;
} known_calls[] = {
	{0, WAIT_TYPE_STREAM, "read"},
	{1, WAIT_TYPE_STREAM, "write"},
	{2, WAIT_TYPE_CALL, "open"},
	{3, WAIT_TYPE_CALL, "close"},
	{4, WAIT_TYPE_CALL, "stat"},
	{5, WAIT_TYPE_CALL, "fstat"},
	{6, WAIT_TYPE_CALL, "lstat"},
	{7, WAIT_TYPE_POLL, "poll"},
	{9, WAIT_TYPE_CALL, "mmap"},
	{10, WAIT_TYPE_CALL, "mprotect"},
	{11, WAIT_TYPE_CALL, "munmap"},
	{12, WAIT_TYPE_CALL, "brk"},
	{16, WAIT_TYPE_CALL, "ioctl"},
	{17, WAIT_TYPE_STREAM, "pread64"},
	{18, WAIT_TYPE_STREAM, "pwrite64"},
	{19, WAIT_TYPE_STREAM, "readv"},
	{20, WAIT_TYPE_STREAM, "writev"},
	{21, WAIT_TYPE_CALL, "access"},
	{23, WAIT_TYPE_POLL, "select"},
	{24, WAIT_TYPE_CALL, "sched_yield"},
	{25, WAIT_TYPE_CALL, "mremap"},
	{26, WAIT_TYPE_CALL, "msync"},
	{28, WAIT_TYPE_CALL, "madvise"},
	{34, WAIT_TYPE_SIGNAL, "pause"},
	{35, WAIT_TYPE_SLEEP, "nanosleep"},
	{40, WAIT_TYPE_STREAM, "sendfile"},
	{42, WAIT_TYPE_SOCKET, "connect"},
	{43, WAIT_TYPE_SOCKET, "accept"},
	{44, WAIT_TYPE_SOCKET, "sendto"},
	{45, WAIT_TYPE_SOCKET, "recvfrom"},
	{46, WAIT_TYPE_SOCKET, "sendmsg"},
	{47, WAIT_TYPE_SOCKET, "recvmsg"},
	{56, WAIT_TYPE_CHILD, "clone"},
	{57, WAIT_TYPE_CALL, "fork"},
	{58, WAIT_TYPE_CHILD, "vfork"},
	{59, WAIT_TYPE_CALL, "execve"},
	{60, WAIT_TYPE_CALL, "exit"},
	{61, WAIT_TYPE_CHILD, "wait4"},
	{65, WAIT_TYPE_IPC, "semop"},
	{69, WAIT_TYPE_IPC, "msgsnd"},
	{70, WAIT_TYPE_IPC, "msgrcv"},
	{72, WAIT_TYPE_FILE_LOCK, "fcntl"},
	{73, WAIT_TYPE_FILE_LOCK, "flock"},
	{74, WAIT_TYPE_STREAM, "fsync"},
	{75, WAIT_TYPE_STREAM, "fdatasync"},
	{76, WAIT_TYPE_CALL, "truncate"},
	{77, WAIT_TYPE_STREAM, "ftruncate"},
	{78, WAIT_TYPE_STREAM, "getdents"},
	{82, WAIT_TYPE_CALL, "rename"},
	{83, WAIT_TYPE_CALL, "mkdir"},
	{84, WAIT_TYPE_CALL, "rmdir"},
	{85, WAIT_TYPE_CALL, "creat"},
	{86, WAIT_TYPE_CALL, "link"},
	{87, WAIT_TYPE_CALL, "unlink"},
	{89, WAIT_TYPE_CALL, "readlink"},
	{101, WAIT_TYPE_CALL, "ptrace"},
	{128, WAIT_TYPE_SIGNAL, "rt_sigtimedwait"},
	{130, WAIT_TYPE_SIGNAL, "rt_sigsuspend"},
	{149, WAIT_TYPE_CALL, "mlock"},
	{162, WAIT_TYPE_CALL, "sync"},
	{187, WAIT_TYPE_STREAM, "readahead"},
	{202, WAIT_TYPE_FUTEX, "futex"},
	{208, WAIT_TYPE_DEVICE, "io_getevents"},
	{217, WAIT_TYPE_STREAM, "getdents64"},
	{220, WAIT_TYPE_IPC, "semtimedop"},
	{230, WAIT_TYPE_SLEEP, "clock_nanosleep"},
	{231, WAIT_TYPE_CALL, "exit_group"},
	{232, WAIT_TYPE_POLL, "epoll_wait"},
	{242, WAIT_TYPE_IPC, "mq_timedsend"},
	{243, WAIT_TYPE_IPC, "mq_timedreceive"},
	{247, WAIT_TYPE_CHILD, "waitid"},
	{257, WAIT_TYPE_CALL, "openat"},
	{262, WAIT_TYPE_CALL, "newfstatat"},
	{263, WAIT_TYPE_CALL, "unlinkat"},
	{264, WAIT_TYPE_CALL, "renameat"},
	{267, WAIT_TYPE_CALL, "readlinkat"},
	{269, WAIT_TYPE_CALL, "faccessat"},
	{270, WAIT_TYPE_POLL, "pselect6"},
	{271, WAIT_TYPE_POLL, "ppoll"},
	{275, WAIT_TYPE_STREAM, "splice"},
	{276, WAIT_TYPE_STREAM, "tee"},
	{277, WAIT_TYPE_STREAM, "sync_file_range"},
	{278, WAIT_TYPE_STREAM, "vmsplice"},
	{281, WAIT_TYPE_POLL, "epoll_pwait"},
	{285, WAIT_TYPE_STREAM, "fallocate"},
	{288, WAIT_TYPE_SOCKET, "accept4"},
	{295, WAIT_TYPE_STREAM, "preadv"},
	{296, WAIT_TYPE_STREAM, "pwritev"},
	{299, WAIT_TYPE_SOCKET, "recvmmsg"},
	{306, WAIT_TYPE_STREAM, "syncfs"},
	{307, WAIT_TYPE_SOCKET, "sendmmsg"},
	{310, WAIT_TYPE_CALL, "process_vm_readv"},
	{316, WAIT_TYPE_CALL, "renameat2"},
	{322, WAIT_TYPE_CALL, "execveat"},
	{324, WAIT_TYPE_CALL, "membarrier"},
	{326, WAIT_TYPE_STREAM, "copy_file_range"},
	{327, WAIT_TYPE_STREAM, "preadv2"},
	{328, WAIT_TYPE_STREAM, "pwritev2"},
	{332, WAIT_TYPE_CALL, "statx"},
	{333, WAIT_TYPE_DEVICE, "io_pgetevents"},
	{426, WAIT_TYPE_DEVICE, "io_uring_enter"},
	{435, WAIT_TYPE_CHILD, "clone3"},
	{437, WAIT_TYPE_CALL, "openat2"},
	{441, WAIT_TYPE_POLL, "epoll_pwait2"},
	{449, WAIT_TYPE_FUTEX, "futex_waitv"},
	{455, WAIT_TYPE_FUTEX, "futex_wait"},
};

static const struct known_call *find_call(uint32_t number)
{
	for (size_t i = 0; i < sizeof(known_calls) / sizeof(known_calls[0]); i++) {
		if (known_calls[i].number == number)
			return &known_calls[i];
	}
	return NULL;
}

const char *wait_call_name(uint32_t syscall)
{
	const struct known_call *call = find_call(syscall);
	return call ? call->name : NULL;
}

enum wait_type wait_call_type(uint32_t number)
{
	const struct known_call *call = find_call(number);
	return call ? (enum wait_type)call->type : WAIT_TYPE_CALL;
}
