/* A result of build_result.h, open. */
#ifndef TESTS_TOOLS_OPENED_H
#define TESTS_TOOLS_OPENED_H

#include "tests/tools/build_result.h"
#include "tools/stacks/sampled_result.h"

struct opened {
	char directory[32];
	struct sampled_result result;
};

/* by: TALLY_BY_... Fails the test if there is no such result. */
void opened_begin(struct opened *opened, const struct build_result *result, bool inlines,
		  unsigned by);
void opened_end(struct opened *opened);

#endif
