#include "unwind/step/code.h"

#include "unwind/analysis/analysis.h"
#include "unwind/cfi/row.h"
#include "unwind/frame/machine.h"
#include "unwind/functions/functions.h"
#include "unwind/module/module.h"
#include "unwind/space/space.h"
#include "unwind/step/go_code.h"
#include "unwind/x86/stack_switch.h"
#include <assert.h>
#include <string.h>

enum {
	CODE_MAX = 16,
	ENTRY_SIZE_MAX = 64 /* code from e_entry on that counts as the entry point: 61 bytes in
			       glibc */
};

/* Whether the x86-64 code at an address is of these bytes, at most CODE_MAX. */
static bool code_is(struct uw_space *space, uint64_t ip, const uint8_t *code, size_t size)
{
	uint8_t bytes[CODE_MAX];
	assert(size <= sizeof(bytes));
	return space->arch == UW_ARCH_X86_64 && uw_space_read(space, ip, bytes, size) &&
	       memcmp(bytes, code, size) == 0;
}

bool uw_code_is_sigreturn(struct uw_space *space, uint64_t ip)
{
	static const uint8_t stub[] = {0x48, 0xc7, 0xc0, 0x0f, 0x00, 0x00, 0x00, 0x0f, 0x05};
	return code_is(space, ip, stub, sizeof(stub));
}

/* syscall; test %rax, %rax; jl; je; ret: the part of glibc's clone and clone3 without an FDE,
 * because the stack pointer differs in parent and child. */
static bool gap_is_clone(const struct uw_module *module, const struct uw_cfi_gap *gap)
{
	static const uint8_t code[] = {0x0f, 0x05, 0x48, 0x85, 0xc0, 0x7c, 0, 0x74, 0, 0xc3};
	uint8_t bytes[sizeof(code)];

	if (gap->end - gap->start != sizeof(code) ||
	    !uw_elf_read_constant(&module->elf, gap->start, bytes, sizeof(bytes)))
		return false;
	bytes[6] = bytes[8] = 0; /* distances of the jumps */
	return module->elf.arch == UW_ARCH_X86_64 && memcmp(bytes, code, sizeof(code)) == 0;
}

/* The dynamic loader's entry point has no CFI. Nobody calls the entry point: no frame is above.
 * Other functions may follow directly. */
static bool gap_is_entry(const struct uw_module *module, const struct uw_cfi_gap *gap, uint64_t rva)
{
	uint64_t entry = module->elf.entry;

	return entry != 0 && entry >= gap->start && rva >= entry && rva - entry < ENTRY_SIZE_MAX;
}

/* nop; call; nop, entered after the first nop: runtime.goexit, the return address of every
 * goroutine's first function (Go, src/runtime/asm_amd64.s). No call precedes this address. */
static bool code_is_goexit(struct uw_space *space, uint64_t ip)
{
	uint8_t bytes[7];

	return space->arch == UW_ARCH_X86_64 &&
	       uw_space_read(space, ip - 1, bytes, sizeof(bytes)) && bytes[0] == 0x90 &&
	       bytes[1] == 0xe8 && bytes[6] == 0x90;
}

/* mov %rbx, %rsp; mov (%rsp), %rdi; test %rdi, %rdi; je: __start_context, the return address that
 * glibc's makecontext gives a coroutine's function. No call precedes this address either. */
static bool code_is_start_context(struct uw_space *space, uint64_t ip)
{
	static const uint8_t code[] = {0x48, 0x89, 0xdc, 0x48, 0x8b, 0x3c,
				       0x24, 0x48, 0x85, 0xff, 0x74};
	return code_is(space, ip, code, sizeof(code));
}

/* A handler returns to the first byte of the trampoline, which no call precedes: the lookup address
 * is ip. */
static enum uw_code_kind place_trampoline(struct uw_code *code, bool exact, enum uw_code_kind kind)
{
	if (exact)
		return kind;
	code->rva++;
	if (code->function != UW_FUNCTION_UNKNOWN)
		code->function++;
	return kind;
}

/* The kind of a module's code without an FDE. */
static enum uw_code_kind kind_without_cfi(struct uw_space *space, const struct uw_module *module,
					  uint64_t ip, bool exact, uint64_t rva,
					  const struct uw_cfi_gap *gap)
{
	/* A sample may also find the stub between its two instructions, of 7 and 2 bytes. */
	if (uw_code_is_sigreturn(space, ip) || (exact && uw_code_is_sigreturn(space, ip - 7)))
		return UW_CODE_SIGRETURN;
	if (!exact && (code_is_goexit(space, ip) || code_is_start_context(space, ip)))
		return UW_CODE_ROOT;
	if (gap_is_entry(module, gap, rva))
		return UW_CODE_ENTRY;
	if (gap_is_clone(module, gap))
		return UW_CODE_CLONE;
	return UW_CODE_NONE;
}

static void take_rules(struct uw_code *code, struct uw_saved *saved, const struct uw_rules *rules)
{
	code->cfa_offset = rules->cfa_offset;
	code->plain = code->function == UW_FUNCTION_UNKNOWN ? UW_PLAIN_NOT : rules->plain;
	*saved = rules->saved;
}

static void set_function(struct uw_code *code, uint64_t start)
{
	if (code->rva - start < UW_FUNCTION_UNKNOWN)
		code->function = (uint32_t)(code->rva - start);
}

/* The kind of code without CFI, and its rules if analysis gives them. */
static enum uw_code_kind kind_by_analysis(struct uw_module *module, bool exact,
					  struct uw_code *code, struct uw_saved *saved)
{
	struct uw_functions *functions = uw_module_functions(module);
	const struct uw_analysis_row *row;
	struct uw_rules rules;
	uint64_t start;

	row = functions ? uw_functions_row(functions, code->rva, exact, &start) : NULL;
	if (functions)
		code->cfa_offset = (int32_t)uw_functions_learnt(functions);
	if (!row || !uw_form_analysed(uw_machine_of(module->elf.arch), row, &rules))
		return UW_CODE_NONE;
	/* A part may lie before its function. */
	int64_t distance = (int64_t)(code->rva - start);
	if (start != UW_START_UNKNOWN) {
		if (distance != (int32_t)distance || (uint32_t)distance == UW_FUNCTION_UNKNOWN)
			return UW_CODE_NONE;
		code->function = (uint32_t)distance;
	}
	take_rules(code, saved, &rules);
	return UW_CODE_ANALYSED;
}

/* Whether the walk has spent its effort. */
static bool is_spent(uint32_t effort)
{
	return effort > UW_CFI_EFFORT_MAX;
}

bool uw_code_may_be_known(struct uw_space *space, const struct uw_code *code, bool exact)
{
	const struct uw_mapping *mapping = uw_space_lookup(space, code->ip - !exact);
	struct uw_module *module = mapping ? mapping->module : NULL;

	return module && module->functions &&
	       (int32_t)uw_functions_learnt(module->functions) != code->cfa_offset;
}

static enum uw_code_kind kind_of_row(const struct uw_module *module, const struct uw_fde *fde,
				     bool exact, uint32_t *effort, struct uw_code *code,
				     struct uw_saved *saved)
{
	const struct uw_machine *machine = uw_machine_of(module->elf.arch);
	struct uw_rules rules;
	struct uw_row row;

	if (uw_cfi_row(fde, code->rva, &row, effort) != UW_CFI_OK)
		return UW_CODE_BAD;
	if (row.reg[machine->ra].kind == UW_RULE_UNDEFINED)
		return UW_CODE_ROOT;
	if (fde->signal)
		return place_trampoline(code, exact, UW_CODE_ROW);
	if (!uw_machine_pushes(machine))
		return UW_CODE_ROW;
	if (uw_form_realigned(machine, &row, &rules)) {
		take_rules(code, saved, &rules);
		return UW_CODE_REALIGNED;
	}
	if (!uw_form_common(machine, &row, &rules))
		return UW_CODE_ROW;
	if (uw_stack_may_switch(fde) && rules.saved.cfa_reg == machine->sp &&
	    uw_stack_is_switched(&module->elf, fde, code->rva + !exact, exact, effort))
		return UW_CODE_SWITCHED;
	if (is_spent(*effort))
		return UW_CODE_BAD; /* no effort left to know if the stack is switched */
	take_rules(code, saved, &rules);
	return UW_CODE_COMMON;
}

/* The kind of code that Go's table describes; UW_CODE_NONE: it does not. */
static enum uw_code_kind kind_of_go(struct uw_space *space, const struct uw_module *module,
				    bool exact, uint32_t *effort, struct uw_code *code,
				    struct uw_saved *saved)
{
	struct uw_go_code found;

	if (!uw_go_code_find(module, code->rva, exact, effort, &found))
		return UW_CODE_NONE;
	/* The frame that the kernel made for a handler, as in find_kind and kind_without_cfi. */
	uint64_t at = code->rva - found.start + !exact;
	if (exact && (at == 0 || at == 7) && uw_code_is_sigreturn(space, code->ip - at))
		return UW_CODE_SIGRETURN;
	if (!exact && code->rva + 1 == found.end && uw_code_is_sigreturn(space, code->ip))
		return place_trampoline(code, exact, UW_CODE_SIGRETURN);
	set_function(code, found.start);
	if (!exact && at == 1 && code_is_goexit(space, code->ip))
		return UW_CODE_ROOT;
	if (found.kind != UW_CODE_COMMON)
		return found.kind;
	if (is_spent(*effort))
		return UW_CODE_BAD;
	take_rules(code, saved, &found.rules);
	return UW_CODE_COMMON;
}

static enum uw_code_kind find_kind(struct uw_space *space, bool exact, uint32_t *effort,
				   struct uw_code *code, struct uw_saved *saved)
{
	uint64_t lookup = code->ip - !exact;
	const struct uw_mapping *mapping = uw_space_lookup(space, lookup);
	enum uw_code_kind kind;
	struct uw_cfi_gap gap;
	struct uw_fde fde;

	if (!mapping)
		return UW_CODE_UNMAPPED;
	code->rva = mapping->rva + (lookup - mapping->start);
	code->tag = mapping->tag;
	struct uw_module *module = mapping->module;
	if (!module || module->elf.arch != space->arch)
		return UW_CODE_NONE;
	if (is_spent(*effort))
		return UW_CODE_BAD;
	uw_module_load(module);
	kind = kind_of_go(space, module, exact, effort, code, saved);
	if (kind != UW_CODE_NONE)
		return kind;
	switch (uw_module_find(module, code->rva, &fde, &gap)) {
	case UW_CFI_NONE:
		if (uw_module_search_go(module))
			kind = kind_of_go(space, module, exact, effort, code, saved);
		if (kind != UW_CODE_NONE)
			return kind;
		kind = kind_without_cfi(space, module, code->ip, exact, code->rva, &gap);
		if (kind == UW_CODE_NONE)
			return kind_by_analysis(module, exact, code, saved);
		return kind == UW_CODE_SIGRETURN ? place_trampoline(code, exact, kind) : kind;
	case UW_CFI_BAD:
		return UW_CODE_BAD;
	case UW_CFI_OK:
		break;
	}
	/* A signal handler returns to the first byte of the stub. The byte before a stub without
	 * CFI may be the last one of an unrelated function. */
	if (!exact && code->rva + 1 == fde.end && uw_code_is_sigreturn(space, code->ip))
		return place_trampoline(code, exact, UW_CODE_SIGRETURN);
	if (!exact && code->rva == fde.start && code_is_goexit(space, code->ip))
		return UW_CODE_ROOT;
	set_function(code, fde.start);
	return kind_of_row(module, &fde, exact, effort, code, saved);
}

void uw_code_fill(struct uw_space *space, struct uw_code *code, uint64_t ip, bool exact,
		  uint32_t *effort)
{
	assert(space->epoch != 0 && code >= space->cache->slots &&
	       code < space->cache->slots + UW_CACHE_SIZE);
	struct uw_saved *saved = &space->cache->saved[code - space->cache->slots];

	*code = (struct uw_code){.ip = ip,
				 .rva = ip - !exact,
				 .function = UW_FUNCTION_UNKNOWN,
				 .tag = UW_TAG_NONE,
				 .key = uw_cache_key(space->epoch, exact),
				 .plain = UW_PLAIN_NOT};
	code->kind = (uint8_t)find_kind(space, exact, effort, code, saved);
	if (is_spent(*effort) || code->kind == UW_CODE_UNMAPPED)
		code->key = 0;
	space->counts.cache_misses++;
}
