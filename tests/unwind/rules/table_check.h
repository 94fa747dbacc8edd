/* A module's table against the interpreter, at one address. */
#ifndef TESTS_UNWIND_RULES_TABLE_CHECK_H
#define TESTS_UNWIND_RULES_TABLE_CHECK_H

#include "unwind/module/module.h"

struct table_check {
	bool has;          /* the table knows the rules; else it leaves them to the interpreter */
	const char *wrong; /* what differs; NULL: nothing does */
};

/*
 * What the table says at rva has to be what a search and the interpretation of that one FDE lead
 * to, and what it leaves to the interpreter no ordinary function's. x86-64 only.
 */
struct table_check table_check(const struct uw_cfi *cfi, const struct uw_table *table,
			       uint64_t rva);

#endif
