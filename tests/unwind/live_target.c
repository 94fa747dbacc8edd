#include "tests/unwind/live_target.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <unistd.h>

enum { USER32_CS = 0x23 /* arch/x86/include/asm/segment.h: 32-bit code */ };
enum { STACK_MAX = 1024 * 1024, MAPS_MAX = 1024 * 1024 };

void live_target_die(const char *what)
{
	perror(what);
	exit(2);
}

char *live_target_maps(pid_t pid)
{
	static char text[MAPS_MAX];
	char path[64];
	size_t size = 0;
	ssize_t got;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	while ((got = read(fd, text + size, sizeof(text) - 1 - size)) > 0)
		size += (size_t)got;
	text[size] = '\0';
	close(fd);
	return text;
}

static struct uw_module *open_vdso(pid_t pid, uint64_t start, uint64_t end)
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

struct uw_space *live_target_space(pid_t pid, enum uw_arch arch, const char *maps,
				   uint64_t vdso[static 2])
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
			module = open_vdso(pid, start, end);
			vdso[0] = start;
			vdso[1] = end;
		} else if (name[0] == '/') {
			fd = open(name, O_RDONLY | O_CLOEXEC);
			if (fd >= 0 && uw_module_open(fd, &module) < 0)
				module = NULL;
			close(fd);
		}
		if (uw_space_map(space, start, end, offset, module, 0) < 0)
			live_target_die("uw_space_map");
		uw_module_unref(module);
	}
	return space;
}

enum uw_arch live_target_sample(pid_t pid, struct uw_regs *regs, struct uw_stack *stack)
{
	static uint8_t bytes[STACK_MAX];
	struct user_regs_struct user;
	struct iovec local = {.iov_base = bytes, .iov_len = sizeof(bytes)};
	struct iovec remote = {.iov_len = sizeof(bytes)};

	if (ptrace(PTRACE_GETREGS, pid, NULL, &user) < 0)
		live_target_die("PTRACE_GETREGS");
	*regs = (struct uw_regs){.value = {user.rax, user.rdx, user.rcx, user.rbx, user.rsi,
					   user.rdi, user.rbp, user.rsp, user.r8, user.r9, user.r10,
					   user.r11, user.r12, user.r13, user.r14, user.r15,
					   user.rip}};
	if (user.cs == USER32_CS)
		*regs = (struct uw_regs){.value = {user.rax, user.rcx, user.rdx, user.rbx, user.rsp,
						   user.rbp, user.rsi, user.rdi, user.rip}};
	memcpy(&remote.iov_base, &user.rsp, sizeof(user.rsp));
	ssize_t got = process_vm_readv(pid, &local, 1, &remote, 1, 0);
	*stack = (struct uw_stack){.base = user.rsp,
				   .bytes = bytes,
				   .size = got > 0 ? (size_t)got : 0,
				   .requested = sizeof(bytes)};
	return user.cs == USER32_CS ? UW_ARCH_I386 : UW_ARCH_X86_64;
}
