#include "unwind/step/go_code.h"

#include "unwind/cfi/row.h"
#include "unwind/frame/machine.h"
#include "unwind/go/frame.h"
#include "unwind/module/module.h"
#include "unwind/x86/stack_switch.h"

/* Whether the code runs on a stack that it loaded: the table tells nothing of that stack. */
static bool is_switched(const struct uw_module *module, const struct uw_go_function *function,
			uint64_t rva, bool exact, uint32_t *effort)
{
	const struct uw_code_range range = {function->start, function->end};
	struct uw_go_frame before, after;
	struct uw_code_range load;

	/* No proof is known for i386: not even the code before the load is trusted. */
	if (module->elf.arch != UW_ARCH_X86_64)
		return rva != function->start && uw_go_may_switch(&module->go, function);
	if ((function->has_flags && !function->writes_sp) ||
	    !uw_stack_is_loaded(&module->elf, &range, rva + !exact, exact, &load))
		return false;
	/* A table that knows of the load would say so. */
	return uw_go_frame_find(&module->go, &module->elf, function, load.start, effort, &before) &&
	       uw_go_frame_find(&module->go, &module->elf, function, load.end, effort, &after) &&
	       before.size == after.size;
}

/* The frame as a row of call frame information. */
static bool make_rules(const struct uw_module *module, const struct uw_go_frame *frame,
		       struct uw_rules *rules)
{
	const struct uw_machine *machine = uw_machine_of(module->elf.arch);
	struct uw_row row = {
		.cfa = {.kind = UW_RULE_REGISTER,
			.reg = machine->sp,
			.offset = (int64_t)frame->size + machine->word},
	};

	row.reg[machine->ra] =
		(struct uw_rule){.kind = UW_RULE_AT_CFA, .offset = -(int64_t)machine->word};
	if (frame->saves_fp)
		row.reg[machine->fp] = (struct uw_rule){.kind = UW_RULE_AT_CFA,
							.offset = -2 * (int64_t)machine->word};
	return uw_form_common(machine, &row, rules);
}

bool uw_go_code_find(const struct uw_module *module, uint64_t rva, bool exact, uint32_t *effort,
		     struct uw_go_code *code)
{
	struct uw_go_function function;
	struct uw_go_frame frame;

	if (!uw_go_find(&module->go, rva, &function) ||
	    !uw_go_frame_find(&module->go, &module->elf, &function, rva, effort, &frame))
		return false;
	code->start = function.start;
	code->end = function.end;
	if (uw_go_is_top(&module->go, &function, exact))
		code->kind = UW_CODE_ROOT;
	else if (is_switched(module, &function, rva, exact, effort))
		code->kind = UW_CODE_SWITCHED;
	else
		code->kind = UW_CODE_COMMON;
	return make_rules(module, &frame, &code->rules);
}
