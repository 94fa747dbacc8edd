#include "tests/unwind/rules/rules_check.h"

#include "unwind/cfi/row.h"
#include "unwind/rules/function_rules.h"
#include <string.h>

static const char *check_found(uint64_t rva, const struct uw_fde *fde, const struct uw_rules *rules,
			       const struct uw_found_rules *found)
{
	if (found->rules.cfa_offset != rules->cfa_offset || found->rules.plain != rules->plain ||
	    memcmp(&found->rules.saved, &rules->saved, sizeof(rules->saved)) != 0)
		return "other rules";
	if (found->function != fde->start)
		return "another function";
	if (found->ends != (rva + 1 == fde->end))
		return "whether the function ends";
	return NULL;
}

struct rules_check rules_check(struct uw_rule_cache *cache, struct uw_module *module, uint64_t rva)
{
	uint32_t effort = 0;
	struct uw_found_rules found;
	struct rules_check check = {
		.has = uw_function_rules_find(cache, module, rva, &effort, &found)};
	struct uw_rules rules;
	struct uw_cfi_gap gap;
	struct uw_fde fde;
	struct uw_row row;
	check.is_common = uw_cfi_find(&module->cfi, rva, &fde, &gap) == UW_CFI_OK && !fde.signal &&
			  uw_cfi_row(&fde, rva, &row, &(uint32_t){0}) == UW_CFI_OK &&
			  uw_form_common(uw_machine_of(module->elf.arch), &row, &rules);
	if (check.has)
		check.wrong = check.is_common ? check_found(rva, &fde, &rules, &found)
					      : "the interpreter has no such row";
	return check;
}
