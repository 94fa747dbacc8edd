/* AMD64 manual, volume 3: chapter 1 for the encoding, appendix A for the opcodes. */
#include "unwind/analysis/usual.h"

#include <string.h>

enum { REX_W = 8, REX_R = 4, REX_X = 2, REX_B = 1, MODRM_SIB = 4, NO_BASE = 5 };

struct reader {
	const uint8_t *bytes;
	size_t size, at;
	uint64_t address;
	uint8_t rex;
	bool failed; /* the instruction is not whole */
};

static int64_t read_number(struct reader *reader, size_t size)
{
	uint8_t small = 0;
	int32_t number = 0;

	if (reader->size - reader->at < size) {
		reader->failed = true;
		return 0;
	}
	memcpy(size == 1 ? (void *)&small : (void *)&number, reader->bytes + reader->at, size);
	reader->at += size;
	return size == 1 ? (int8_t)small : number;
}

static uint8_t read_byte(struct reader *reader)
{
	return (uint8_t)read_number(reader, 1);
}

static unsigned extend(const struct reader *reader, unsigned number, unsigned bit)
{
	return number | (reader->rex & bit ? 8U : 0U);
}

static struct uw_place place_of(unsigned reg)
{
	return (struct uw_place){.is_set = 1, .reg = (uint8_t)reg, .index = UW_NO_GPR};
}

/* The operand of a ModRM byte that is a register or in memory; constant: bytes that follow it. */
static struct uw_place read_operand(struct reader *reader, uint8_t modrm, size_t constant)
{
	unsigned mod = modrm >> 6, rm = modrm & 7U;
	struct uw_place place = place_of(extend(reader, rm, REX_B));
	bool has_base = true;

	if (mod == 3)
		return place;
	place.is_memory = 1;
	if (rm == MODRM_SIB) {
		uint8_t sib = read_byte(reader);
		unsigned index = extend(reader, sib >> 3 & 7U, REX_X);
		has_base = mod != 0 || (sib & 7) != NO_BASE;
		place.reg = has_base ? (uint8_t)extend(reader, sib & 7U, REX_B) : UW_NO_GPR;
		if (index != UW_RSP) {
			place.index = (uint8_t)index;
			place.scale = (uint8_t)(1U << (sib >> 6));
		}
	}
	if (mod == 1)
		place.displacement = read_number(reader, 1);
	else if (mod == 2 || !has_base || (mod == 0 && rm == NO_BASE))
		place.displacement = read_number(reader, 4);
	if (mod == 0 && rm == NO_BASE) {
		place.reg = UW_RIP_BASE;
		place.displacement = (int64_t)(reader->address + reader->at + constant +
					       (uint64_t)place.displacement);
	}
	return place;
}

/* A ModRM byte with two operands; reversed: the register is the second one. */
static void read_two(struct reader *reader, struct uw_usual *usual, bool reversed)
{
	uint8_t modrm = read_byte(reader);
	struct uw_place reg = place_of(extend(reader, modrm >> 3 & 7U, REX_R));
	struct uw_place other = read_operand(reader, modrm, 0);

	usual->to = reversed ? other : reg;
	usual->from = reversed ? reg : other;
}

static void read_target(struct reader *reader, struct uw_usual *usual, enum uw_usual_kind kind,
			size_t size)
{
	int64_t distance = read_number(reader, size);

	usual->kind = kind;
	usual->target = reader->address + reader->at + (uint64_t)distance;
	reader->failed |= kind == UW_USUAL_CALL && distance == 0;
}

/* By the low half of the opcode (table 1-11). */
static enum uw_condition condition_of(uint8_t opcode)
{
	static const enum uw_condition conditions[16] = {
		[2] = UW_CONDITION_BELOW,     [3] = UW_CONDITION_NOT_BELOW,
		[4] = UW_CONDITION_EQUAL,     [5] = UW_CONDITION_NOT_EQUAL,
		[6] = UW_CONDITION_NOT_ABOVE, [7] = UW_CONDITION_ABOVE,
	};
	return conditions[opcode & 15];
}

static const ZydisMnemonic sums[] = {
	ZYDIS_MNEMONIC_ADD, ZYDIS_MNEMONIC_OR,  ZYDIS_MNEMONIC_ADC, ZYDIS_MNEMONIC_SBB,
	ZYDIS_MNEMONIC_AND, ZYDIS_MNEMONIC_SUB, ZYDIS_MNEMONIC_XOR, ZYDIS_MNEMONIC_CMP,
};

/* 81 and 83: with a constant. */
static void read_group(struct reader *reader, struct uw_usual *usual, size_t constant)
{
	uint8_t modrm = read_byte(reader);

	usual->mnemonic = sums[modrm >> 3 & 7];
	usual->to = read_operand(reader, modrm, constant);
	usual->has_constant = true;
	usual->constant = read_number(reader, constant);
	usual->changes_flags = true;
	usual->writes = usual->mnemonic != ZYDIS_MNEMONIC_CMP;
}

/* add to cmp, with two registers or a register and memory: opcodes 1 and 3 of each eight. */
static void read_sum(struct reader *reader, struct uw_usual *usual, uint8_t opcode)
{
	usual->mnemonic = sums[opcode >> 3];
	usual->changes_flags = true;
	usual->writes = usual->mnemonic != ZYDIS_MNEMONIC_CMP;
	read_two(reader, usual, (opcode & 7) == 1);
}

/* Opcodes behind 0f. */
static bool read_far(struct reader *reader, struct uw_usual *usual)
{
	uint8_t opcode = read_byte(reader);

	if ((opcode & 0xf0) == 0x80) {
		usual->condition = condition_of(opcode);
		read_target(reader, usual, UW_USUAL_BRANCH, 4);
		return true;
	}
	if (opcode == 0x1f) {
		uint8_t modrm = read_byte(reader);
		read_operand(reader, modrm, 0);
		usual->kind = UW_USUAL_NOP;
		return (modrm >> 3 & 7) == 0;
	}
	if (opcode != 0xb7)
		return false;
	usual->mnemonic = ZYDIS_MNEMONIC_MOVZX;
	usual->writes = true;
	read_two(reader, usual, false);
	usual->from_size = 2;
	return true;
}

static bool read_move(struct reader *reader, struct uw_usual *usual, uint8_t opcode)
{
	usual->writes = true;
	usual->mnemonic = ZYDIS_MNEMONIC_MOV;
	switch (opcode) {
	case 0x63:
		if (!(reader->rex & REX_W))
			return false;
		usual->mnemonic = ZYDIS_MNEMONIC_MOVSXD;
		read_two(reader, usual, false);
		usual->from_size = 4;
		return true;
	case 0x89:
	case 0x8b:
		read_two(reader, usual, opcode == 0x89);
		return true;
	case 0x8d:
		usual->mnemonic = ZYDIS_MNEMONIC_LEA;
		read_two(reader, usual, false);
		return usual->from.is_memory;
	case 0xc7: {
		uint8_t modrm = read_byte(reader);
		usual->to = read_operand(reader, modrm, 4);
		usual->has_constant = true;
		usual->constant = read_number(reader, 4);
		return (modrm >> 3 & 7) == 0;
	}
	default:
		return false;
	}
}

static bool read_opcode(struct reader *reader, struct uw_usual *usual)
{
	uint8_t opcode = read_byte(reader);

	usual->to_size = usual->from_size = reader->rex & REX_W ? 8 : 4;
	if (opcode < 0x40 && ((opcode & 7) == 1 || (opcode & 7) == 3)) {
		read_sum(reader, usual, opcode);
	} else if ((opcode & 0xf0) == 0x50) {
		usual->kind = opcode < 0x58 ? UW_USUAL_PUSH : UW_USUAL_POP;
		usual->to = place_of(extend(reader, opcode & 7U, REX_B));
	} else if ((opcode & 0xf0) == 0x70) {
		usual->condition = condition_of(opcode);
		read_target(reader, usual, UW_USUAL_BRANCH, 1);
	} else if (opcode == 0x81 || opcode == 0x83) {
		read_group(reader, usual, opcode == 0x81 ? 4 : 1);
	} else if (opcode == 0x85) {
		usual->mnemonic = ZYDIS_MNEMONIC_TEST;
		usual->changes_flags = true;
		read_two(reader, usual, true);
	} else if (opcode == 0xe8) {
		read_target(reader, usual, UW_USUAL_CALL, 4);
	} else if (opcode == 0xe9 || opcode == 0xeb) {
		read_target(reader, usual, UW_USUAL_JUMP, opcode == 0xe9 ? 4 : 1);
	} else if (opcode == 0x0f) {
		return read_far(reader, usual);
	} else {
		return read_move(reader, usual, opcode);
	}
	return true;
}

bool uw_usual_read(uint64_t address, const uint8_t *bytes, size_t size, struct uw_usual *usual)
{
	struct reader reader = {.bytes = bytes, .size = size, .address = address};

	*usual = (struct uw_usual){.kind = UW_USUAL_COMPUTE};
	if (size > 0 && (bytes[0] & 0xf0) == 0x40) {
		reader.rex = bytes[0] & 15;
		reader.at = 1;
	}
	if (!read_opcode(&reader, usual) || reader.failed)
		return false;
	usual->size = (uint8_t)reader.at;
	return true;
}
