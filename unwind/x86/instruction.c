#include "unwind/x86/instruction.h"

#include <stdbool.h>
#include <string.h>

enum {
	SIZE_MAX_KNOWN = 15, /* of any instruction */
	REX_W = 8,
	REX_R = 4,
	REX_B = 1,
	NUMBER_SP = 4
};

/* The start of an instruction, and its operands' byte. */
struct parts {
	uint8_t rex, opcode;
	bool two;   /* the opcode follows 0x0f */
	bool small; /* operands of 16 bits */
	uint8_t modrm;
	unsigned constant; /* bytes after the operands */
};

unsigned uw_modrm_size(uint8_t modrm, uint8_t sib)
{
	unsigned mod = modrm >> 6, rm = modrm & 7;
	unsigned size = 1;

	if (mod == 3)
		return size;
	if (rm == 4)
		size++;
	if (mod == 1)
		size += 1;
	else if (mod == 2 || (mod == 0 && (rm == 5 || (rm == 4 && (sib & 7) == 5))))
		size += 4;
	return size;
}

static unsigned field(const struct parts *parts)
{
	return parts->modrm >> 3 & 7;
}

static bool field_is_sp(const struct parts *parts)
{
	return field(parts) == NUMBER_SP && !(parts->rex & REX_R);
}

static bool operand_is_sp(const struct parts *parts)
{
	return parts->modrm >> 6 == 3 && (parts->modrm & 7) == NUMBER_SP && !(parts->rex & REX_B);
}

/* Instructions with a constant and a register or memory. */
static enum uw_instruction_kind kind_of_group(struct parts *parts)
{
	bool is_sp = operand_is_sp(parts);

	switch (parts->opcode) {
	case 0x81: /* add, or, adc, sbb, and, sub, xor, cmp */
	case 0x83:
		parts->constant = parts->opcode == 0x83 ? 1 : parts->small ? 2 : 4;
		if (!is_sp || field(parts) == 0 || field(parts) == 5 || field(parts) == 7)
			return UW_INSTRUCTION_PLAIN;
		return field(parts) == 4 && (parts->rex & REX_W) ? UW_INSTRUCTION_LOAD
								 : UW_INSTRUCTION_STACK;
	case 0x80:
	case 0xc0: /* shifts */
	case 0xc6: /* mov */
		parts->constant = 1;
		return UW_INSTRUCTION_PLAIN;
	case 0xc1:
		parts->constant = 1;
		break;
	case 0xc7:
		parts->constant = parts->small ? 2 : 4;
		break;
	case 0xf6: /* test, not, neg, mul, div */
		parts->constant = field(parts) < 2 ? 1 : 0;
		return UW_INSTRUCTION_PLAIN;
	case 0xf7:
		parts->constant = field(parts) >= 2 ? 0 : parts->small ? 2 : 4;
		break;
	case 0xff:
		if (field(parts) == 2)
			return UW_INSTRUCTION_CALL;
		if (field(parts) == 4)
			return UW_INSTRUCTION_JUMP;
		if (field(parts) == 6)
			return UW_INSTRUCTION_PLAIN;
		if (field(parts) > 1)
			return UW_INSTRUCTION_UNKNOWN;
		break;
	default: /* shifts */
		break;
	}
	return is_sp ? UW_INSTRUCTION_STACK : UW_INSTRUCTION_PLAIN;
}

static bool is_group(uint8_t opcode)
{
	static const uint8_t groups[] = {0x80, 0x81, 0x83, 0xc0, 0xc1, 0xc6, 0xc7,
					 0xd0, 0xd1, 0xd3, 0xf6, 0xf7, 0xff};

	return memchr(groups, opcode, sizeof(groups)) != NULL;
}

/* Those with a ModRM byte, of one byte of opcode. */
static enum uw_instruction_kind kind_with_operands(struct parts *parts)
{
	uint8_t op = parts->opcode;
	bool loads = op == 0x89 ? operand_is_sp(parts) : op == 0x8b && field_is_sp(parts);

	if (is_group(op))
		return kind_of_group(parts);
	if (op == 0x69 || op == 0x6b) /* imul */
		parts->constant = op == 0x6b ? 1 : parts->small ? 2 : 4;
	if (loads)
		return parts->rex & REX_W ? UW_INSTRUCTION_LOAD : UW_INSTRUCTION_STACK;
	/* cmp and test change no register; others may change either operand. */
	if ((op >= 0x38 && op <= 0x3b) || op == 0x84 || op == 0x85 || op == 0x89 || op == 0x8b ||
	    op == 0x88 || op == 0x8a || !(op & 1))
		return UW_INSTRUCTION_PLAIN;
	if (op == 0x8d || op == 0x69 || op == 0x6b || op == 0x63 || (op < 0x40 && (op & 2)))
		return field_is_sp(parts) ? UW_INSTRUCTION_STACK : UW_INSTRUCTION_PLAIN;
	return operand_is_sp(parts) || (op == 0x87 && field_is_sp(parts)) ? UW_INSTRUCTION_STACK
									  : UW_INSTRUCTION_PLAIN;
}

/* add, or, adc, sbb, and, sub, xor, cmp; movsxd, imul; test, xchg, mov; lea. */
static bool has_operands(uint8_t opcode)
{
	return (opcode < 0x40 && (opcode & 7) < 4) || opcode == 0x63 || opcode == 0x69 ||
	       opcode == 0x6b || (opcode >= 0x84 && opcode <= 0x8b) || opcode == 0x8d ||
	       is_group(opcode);
}

/* Those without, of one byte. */
static enum uw_instruction_kind kind_alone(struct parts *parts)
{
	uint8_t op = parts->opcode;

	if (op < 0x40 && (op & 7) == 4)
		parts->constant = 1;
	else if ((op < 0x40 && (op & 7) == 5) || op == 0xa9 || op == 0x68)
		parts->constant = parts->small ? 2 : 4;
	else if (op >= 0xb8 && op <= 0xbf)
		parts->constant = parts->rex & REX_W ? 8 : parts->small ? 2 : 4;
	else if ((op >= 0xb0 && op <= 0xb7) || op == 0x6a || op == 0xa8)
		parts->constant = 1;
	else if (op >= 0x58 && op <= 0x5f)
		return UW_INSTRUCTION_STACK;
	else if ((op >= 0x70 && op <= 0x7f) || op == 0xeb) {
		parts->constant = 1;
		return op == 0xeb ? UW_INSTRUCTION_GOTO : UW_INSTRUCTION_BRANCH;
	} else if (op == 0xe8 || op == 0xe9) {
		parts->constant = 4;
		return op == 0xe8 ? UW_INSTRUCTION_CALL : UW_INSTRUCTION_GOTO;
	} else if (op == 0xc3 || op == 0xcc || op == 0xf4)
		return UW_INSTRUCTION_END;
	else if (!((op >= 0x50 && op <= 0x57) || op == 0x90 || op == 0x98 || op == 0x99 ||
		   op == 0xfc))
		return UW_INSTRUCTION_UNKNOWN;
	if (op == 0xb8 + NUMBER_SP && !(parts->rex & REX_B))
		return UW_INSTRUCTION_STACK;
	return UW_INSTRUCTION_PLAIN;
}

/* Those of two bytes. *operands: a ModRM byte follows. */
static enum uw_instruction_kind kind_of_two(struct parts *parts, bool *operands)
{
	uint8_t op = parts->opcode;

	*operands = false;
	if (op == 0x05 || op == 0x31 || op == 0xa2) /* syscall, rdtsc, cpuid */
		return UW_INSTRUCTION_PLAIN;
	if (op == 0x0b) /* ud2 */
		return UW_INSTRUCTION_END;
	if (op >= 0x80 && op <= 0x8f) {
		parts->constant = 4;
		return UW_INSTRUCTION_BRANCH;
	}
	/* Moves of vectors, prefetch, nop, endbr64; setcc; fences. */
	if ((op >= 0x10 && op <= 0x1f) || op == 0x28 || op == 0x29 || op == 0x57 || op == 0x6f ||
	    op == 0x7f || op == 0xef || (op >= 0x90 && op <= 0x9f) || op == 0xae) {
		*operands = true;
		return UW_INSTRUCTION_PLAIN;
	}
	/* cmov, imul, movzx, movsx */
	if ((op >= 0x40 && op <= 0x4f) || op == 0xaf || op == 0xb6 || op == 0xb7 || op == 0xbe ||
	    op == 0xbf) {
		*operands = true;
		return field_is_sp(parts) ? UW_INSTRUCTION_STACK : UW_INSTRUCTION_PLAIN;
	}
	return UW_INSTRUCTION_UNKNOWN;
}

static int32_t distance_of(const uint8_t *bytes, unsigned size)
{
	int32_t distance;

	if (size == 1)
		return (int8_t)bytes[0];
	memcpy(&distance, bytes, sizeof(distance));
	return distance;
}

struct uw_instruction uw_instruction_read(const uint8_t *bytes, size_t size)
{
	/* 16-bit operands, repetitions, lock and thread-local memory. */
	static const uint8_t prefixes[] = {0x66, 0xf2, 0xf3, 0xf0, 0x64};
	const struct uw_instruction unknown = {UW_INSTRUCTION_UNKNOWN, 0, 0};
	/* Bytes read before the size is known, with zeros beyond the end. */
	uint8_t at[SIZE_MAX_KNOWN + 3] = {0};
	struct uw_instruction read = unknown;
	struct parts parts = {0};
	bool operands;

	memcpy(at, bytes, size < SIZE_MAX_KNOWN ? size : SIZE_MAX_KNOWN);
	/* Up to four of them. */
	while (read.size < 4 && memchr(prefixes, at[read.size], sizeof(prefixes)))
		parts.small |= at[read.size++] == 0x66;
	if (at[read.size] >> 4 == 4)
		parts.rex = at[read.size++];
	if (parts.rex & REX_W)
		parts.small = false; /* Intel SDM vol. 2, 2.2.1.2: REX.W goes before 0x66 */
	parts.two = at[read.size] == 0x0f;
	read.size += parts.two;
	parts.opcode = at[read.size++];
	parts.modrm = at[read.size];
	if (parts.two) {
		read.kind = kind_of_two(&parts, &operands);
	} else {
		operands = has_operands(parts.opcode);
		read.kind = operands ? kind_with_operands(&parts) : kind_alone(&parts);
	}
	if (operands)
		read.size += uw_modrm_size(parts.modrm, at[read.size + 1]);
	read.size += parts.constant;
	if (read.kind == UW_INSTRUCTION_UNKNOWN || read.size > size || read.size > SIZE_MAX_KNOWN)
		return unknown;
	if (read.kind == UW_INSTRUCTION_BRANCH || read.kind == UW_INSTRUCTION_GOTO)
		read.distance = distance_of(at + read.size - parts.constant, parts.constant);
	return read;
}
