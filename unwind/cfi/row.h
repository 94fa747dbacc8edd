/* Call frame instructions, and the rules that an FDE's make at an address (DWARF 5, section 6.4).
 */
#ifndef UNWIND_CFI_ROW_H
#define UNWIND_CFI_ROW_H

#include "unwind/cfi/find.h"

/* DWARF 5, section 7.24, and the GNU and AArch64 vendor extensions. */
enum {
	UW_CFA_ADVANCE_LOC = 0x40, /* high two bits; the low six are the operand */
	UW_CFA_OFFSET = 0x80,
	UW_CFA_RESTORE = 0xc0,
	UW_CFA_HIGH_MASK = 0xc0,
	UW_CFA_NOP = 0x00,
	UW_CFA_SET_LOC = 0x01,
	UW_CFA_ADVANCE_LOC1 = 0x02,
	UW_CFA_ADVANCE_LOC2 = 0x03,
	UW_CFA_ADVANCE_LOC4 = 0x04,
	UW_CFA_OFFSET_EXTENDED = 0x05,
	UW_CFA_RESTORE_EXTENDED = 0x06,
	UW_CFA_UNDEFINED = 0x07,
	UW_CFA_SAME_VALUE = 0x08,
	UW_CFA_REGISTER = 0x09,
	UW_CFA_REMEMBER_STATE = 0x0a,
	UW_CFA_RESTORE_STATE = 0x0b,
	UW_CFA_DEF_CFA = 0x0c,
	UW_CFA_DEF_CFA_REGISTER = 0x0d,
	UW_CFA_DEF_CFA_OFFSET = 0x0e,
	UW_CFA_DEF_CFA_EXPRESSION = 0x0f,
	UW_CFA_EXPRESSION = 0x10,
	UW_CFA_OFFSET_EXTENDED_SF = 0x11,
	UW_CFA_DEF_CFA_SF = 0x12,
	UW_CFA_DEF_CFA_OFFSET_SF = 0x13,
	UW_CFA_VAL_OFFSET = 0x14,
	UW_CFA_VAL_OFFSET_SF = 0x15,
	UW_CFA_VAL_EXPRESSION = 0x16,
	UW_CFA_AARCH64_NEGATE_RA_STATE = 0x2d, /* the number of DW_CFA_GNU_window_save on SPARC */
	UW_CFA_GNU_ARGS_SIZE = 0x2e,
	UW_CFA_GNU_NEGATIVE_OFFSET_EXTENDED = 0x2f,

	/* Bytes of one FDE's instructions; the largest seen are some 10 KB. */
	UW_CFA_CODE_SIZE_MAX = 64 * 1024
};

/* How a value of the calling frame is recovered: DWARF 5, section 6.4.1. */
enum uw_rule_kind {
	UW_RULE_UNSPECIFIED,
	UW_RULE_SAME,
	UW_RULE_UNDEFINED,
	UW_RULE_AT_CFA,          /* stored at CFA + offset */
	UW_RULE_CFA_VALUE,       /* is CFA + offset */
	UW_RULE_REGISTER,        /* is reg + offset; offset is 0 but for the CFA itself */
	UW_RULE_AT_EXPRESSION,   /* stored at the expression's value */
	UW_RULE_EXPRESSION_VALUE /* is the expression's value */
};

struct uw_rule {
	uint8_t kind; /* enum uw_rule_kind */
	uint8_t reg;
	uint16_t size;             /* of the expression */
	const uint8_t *expression; /* inside .eh_frame */
	int64_t offset;
};

/* The rules at one address. */
struct uw_row {
	struct uw_rule cfa; /* UW_RULE_REGISTER or UW_RULE_EXPRESSION_VALUE */
	struct uw_rule reg[UW_REGS_MAX];
	bool ra_signed; /* aarch64: the return address carries an authentication code */
};

enum {
	/* Limit of one walk's instructions: half a millisecond. A thousand frames of unusual
	 * functions take a third. */
	UW_CFI_EFFORT_MAX = 192 * 1024
};

/* Evaluates the FDE's instructions up to rva, an address that it describes. *effort grows by the
 * instructions run; those that copy a row count for more. Returns UW_CFI_OK or UW_CFI_BAD:
 * malformed, or *effort beyond UW_CFI_EFFORT_MAX. */
enum uw_cfi_result uw_cfi_row(const struct uw_fde *fde, uint64_t rva, struct uw_row *row,
			      uint32_t *effort);

#endif
