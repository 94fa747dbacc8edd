/* The sampled user registers: which ones, and their order in a record. One file per machine. */
#ifndef COLLECTOR_REGISTERS_H
#define COLLECTOR_REGISTERS_H

#include "unwind/unwind.h"
#include <stddef.h>
#include <stdint.h>

enum { REGISTERS_COUNT_MAX = 40 };

/* attr.sample_regs_user: one bit per register of the machine's asm/perf_regs.h. */
uint64_t registers_mask(void);

/* Number of bits in the mask: values per sample. */
size_t registers_count(void);

/* values in record order -> DWARF order; flags and code segment where the machine has them. */
void registers_unpack(const uint64_t *values, struct uw_regs *regs, uint64_t *processor_flags,
		      uint16_t *code_segment);

/* The reverse, for tests. */
void registers_pack(const struct uw_regs *regs, uint64_t processor_flags, uint16_t code_segment,
		    uint64_t *values);

enum uw_arch registers_arch(void);

/* Code selector of 64-bit user code, where the machine has selectors. */
uint16_t registers_user_cs(void);

#endif
