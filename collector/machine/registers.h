/* The sampled user registers and their order in a record. One file per machine. */
#ifndef COLLECTOR_MACHINE_REGISTERS_H
#define COLLECTOR_MACHINE_REGISTERS_H

#include "unwind/unwind.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { REGISTERS_COUNT_MAX = 40 };

/* attr.sample_regs_user: one bit per register of the machine's asm/perf_regs.h. */
uint64_t registers_mask(void);

/* Number of bits in the mask: values per sample. */
size_t registers_count(void);

/* values in record order -> DWARF order; flags and code segment where the machine has them. For
 * 32-bit code, with fewer registers, the kernel gives the same values. */
void registers_unpack(const uint64_t *values, bool is_32bit, struct uw_regs *regs,
		      uint64_t *processor_flags, uint16_t *code_segment);

/* regs are of 64-bit code in the kernel. In a system call the address is behind the calling
 * instruction, maybe in another function: changes it to the address of that instruction. */
void registers_enter(struct uw_regs *regs);

/* Registers of a task of which only the stack pointer and the program counter are known. in_call:
 * it is in a system call, and the program counter becomes that of the calling instruction. */
void registers_from_pointers(uint64_t sp, uint64_t pc, bool is_32bit, bool in_call,
			     struct uw_regs *regs);

/* The machine of user code. */
struct registers_machine {
	enum uw_arch arch;
	uint8_t sp, ip;    /* in struct uw_regs */
	bool is_unwound;   /* stacks of such code can be walked */
	uint16_t selector; /* of its code, where the machine has selectors */
};

const struct registers_machine *registers_machine(bool is_32bit);

#endif
