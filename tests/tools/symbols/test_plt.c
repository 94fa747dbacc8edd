/* Names of the linker's stubs, against the relocations of their slots. */
#include "tests/support/suite.h"
#include "tools/symbols/resolve.h"
#include <check.h>
#include <fcntl.h>
#include <gelf.h>
#include <string.h>
#include <unistd.h>

enum { STUB_SIZE = 16 };

static int fd;
static Elf *elf;
static GElf_Shdr plt;

static Elf_Scn *section(const char *name, GElf_Shdr *header)
{
	size_t names;
	ck_assert_int_eq(elf_getshdrstrndx(elf, &names), 0);
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(elf, scn));) {
		ck_assert_ptr_nonnull(gelf_getshdr(scn, header));
		if (strcmp(elf_strptr(elf, names, header->sh_name), name) == 0)
			return scn;
	}
	ck_abort_msg("no section %s", name);
}

static void open_file(const char *path)
{
	elf_version(EV_CURRENT);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	ck_assert_ptr_nonnull(elf);
	section(".plt", &plt);
}

static void close_file(void)
{
	elf_end(elf);
	close(fd);
}

/* Name of the symbol that the n-th slot is filled with. */
static const char *slot_name(size_t n)
{
	GElf_Shdr header, symbols_header;
	Elf_Data *relocations = elf_getdata(section(".rela.plt", &header), NULL);
	Elf_Data *symbols = elf_getdata(section(".dynsym", &symbols_header), NULL);
	GElf_Rela relocation;
	GElf_Sym symbol;
	ck_assert_ptr_nonnull(gelf_getrela(relocations, (int)n, &relocation));
	ck_assert_ptr_nonnull(gelf_getsym(symbols, (int)GELF_R_SYM(relocation.r_info), &symbol));
	return elf_strptr(elf, symbols_header.sh_link, symbol.st_name);
}

static void expect(const char *path, uint64_t rva, const char *name, uint64_t start)
{
	struct mapped_file identity = {.path = path};
	struct symbol_address address = {.rva = rva};
	ck_assert_int_eq(resolve_file(&identity, NULL, &address, 1), SYMBOL_FILE_OPEN);
	ck_assert_msg(address.function.name && strcmp(address.function.name, name) == 0,
		      "%lx: %s, not %s", (unsigned long)rva,
		      address.function.name ? address.function.name : "none", name);
	ck_assert_uint_eq(address.function.start, start);
	symbol_address_finish(&address);
}

/* The stubs of .plt that jump by a slot, and those that push a number. The first one is the
 * linker's own and has no name. */
START_TEST(stubs_in_order_of_their_slots)
{
	static const char *const paths[] = {SUBJECT_FIXED, SUBJECT_IBT};
	const char *path = paths[_i];
	open_file(path);
	size_t count = plt.sh_size / STUB_SIZE;
	ck_assert_uint_ge(count, 3);
	for (size_t i = 1; i < count; i++) {
		uint64_t stub = plt.sh_addr + i * STUB_SIZE;
		expect(path, stub, slot_name(i - 1), stub);
		expect(path, stub + STUB_SIZE - 1, slot_name(i - 1), stub);
	}
	expect(path, plt.sh_addr + 3, "", plt.sh_addr);
	close_file();
}
END_TEST

/* A symbol among the stubs is what it says. */
START_TEST(symbol_among_the_stubs)
{
	open_file(SUBJECT_PLT);
	GElf_Shdr header;
	Elf_Data *symbols = elf_getdata(section(".dynsym", &header), NULL);
	GElf_Sym symbol;
	uint64_t rva = 0;
	for (int i = 0; gelf_getsym(symbols, i, &symbol); i++)
		if (strcmp(elf_strptr(elf, header.sh_link, symbol.st_name), "subject_own_stub") ==
		    0)
			rva = symbol.st_value;
	ck_assert(rva >= plt.sh_addr && rva < plt.sh_addr + plt.sh_size);
	expect(SUBJECT_PLT, rva + 1, "subject_own_stub", rva);
	close_file();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("plt");
	TCase *tcase = tcase_create("plt");
	tcase_add_loop_test(tcase, stubs_in_order_of_their_slots, 0, 2);
	tcase_add_test(tcase, symbol_among_the_stubs);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
