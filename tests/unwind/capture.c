#include "tests/unwind/capture.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum { REG_NUM_RSP = 7 };

/* Stores every register before anything changes it. rsp and rip as the caller will have them. */
__asm__(".text\n"
	".globl capture_registers\n"
	".type capture_registers, @function\n"
	"capture_registers:\n"
	".cfi_startproc\n"
	"endbr64\n"
	"mov %rax, 0(%rdi)\n"
	"mov %rdx, 8(%rdi)\n"
	"mov %rcx, 16(%rdi)\n"
	"mov %rbx, 24(%rdi)\n"
	"mov %rsi, 32(%rdi)\n"
	"mov %rdi, 40(%rdi)\n"
	"mov %rbp, 48(%rdi)\n"
	"lea 8(%rsp), %rax\n"
	"mov %rax, 56(%rdi)\n"
	"mov %r8, 64(%rdi)\n"
	"mov %r9, 72(%rdi)\n"
	"mov %r10, 80(%rdi)\n"
	"mov %r11, 88(%rdi)\n"
	"mov %r12, 96(%rdi)\n"
	"mov %r13, 104(%rdi)\n"
	"mov %r14, 112(%rdi)\n"
	"mov %r15, 120(%rdi)\n"
	"mov (%rsp), %rax\n"
	"mov %rax, 128(%rdi)\n"
	"ret\n"
	".cfi_endproc\n"
	".size capture_registers, . - capture_registers\n");

void capture_context(struct uw_regs *regs, const ucontext_t *context)
{
	static const int gregs[] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
				    REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
				    REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};

	memset(regs, 0, sizeof(*regs));
	for (size_t i = 0; i < sizeof(gregs) / sizeof(gregs[0]); i++)
		regs->value[i] = (uint64_t)context->uc_mcontext.gregs[gregs[i]];
}

void capture_stack(struct capture *capture, size_t size)
{
	struct iovec local = {.iov_base = capture->bytes, .iov_len = size};
	struct iovec remote = {.iov_len = size};
	uintptr_t sp = capture->regs.value[REG_NUM_RSP];

	/* The kernel copies: stack red zones of the sanitizers do not stop it, an unmapped page
	 * ends it. */
	memcpy(&remote.iov_base, &sp, sizeof(sp));
	ssize_t got = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
	capture->stack = (struct uw_stack){.base = capture->regs.value[REG_NUM_RSP],
					   .bytes = capture->bytes,
					   .size = got > 0 ? (size_t)got : 0,
					   .requested = size};
}

static struct capture *at_ud2;

static void on_ud2(int signal, siginfo_t *info, void *context)
{
	ucontext_t *interrupted = context;

	(void)signal;
	(void)info;
	capture_context(&at_ud2->regs, interrupted);
	capture_stack(at_ud2, CAPTURE_STACK_MAX);
	interrupted->uc_mcontext.gregs[REG_RIP] += 2;
}

void capture_at_ud2(struct capture *capture)
{
	struct sigaction action = {.sa_sigaction = on_ud2, .sa_flags = SA_SIGINFO};

	at_ud2 = capture;
	if (sigaction(SIGILL, &action, NULL) < 0)
		abort();
}

/* One line of /proc/self/maps. */
struct line {
	uint64_t start, end, offset;
	bool executable;
	char path[512];
};

static bool line_parse(const char *text, struct line *line)
{
	char permissions[5] = "";

	line->path[0] = '\0';
	if (sscanf(text, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %*s %511s", &line->start,
		   &line->end, permissions, &line->offset, line->path) < 4)
		return false;
	line->executable = permissions[2] == 'x';
	return true;
}

static struct uw_module *line_module(const struct line *line)
{
	struct uw_module *module = NULL;

	if (strcmp(line->path, "[vdso]") == 0) {
		const void *image;

		memcpy(&image, &line->start, sizeof(image));
		if (uw_module_from_memory(image, line->end - line->start, &module) < 0)
			return NULL;
		return module;
	}
	int fd = line->path[0] == '/' ? open(line->path, O_RDONLY | O_CLOEXEC) : -1;
	if (fd < 0)
		return NULL;
	if (uw_module_open(fd, &module) < 0)
		module = NULL;
	close(fd);
	return module;
}

struct uw_space *capture_space(void)
{
	struct uw_space *space = uw_space_create(UW_ARCH_X86_64);
	FILE *maps = fopen("/proc/self/maps", "re");
	char text[1024];
	uint32_t tag = 0;

	if (!space || !maps)
		abort();
	while (fgets(text, sizeof(text), maps)) {
		struct line line;

		if (!line_parse(text, &line) || !line.executable)
			continue;
		struct uw_module *module = line_module(&line);
		if (uw_space_map(space, line.start, line.end, line.offset, module, tag++) < 0)
			abort();
		uw_module_unref(module);
	}
	fclose(maps);
	return space;
}

bool capture_under_valgrind(void)
{
	const char *preloaded = getenv("LD_PRELOAD");

	return preloaded && strstr(preloaded, "vgpreload");
}
