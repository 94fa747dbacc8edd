/* Instructions as text, and the arrows beside them. */
#include "tests/support/suite.h"
#include "tools/code/disassembly.h"
#include "tools/code/jump_arrows.h"
#include <check.h>
#include <stdlib.h>
#include <string.h>

#define BASE UINT64_C(0x1000)

/* 0: jmp 6; 2: nop; 3: jz 0; 5: ret; 6: jz 3 */
static const uint8_t loop[] = {0xeb, 0x04, 0x90, 0x74, 0xfb, 0xc3, 0x74, 0xfb};

static void check_rows(const struct disassembly *code, bool is_ascii, const char *const *rows)
{
	struct jump_arrows arrows;
	jump_arrows_make(&arrows, code, is_ascii);
	for (size_t i = 0; i < code->count; i++) {
		char *row = jump_arrows_draw(&arrows, i);
		ck_assert_msg(strcmp(row, rows[i]) == 0, "row %zu: [%s] not [%s]", i, row, rows[i]);
		free(row);
	}
	jump_arrows_finish(&arrows);
}

START_TEST(test_arrows)
{
	static const char *const ascii[] = {"/-/> ", "| |  ", "|/\\> ", "||   ", "\\\\-> "};
	static const char *const lines[] = {"┌─┌> ", "│ │  ", "│┌└> ", "││   ", "└└─> "};
	struct disassembly code = {0};
	disassembly_add(&code, loop, sizeof(loop), BASE, false, false);
	ck_assert_uint_eq(code.count, 5);
	ck_assert_str_eq(code.instructions[1].text, "nop");
	ck_assert(code.instructions[0].is_jump && code.instructions[0].target == BASE + 6);
	ck_assert(code.instructions[2].is_jump && code.instructions[2].target == BASE);
	ck_assert(!code.instructions[3].has_target);
	check_rows(&code, true, ascii);
	check_rows(&code, false, lines);
	disassembly_finish(&code);
}
END_TEST

/* call 0x1005; an undefined instruction; the start of another one. */
START_TEST(test_bad_code)
{
	static const uint8_t bytes[] = {0xe8, 0, 0, 0, 0, 0x06, 0x0f};
	struct disassembly code = {0};
	disassembly_add(&code, bytes, sizeof(bytes), BASE, false, true);
	ck_assert_uint_eq(code.count, 3);
	ck_assert(code.instructions[0].has_target && !code.instructions[0].is_jump);
	ck_assert_uint_eq(code.instructions[0].target, BASE + 5);
	ck_assert_str_eq(code.instructions[1].text, "(bad)");
	ck_assert_str_eq(code.instructions[2].text, "(bad)");
	disassembly_finish(&code);
	/* 0x06 is push %es in code of 32 bits */
	disassembly_add(&code, bytes + 5, 1, BASE, true, true);
	ck_assert_str_eq(code.instructions[0].text, "push es");
	disassembly_finish(&code);
}
END_TEST

/* Any bytes give instructions that add up to them. */
START_TEST(test_any_bytes)
{
	uint8_t bytes[4096];
	uint32_t state = 1;
	for (size_t i = 0; i < sizeof(bytes); i++) {
		state = state * 1103515245 + 12345;
		bytes[i] = (uint8_t)(state >> 16);
	}
	for (unsigned is_32bit = 0; is_32bit < 2; is_32bit++) {
		struct disassembly code = {0};
		struct jump_arrows arrows;
		size_t size = 0;
		disassembly_add(&code, bytes, sizeof(bytes), BASE, is_32bit, false);
		for (size_t i = 0; i < code.count; i++) {
			ck_assert_uint_eq(code.instructions[i].rva, BASE + size);
			size += code.instructions[i].size;
		}
		ck_assert_uint_eq(size, sizeof(bytes));
		jump_arrows_make(&arrows, &code, false);
		ck_assert_uint_le(arrows.lanes, JUMP_ARROWS_LANES);
		for (size_t i = 0; i < code.count; i++)
			free(jump_arrows_draw_before(&arrows, i));
		jump_arrows_finish(&arrows);
		disassembly_finish(&code);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("jump_arrows");
	TCase *cases = tcase_create("all");
	tcase_set_timeout(cases, 60);
	tcase_add_test(cases, test_arrows);
	tcase_add_test(cases, test_bad_code);
	tcase_add_test(cases, test_any_bytes);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
