/* The step from a function that aligned its stack itself: rules/form.h. */
#ifndef UNWIND_STEP_REALIGNED_H
#define UNWIND_STEP_REALIGNED_H

#include "unwind/frame/machine.h"
#include "unwind/frame/memory.h"

struct uw_code;
struct uw_saved;

/* As uw_step, for code of kind UW_CODE_REALIGNED. */
enum uw_step uw_step_realigned(const struct uw_machine *machine, const struct uw_code *code,
			       const struct uw_saved *saved, struct uw_state *state,
			       struct uw_memory *memory);

#endif
