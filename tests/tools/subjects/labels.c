/* Code at known addresses (linked with -Ttext=0x10000) whose symbols say as little as an
 * assembler's: what test_elf_symbols.c expects of it, whole and stripped. */
__asm__(".text\n"
	/* 0x10000: the same function under two names, no size, as in musl's memcpy.s */
	".globl labels_copy_alias\n"
	".hidden labels_copy_alias\n"
	"labels_copy_alias:\n"
	".globl labels_copy\n"
	".type labels_copy, @function\n"
	"labels_copy:\n"
	".skip 0x40, 0x90\n"
	/* 0x10040: an exported label before code of the file's own */
	".globl labels_start\n"
	"labels_start:\n"
	".skip 0x200, 0x90\n"
	/* 0x10240 */
	"labels_own:\n"
	".skip 0x100, 0x90\n"
	/* 0x10340: a function that is never reached has no code */
	".globl labels_empty\n"
	".type labels_empty, @function\n"
	"labels_empty:\n"
	".size labels_empty, 0\n"
	".skip 0x10, 0x90\n"
	/* 0x10350: unwind information says that another one begins */
	".type labels_next, @function\n"
	"labels_next:\n"
	".cfi_startproc\n"
	".skip 0x40, 0x90\n"
	".cfi_endproc\n"
	".size labels_next, . - labels_next\n"
	/* 0x10390: ... and how long this is */
	".globl labels_described\n"
	".type labels_described, @function\n"
	"labels_described:\n"
	".cfi_startproc\n"
	".skip 0x400, 0x90\n"
	".cfi_endproc\n"
	/* 0x10790: a label in a function */
	".type labels_host, @function\n"
	"labels_host:\n"
	".cfi_startproc\n"
	".skip 0x10, 0x90\n"
	".globl labels_inside\n"
	"labels_inside:\n"
	".skip 0x130, 0x90\n"
	".cfi_endproc\n"
	/* 0x108d0: a function and its cold part, 0x108f0 */
	".type labels_split, @function\n"
	"labels_split:\n"
	".skip 0x20, 0x90\n"
	".size labels_split, . - labels_split\n"
	".type labels_split.cold, @function\n"
	"labels_split.cold:\n"
	".skip 0x10, 0x90\n"
	".size labels_split.cold, . - labels_split.cold\n"
	/* 0x10900: signal trampolines begin one byte into what unwind information says of them */
	".cfi_startproc\n"
	".cfi_signal_frame\n"
	"nop\n"
	"mov $15, %rax\n"
	"syscall\n"
	".cfi_endproc\n"
	/* 0x1090a: a label of hand-written code, right before a trampoline, 0x10910, without any
	 * unwind information */
	".globl labels_jump\n"
	"labels_jump:\n"
	".skip 0x6, 0x90\n"
	"mov $15, %rax\n"
	"syscall\n"
	".skip 0x200, 0x90\n");

/* Variables at known addresses (linked with --section-start=.variables=0x20000). */
__asm__(".section .variables, \"aw\"\n"
	/* 0x20000: one under two names */
	".globl __labels_lock\n"
	".type __labels_lock, @object\n"
	"__labels_lock:\n"
	".globl labels_lock\n"
	".type labels_lock, @object\n"
	"labels_lock:\n"
	".skip 0x28\n"
	".size labels_lock, 0x28\n"
	".size __labels_lock, 0x28\n"
	".skip 0x18\n"
	/* 0x20040: one of the file's own, which strip removes */
	".type labels_table, @object\n"
	"labels_table:\n"
	".skip 0x100\n"
	".size labels_table, 0x100\n"
	/* 0x20140: the end of it is no variable, nor is a label */
	".globl labels_end\n"
	"labels_end:\n"
	".skip 0x40\n"
	".section .tbss, \"awT\", @nobits\n"
	".globl labels_own_copy\n"
	".type labels_own_copy, @object\n"
	"labels_own_copy:\n"
	".skip 0x30000\n"
	".size labels_own_copy, 0x30000\n");
