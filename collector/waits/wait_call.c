#include "collector/waits/wait_call.h"

#include "collector/perf/record.h"
#include <stddef.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/* Where a call names what it waits for. */
enum place {
	PLACE_NONE,  /* nowhere: the call itself is the object */
	PLACE_FUTEX, /* the address of a word in the first argument */
	PLACE_FILE,  /* a descriptor in the first argument */
	PLACE_PID,   /* a pid in the first argument, or what stands for several */
	PLACE_ID     /* waitid(2): a kind of id, and the id */
};

/* Newer than the headers of some systems, and the same on all machines: futex_wait(2), Linux 6.7.
 * futex_waitv(2) has its words in memory. */
enum { NUMBER_FUTEX_WAIT = 455 };

/* Calls that wait for something with a name; all others are PLACE_NONE. */
static const struct {
	uint16_t number;
	uint8_t place; /* enum place */
} rows[] = {
	{SYS_futex, PLACE_FUTEX},
	{NUMBER_FUTEX_WAIT, PLACE_FUTEX},
	{SYS_wait4, PLACE_PID},
	{SYS_waitid, PLACE_ID},
	{SYS_read, PLACE_FILE},
	{SYS_readv, PLACE_FILE},
	{SYS_pread64, PLACE_FILE},
	{SYS_preadv, PLACE_FILE},
	{SYS_preadv2, PLACE_FILE},
	{SYS_write, PLACE_FILE},
	{SYS_writev, PLACE_FILE},
	{SYS_pwrite64, PLACE_FILE},
	{SYS_pwritev, PLACE_FILE},
	{SYS_pwritev2, PLACE_FILE},
	{SYS_accept, PLACE_FILE},
	{SYS_accept4, PLACE_FILE},
	{SYS_connect, PLACE_FILE},
	{SYS_recvfrom, PLACE_FILE},
	{SYS_recvmsg, PLACE_FILE},
	{SYS_recvmmsg, PLACE_FILE},
	{SYS_sendto, PLACE_FILE},
	{SYS_sendmsg, PLACE_FILE},
	{SYS_sendmmsg, PLACE_FILE},
	{SYS_shutdown, PLACE_FILE},
	{SYS_close, PLACE_FILE},
	{SYS_flock, PLACE_FILE},
	{SYS_fcntl, PLACE_FILE},
	{SYS_ioctl, PLACE_FILE},
	{SYS_fsync, PLACE_FILE},
	{SYS_fdatasync, PLACE_FILE},
	{SYS_syncfs, PLACE_FILE},
	{SYS_fallocate, PLACE_FILE},
	{SYS_ftruncate, PLACE_FILE},
	{SYS_getdents64, PLACE_FILE},
	{SYS_fstat, PLACE_FILE},
	{SYS_lseek, PLACE_FILE},
	{SYS_sendfile, PLACE_FILE},
	{SYS_splice, PLACE_FILE},
	{SYS_tee, PLACE_FILE},
	{SYS_vmsplice, PLACE_FILE},
	{SYS_copy_file_range, PLACE_FILE},
	{SYS_epoll_pwait, PLACE_FILE},
	{SYS_epoll_pwait2, PLACE_FILE},
	{SYS_io_uring_enter, PLACE_FILE},
	{SYS_mq_timedsend, PLACE_FILE},
	{SYS_mq_timedreceive, PLACE_FILE},
#if defined(SYS_epoll_wait)
	{SYS_epoll_wait, PLACE_FILE},
#endif
#if defined(SYS_sync_file_range)
	{SYS_sync_file_range, PLACE_FILE},
#endif
};

#if defined(__x86_64__)
/* The calls of 32-bit code that threads wait in, and their counterparts. Their arguments have the
 * same places; socketcall(2) and ipc(2) hide theirs in memory. Numbers: asm/unistd_32.h. */
static const struct {
	uint16_t number;
	uint16_t number_64;
} rows_32[] = {
	{0, SYS_restart_syscall},
	{3, SYS_read},
	{4, SYS_write},
	{6, SYS_close},
	{7, SYS_wait4}, /* waitpid */
	{29, SYS_pause},
	{36, SYS_sync},
	{54, SYS_ioctl},
	{55, SYS_fcntl},
	{82, SYS_select},
	{114, SYS_wait4},
	{118, SYS_fsync},
	{142, SYS_select}, /* _newselect */
	{143, SYS_flock},
	{145, SYS_readv},
	{146, SYS_writev},
	{148, SYS_fdatasync},
	{162, SYS_nanosleep},
	{168, SYS_poll},
	{177, SYS_rt_sigtimedwait},
	{179, SYS_rt_sigsuspend},
	{180, SYS_pread64},
	{181, SYS_pwrite64},
	{187, SYS_sendfile},
	{220, SYS_getdents64},
	{221, SYS_fcntl}, /* fcntl64 */
	{239, SYS_sendfile},
	{240, SYS_futex},
	{247, SYS_io_getevents},
	{256, SYS_epoll_wait},
	{267, SYS_clock_nanosleep},
	{279, SYS_mq_timedsend},
	{280, SYS_mq_timedreceive},
	{284, SYS_waitid},
	{308, SYS_pselect6},
	{309, SYS_ppoll},
	{313, SYS_splice},
	{315, SYS_tee},
	{316, SYS_vmsplice},
	{319, SYS_epoll_pwait},
	{333, SYS_preadv},
	{334, SYS_pwritev},
	{337, SYS_recvmmsg},
	{344, SYS_syncfs},
	{345, SYS_sendmmsg},
	{362, SYS_connect},
	{364, SYS_accept4},
	{369, SYS_sendto},
	{370, SYS_sendmsg},
	{371, SYS_recvfrom},
	{372, SYS_recvmsg},
	{407, SYS_clock_nanosleep}, /* from here on with times of 64 bits */
	{413, SYS_pselect6},
	{414, SYS_ppoll},
	{417, SYS_recvmmsg},
	{418, SYS_mq_timedsend},
	{419, SYS_mq_timedreceive},
	{420, SYS_semtimedop},
	{421, SYS_rt_sigtimedwait},
	{422, SYS_futex},
};

static uint16_t number_64(uint16_t number)
{
	for (size_t i = 0; i < sizeof(rows_32) / sizeof(rows_32[0]); i++)
		if (rows_32[i].number == number)
			return rows_32[i].number_64;
	/* Calls since Linux 5.1 have one number for all machines. */
	return number >= 424 ? number : PROFILE_NO_SYSCALL;
}
#else
static uint16_t number_64(uint16_t number)
{
	(void)number; /* of no table here: the machine's other code is not followed */
	return PROFILE_NO_SYSCALL;
}
#endif

static enum place place_of(uint16_t number)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].number == number)
			return (enum place)rows[i].place;
	return PLACE_NONE;
}

/* A process with that id; 0 for those that are several: any child, or a group. */
static uint32_t child_number(uint64_t argument)
{
	int32_t pid = (int32_t)argument;
	return pid > 0 ? (uint32_t)pid : 0;
}

struct wait_target wait_call_target(const struct record_call *call, bool is_32bit)
{
	uint16_t number = is_32bit && call->number != PROFILE_NO_SYSCALL ? number_64(call->number)
									 : call->number;
	struct wait_target target = {.kind = PROFILE_OBJECT_CALL,
				     .number = number,
				     .syscall = number};
	if (call->number == PROFILE_NO_SYSCALL)
		target = (struct wait_target){.kind = PROFILE_OBJECT_FAULT,
					      .syscall = PROFILE_NO_SYSCALL};
	else if (number == PROFILE_NO_SYSCALL)
		target.kind = PROFILE_OBJECT_UNKNOWN;
	else
		switch (place_of(number)) {
		case PLACE_FUTEX:
			target.kind = PROFILE_OBJECT_FUTEX;
			target.number = 0;
			target.address =
				is_32bit ? (uint32_t)call->arguments[0] : call->arguments[0];
			break;
		case PLACE_FILE:
			target.kind = PROFILE_OBJECT_FILE;
			target.number = (uint32_t)call->arguments[0];
			break;
		case PLACE_PID:
			target.kind = PROFILE_OBJECT_CHILD;
			target.number = child_number(call->arguments[0]);
			break;
		case PLACE_ID:
			target.kind = PROFILE_OBJECT_CHILD;
			target.number =
				call->arguments[0] == P_PID ? child_number(call->arguments[1]) : 0;
			break;
		case PLACE_NONE:
			break;
		}
	return target;
}

bool wait_call_is_restart(const struct record_call *call, bool is_32bit)
{
	return call->number != PROFILE_NO_SYSCALL &&
	       (is_32bit ? number_64(call->number) : call->number) == SYS_restart_syscall;
}
