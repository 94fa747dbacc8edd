/* Source: arch/x86/include/uapi/asm/perf_regs.h for the order, System V x86-64 psABI figure 3.36
 * for the DWARF numbers. The data segment registers are left out: the kernel does not give them. */
#include "collector/registers.h"

#include <asm/perf_regs.h>

enum { FLAGS = -1, CODE_SEGMENT = -2, STACK_SEGMENT = -3 };

static const struct {
	int perf;
	int dwarf; /* or what else it is */
} order[] = {
	{PERF_REG_X86_AX, 0},
	{PERF_REG_X86_BX, 3},
	{PERF_REG_X86_CX, 2},
	{PERF_REG_X86_DX, 1},
	{PERF_REG_X86_SI, 4},
	{PERF_REG_X86_DI, 5},
	{PERF_REG_X86_BP, 6},
	{PERF_REG_X86_SP, 7},
	{PERF_REG_X86_IP, 16},
	{PERF_REG_X86_FLAGS, FLAGS},
	{PERF_REG_X86_CS, CODE_SEGMENT},
	{PERF_REG_X86_SS, STACK_SEGMENT},
	{PERF_REG_X86_R8, 8},
	{PERF_REG_X86_R9, 9},
	{PERF_REG_X86_R10, 10},
	{PERF_REG_X86_R11, 11},
	{PERF_REG_X86_R12, 12},
	{PERF_REG_X86_R13, 13},
	{PERF_REG_X86_R14, 14},
	{PERF_REG_X86_R15, 15},
};

#define ORDER_COUNT (sizeof(order) / sizeof(order[0]))

uint64_t registers_mask(void)
{
	uint64_t mask = 0;
	for (size_t i = 0; i < ORDER_COUNT; i++)
		mask |= 1ull << order[i].perf;
	return mask;
}

size_t registers_count(void)
{
	return ORDER_COUNT;
}

void registers_unpack(const uint64_t *values, struct uw_regs *regs, uint64_t *processor_flags,
		      uint16_t *code_segment)
{
	for (size_t i = 0; i < ORDER_COUNT; i++) {
		if (order[i].dwarf >= 0)
			regs->value[order[i].dwarf] = values[i];
		else if (order[i].dwarf == FLAGS)
			*processor_flags = values[i];
		else if (order[i].dwarf == CODE_SEGMENT)
			*code_segment = (uint16_t)values[i];
	}
}

void registers_pack(const struct uw_regs *regs, uint64_t processor_flags, uint16_t code_segment,
		    uint64_t *values)
{
	for (size_t i = 0; i < ORDER_COUNT; i++) {
		values[i] = 0;
		if (order[i].dwarf >= 0)
			values[i] = regs->value[order[i].dwarf];
		else if (order[i].dwarf == FLAGS)
			values[i] = processor_flags;
		else if (order[i].dwarf == CODE_SEGMENT)
			values[i] = code_segment;
	}
}

enum uw_arch registers_arch(void)
{
	return UW_ARCH_X86_64;
}

uint16_t registers_user_cs(void)
{
	return 0x33; /* __USER_CS, arch/x86/include/asm/segment.h */
}
