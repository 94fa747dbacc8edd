#include "tests/tools/opened.h"

#include "tools/functions/filter.h"
#include <check.h>
#include <stdio.h>

void opened_begin(struct opened *opened, const struct build_result *result, bool inlines,
		  unsigned by)
{
	char path[64];
	struct filter everything = {0};
	build_directory(opened->directory);
	snprintf(path, sizeof(path), "%s/r.tb5", opened->directory);
	build_result_write(path, result);
	ck_assert_int_eq(sampled_result_open(&opened->result, path, &everything, by, inlines), 0);
}

void opened_end(struct opened *opened)
{
	sampled_result_close(&opened->result);
	build_directory_remove(opened->directory);
}
