/* A function of its own among the linker's stubs. */
#include <unistd.h>

int subject_plt(void);

__asm__(".section .plt, \"ax\", @progbits\n"
	".balign 16\n"
	".globl subject_own_stub\n"
	".type subject_own_stub, @function\n"
	"subject_own_stub:\n"
	"nop\n"
	"nop\n"
	"ret\n"
	".size subject_own_stub, . - subject_own_stub\n"
	".previous\n");

int subject_plt(void)
{
	return getppid() + getuid();
}
