/* The rules at an address, made by an FDE's instructions (DWARF 5, section 6.4). */
#ifndef UNWIND_CFI_ROW_H
#define UNWIND_CFI_ROW_H

#include "unwind/cfi/find.h"

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

/* Evaluates the FDE's instructions up to rva. Returns UW_CFI_OK or UW_CFI_BAD. */
enum uw_cfi_result uw_cfi_row(const struct uw_fde *fde, uint64_t rva, struct uw_row *row);

/* As uw_cfi_row. *effort grows by the instructions run; those that copy a row count for more.
 * Beyond UW_CFI_EFFORT_MAX the result is UW_CFI_BAD. */
enum uw_cfi_result uw_cfi_row_within(const struct uw_fde *fde, uint64_t rva, struct uw_row *row,
				     uint32_t *effort);

#endif
