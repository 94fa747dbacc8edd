#include "unwind/convention/function_bytes.h"

#include "unwind/frame/machine.h"
#include "unwind/space/space.h"
#include <assert.h>
#include <string.h>

enum {
	WINDOW = 512,      /* bytes read in front of an address */
	PROLOGUE_MAX = 48, /* from push %rbp to mov %rsp, %rbp, with instructions between them */
	ROOM_MAX = 1 << 20,
	GO_SIZE_MAX = 16 * 1024, /* of a function, from its start to ip */
	GO_CHECK_MAX = 12,
	ENDBR_SIZE = 4,        /* endbr64, endbr32 */
	STUB_SIZE = 4 + 1 + 5, /* endbr64; bnd jmp */
	OP_PUSH_FP = 0x55,     /* push %rbp */
	OP_RET = 0xc3,         /* Opcodes: AMD64 manual, volume 3, appendix A. */
	OP_RET_POPS = 0xc2,
	OP_JMP = 0xe9,
	OP_JMP_SHORT = 0xeb,
	OP_GROUP_5 = 0xff, /* jmp through memory is /4 */
	PREFIX_REP = 0xf3,
	PREFIX_BND = 0xf2,
	REX_R = 4, /* AMD64 manual, volume 3, section 1.2.7 */
	REX_B = 1
};

static bool is_endbr(const uint8_t *at)
{
	return at[0] == 0xf3 && at[1] == 0x0f && at[2] == 0x1e && (at[3] == 0xfa || at[3] == 0xfb);
}

/* mov %rsp, %rbp in both encodings, less its REX prefix on x86-64. */
static bool is_mov_to_fp(const uint8_t *at)
{
	return (at[0] == 0x89 && at[1] == 0xe5) || (at[0] == 0x8b && at[1] == 0xec);
}

static size_t rex_size(const struct uw_space *space, const uint8_t *at)
{
	return space->arch == UW_ARCH_X86_64 && at[0] == 0x48;
}

/* add $room, %rsp; ret */
static bool is_add_and_return(const uint8_t *at, uint32_t *room)
{
	if (at[0] == 0x83 && at[1] == 0xc4 && at[2] < 0x80 && at[3] == OP_RET) {
		*room = at[2];
		return true;
	}
	memcpy(room, at + 2, sizeof(*room));
	return at[0] == 0x81 && at[1] == 0xc4 && *room < ROOM_MAX && at[6] == OP_RET;
}

enum uw_place uw_bytes_place(struct uw_space *space, uint64_t ip, uint32_t *room)
{
	uint8_t bytes[1 + 1 + 7] = {0}; /* the one before, REX, two instructions */
	const uint8_t *at = bytes + 1;

	if (!uw_space_read(space, ip - 1, bytes, sizeof(bytes)) &&
	    !uw_space_read(space, ip - 1, bytes, 4))
		return UW_PLACE_UNKNOWN;
	size_t rex = rex_size(space, at);
	if (at[0] == OP_RET || at[0] == OP_RET_POPS ||
	    ((at[0] == PREFIX_REP || at[0] == PREFIX_BND) && at[1] == OP_RET))
		return UW_PLACE_TOP;
	if (bytes[0] == OP_PUSH_FP && is_mov_to_fp(at + rex))
		return UW_PLACE_NEXT;
	return is_add_and_return(at + rex, room) ? UW_PLACE_ABOVE : UW_PLACE_UNKNOWN;
}

/* Whether a REX prefix before an instruction makes r12 of its stack pointer. */
static bool is_r12(uint8_t before, uint8_t bit)
{
	return (before & 0xf0) == 0x40 && (before & bit) != 0;
}

/*
 * Whether these bytes, at least six and the one before, may lower the stack pointer other than by a
 * push: sub, add or lea of a negative number, sub or and of a register or memory, mov, enter. xchg
 * is not searched: its byte is too common, and code that exchanges stacks has none to go back to.
 */
static bool may_make_room(const uint8_t *at, uint8_t before)
{
	switch (at[0]) {
	case 0x83:
	case 0x81:
		return at[1] == 0xec || at[1] == 0xe4 ||
		       (at[1] == 0xc4 && (at[0] == 0x83 ? at[2] : at[5]) >= 0x80);
	case 0x21: /* of registers, into the stack pointer */
	case 0x29:
	case 0x89:
		return (at[1] & 0xc7) == 0xc4 && !is_r12(before, REX_B);
	case 0x23: /* of anything, into the stack pointer */
	case 0x2b:
	case 0x8b:
		return (at[1] & 0x38) == 0x20 && !is_r12(before, REX_R);
	case 0x8d:
		return (at[1] & 0x38) == 0x20 && at[1] < 0xc0 && !is_r12(before, REX_R);
	case 0xc8: /* enter $size, $0 */
		return at[3] == 0;
	}
	return false;
}

static bool bytes_make_no_room(const uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i + 2 <= size; i++) {
		uint8_t at[6] = {0};

		memcpy(at, bytes + i, size - i < sizeof(at) ? size - i : sizeof(at));
		if (may_make_room(at, i > 0 ? bytes[i - 1] : 0))
			return false;
	}
	return true;
}

bool uw_bytes_make_no_room(struct uw_space *space, uint64_t start, uint64_t ip)
{
	uint8_t bytes[WINDOW];
	uint64_t size;

	assert(start <= ip);
	for (; start < ip; start += size) {
		size = ip - start < WINDOW ? ip - start : WINDOW;
		if (!uw_space_read(space, start, bytes, size) || !bytes_make_no_room(bytes, size))
			return false;
		/* An instruction may lie across two windows. */
		size -= size == WINDOW ? 6 : 0;
	}
	return true;
}

bool uw_bytes_make_no_room_before(struct uw_space *space, uint64_t limit, uint64_t ip)
{
	assert(limit <= ip);
	uint64_t size = ip - limit < WINDOW ? ip - limit : WINDOW;
	uint8_t bytes[WINDOW + ENDBR_SIZE] = {0};
	size_t start = 0;

	if (!uw_space_read(space, ip - size, bytes, size))
		return false;
	for (size_t i = 0; i + ENDBR_SIZE <= size; i++)
		if (is_endbr(bytes + i))
			start = i;
	return bytes_make_no_room(bytes + start, size - start);
}

/* Whether a function may end here: at a return, a jump, or padding before the next function. */
static bool may_end_function(const uint8_t *at)
{
	return at[0] == OP_RET || at[0] == OP_JMP || at[0] == OP_JMP_SHORT || at[0] == 0xcc ||
	       (at[0] == 0x0f && (at[1] == 0x0b || at[1] == 0x1f)) ||
	       (at[0] == OP_GROUP_5 && (at[1] >> 3 & 7) == 4);
}

bool uw_bytes_make_record(struct uw_space *space, uint64_t start, uint64_t ip)
{
	uint8_t bytes[WINDOW + 2] = {0};
	size_t i = 0, size = ip - start;
	bool makes = false;

	if (size < 2 || size > WINDOW || !uw_space_read(space, start, bytes, size))
		return false;
	if (size > ENDBR_SIZE && is_endbr(bytes))
		i = ENDBR_SIZE;
	if (bytes[i] != OP_PUSH_FP)
		return false;
	for (i++; i < size; i++) {
		if (may_end_function(bytes + i))
			return false;
		makes |= i < PROLOGUE_MAX && i + 2 <= size && is_mov_to_fp(bytes + i);
	}
	return makes;
}

/* cmp 0x10(%r14), %rsp, or, for larger frames, lea -x(%rsp), %r12; cmp 0x10(%r14), %r12. */
static bool is_go_start(const uint8_t at[static GO_CHECK_MAX])
{
	size_t size = at[2] == 0x64 ? 5 : 8;

	if (memcmp(at, "\x49\x3b\x66\x10", 4) == 0)
		return true;
	return at[0] == 0x4c && at[1] == 0x8d && (at[2] == 0x64 || at[2] == 0xa4) &&
	       at[3] == 0x24 && memcmp(at + size, "\x4d\x3b\x66\x10", 4) == 0;
}

/* The size of lea x(%rsp), %rbp, or, in newer versions, mov %rsp, %rbp; 0: neither. */
static size_t go_record_size(const uint8_t *at)
{
	if (at[0] != 0x48)
		return 0;
	if (is_mov_to_fp(at + 1))
		return 3;
	if (at[1] != 0x8d || at[3] != 0x24)
		return 0;
	return at[2] == 0x6c ? 5 : at[2] == 0xac ? 8 : 0;
}

/* Whether a jump back to the function's start is at offset i of it. */
static bool is_go_end(const uint8_t *at, int64_t i)
{
	int32_t displacement;

	if (at[0] == OP_JMP_SHORT)
		return i + 2 + (int8_t)at[1] == 0;
	memcpy(&displacement, at + 1, sizeof(displacement));
	return at[0] == OP_JMP && i + 5 + displacement == 0;
}

enum uw_go_code uw_bytes_go_code(struct uw_space *space, uint64_t start, uint64_t ip,
				 uint32_t *effort)
{
	uint8_t bytes[GO_SIZE_MAX + 5];
	size_t size = ip - start, record;
	bool makes = false;

	if (!uw_space_read(space, start, bytes, GO_CHECK_MAX) || !is_go_start(bytes))
		return UW_GO_CODE_UNKNOWN;
	if (ip < start)
		return UW_GO_CODE_ELSEWHERE;
	if (size > GO_SIZE_MAX)
		return UW_GO_CODE_UNKNOWN;
	*effort += (uint32_t)size;
	if (size > GO_CHECK_MAX && !uw_space_read(space, start, bytes, size))
		return UW_GO_CODE_UNKNOWN;
	memset(bytes + size, 0, 5);
	for (size_t i = 0; i < size; i++) {
		if (is_go_end(bytes + i, (int64_t)i))
			return UW_GO_CODE_ELSEWHERE;
		if (i >= PROLOGUE_MAX || makes)
			continue;
		record = go_record_size(bytes + i);
		makes = record != 0 && i + record <= size;
	}
	return makes ? UW_GO_CODE_INSIDE : UW_GO_CODE_UNKNOWN;
}

bool uw_bytes_are_stub(struct uw_space *space, uint64_t *target)
{
	uint8_t bytes[STUB_SIZE];
	const uint8_t *at = bytes;
	int32_t displacement;

	if (!uw_space_read(space, *target, bytes, sizeof(bytes)))
		return false;
	if (is_endbr(at))
		at += ENDBR_SIZE;
	if (at[0] == PREFIX_BND)
		at++;
	if (at[0] == OP_JMP) {
		memcpy(&displacement, at + 1, sizeof(displacement));
		*target = uw_word_wrap(*target + (uint64_t)(at + 5 - bytes) +
					       (uint64_t)(int64_t)displacement,
				       uw_machine_of(space->arch)->word);
	}
	return at[0] == OP_GROUP_5 && (at[1] >> 3 & 7) == 4;
}
