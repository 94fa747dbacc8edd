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
	ck_assert_uint_eq(profile_reader_open(path, &opened->reader), VT_SUCCESS);
	opened->functions = functions_create(opened->reader, inlines);
	ck_assert_uint_eq(tally_collect(opened->reader, &everything, by, &opened->tally),
			  VT_SUCCESS);
}

void opened_end(struct opened *opened)
{
	tally_finish(&opened->tally);
	functions_destroy(opened->functions);
	profile_reader_close(opened->reader);
	build_directory_remove(opened->directory);
}
