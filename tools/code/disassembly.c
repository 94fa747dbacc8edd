#include "tools/code/disassembly.h"

#include "tools/memory/xalloc.h"
#include <Zydis/Zydis.h>
#include <stdio.h>
#include <stdlib.h>

#define TEXT_SIZE 256u /* beyond any instruction's text */

/* An operand that is an address relative to the instruction: a direct jump or call. */
static void find_target(const ZydisDecodedInstruction *decoded, const ZydisDecodedOperand *operands,
			struct instruction *instruction)
{
	ZyanU64 target;
	if (decoded->operand_count_visible == 0 ||
	    operands[0].type != ZYDIS_OPERAND_TYPE_IMMEDIATE || !operands[0].imm.is_relative ||
	    !ZYAN_SUCCESS(
		    ZydisCalcAbsoluteAddress(decoded, &operands[0], instruction->rva, &target)))
		return;
	instruction->has_target = true;
	instruction->target = target;
	instruction->is_jump = decoded->meta.category == ZYDIS_CATEGORY_COND_BR ||
			       decoded->meta.category == ZYDIS_CATEGORY_UNCOND_BR;
}

static struct instruction decode(const ZydisDecoder *decoder, const ZydisFormatter *formatter,
				 const uint8_t *code, size_t size, uint64_t rva)
{
	struct instruction instruction = {.rva = rva, .size = 1};
	ZydisDecodedInstruction decoded;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	char text[TEXT_SIZE];
	if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(decoder, code, size, &decoded, operands)) ||
	    !ZYAN_SUCCESS(ZydisFormatterFormatInstruction(formatter, &decoded, operands,
							  decoded.operand_count_visible, text,
							  sizeof(text), rva, NULL))) {
		instruction.text = xalloc_text("(bad)");
		return instruction;
	}
	instruction.size = decoded.length;
	instruction.text = xalloc_text(text);
	find_target(&decoded, operands, &instruction);
	return instruction;
}

void disassembly_add(struct disassembly *disassembly, const uint8_t *code, size_t size,
		     uint64_t rva, bool is_32bit, bool with_intel)
{
	ZydisDecoder decoder;
	ZydisFormatter formatter;
	ZydisDecoderInit(&decoder,
			 is_32bit ? ZYDIS_MACHINE_MODE_LEGACY_32 : ZYDIS_MACHINE_MODE_LONG_64,
			 is_32bit ? ZYDIS_STACK_WIDTH_32 : ZYDIS_STACK_WIDTH_64);
	ZydisFormatterInit(&formatter,
			   with_intel ? ZYDIS_FORMATTER_STYLE_INTEL : ZYDIS_FORMATTER_STYLE_ATT);
	ZydisFormatterSetProperty(&formatter, ZYDIS_FORMATTER_PROP_ADDR_PADDING_ABSOLUTE,
				  ZYDIS_PADDING_DISABLED);
	ZydisFormatterSetProperty(&formatter, ZYDIS_FORMATTER_PROP_HEX_UPPERCASE, ZYAN_FALSE);
	for (size_t at = 0; at < size;) {
		struct instruction instruction =
			decode(&decoder, &formatter, code + at, size - at, rva + at);
		xalloc_room(&disassembly->instructions, &disassembly->capacity,
			    disassembly->count + 1, sizeof(instruction));
		disassembly->instructions[disassembly->count++] = instruction;
		at += instruction.size;
	}
}

void disassembly_finish(struct disassembly *disassembly)
{
	for (size_t i = 0; i < disassembly->count; i++)
		free(disassembly->instructions[i].text);
	free(disassembly->instructions);
	*disassembly = (struct disassembly){0};
}
