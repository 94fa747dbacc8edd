/*
 * Prints the unwind rules at addresses of an ELF file as `readelf --debug-dump=frames-interp`
 * writes them. Usage: rows_dump [-d] FILE; addresses, in hexadecimal, on standard input; for each a
 * line "CFA" and a rule per register up to the return address, or "none". -d: as .debug_frame says,
 * which libuw reads only where .eh_frame says little, not .eh_frame.
 */
#include "unwind/cfi/row.h"
#include "unwind/module/module.h"
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { REGISTERS_MAX = 17 };

static const char *const names_x86_64[REGISTERS_MAX] = {"rax", "rdx", "rcx", "rbx", "rsi", "rdi",
							"rbp", "rsp", "r8",  "r9",  "r10", "r11",
							"r12", "r13", "r14", "r15", "ra"};
static const char *const names_i386[REGISTERS_MAX] = {"eax", "ecx", "edx", "ebx", "esp",
						      "ebp", "esi", "edi", "ra"};

static void print_rule(const struct uw_rule *rule, const char *const *names)
{
	switch (rule->kind) {
	case UW_RULE_SAME:
		fputs(" s", stdout);
		break;
	case UW_RULE_AT_CFA:
		printf(" c%+" PRId64, rule->offset);
		break;
	case UW_RULE_CFA_VALUE:
		printf(" v%+" PRId64, rule->offset);
		break;
	case UW_RULE_REGISTER:
		printf(" %s", names[rule->reg]);
		break;
	case UW_RULE_AT_EXPRESSION:
		fputs(" exp", stdout);
		break;
	case UW_RULE_EXPRESSION_VALUE:
		fputs(" vexp", stdout);
		break;
	default: /* readelf does not tell apart what is undefined and what nothing was said of */
		fputs(" u", stdout);
	}
}

static void print_row(const struct uw_cfi *cfi, uint64_t rva)
{
	const char *const *names = cfi->arch == UW_ARCH_I386 ? names_i386 : names_x86_64;
	struct uw_cfi_gap gap;
	struct uw_fde fde;
	struct uw_row row;

	if (uw_cfi_find(cfi, rva, &fde, &gap) != UW_CFI_OK ||
	    uw_cfi_row(&fde, rva, &row, &(uint32_t){0}) != UW_CFI_OK) {
		puts("none");
		return;
	}
	if (row.cfa.kind == UW_RULE_REGISTER)
		printf("%s%+" PRId64, names[row.cfa.reg], row.cfa.offset);
	else
		fputs("exp", stdout);
	for (int reg = 0; reg < REGISTERS_MAX && names[reg]; reg++)
		print_rule(&row.reg[reg], names);
	putchar('\n');
}

/* The module's .debug_frame; NULL: there is none. */
static const struct uw_cfi *debug_cfi(struct uw_module *module)
{
	if (!module->debug_bytes && uw_module_take_debug(module, &module->elf) < 0)
		return NULL;
	if (module->cfi.is_debug)
		return &module->cfi;
	return module->debug_bytes ? &module->debug : NULL;
}

int main(int argc, char **argv)
{
	bool debug = argc == 3 && strcmp(argv[1], "-d") == 0;
	struct uw_module *module;
	int fd = argc == 2 + debug ? open(argv[argc - 1], O_RDONLY | O_CLOEXEC) : -1;
	uint64_t rva;

	if (fd < 0 || uw_module_open(fd, &module) < 0 || module->elf.arch == UW_ARCH_AARCH64) {
		fprintf(stderr, "usage: %s [-d] FILE\n", argv[0]);
		return 2;
	}
	uw_module_load(module);
	const struct uw_cfi *cfi = debug ? debug_cfi(module) : &module->cfi;
	while (cfi && scanf("%" SCNx64, &rva) == 1)
		print_row(cfi, rva);
	uw_module_unref(module);
	close(fd);
	return 0;
}
