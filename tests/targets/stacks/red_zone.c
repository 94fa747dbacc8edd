/*
 * red_zone [MS]: functions that keep what leads to their caller below their stack pointer, each for
 * a third of MS. The stack of their thread starts above a page that cannot be read.
 *   red_zone_guard    its stack pointer is just above that page
 *   red_zone_across   its red zone starts in the page before
 *   red_zone_inside   all of it is in the stack pointer's page
 */
#include "tests/targets/work.h"
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { PAGE = 4096, STACK = 9 * PAGE };

static uint8_t *stack;
static uint64_t third_ns;

/* name(sp, turns): turns round at that stack pointer, and comes back by the word below it. */
#define RED_ZONE_FUNCTION(name)                                               \
	void name(void *sp, uint64_t turns);                                  \
	__asm__(".text\n"                                                     \
		".globl " #name "\n"                                          \
		".type " #name ", @function\n" #name ":\n"                    \
		".cfi_startproc\n"                                            \
		"mov %rsp, %rax\n"                                            \
		".cfi_def_cfa_register %rax\n"                                \
		"mov %rax, -8(%rdi)\n"                                        \
		"mov %rdi, %rsp\n" /* the CFA: the word at %rsp - 8, and 8 */ \
		".cfi_escape 0x0f, 5, 0x77, 0x78, 0x06, 0x23, 8\n"            \
		"1: dec %rsi\n"                                               \
		"jnz 1b\n"                                                    \
		"mov -8(%rsp), %rsp\n"                                        \
		".cfi_def_cfa %rsp, 8\n"                                      \
		"ret\n"                                                       \
		".cfi_endproc\n"                                              \
		".size " #name ", . - " #name "\n")

RED_ZONE_FUNCTION(red_zone_guard);
RED_ZONE_FUNCTION(red_zone_across);
RED_ZONE_FUNCTION(red_zone_inside);

static WORK_KEEP void burn(void (*function)(void *, uint64_t), uint8_t *sp)
{
	uint64_t start = work_thread_ns();

	*(volatile uint8_t *)(sp - (sp == stack + PAGE + 16 ? 16 : 128)) = 0;
	while (work_thread_ns() - start < third_ns)
		function(sp, WORK_TURNS);
}

static void *run(void *argument)
{
	burn(red_zone_guard, stack + PAGE + 16);
	burn(red_zone_across, stack + 3 * PAGE + 16);
	burn(red_zone_inside, stack + 5 * PAGE + 1024);
	return argument;
}

int main(int argc, char **argv)
{
	pthread_attr_t attributes;
	pthread_t thread;

	third_ns = work_argument(argc, argv, 1, 900) * WORK_MS / 3;
	stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK,
		     -1, 0);
	if (stack == MAP_FAILED || mprotect(stack, PAGE, PROT_NONE) != 0 ||
	    pthread_attr_init(&attributes) != 0 ||
	    pthread_attr_setstack(&attributes, stack + PAGE, STACK - PAGE) != 0 ||
	    pthread_create(&thread, &attributes, run, NULL) != 0)
		return 1;
	pthread_join(thread, NULL);
	work_print("process_ns", work_process_ns());
	return 0;
}
