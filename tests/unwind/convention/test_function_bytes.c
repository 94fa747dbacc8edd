/* What the bytes of functions without CFI show. The functions here are not called. */
#include "tests/support/suite.h"
#include "tests/unwind/capture.h"
#include "tests/unwind/elf_builder.h"
#include "unwind/convention/function_bytes.h"
#include "unwind/space/space.h"
#include "unwind/x86/instruction.h"
#include <check.h>
#include <string.h>

static struct uw_space *space;

static void setup(void)
{
	space = capture_space();
	uw_space_refresh(space);
}

static void teardown(void)
{
	uw_space_destroy(space);
}

extern const uint8_t c_framed[], c_framed_body[], c_after[], c_roomy[], c_roomy_body[];
extern const uint8_t go_framed[], go_framed_lea[], go_framed_body[], go_framed_end[], go_after[];
extern const uint8_t go_large[], go_large_body[];
extern const uint8_t c_moved[], c_aligned[], c_loaded[], c_other[], c_other_end[];
extern const uint8_t stub[], stub_jump[];
__asm__(".text\n"
	"c_framed: endbr64\n"
	"push %rbp\n"
	"xor %eax, %eax\n"
	"mov %rsp, %rbp\n"
	"c_framed_body: nop\n"
	"pop %rbp\n"
	"ret\n"
	"c_after: nop\n"
	"c_roomy: push %rbx\n"
	"sub $0x1000, %rsp\n"
	"c_roomy_body: add $0x1000, %rsp\n"
	"pop %rbx\n"
	"ret\n"
	"go_framed: cmp 0x10(%r14), %rsp\n"
	"jbe 1f\n"
	"sub $0x18, %rsp\n"
	"mov %rbp, 0x10(%rsp)\n"
	"go_framed_lea: lea 0x10(%rsp), %rbp\n"
	"go_framed_body: nop\n"
	"mov 0x10(%rsp), %rbp\n"
	"go_framed_end: add $0x18, %rsp\n"
	"ret\n"
	"1: nop\n"
	"jmp go_framed\n"
	"go_after: nop\n"
	"go_large: lea -0x40(%rsp), %r12\n"
	"cmp 0x10(%r14), %r12\n"
	"jbe 2f\n"
	"push %rbp\n"
	"mov %rsp, %rbp\n"
	"go_large_body: .skip 300, 0x90\n"
	"2: jmp go_large\n"
	"c_moved: mov %rdi, %rsp\n"
	"c_aligned: and %rdi, %rsp\n"
	"c_loaded: mov (%rdi), %rsp\n"
	"c_other: mov %rdi, %r12\n"
	"mov (%rsp), %r12\n"
	"c_other_end: nop\n"
	"stub: endbr64\n"
	/* bnd jmp; not every assembler knows bnd */
	".byte 0xf2\n"
	"jmp *0x1234(%rip)\n"
	"stub_jump: .byte 0xe9\n"
	".long c_after - . - 4\n"
	".skip 16, 0x90\n");

static uint64_t at(const uint8_t *code)
{
	return (uintptr_t)code;
}

START_TEST(place)
{
	uint32_t room = 0;

	ck_assert_int_eq(uw_bytes_place(space, at(c_after) - 1, &room), UW_PLACE_TOP);
	ck_assert_int_eq(uw_bytes_place(space, at(c_framed_body), &room), UW_PLACE_UNKNOWN);
	ck_assert_int_eq(uw_bytes_place(space, at(go_framed_end), &room), UW_PLACE_ABOVE);
	ck_assert_uint_eq(room, 0x18);
	ck_assert_int_eq(uw_bytes_place(space, at(c_roomy_body), &room), UW_PLACE_UNKNOWN);
	ck_assert_int_eq(uw_bytes_place(space, at(go_large_body) - 3, &room), UW_PLACE_NEXT);
	ck_assert_int_eq(uw_bytes_place(space, 16, &room), UW_PLACE_UNKNOWN);
}
END_TEST

/* The place of the second byte, where a file ends after these. */
static const struct {
	uint8_t size;
	uint8_t bytes[9];
	enum uw_arch arch;
	enum uw_place place;
	uint32_t room;
} ends[] = {
	{4, {0x90, 0xc3, 0xcc, 0xcc}, UW_ARCH_X86_64, UW_PLACE_TOP, 0},
	{4, {0x90, 0xc2, 0x08, 0x00}, UW_ARCH_X86_64, UW_PLACE_TOP, 0},
	{4, {0x90, 0xf3, 0xc3, 0xcc}, UW_ARCH_X86_64, UW_PLACE_TOP, 0},
	{4, {0x90, 0xf2, 0xc3, 0xcc}, UW_ARCH_X86_64, UW_PLACE_TOP, 0},
	{4, {0x90, 0xf4, 0xc3, 0xcc}, UW_ARCH_X86_64, UW_PLACE_UNKNOWN, 0},
	{3, {0x90, 0xc3, 0xcc}, UW_ARCH_X86_64, UW_PLACE_UNKNOWN, 0}, /* too short */
	{4, {0x55, 0x48, 0x89, 0xe5}, UW_ARCH_X86_64, UW_PLACE_NEXT, 0},
	{4, {0x55, 0x48, 0x8b, 0xec}, UW_ARCH_X86_64, UW_PLACE_NEXT, 0},
	{4, {0x90, 0x48, 0x89, 0xe5}, UW_ARCH_X86_64, UW_PLACE_UNKNOWN, 0},
	{4, {0x55, 0x89, 0xe5, 0x90}, UW_ARCH_I386, UW_PLACE_NEXT, 0},
	{4, {0x55, 0x48, 0x89, 0xe5}, UW_ARCH_I386, UW_PLACE_UNKNOWN, 0},
	{9, {0x90, 0x48, 0x83, 0xc4, 0x18, 0xc3}, UW_ARCH_X86_64, UW_PLACE_ABOVE, 0x18},
	{9, {0x90, 0x48, 0x83, 0xc4, 0x80, 0xc3}, UW_ARCH_X86_64, UW_PLACE_UNKNOWN, 0},
	{9, {0x90, 0x48, 0x83, 0xc4, 0x18, 0x90}, UW_ARCH_X86_64, UW_PLACE_UNKNOWN, 0},
	{9, {0x90, 0x48, 0x83, 0xc5, 0x18, 0xc3}, UW_ARCH_X86_64, UW_PLACE_UNKNOWN, 0},
	{9, {0x90, 0x48, 0x81, 0xc4, 0, 1, 0, 0, 0xc3}, UW_ARCH_X86_64, UW_PLACE_ABOVE, 0x100},
	{9, {0x90, 0x48, 0x81, 0xc4, 0, 0, 16, 0, 0xc3}, UW_ARCH_X86_64, UW_PLACE_UNKNOWN, 0},
	{9, {0x90, 0x48, 0x81, 0xc4, 0, 1, 0, 0, 0x90}, UW_ARCH_X86_64, UW_PLACE_UNKNOWN, 0},
	{9, {0x90, 0x48, 0x81, 0xc5, 0, 1, 0, 0, 0xc3}, UW_ARCH_X86_64, UW_PLACE_UNKNOWN, 0},
	{9, {0x90, 0x81, 0xc4, 0, 1, 0, 0, 0xc3, 0x90}, UW_ARCH_I386, UW_PLACE_ABOVE, 0x100},
};

START_TEST(place_at_the_end)
{
	const uint64_t load = 0x10000;
	struct elf_builder builder;
	uint32_t found = 0;

	elf_builder_init(&builder, ends[_i].arch, ends[_i].size, 0);
	memcpy(builder.bytes + ELF_BUILDER_CODE, ends[_i].bytes, ends[_i].size);
	struct uw_module *module = elf_builder_module(&builder);
	struct uw_space *alone = uw_space_create(ends[_i].arch);
	ck_assert_int_eq(uw_space_map(alone, load, load + 0x1000, 0, module, 1), 0);
	uw_space_refresh(alone);
	ck_assert_int_eq(uw_bytes_place(alone, load + ELF_BUILDER_CODE + 1, &found),
			 ends[_i].place);
	if (ends[_i].place == UW_PLACE_ABOVE)
		ck_assert_uint_eq(found, ends[_i].room);
	uw_space_destroy(alone);
	uw_module_unref(module);
	elf_builder_finish(&builder);
}
END_TEST

START_TEST(room)
{
	ck_assert(uw_bytes_make_no_room(space, at(c_framed), at(c_after)));
	ck_assert(uw_bytes_make_no_room(space, at(c_roomy), at(c_roomy)));
	ck_assert(uw_bytes_make_no_room(space, at(c_roomy), at(c_roomy) + 1));
	ck_assert(!uw_bytes_make_no_room(space, at(c_roomy), at(c_roomy_body)));
	ck_assert(uw_bytes_make_no_room_before(space, 0, at(c_after)));
	ck_assert(!uw_bytes_make_no_room_before(space, 0, at(c_roomy_body)));
	ck_assert(!uw_bytes_make_no_room(space, at(c_moved), at(c_aligned)));
	ck_assert(!uw_bytes_make_no_room(space, at(c_aligned), at(c_loaded)));
	ck_assert(!uw_bytes_make_no_room(space, at(c_loaded), at(c_other)));
	ck_assert(uw_bytes_make_no_room(space, at(c_other), at(c_other_end)));
	ck_assert(!uw_bytes_make_no_room(space, 16, 32));
}
END_TEST

START_TEST(record)
{
	ck_assert(uw_bytes_make_record(space, at(c_framed), at(c_framed_body)));
	ck_assert(!uw_bytes_make_record(space, at(c_framed), at(c_framed_body) - 3));
	ck_assert(!uw_bytes_make_record(space, at(c_framed), at(c_after)));
	ck_assert(!uw_bytes_make_record(space, at(c_roomy), at(c_roomy_body)));
}
END_TEST

START_TEST(go)
{
	uint32_t effort = 0;

	ck_assert_int_eq(uw_bytes_go_code(space, at(go_framed), at(go_framed), &effort),
			 UW_GO_CODE_UNKNOWN);
	ck_assert_int_eq(uw_bytes_go_code(space, at(go_framed), at(go_framed_lea), &effort),
			 UW_GO_CODE_UNKNOWN);
	ck_assert_int_eq(uw_bytes_go_code(space, at(go_framed), at(go_framed_body), &effort),
			 UW_GO_CODE_INSIDE);
	ck_assert_int_eq(uw_bytes_go_code(space, at(go_framed), at(go_after), &effort),
			 UW_GO_CODE_ELSEWHERE);
	ck_assert_int_eq(uw_bytes_go_code(space, at(go_framed), at(c_framed), &effort),
			 UW_GO_CODE_ELSEWHERE);
	ck_assert_int_eq(uw_bytes_go_code(space, at(go_large), at(go_large_body), &effort),
			 UW_GO_CODE_INSIDE);
	ck_assert_int_eq(uw_bytes_go_code(space, at(go_large), at(stub), &effort),
			 UW_GO_CODE_ELSEWHERE);
	ck_assert_int_eq(uw_bytes_go_code(space, at(c_framed), at(c_framed_body), &effort),
			 UW_GO_CODE_UNKNOWN);
	effort = 0;
	uw_bytes_go_code(space, at(go_large), at(go_large_body) + 200, &effort);
	ck_assert_uint_gt(effort, 200);
}
END_TEST

/* A prefix that makes operands small counts wherever it stands among the others. */
START_TEST(prefixes)
{
	static const struct {
		uint8_t bytes[8];
		unsigned size;
	} instructions[] = {
		{{0x05, 1, 2, 3, 4}, 5},       /* add $..., %eax */
		{{0x66, 0x05, 1, 2}, 4},       /* add $..., %ax */
		{{0x64, 0x05, 1, 2, 3, 4}, 6}, /* with %fs */
		{{0x66, 0x64, 0x05, 1, 2}, 5},
		{{0x64, 0x66, 0x05, 1, 2}, 5},
		{{0x66, 0x66, 0x05, 1, 2}, 5},
		{{0xf2, 0xf3, 0x05, 1, 2, 3, 4}, 7},
		{{0x66, 0x48, 0x05, 1, 2, 3, 4}, 7}, /* REX.W: large after all */
	};

	for (size_t i = 0; i < sizeof(instructions) / sizeof(*instructions); i++) {
		struct uw_instruction read = uw_instruction_read(instructions[i].bytes, 8);
		ck_assert_int_eq(read.kind, UW_INSTRUCTION_PLAIN);
		ck_assert_msg(read.size == instructions[i].size, "%zu: %u", i, read.size);
	}
}
END_TEST

START_TEST(stubs)
{
	uint64_t target = at(stub);

	ck_assert(uw_bytes_are_stub(space, &target));
	ck_assert_uint_eq(target, at(stub));
	target = at(stub_jump);
	ck_assert(!uw_bytes_are_stub(space, &target));
	ck_assert_uint_eq(target, at(c_after));
	target = at(c_framed);
	ck_assert(!uw_bytes_are_stub(space, &target));
	ck_assert_uint_eq(target, at(c_framed));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("unwind function bytes");
	TCase *tcase = tcase_create("bytes");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, place);
	tcase_add_loop_test(tcase, place_at_the_end, 0, sizeof(ends) / sizeof(*ends));
	tcase_add_test(tcase, room);
	tcase_add_test(tcase, record);
	tcase_add_test(tcase, go);
	tcase_add_test(tcase, prefixes);
	tcase_add_test(tcase, stubs);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
