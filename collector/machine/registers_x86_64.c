/* Source: arch/x86/include/uapi/asm/perf_regs.h for the order, System V psABI x86-64 figure 3.36
 * and i386 table 2.14 for the DWARF numbers. The data segment registers are left out: the kernel
 * does not give them. */
#include "collector/machine/registers.h"
#include <asm/perf_regs.h>
#include <assert.h>

enum { FLAGS = -1, CODE_SEGMENT = -2, STACK_SEGMENT = -3, NOT_THERE = -4 };

static const struct {
	int perf;
	int dwarf; /* or FLAGS and the like */
	int dwarf_32;
} order[] = {
	{PERF_REG_X86_AX, 0, 0},
	{PERF_REG_X86_BX, 3, 3},
	{PERF_REG_X86_CX, 2, 1},
	{PERF_REG_X86_DX, 1, 2},
	{PERF_REG_X86_SI, 4, 6},
	{PERF_REG_X86_DI, 5, 7},
	{PERF_REG_X86_BP, 6, 5},
	{PERF_REG_X86_SP, 7, 4},
	{PERF_REG_X86_IP, 16, 8},
	{PERF_REG_X86_FLAGS, FLAGS, FLAGS},
	{PERF_REG_X86_CS, CODE_SEGMENT, CODE_SEGMENT},
	{PERF_REG_X86_SS, STACK_SEGMENT, STACK_SEGMENT},
	{PERF_REG_X86_R8, 8, NOT_THERE},
	{PERF_REG_X86_R9, 9, NOT_THERE},
	{PERF_REG_X86_R10, 10, NOT_THERE},
	{PERF_REG_X86_R11, 11, NOT_THERE},
	{PERF_REG_X86_R12, 12, NOT_THERE},
	{PERF_REG_X86_R13, 13, NOT_THERE},
	{PERF_REG_X86_R14, 14, NOT_THERE},
	{PERF_REG_X86_R15, 15, NOT_THERE},
};

#define ORDER_COUNT (sizeof(order) / sizeof(order[0]))
_Static_assert(ORDER_COUNT <= REGISTERS_COUNT_MAX, "a record's values fit");

uint64_t registers_mask(void)
{
	uint64_t mask = 0;
	for (size_t i = 0; i < ORDER_COUNT; i++) {
		assert(mask >> order[i].perf == 0); /* values come in the order of the bits */
		mask |= 1ull << order[i].perf;
	}
	return mask;
}

size_t registers_count(void)
{
	return ORDER_COUNT;
}

void registers_unpack(const uint64_t *values, bool is_32bit, struct uw_regs *regs,
		      uint64_t *processor_flags, uint16_t *code_segment)
{
	for (size_t i = 0; i < ORDER_COUNT; i++) {
		int dwarf = is_32bit ? order[i].dwarf_32 : order[i].dwarf;
		if (dwarf >= 0)
			regs->value[dwarf] = is_32bit ? (uint32_t)values[i] : values[i];
		else if (dwarf == FLAGS)
			*processor_flags = values[i];
		else if (dwarf == CODE_SEGMENT)
			*code_segment = (uint16_t)values[i];
	}
}

/* SYSCALL leaves the address behind itself in RCX too (AMD64 manual, volume 3); the kernel keeps
 * both until it returns. FRED does not, and the address stays unchanged. */
void registers_enter(struct uw_regs *regs)
{
	enum { DWARF_RCX = 2, DWARF_RIP = 16, SYSCALL_SIZE = 2 };
	if (regs->value[DWARF_RCX] == regs->value[DWARF_RIP] &&
	    regs->value[DWARF_RIP] > SYSCALL_SIZE)
		regs->value[DWARF_RIP] -= SYSCALL_SIZE;
}

/* 32-bit code calls by one of three instructions, in the vdso: its address stays unchanged. */
void registers_from_pointers(uint64_t sp, uint64_t pc, bool is_32bit, bool in_call,
			     struct uw_regs *regs)
{
	enum { SYSCALL_SIZE = 2 };
	const struct registers_machine *machine = registers_machine(is_32bit);
	*regs = (struct uw_regs){.unknown = ~(1ull << machine->sp | 1ull << machine->ip)};
	regs->value[machine->sp] = sp;
	regs->value[machine->ip] =
		in_call && !is_32bit && pc > SYSCALL_SIZE ? pc - SYSCALL_SIZE : pc;
}

const struct registers_machine *registers_machine(bool is_32bit)
{
	/* Selectors: __USER_CS and __USER32_CS, arch/x86/include/asm/segment.h */
	static const struct registers_machine machine = {UW_ARCH_X86_64, 7, 16, true, 0x33};
	static const struct registers_machine machine_32 = {UW_ARCH_I386, 4, 8, true, 0x23};
	return is_32bit ? &machine_32 : &machine;
}
