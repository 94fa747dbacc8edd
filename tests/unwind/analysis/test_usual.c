/* The usual instructions, decoded without Zydis, against Zydis: every opcode and operand, of states
 * that tell much. */
#include "unwind/analysis/effect.h"
#include "unwind/analysis/usual.h"
#include <check.h>
#include <stdio.h>
#include <string.h>

enum { ADDRESS = 0x400000, STATES = 4, TAIL = 8 };

static struct uw_flow_state states[STATES];

static struct uw_value value(unsigned kind, unsigned count, int32_t number)
{
	return (struct uw_value){(uint16_t)kind, (uint16_t)count, number};
}

/* Of a function with a frame, with bounds and tables in registers, and of ways that begin anywhere.
 */
static void setup(void)
{
	uw_state_enter(&states[0]);
	uw_state_enter(&states[1]);
	for (unsigned reg = 8; reg < 12; reg++)
		uw_state_put(&states[1], reg, value(UW_VALUE_BELOW, reg, 0));
	uw_state_put(&states[1], 0, value(UW_VALUE_CONSTANT, 0, 0x500000));
	uw_state_put(&states[1], 1, value(UW_VALUE_DISTANCE, 7, 0x500000));
	uw_state_put(&states[1], 2, value(UW_VALUE_BELOW, 9, 0));
	uw_state_put(&states[1], UW_RBP, value(UW_VALUE_CFA, 0, -16));
	uw_state_store(&states[1], value(UW_VALUE_CFA, 0, -16), 8, value(UW_VALUE_INITIAL, 0, 1));
	uw_state_copy(&states[1], 6, 2);
	states[1].comparison =
		(struct uw_comparison){.place = {.is_set = 1, .reg = 2, .index = UW_NO_GPR},
				       .other = UW_NO_GPR};
	uw_state_begin(&states[2]);
	states[3] = states[2];
	uw_state_put(&states[3], UW_RSP, value(UW_VALUE_ALIGNED, 0, 8));
	uw_state_store(&states[3], value(UW_VALUE_ALIGNED, 0, 0), 8, value(UW_VALUE_INITIAL, 0, 3));
	uw_state_put(&states[3], 12, value(UW_VALUE_WORD, UW_VALUE_ALIGNED, 8));
}

static bool effects_are_same(const struct uw_effect *a, const struct uw_effect *b)
{
	return a->flow == b->flow && a->size == b->size && a->target == b->target &&
	       a->condition == b->condition && a->popped == b->popped &&
	       memcmp(&a->value, &b->value, sizeof(a->value)) == 0 &&
	       memcmp(&a->pushed, &b->pushed, sizeof(a->pushed)) == 0;
}

/* Whether the instruction is usual. What check notes for each assertion takes longer than these. */
static bool compare(const uint8_t *code, size_t size, unsigned number)
{
	struct uw_flow_state quick = states[number % STATES], whole = quick;
	struct uw_effect a, b;
	struct uw_usual usual;
	char text[3 * 16] = "";

	if (!uw_usual_read(ADDRESS, code, size, &usual))
		return false;
	if (usual.size <= size && uw_effect_apply(&quick, ADDRESS, code, size, &a) &&
	    uw_effect_decode(&whole, ADDRESS, code, size, &b) && effects_are_same(&a, &b) &&
	    memcmp(&quick, &whole, sizeof(quick)) == 0 &&
	    !uw_usual_read(ADDRESS, code, usual.size - 1U, &usual)) /* one byte is missing */
		return true;
	for (size_t i = 0; i < size && i < 15; i++)
		sprintf(text + 3 * i, "%02x ", code[i]);
	ck_abort_msg("state %u: %s", number % STATES, text);
	return false;
}

static const uint8_t tails[][TAIL] = {
	{0x10, 0x20, 0x30, 0x40, 0x50, 0x60, 0x70, 0x08},
	{0xf0, 0xff, 0xff, 0xff, 0x90, 0x90, 0x90, 0x90},
	{0x24, 0x08, 0x00, 0x50, 0x00, 0x00, 0x00, 0x00},
	{0x85, 0x00, 0x00, 0x50, 0x00, 0xff, 0xff, 0xff},
	{0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00},
};

enum { TAILS = sizeof(tails) / sizeof(tails[0]) };

/* A prefix or none, an opcode of one byte or two, all operands; tails and states in turn. */
START_TEST(opcodes)
{
	unsigned usual = 0, number = (unsigned)_i;

	for (unsigned opcode = 0; opcode < 512; opcode++) {
		for (unsigned modrm = 0; modrm < 256; modrm++) {
			uint8_t code[15];
			size_t size = 0;
			if (_i > 0)
				code[size++] = (uint8_t)(0x3f + _i);
			if (opcode >= 256)
				code[size++] = 0x0f;
			code[size++] = (uint8_t)opcode;
			code[size++] = (uint8_t)modrm;
			for (unsigned i = 0; i < 7; i++, number++) {
				memcpy(code + size, tails[number % TAILS], TAIL);
				usual += compare(code, size + TAIL, number);
			}
		}
	}
	ck_assert_uint_gt(usual, 7 * 10000);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("unwind-usual");
	TCase *tests = tcase_create("usual");

	tcase_add_checked_fixture(tests, setup, NULL);
	tcase_add_loop_test(tests, opcodes, 0, 17);
	suite_add_tcase(suite, tests);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? 0 : 1;
}
