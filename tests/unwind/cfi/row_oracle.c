/*
 * Every row of the unwind information of real libraries, compared with what elfutils' libdw reads.
 * Arguments: files to compare; without any, the C library, libdw and this program. Of a file that
 * has no unwind information, that of FILE.debug is compared with what libdwfl finds by itself.
 */
#include "unwind/cfi/row.h"
#include "unwind/module/module.h"
#include "unwind/rules/form.h"
#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OPS_SHOWN = 10 };

struct comparison {
	struct uw_module *module;
	const struct uw_cfi *theirs; /* what libdw reads too */
	const char *path;
	size_t rows, common, differences;
};

static void differ(struct comparison *comparison, uint64_t rva, const char *what, int reg)
{
	if (comparison->differences++ < OPS_SHOWN)
		fprintf(stderr, "%s: %#lx: %s, register %d\n", comparison->path, rva, what, reg);
}

static bool same_expression(const struct uw_rule *rule, const Dwarf_Op *ops, size_t count)
{
	/* The decoded operations against the encoded ones: their number of bytes is given by the
	 * last operation's offset; the operation codes at each offset must agree. */
	for (size_t i = 0; i < count; i++)
		if (ops[i].offset >= rule->size || rule->expression[ops[i].offset] != ops[i].atom)
			return false;
	return count > 0;
}

static bool same_cfa(const struct uw_rule *rule, const Dwarf_Op *ops, size_t count)
{
	if (rule->kind == UW_RULE_REGISTER) {
		if (count != 1)
			return false;
		if (ops[0].atom == DW_OP_bregx)
			return ops[0].number == rule->reg &&
			       (int64_t)ops[0].number2 == rule->offset;
		return ops[0].atom >= DW_OP_breg0 && ops[0].atom <= DW_OP_breg31 &&
		       ops[0].atom - DW_OP_breg0 == rule->reg &&
		       (int64_t)ops[0].number == rule->offset;
	}
	return same_expression(rule, ops, count);
}

/* libdw says "CFA + n" as call_frame_cfa, plus_uconst n, and a value by a final stack_value. */
static bool same_cfa_offset(const struct uw_rule *rule, const Dwarf_Op *ops, size_t count)
{
	bool value = count > 0 && ops[count - 1].atom == DW_OP_stack_value;
	int64_t offset = 0;

	if (count < 1 || ops[0].atom != DW_OP_call_frame_cfa)
		return false;
	if (count > 1 && ops[1].atom == DW_OP_plus_uconst)
		offset = (int64_t)ops[1].number;
	return value == (rule->kind == UW_RULE_CFA_VALUE) && offset == rule->offset &&
	       count == 1U + value + (offset != 0);
}

static bool same_rule(const struct uw_rule *rule, const Dwarf_Op *ops, size_t count,
		      const Dwarf_Op *storage)
{
	bool same_value = count == 0 && !ops;
	bool undefined = count == 0 && ops == storage;

	switch (rule->kind) {
	case UW_RULE_UNSPECIFIED: /* libdw fills in what the psABI says */
	case UW_RULE_SAME:
		return same_value || (undefined && rule->kind == UW_RULE_UNSPECIFIED);
	case UW_RULE_UNDEFINED:
		return undefined;
	case UW_RULE_AT_CFA:
	case UW_RULE_CFA_VALUE:
		return same_cfa_offset(rule, ops, count);
	case UW_RULE_REGISTER:
		return count == 1 &&
		       ((ops[0].atom == DW_OP_regx && ops[0].number == rule->reg) ||
			(ops[0].atom >= DW_OP_reg0 && ops[0].atom - DW_OP_reg0 == rule->reg));
	default:
		return count > 1; /* the operations, with what stands around them */
	}
}

/* A row in the common form, where it has one, says the same. */
static void compare_rules(struct comparison *comparison, uint64_t rva, const struct uw_row *row)
{
	const struct uw_machine *machine = uw_machine_of(comparison->module->elf.arch);
	struct uw_rules rules;
	if (!uw_machine_pushes(machine) || !uw_form_common(machine, row, &rules))
		return;
	comparison->common++;
	if (row->cfa.kind != UW_RULE_REGISTER || row->cfa.reg != rules.saved.cfa_reg ||
	    row->cfa.offset != rules.cfa_offset || row->reg[machine->ra].kind != UW_RULE_AT_CFA ||
	    row->reg[machine->ra].offset != -machine->word)
		differ(comparison, rva, "common CFA or return address", -1);
	for (int reg = 0, next = 0; reg < machine->ra; reg++) {
		bool preserved = next < machine->saved_count && machine->saved[next] == reg;
		int64_t offset = preserved ? rules.saved.slot[next++] * machine->word : 0;
		if (row->reg[reg].kind == UW_RULE_UNSPECIFIED
			    ? offset != 0
			    : row->reg[reg].kind != UW_RULE_AT_CFA ||
				      row->reg[reg].offset != offset)
			differ(comparison, rva, "common rule", reg);
	}
}

static void compare_row(struct comparison *comparison, uint64_t rva, Dwarf_Frame *frame)
{
	const struct uw_machine *machine = uw_machine_of(comparison->module->elf.arch);
	struct uw_cfi_gap gap;
	struct uw_fde fde;
	struct uw_row row;
	Dwarf_Op storage[3], *ops;
	size_t count;
	bool signal;

	comparison->rows++;
	if (uw_module_find(comparison->module, rva, &fde, &gap) != UW_CFI_OK ||
	    uw_cfi_row(&fde, rva, &row, &(uint32_t){0}) != UW_CFI_OK) {
		differ(comparison, rva, "only libdw has a row", -1);
		return;
	}
	compare_rules(comparison, rva, &row);
	if (dwarf_frame_info(frame, NULL, NULL, &signal) != machine->ra || signal != fde.signal)
		differ(comparison, rva, "return address column or signal flag", -1);
	if (dwarf_frame_cfa(frame, &ops, &count) != 0 || !same_cfa(&row.cfa, ops, count))
		differ(comparison, rva, "CFA", -1);
	for (int reg = 0; reg < machine->regs; reg++) {
		if (reg == machine->sp && row.reg[reg].kind == UW_RULE_UNSPECIFIED)
			continue; /* libdw: the CFA, as ours */
		if (dwarf_frame_register(frame, reg, storage, &ops, &count) != 0 ||
		    !same_rule(&row.reg[reg], ops, count, storage))
			differ(comparison, rva, "rule", reg);
	}
}

static void compare_segment(struct comparison *comparison, Dwarf_CFI *cfi,
			    const struct uw_segment *segment)
{
	uint64_t end = segment->rva + segment->file_size;

	for (uint64_t rva = segment->rva; rva < end;) {
		Dwarf_Addr row_start = 0, row_end = 0;
		Dwarf_Frame *frame = NULL;
		struct uw_cfi_gap gap;
		struct uw_fde fde;

		if (dwarf_cfi_addrframe(cfi, rva, &frame) == 0) {
			dwarf_frame_info(frame, &row_start, &row_end, NULL);
			compare_row(comparison, rva, frame);
			free(frame);
			rva = row_end > rva ? row_end : rva + 1;
			continue;
		}
		if (uw_cfi_find(comparison->theirs, rva, &fde, &gap) != UW_CFI_NONE) {
			differ(comparison, rva, "only we have an FDE", -1);
			rva++;
		} else {
			rva = gap.end;
		}
	}
}

/* Compares the code of a module with cfi; returns whether there was something and no difference. */
static bool compare_module(struct uw_module *module, const char *path, Dwarf_CFI *cfi,
			   const struct uw_cfi *theirs)
{
	struct comparison comparison = {.module = module, .path = path, .theirs = theirs};

	for (size_t i = 0; i < module->elf.segment_count; i++)
		if (module->elf.segments[i].executable)
			compare_segment(&comparison, cfi, &module->elf.segments[i]);
	printf("%s: %zu rows, %zu of the common form, %zu differences\n", path, comparison.rows,
	       comparison.common, comparison.differences);
	return comparison.rows > 0 && comparison.differences == 0 && comparison.common > 0;
}

static bool compare_own(struct uw_module *module, const char *path, int fd)
{
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
	Dwarf_CFI *eh_cfi = dwarf_getcfi_elf(elf);
	/* Without .eh_frame: .debug_frame, which belongs to dwarf. */
	Dwarf *dwarf = eh_cfi ? NULL : dwarf_begin_elf(elf, DWARF_C_READ, NULL);
	Dwarf_CFI *cfi = eh_cfi ? eh_cfi : dwarf_getcfi(dwarf);
	bool ok = cfi && compare_module(module, path, cfi, &module->cfi);

	if (eh_cfi)
		dwarf_cfi_end(eh_cfi);
	dwarf_end(dwarf);
	elf_end(elf);
	return ok;
}

/* libdwfl looks for the debug file as a debugger does. */
static bool compare_separate(struct uw_module *module, const char *path)
{
	static const Dwfl_Callbacks callbacks = {.find_elf = dwfl_build_id_find_elf,
						 .find_debuginfo = dwfl_standard_find_debuginfo,
						 .section_address = dwfl_offline_section_address};
	Dwfl *dwfl = dwfl_begin(&callbacks);
	Dwfl_Module *theirs = dwfl_report_offline(dwfl, path, path, -1);
	Dwarf_Addr bias = 0;
	char debug_path[1024];
	bool ok = false;

	dwfl_report_end(dwfl, NULL, NULL);
	Dwarf_CFI *cfi = dwfl_module_dwarf_cfi(theirs, &bias);
	snprintf(debug_path, sizeof(debug_path), "%s.debug", path);
	int fd = open(debug_path, O_RDONLY | O_CLOEXEC);
	if (cfi && bias == 0 && uw_module_add_debug(module, fd) == 0)
		ok = compare_module(module, path, cfi,
				    module->debug.frame.size ? &module->debug : &module->cfi);
	close(fd);
	dwfl_end(dwfl);
	return ok;
}

/* Returns whether the file could be compared and had no difference. */
static bool compare_file(const char *path)
{
	struct uw_module *module;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool ok = false;

	if (uw_module_open(fd, &module) == 0) {
		uw_module_load(module);
		ok = uw_module_lacks_info(module) ? compare_separate(module, path)
						  : compare_own(module, path, fd);
		uw_module_unref(module);
	}
	if (!ok)
		fprintf(stderr, "%s: cannot be read, or differs\n", path);
	close(fd);
	return ok;
}

/* The file that an address of this process is mapped from. */
static bool path_of(const void *address, char path[static 512])
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[1024];
	bool found = false;

	while (!found && fgets(line, sizeof(line), maps)) {
		uint64_t start, end;

		path[0] = '\0';
		if (sscanf(line, "%lx-%lx %*s %*s %*s %*s %511s", &start, &end, path) == 3)
			found = (uintptr_t)address >= start && (uintptr_t)address < end;
	}
	fclose(maps);
	return found;
}

int main(int argc, char **argv)
{
	const void *const addresses[] = {(const void *)(uintptr_t)qsort,
					 (const void *)(uintptr_t)dwarf_begin,
					 (const void *)(uintptr_t)main};
	bool ok = true;
	char path[512];

	elf_version(EV_CURRENT);
	for (int i = 1; i < argc; i++)
		ok = compare_file(argv[i]) && ok;
	for (size_t i = 0; argc == 1 && i < sizeof(addresses) / sizeof(addresses[0]); i++)
		ok = path_of(addresses[i], path) && compare_file(path) && ok;
	return !ok;
}
