/* Call frame instructions, one by one, and what must be refused. */
#include "tests/support/suite.h"
#include "unwind/cfi/find.h"
#include "unwind/cfi/row.h"
#include "unwind/elf/elf.h"
#include "unwind/frame/machine.h"
#include <check.h>
#include <stdlib.h>
#include <string.h>

enum { REG_RBX = 3, REG_RBP = 6, REG_RSP = 7, REG_R12 = 12, REG_R15 = 15, REG_RIP = 16 };

/* The code that the FDE under test describes. */
static const uint64_t code_rva = 0x1000, frame_rva = 0x8000;

static uint8_t section[80 << 10];
static size_t section_size;

static void put(const void *bytes, size_t size)
{
	ck_assert_uint_le(section_size + size, sizeof(section));
	memcpy(section + section_size, bytes, size);
	section_size += size;
}

static void put_u8(uint8_t value)
{
	put(&value, sizeof(value));
}

static void put_u32(uint32_t value)
{
	put(&value, sizeof(value));
}

/* Fills the length of the record that starts at start, padded to 8 bytes. */
static void put_length(size_t start)
{
	while (section_size % 8 != 0)
		put_u8(0);
	uint32_t length = (uint32_t)(section_size - start - 4);
	memcpy(section + start, &length, sizeof(length));
}

static void put_cie_of(const char *augmentation, const void *factors, size_t factors_size,
		       const void *rules, size_t rules_size)
{
	size_t start = section_size;

	put_u32(0);
	put_u32(0);
	put_u8(1);
	put(augmentation, strlen(augmentation) + 1);
	put(factors, factors_size);
	put_u8(1);
	put_u8(UW_PE_PCREL | UW_PE_SDATA4);
	put(rules, rules_size);
	put_length(start);
}

/* CIE "zR": code alignment 1, data alignment -8, rip, pcrel | sdata4; CFA = rsp + 8, rip at -8. */
static const uint8_t usual_factors[] = {1, 0x78, REG_RIP};
static const uint8_t usual_rules[] = {0x0c, REG_RSP, 8, 0x80 | REG_RIP, 1};

static void put_cie(const char *augmentation)
{
	put_cie_of(augmentation, usual_factors, sizeof(usual_factors), usual_rules,
		   sizeof(usual_rules));
}

static void put_fde(const void *code, size_t size)
{
	size_t start = section_size;

	put_u32(0);
	put_u32((uint32_t)section_size); /* back to the CIE at 0 */
	put_u32((uint32_t)(code_rva - (frame_rva + section_size)));
	put_u32(0x100);
	put_u8(0);
	put(code, size);
	put_length(start);
}

/* Expressions of the row point into the frame, which stays open until the next call. */
static enum uw_cfi_result row_in(uint64_t offset, struct uw_row *row)
{
	static const struct uw_span no_hdr;
	static struct uw_cfi cfi;
	const struct uw_elf elf = {.fd = -1,
				   .image = section,
				   .size = section_size,
				   .arch = UW_ARCH_X86_64};
	const struct uw_piece frame = {.size = section_size, .rva = frame_rva};
	struct uw_cfi_gap gap;
	struct uw_fde fde;

	uw_cfi_finish(&cfi);
	ck_assert_int_eq(uw_cfi_open(&cfi, &elf, &frame, &no_hdr), 0);
	enum uw_cfi_result result = uw_cfi_find(&cfi, code_rva + offset, &fde, &gap);
	return result == UW_CFI_OK ? uw_cfi_row(&fde, code_rva + offset, row, &(uint32_t){0})
				   : result;
}

/* The row at an offset into the code, for an FDE with the given instructions. */
static enum uw_cfi_result row_of(const void *code, size_t size, uint64_t offset, struct uw_row *row)
{
	section_size = 0;
	put_cie("zR");
	put_fde(code, size);
	return row_in(offset, row);
}

#define ROW(offset, ...) \
	row_of((const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}), offset, &row)

static void assert_rule(const struct uw_rule *rule, enum uw_rule_kind kind, int64_t offset)
{
	ck_assert_int_eq(rule->kind, kind);
	ck_assert_int_eq(rule->offset, offset);
}

START_TEST(initial_rules)
{
	struct uw_row row;

	ck_assert_int_eq(ROW(0, 0), UW_CFI_OK);
	assert_rule(&row.cfa, UW_RULE_REGISTER, 8);
	ck_assert_uint_eq(row.cfa.reg, REG_RSP);
	assert_rule(&row.reg[REG_RIP], UW_RULE_AT_CFA, -8);
	assert_rule(&row.reg[REG_RBX], UW_RULE_UNSPECIFIED, 0);
}
END_TEST

START_TEST(advance_reaches_the_address)
{
	struct uw_row row;

	/* advance_loc 4; def_cfa_offset 16; advance_loc1 16; def_cfa_offset 24;
	 * advance_loc2 0x20; def_cfa_offset 32; advance_loc4 0x30; def_cfa_offset 40 */
#define ADVANCES \
	0x44, 0x0e, 16, 0x02, 16, 0x0e, 24, 0x03, 0x20, 0, 0x0e, 32, 0x04, 0x30, 0, 0, 0, 0x0e, 40
	static const struct {
		uint64_t at;
		int64_t cfa;
	} expected[] = {{0, 8},   {3, 8},   {4, 16},    {19, 16},   {20, 24},
			{51, 24}, {52, 32}, {0x63, 32}, {0x64, 40}, {0xff, 40}};

	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		ck_assert_int_eq(ROW(expected[i].at, ADVANCES), UW_CFI_OK);
		ck_assert_int_eq(row.cfa.offset, expected[i].cfa);
	}
	ck_assert_int_eq(ROW(0x100, ADVANCES), UW_CFI_NONE);
}
END_TEST

START_TEST(register_rules)
{
	struct uw_row row;

	/* offset_extended rbp 2; undefined rbx; same_value r12; register r13 = rax;
	 * offset_extended_sf r14 3 (factored by -8); val_offset r15 4; */
	ck_assert_int_eq(ROW(0, 0x05, 6, 2, 0x07, 3, 0x08, 12, 0x09, 13, 0, 0x11, 14, 3, 0x14, 15,
			     4),
			 UW_CFI_OK);
	assert_rule(&row.reg[6], UW_RULE_AT_CFA, -16);
	assert_rule(&row.reg[3], UW_RULE_UNDEFINED, 0);
	assert_rule(&row.reg[12], UW_RULE_SAME, 0);
	assert_rule(&row.reg[13], UW_RULE_REGISTER, 0);
	ck_assert_uint_eq(row.reg[13].reg, 0);
	assert_rule(&row.reg[14], UW_RULE_AT_CFA, -24);
	assert_rule(&row.reg[15], UW_RULE_CFA_VALUE, -32);
	/* val_offset_sf rbx -1; GNU_negative_offset_extended rbp 1; GNU_args_size 8 */
	ck_assert_int_eq(ROW(0, 0x15, 3, 0x7f, 0x2f, 6, 1, 0x2e, 8), UW_CFI_OK);
	assert_rule(&row.reg[3], UW_RULE_CFA_VALUE, 8);
	assert_rule(&row.reg[6], UW_RULE_AT_CFA, 8);
	/* def_cfa_sf rbp -3; def_cfa_offset_sf -4 */
	ck_assert_int_eq(ROW(0, 0x12, 6, 0x7d), UW_CFI_OK);
	assert_rule(&row.cfa, UW_RULE_REGISTER, 24);
	ck_assert_int_eq(ROW(0, 0x13, 0x7c), UW_CFI_OK);
	assert_rule(&row.cfa, UW_RULE_REGISTER, 32);
	/* Vector registers are passed over: offset xmm0 (17) */
	ck_assert_int_eq(ROW(0, 0x91, 2, 0x05, 0xff, 0x7f, 2), UW_CFI_OK);
}
END_TEST

START_TEST(restore_goes_back_to_the_cie)
{
	struct uw_row row;

	/* offset rip 5; restore rip; undefined rbx; restore_extended rbx */
	ck_assert_int_eq(ROW(0, 0x90, 5, 0xd0, 0x07, 3, 0x06, 3), UW_CFI_OK);
	assert_rule(&row.reg[REG_RIP], UW_RULE_AT_CFA, -8);
	assert_rule(&row.reg[REG_RBX], UW_RULE_UNSPECIFIED, 0);
}
END_TEST

START_TEST(remembered_states)
{
	struct uw_row row;
	uint8_t deep[17];

	/* remember; def_cfa_offset 16; offset rbp 2; advance 8; restore_state */
#define REMEMBER 0x0a, 0x0e, 16, 0x86, 2, 0x48, 0x0b
	ck_assert_int_eq(ROW(7, REMEMBER), UW_CFI_OK);
	assert_rule(&row.cfa, UW_RULE_REGISTER, 16);
	assert_rule(&row.reg[REG_RBP], UW_RULE_AT_CFA, -16);
	ck_assert_int_eq(ROW(8, REMEMBER), UW_CFI_OK);
	assert_rule(&row.cfa, UW_RULE_REGISTER, 8);
	assert_rule(&row.reg[REG_RBP], UW_RULE_UNSPECIFIED, 0);
	ck_assert_int_eq(ROW(0, 0x0b), UW_CFI_BAD);
	memset(deep, 0x0a, sizeof(deep));
	ck_assert_int_eq(row_of(deep, sizeof(deep) - 1, 0, &row), UW_CFI_OK);
	ck_assert_int_eq(row_of(deep, sizeof(deep), 0, &row), UW_CFI_BAD);
}
END_TEST

START_TEST(cfa_expressions)
{
	struct uw_row row;

	/* def_cfa_expression {breg6 -8; deref}; def_cfa_register rsp takes the old offset */
	ck_assert_int_eq(ROW(0, 0x0f, 3, 0x76, 0x78, 0x06), UW_CFI_OK);
	ck_assert_int_eq(row.cfa.kind, UW_RULE_EXPRESSION_VALUE);
	ck_assert_uint_eq(row.cfa.size, 3);
	ck_assert_uint_eq(row.cfa.expression[0], 0x76);
	ck_assert_int_eq(ROW(0, 0x0e, 56, 0x0f, 3, 0x76, 0x78, 0x06, 0x0d, 7), UW_CFI_OK);
	assert_rule(&row.cfa, UW_RULE_REGISTER, 56);
}
END_TEST

START_TEST(refused_instructions)
{
	struct uw_row row;

	ck_assert_int_eq(ROW(0, 0x3f), UW_CFI_BAD);            /* unknown */
	ck_assert_int_eq(ROW(0, 0x2d), UW_CFI_BAD);            /* another machine's */
	ck_assert_int_eq(ROW(0, 0x0c, 17, 8), UW_CFI_BAD);     /* CFA from an untracked register */
	ck_assert_int_eq(ROW(0, 0x09, 3, 40), UW_CFI_BAD);     /* rbx in an untracked register */
	ck_assert_int_eq(ROW(0, 0x0f, 100, 0x76), UW_CFI_BAD); /* expression beyond the end */
	ck_assert_int_eq(ROW(0, 0x0e, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
			     0x80, 0x01),
			 UW_CFI_BAD); /* a number of more than 64 bits */
	/* What comes after the address in question does not matter. */
	ck_assert_int_eq(ROW(0, 0x44, 0x3f), UW_CFI_OK);
}
END_TEST

/* Rules that the CIE gives, before an FDE that does nothing. */
static enum uw_cfi_result row_of_rules(const void *rules, size_t size)
{
	static const uint8_t none[] = {0};
	struct uw_row row;

	section_size = 0;
	put_cie_of("zR", usual_factors, sizeof(usual_factors), rules, size);
	put_fde(none, 1);
	return row_in(0, &row);
}

#define RULES(...) \
	row_of_rules((const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

START_TEST(refused_rules)
{
	ck_assert_int_eq(RULES(0x0c, REG_RSP, 8), UW_CFI_OK);
	ck_assert_int_eq(RULES(0), UW_CFI_BAD);       /* no CFA */
	ck_assert_int_eq(RULES(0x0e, 8), UW_CFI_BAD); /* half of one */
	ck_assert_int_eq(RULES(0x0d, REG_RSP), UW_CFI_BAD);
	ck_assert_int_eq(RULES(0x0e, 8, 0x0c, REG_RSP, 8), UW_CFI_BAD);
	ck_assert_int_eq(RULES(0x0d, REG_RSP, 0x0c, REG_RSP, 8), UW_CFI_BAD);
	/* Nothing that could be restored. */
	ck_assert_int_eq(RULES(0x0c, REG_RSP, 8, 0xc3), UW_CFI_BAD);
	ck_assert_int_eq(RULES(0x0c, REG_RSP, 8, 0x06, 3), UW_CFI_BAD);
	ck_assert_int_eq(RULES(0x0c, REG_RSP, 8, 0x0b), UW_CFI_BAD);
}
END_TEST

/* def_cfa_expression of so many bytes. */
static enum uw_cfi_result row_of_expression(size_t size)
{
	static uint8_t code[70 << 10];
	struct uw_row row;

	memset(code, 0x96, sizeof(code)); /* nop */
	code[0] = 0x0f;
	code[1] = (uint8_t)(0x80 | (size & 0x7f));
	code[2] = (uint8_t)(0x80 | (size >> 7 & 0x7f));
	code[3] = (uint8_t)(size >> 14);
	enum uw_cfi_result result = row_of(code, 4 + size, 0, &row);
	if (result == UW_CFI_OK)
		ck_assert_uint_eq(row.cfa.size, size);
	return result;
}

START_TEST(long_expressions)
{
	ck_assert_int_eq(row_of_expression(65000), UW_CFI_OK);
	ck_assert_int_eq(row_of_expression(UINT16_MAX + 1), UW_CFI_BAD);
}
END_TEST

/* A code alignment of 2^62: two of these are beyond the end of the world. */
START_TEST(advance_beyond_all)
{
	static const uint8_t factors[] = {0x80, 0x80, 0x80, 0x80, 0x80,   0x80,
					  0x80, 0x80, 0x40, 0x78, REG_RIP};
	static const uint8_t once[] = {0x41, 0x3f}, often[] = {0x44, 0};
	struct uw_row row;

	section_size = 0;
	put_cie_of("zR", factors, sizeof(factors), usual_rules, sizeof(usual_rules));
	put_fde(once, sizeof(once));
	ck_assert_int_eq(row_in(0, &row), UW_CFI_OK);
	section_size = 0;
	put_cie_of("zR", factors, sizeof(factors), usual_rules, sizeof(usual_rules));
	put_fde(often, sizeof(often));
	ck_assert_int_eq(row_in(0, &row), UW_CFI_BAD);
}
END_TEST

START_TEST(terminators_and_foreign_cies)
{
	struct uw_row row;
	static const uint8_t none[] = {0};

	section_size = 0;
	put_cie("zR");
	put_u32(0); /* crt files leave one in the middle */
	put_fde(none, 1);
	ck_assert_int_eq(row_in(0, &row), UW_CFI_OK);
	section_size = 0;
	put_cie("zRS");
	put_fde(none, 1);
	ck_assert_int_eq(row_in(0, &row), UW_CFI_OK);
	section_size = 0;
	put_cie("eh"); /* gcc 2's, with a pointer that no length covers */
	put_fde(none, 1);
	ck_assert_int_eq(row_in(0, &row), UW_CFI_NONE);
	section_size = 0;
	put_cie("zR");
	section[8] = 9; /* version */
	put_fde(none, 1);
	ck_assert_int_eq(row_in(0, &row), UW_CFI_NONE);
}
END_TEST

/* A CIE with absolute addresses in its FDEs, and one of these. */
static void put_absolute(uint8_t version, const char *augmentation, const void *data, size_t size)
{
	static const uint8_t sizes[] = {8, 0}; /* of an address, of a segment selector */
	static const uint64_t range[] = {code_rva, 0x100};

	section_size = 0;
	put_u32(0);
	put_u32(0);
	put_u8(version);
	put(augmentation, strlen(augmentation) + 1);
	put(sizes, version == 4 ? sizeof(sizes) : 0);
	put(usual_factors, sizeof(usual_factors));
	put(data, size);
	put(usual_rules, sizeof(usual_rules));
	put_length(0);
	size_t start = section_size;
	put_u32(0);
	put_u32((uint32_t)section_size);
	put(range, sizeof(range));
	put_u8(0); /* no augmentation data, or no operation */
	put_length(start);
}

#define AUGMENTED(version, augmentation, ...)                               \
	put_absolute(version, augmentation, (const uint8_t[]){__VA_ARGS__}, \
		     sizeof((const uint8_t[]){__VA_ARGS__}));               \
	ck_assert_int_eq(row_in(0, &row), expected)

START_TEST(augmentations)
{
	struct uw_row row;
	enum uw_cfi_result expected = UW_CFI_OK;

	AUGMENTED(1, "", 0);
	AUGMENTED(3, "", 0);
	AUGMENTED(4, "", 0);
	AUGMENTED(1, "z", 0);
	AUGMENTED(1, "zLS", 1, 0);
	AUGMENTED(1, "zPR", 10, 0, 1, 2, 3, 4, 5, 6, 7, 8, 0);
	AUGMENTED(1, "zRX", 2, 0, 7);
	AUGMENTED(1, "zXR", 2, 7, 0x50);
	expected = UW_CFI_NONE;
	AUGMENTED(2, "", 0);
	AUGMENTED(5, "", 0);
	AUGMENTED(1, "eh", 0);
	AUGMENTED(1, "zR", 0);
	AUGMENTED(1, "zP", 1, 0);
	AUGMENTED(1, "z", 100);
	AUGMENTED(1, "zXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX", 0);
	put_absolute(4, "", "", 0);
	section[10] = 4; /* another machine's address size */
	ck_assert_int_eq(row_in(0, &row), UW_CFI_NONE);
	put_absolute(4, "", "", 0);
	section[11] = 1; /* segments */
	ck_assert_int_eq(row_in(0, &row), UW_CFI_NONE);
	put_absolute(4, "", "", 0);
	section[14] = REG_R15; /* the return address */
	ck_assert_int_eq(row_in(0, &row), UW_CFI_NONE);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("unwind row");
	TCase *tcase = tcase_create("row");

	tcase_add_test(tcase, initial_rules);
	tcase_add_test(tcase, advance_reaches_the_address);
	tcase_add_test(tcase, register_rules);
	tcase_add_test(tcase, restore_goes_back_to_the_cie);
	tcase_add_test(tcase, remembered_states);
	tcase_add_test(tcase, cfa_expressions);
	tcase_add_test(tcase, refused_instructions);
	tcase_add_test(tcase, terminators_and_foreign_cies);
	tcase_add_test(tcase, refused_rules);
	tcase_add_test(tcase, long_expressions);
	tcase_add_test(tcase, advance_beyond_all);
	tcase_add_test(tcase, augmentations);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
