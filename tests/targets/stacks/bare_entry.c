/*
 * bare_entry: without a C library, and without unwind information. _start calls bare_entry_caller,
 * which calls bare_entry_burn; all three lie within 64 bytes of the entry point. Burns about 2e9
 * cycles.
 */
__asm__(".text\n"
	".globl _start, bare_entry_caller, bare_entry_burn\n"
	".type _start, @function\n"
	"_start:\n"
	"xor %ebp, %ebp\n"
	"call bare_entry_caller\n"
	"mov $60, %eax\n" /* exit(0) */
	"xor %edi, %edi\n"
	"syscall\n"
	".size _start, . - _start\n"
	".type bare_entry_caller, @function\n"
	"bare_entry_caller:\n"
	"push %rbp\n"
	"mov %rsp, %rbp\n"
	"call bare_entry_burn\n"
	"pop %rbp\n"
	"ret\n"
	".size bare_entry_caller, . - bare_entry_caller\n"
	".type bare_entry_burn, @function\n"
	"bare_entry_burn:\n"
	"push %rbp\n"
	"mov %rsp, %rbp\n"
	"mov $2000000000, %ecx\n"
	"1: dec %rcx\n"
	"jnz 1b\n"
	"pop %rbp\n"
	"ret\n"
	".size bare_entry_burn, . - bare_entry_burn\n");
