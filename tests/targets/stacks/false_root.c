/*
 * false_root zeros|pushed [MS]: burns in hand-written code that looks like the outermost function
 * of its stack and is not: false_root_level_3, _2, _1 and main called it.
 *
 * zeros: without unwind information, with rbp for a pointer to a block of zeros, as ciphers use it.
 * pushed: with unwind information that leaves out a zero that the code pushed.
 */
#include "tests/targets/work.h"
#include <stdbool.h>
#include <string.h>

enum { BLOCK_WORDS = 32 };

/* Both spin for so many rounds; the second argument is the block. */
void false_root_zeros(uint64_t rounds, const uint64_t *block);
void false_root_pushed(uint64_t rounds, const uint64_t *block);
__asm__(".text\n"
	".globl false_root_zeros, false_root_pushed\n"
	".type false_root_zeros, @function\n"
	"false_root_zeros:\n"
	"push %rbp\n"
	"push %rbx\n"
	"mov %rsi, %rbp\n"
	"1: mov (%rbp), %rax\n"
	"add 64(%rbp), %rax\n"
	"dec %rdi\n"
	"jnz 1b\n"
	"pop %rbx\n"
	"pop %rbp\n"
	"ret\n"
	".size false_root_zeros, . - false_root_zeros\n"
	".type false_root_pushed, @function\n"
	"false_root_pushed:\n"
	".cfi_startproc\n"
	"push $0\n"
	"1: dec %rdi\n"
	"jnz 1b\n"
	"pop %rax\n"
	"ret\n"
	".cfi_endproc\n"
	".size false_root_pushed, . - false_root_pushed\n");

typedef void (*burn_fn)(uint64_t rounds, const uint64_t *block);

WORK_KEEP void false_root_level_1(burn_fn burn, uint64_t ns);
WORK_KEEP void false_root_level_2(burn_fn burn, uint64_t ns);
WORK_KEEP void false_root_level_3(burn_fn burn, uint64_t ns);

WORK_KEEP void false_root_level_3(burn_fn burn, uint64_t ns)
{
	volatile uint64_t block[BLOCK_WORDS] = {0};

	while (work_process_ns() < ns)
		burn(10000000, (const uint64_t *)(uintptr_t)block);
}

WORK_KEEP void false_root_level_2(burn_fn burn, uint64_t ns)
{
	false_root_level_3(burn, ns);
	__asm__ volatile("" ::: "memory");
}

WORK_KEEP void false_root_level_1(burn_fn burn, uint64_t ns)
{
	false_root_level_2(burn, ns);
	__asm__ volatile("" ::: "memory");
}

int main(int argc, char **argv)
{
	bool pushed = argc > 1 && strcmp(argv[1], "pushed") == 0;

	false_root_level_1(pushed ? false_root_pushed : false_root_zeros,
			   work_argument(argc, argv, 2, 1000) * WORK_MS);
	work_print("process_ns", work_process_ns());
	return 0;
}
