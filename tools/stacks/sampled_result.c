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

int sampled_result_collect(struct sampled_result *result, struct profile_reader *reader,
			   const char *path, const struct filter *filter, unsigned by,
			   bool with_inlined)
{
	TBRW_U32 code = tally_collect(reader, filter, by, &result->tally);
	if (code != VT_SUCCESS) {
		profile_reader_close(reader);
		return sampled_result_explain(path, code);
	}
	result->reader = reader;
	result->functions = functions_create(reader, with_inlined);
	return 0;
}

int sampled_result_open(struct sampled_result *result, const char *path,
			const struct filter *filter, unsigned by, bool with_inlined)
{
	struct profile_reader *reader;
	int status = arguments_open_result(path, path, &reader);
	if (status != 0)
		return status;
	return sampled_result_collect(result, reader, path, filter, by, with_inlined);
}

void sampled_result_close(struct sampled_result *result)
{
	functions_destroy(result->functions);
	tally_finish(&result->tally);
	profile_reader_close(result->reader);
}
