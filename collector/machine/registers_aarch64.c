/* Source: arch/arm64/include/uapi/asm/perf_regs.h: x0..x29, lr, sp, pc in this order; DWARF for the
 * Arm 64-bit Architecture 4.1 numbers them alike: x0..x30 are 0..30, sp 31, pc 32. */
#include "collector/machine/registers.h"
#include <asm/perf_regs.h>

#define ORDER_COUNT ((size_t)PERF_REG_ARM64_PC + 1)
_Static_assert(ORDER_COUNT <= REGISTERS_COUNT_MAX, "a record's values fit");

uint64_t registers_mask(void)
{
	return (1ull << ORDER_COUNT) - 1;
}

size_t registers_count(void)
{
	return ORDER_COUNT;
}

void registers_unpack(const uint64_t *values, bool is_32bit, struct uw_regs *regs,
		      uint64_t *processor_flags, uint16_t *code_segment)
{
	(void)is_32bit; /* sp and pc have their places in AArch32 too (perf_reg_value) */
	for (size_t i = 0; i < ORDER_COUNT; i++)
		regs->value[i] = values[i];
	*processor_flags = 0;
	*code_segment = 0;
}

/* SVC leaves its address in no register that is sampled. */
void registers_enter(struct uw_regs *regs)
{
	(void)regs;
}

void registers_from_pointers(uint64_t sp, uint64_t pc, bool is_32bit, bool in_call,
			     struct uw_regs *regs)
{
	enum { SVC_SIZE = 4 };
	const struct registers_machine *machine = registers_machine(is_32bit);
	*regs = (struct uw_regs){.unknown = ~(1ull << machine->sp | 1ull << machine->ip)};
	regs->value[machine->sp] = sp;
	regs->value[machine->ip] = in_call && !is_32bit && pc > SVC_SIZE ? pc - SVC_SIZE : pc;
}

const struct registers_machine *registers_machine(bool is_32bit)
{
	static const struct registers_machine machine = {UW_ARCH_AARCH64, 31, 32, true, 0};
	static const struct registers_machine machine_32 = {UW_ARCH_AARCH64, 31, 32, false, 0};
	return is_32bit ? &machine_32 : &machine;
}
