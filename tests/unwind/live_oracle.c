/*
 * Runs a program, stops its first thread again and again, and compares each walk with the frames
 * that elfutils' libdwfl finds in the stopped process.
 *
 * Usage: live_oracle [-s] SAMPLES PROGRAM [ARGUMENT...]. The program may be a 32-bit one. With -s
 * there is a sample at each instruction from the program's start on, in code of all kinds, so that
 * stacks may end early if they say so, and frames may differ in code without CFI, which libdwfl
 * guesses. Exit status 0: samples were taken and did not differ; 77: this machine does not allow
 * ptrace(2).
 */
#include "unwind/unwind.h"

#include <elfutils/libdwfl.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { USER32_CS = 0x23 /* arch/x86/include/asm/segment.h: 32-bit code */ };
enum { STACK_MAX = 1024 * 1024, MAPS_MAX = 1024 * 1024, SHOWN = 5, FRAMES_COMPARED = 900 };

struct list {
	uint64_t ip[UW_DEPTH_MAX];
	bool exact[UW_DEPTH_MAX];
	size_t count;
};

struct session {
	pid_t pid;
	enum uw_arch arch;
	struct uw_space *space;
	Dwfl *dwfl;
	char *maps; /* the text that space and dwfl were made from */
	struct uw_regs regs;
	bool started; /* the one thread was handed to libdwfl */
	bool steps;
	size_t samples, same, differ, dwfl_shorter, shorter, conventional;
	size_t stops[UW_STOP_COUNT];
};

static const Dwfl_Callbacks callbacks = {.find_elf = dwfl_linux_proc_find_elf,
					 .find_debuginfo = dwfl_standard_find_debuginfo};

/* libdwfl's own reading of a 32-bit process takes neighbouring bytes for the upper half of a word
   (elfutils 0.188), so it is given registers and memory. */
static pid_t next_thread(Dwfl *dwfl, void *user, void **thread_user)
{
	struct session *session = user;

	(void)dwfl;
	if (session->started)
		return 0;
	session->started = true;
	*thread_user = user;
	return session->pid;
}

static bool memory_read(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *value, void *user)
{
	const struct session *session = user;
	size_t size = session->arch == UW_ARCH_I386 ? 4 : 8;
	struct iovec local = {.iov_base = value, .iov_len = size}, remote = {.iov_len = size};

	(void)dwfl;
	*value = 0;
	memcpy(&remote.iov_base, &address, sizeof(address));
	return process_vm_readv(session->pid, &local, 1, &remote, 1, 0) == (ssize_t)size;
}

static bool set_initial_registers(Dwfl_Thread *thread, void *user)
{
	const struct session *session = user;
	Dwarf_Word registers[UW_REGS_MAX];
	unsigned count = session->arch == UW_ARCH_I386 ? 9 : 17;

	for (unsigned i = 0; i < count; i++)
		registers[i] = session->regs.value[i];
	return dwfl_thread_state_registers(thread, 0, count, registers);
}

static void die(const char *what)
{
	perror(what);
	exit(2);
}

static char *maps_read(pid_t pid)
{
	static char text[MAPS_MAX];
	char path[64];
	size_t size = 0;
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	while ((got = read(fd, text + size, sizeof(text) - 1 - size)) > 0)
		size += (size_t)got;
	text[size] = '\0';
	close(fd);
	return text;
}

static struct uw_module *vdso_module(pid_t pid, uint64_t start, uint64_t end)
{
	struct uw_module *module = NULL;
	uint8_t *image = malloc(end - start);
	struct iovec local = {.iov_base = image, .iov_len = end - start};
	struct iovec remote = {.iov_len = end - start};

	memcpy(&remote.iov_base, &start, sizeof(start));
	if (process_vm_readv(pid, &local, 1, &remote, 1, 0) == (ssize_t)(end - start) &&
	    uw_module_from_memory(image, end - start, &module) < 0)
		module = NULL;
	free(image);
	return module;
}

static struct uw_space *space_of(pid_t pid, enum uw_arch arch, const char *maps)
{
	struct uw_space *space = uw_space_create(arch);

	for (const char *line = maps; *line; line = strchr(line, '\n') + 1) {
		uint64_t start, end, offset;
		char permissions[5], name[512] = "";
		struct uw_module *module = NULL;
		int fd;

		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %*s %511[^\n]",
			   &start, &end, permissions, &offset, name) < 4 ||
		    permissions[2] != 'x')
			continue;
		if (strcmp(name, "[vdso]") == 0) {
			module = vdso_module(pid, start, end);
		} else if (name[0] == '/') {
			fd = open(name, O_RDONLY | O_CLOEXEC);
			if (fd >= 0 && uw_module_open(fd, &module) < 0)
				module = NULL;
			close(fd);
		}
		if (uw_space_map(space, start, end, offset, module, 0) < 0)
			die("uw_space_map");
		uw_module_unref(module);
	}
	return space;
}

/* Makes both views of the address space again if it changed. */
static void session_refresh(struct session *session)
{
	static const Dwfl_Thread_Callbacks threads = {.next_thread = next_thread,
						      .memory_read = memory_read,
						      .set_initial_registers =
							      set_initial_registers};
	char *maps = maps_read(session->pid);

	if (!maps || (session->maps && strcmp(maps, session->maps) == 0))
		return;
	free(session->maps);
	session->maps = strdup(maps);
	uw_space_destroy(session->space);
	session->space = space_of(session->pid, session->arch, maps);
	if (session->dwfl)
		dwfl_end(session->dwfl);
	session->dwfl = dwfl_begin(&callbacks);
	if (dwfl_linux_proc_report(session->dwfl, session->pid) != 0 ||
	    dwfl_report_end(session->dwfl, NULL, NULL) != 0 ||
	    !dwfl_attach_state(session->dwfl, NULL, session->pid, &threads, session))
		fprintf(stderr, "libdwfl: %s\n", dwfl_errmsg(-1));
}

static int on_dwfl_frame(Dwfl_Frame *frame, void *argument)
{
	struct list *list = argument;

	if (list->count == FRAMES_COMPARED ||
	    !dwfl_frame_pc(frame, &list->ip[list->count], &list->exact[list->count]))
		return DWARF_CB_ABORT;
	list->count++;
	return DWARF_CB_OK;
}

static enum uw_arch sample_take(pid_t pid, struct uw_regs *regs, struct uw_stack *stack)
{
	static uint8_t bytes[STACK_MAX];
	struct user_regs_struct user;
	struct iovec local = {.iov_base = bytes, .iov_len = sizeof(bytes)};
	struct iovec remote = {.iov_len = sizeof(bytes)};
	ssize_t got;

	if (ptrace(PTRACE_GETREGS, pid, NULL, &user) < 0)
		die("PTRACE_GETREGS");
	*regs = (struct uw_regs){.value = {user.rax, user.rdx, user.rcx, user.rbx, user.rsi,
					   user.rdi, user.rbp, user.rsp, user.r8, user.r9, user.r10,
					   user.r11, user.r12, user.r13, user.r14, user.r15,
					   user.rip}};
	if (user.cs == USER32_CS)
		*regs = (struct uw_regs){.value = {user.rax, user.rcx, user.rdx, user.rbx, user.rsp,
						   user.rbp, user.rsi, user.rdi, user.rip}};
	memcpy(&remote.iov_base, &user.rsp, sizeof(user.rsp));
	got = process_vm_readv(pid, &local, 1, &remote, 1, 0);
	*stack = (struct uw_stack){.base = user.rsp,
				   .bytes = bytes,
				   .size = got > 0 ? (size_t)got : 0,
				   .requested = sizeof(bytes)};
	return user.cs == USER32_CS ? UW_ARCH_I386 : UW_ARCH_X86_64;
}

static void show(const struct session *session, const struct list *theirs,
		 const struct uw_frame *frames, size_t count, enum uw_stop stop)
{
	size_t longest = count > theirs->count ? count : theirs->count;

	fprintf(stderr, "sample %zu: %zu frames, %s; libdwfl: %zu\n", session->samples, count,
		uw_stop_name(stop), theirs->count);
	for (size_t i = 0; i < longest; i++)
		fprintf(stderr, "  %2zu %16" PRIx64 " %c rva %9" PRIx64 " | %16" PRIx64 "\n", i,
			i < count ? frames[i].ip : 0, i < count ? "scf"[frames[i].source] : '-',
			i < count ? frames[i].rva : 0, i < theirs->count ? theirs->ip[i] : 0);
}

static void session_compare(struct session *session)
{
	static struct uw_frame frames[UW_DEPTH_MAX];
	static struct list theirs;
	struct uw_stack stack;
	enum uw_stop stop;
	size_t count, i = 0;

	session->arch = sample_take(session->pid, &session->regs, &stack);
	session_refresh(session);
	session->started = false;
	count = uw_walk(session->space, &session->regs, &stack, frames, FRAMES_COMPARED, &stop);
	theirs.count = 0;
	dwfl_getthread_frames(session->dwfl, session->pid, on_dwfl_frame, &theirs);
	session->samples++;
	session->stops[stop]++;
	while (i < count && i < theirs.count && frames[i].ip == theirs.ip[i])
		i++;
	/* libdwfl shows the clone() hole and the like as further frames, and guesses beyond code
	   without CFI; a frame too few of theirs is counted apart. */
	if (i == count && i == theirs.count)
		session->same++;
	else if (i == theirs.count && stop == UW_STOP_ROOT)
		session->dwfl_shorter++;
	else if (session->steps && i == count && stop != UW_STOP_ROOT)
		session->shorter++;
	else if (session->steps && i < count && frames[i].source == UW_SOURCE_FRAME_POINTER)
		session->conventional++;
	else if (session->differ++ < SHOWN)
		show(session, &theirs, frames, count, stop);
}

static void run(struct session *session, size_t wanted)
{
	int status;

	while (session->samples < wanted) {
		usleep(300 + (useconds_t)(rand() % 700));
		if (ptrace(PTRACE_INTERRUPT, session->pid, NULL, NULL) < 0 ||
		    waitpid(session->pid, &status, 0) != session->pid || WIFEXITED(status) ||
		    WIFSIGNALED(status))
			return;
		if (status >> 16 == PTRACE_EVENT_STOP)
			session_compare(session);
		/* Signals of the program's own are handed on. */
		ptrace(PTRACE_CONT, session->pid, NULL,
		       status >> 16 == 0 ? (uintptr_t)WSTOPSIG(status) : 0);
	}
}

/* Each instruction from the program's first one on. */
static void run_steps(struct session *session, size_t wanted)
{
	int status = 0;

	while (session->samples < wanted && waitpid(session->pid, &status, 0) == session->pid &&
	       WIFSTOPPED(status)) {
		bool stepped = WSTOPSIG(status) == SIGTRAP;

		if (stepped)
			session_compare(session);
		ptrace(PTRACE_SINGLESTEP, session->pid, NULL,
		       stepped ? 0 : (uintptr_t)WSTOPSIG(status));
	}
}

int main(int argc, char **argv)
{
	struct session session = {0};
	bool steps = argc > 1 && strcmp(argv[1], "-s") == 0;
	int go[2];

	session.steps = steps;
	argc -= steps;
	argv += steps;
	if (argc < 3) {
		fprintf(stderr, "usage: live_oracle [-s] SAMPLES PROGRAM [ARGUMENT...]\n");
		return 2;
	}
	if (pipe(go) < 0)
		die("pipe");
	session.pid = fork();
	if (session.pid == 0) {
		char byte;

		if (read(go[0], &byte, 1) == 1)
			execvp(argv[2], argv + 2);
		_exit(127);
	}
	if (session.pid < 0)
		die("fork");
	if (ptrace(PTRACE_SEIZE, session.pid, NULL,
		   PTRACE_O_EXITKILL | (steps ? PTRACE_O_TRACEEXEC : 0)) < 0) {
		kill(session.pid, SIGKILL);
		return 77;
	}
	if (write(go[1], "", 1) != 1)
		die("write");
	if (steps) {
		run_steps(&session, (size_t)atoi(argv[1]));
	} else {
		usleep(30000);
		run(&session, (size_t)atoi(argv[1]));
	}
	kill(session.pid, SIGKILL);
	printf("%zu samples: %zu same, %zu where libdwfl gave up early, %zu different\n",
	       session.samples, session.same, session.dwfl_shorter, session.differ);
	if (steps)
		printf("%zu where we say that we do not know more, %zu without CFI, where libdwfl "
		       "guesses\n",
		       session.shorter, session.conventional);
	for (int stop = 0; stop < UW_STOP_COUNT; stop++)
		if (session.stops[stop])
			printf("%s: %zu\n", uw_stop_name((enum uw_stop)stop), session.stops[stop]);
	if (session.dwfl)
		dwfl_end(session.dwfl);
	uw_space_destroy(session.space);
	free(session.maps);
	return session.differ != 0 || session.samples == 0;
}
