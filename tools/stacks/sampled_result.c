#include "tools/stacks/sampled_result.h"

#include "tools/cli/arguments.h"
#include "tools/terminal/diagnose.h"
#include <stdlib.h>

int sampled_result_explain(const char *path, TBRW_U32 code)
{
	char text[DIAGNOSE_CODE_SIZE];
	diagnose("cannot read the samples of %s: %s; use a copy of the result, or collect again",
		 path, diagnose_code(code, text));
	return EXIT_FAILURE;
}

int sampled_result_open(struct sampled_result *result, const char *path,
			const struct filter *filter, unsigned by, bool with_inlined)
{
	int status = arguments_open_result(path, path, &result->reader);
	if (status != 0)
		return status;
	TBRW_U32 code = tally_collect(result->reader, filter, by, &result->tally);
	if (code != VT_SUCCESS) {
		profile_reader_close(result->reader);
		return sampled_result_explain(path, code);
	}
	result->functions = functions_create(result->reader, with_inlined);
	return 0;
}

void sampled_result_close(struct sampled_result *result)
{
	functions_destroy(result->functions);
	tally_finish(&result->tally);
	profile_reader_close(result->reader);
}
