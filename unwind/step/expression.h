/* DWARF expressions (DWARF 5, section 2.5) as call frame information uses them. */
#ifndef UNWIND_STEP_EXPRESSION_H
#define UNWIND_STEP_EXPRESSION_H

#include "unwind/frame/machine.h"
#include "unwind/frame/memory.h"

/*
 * Evaluates the size bytes of an expression over a frame's registers; values are words of
 * memory->word bytes. The stack starts empty, or
 * with *initial where initial is not NULL. bias is added to DW_OP_addr. The number of operations is
 * bounded, and so is memory->operations, which grows by them. Returns UW_STEP_OK, UW_STEP_READ or
 * UW_STEP_BAD.
 */
enum uw_step uw_expression_eval(const uint8_t *bytes, size_t size, const uint64_t *initial,
				uint64_t bias, const struct uw_state *state,
				struct uw_memory *memory, uint64_t *value);

#endif
