#include "tools/collection/quality.h"
#include "tools/collection/skip_reason.h"
#include "tools/collection/unseen_time.h"
#include "tools/memory/xalloc.h"
#include "tools/report/report.h"
#include <inttypes.h>

static char *advise_nameless(const struct report_input *input, const struct quality *quality,
			     double share)
{
	uint32_t found = 0;
	if (!quality->overview.is_finalized)
		return xalloc_text("the result has no symbols yet: run tbconvert finalize");
	for (uint32_t i = 1; i < quality->module_count; i++) {
		if (quality->modules[i].nameless > quality->modules[found].nameless)
			found = i;
	}
	const struct dso *dso = functions_dso(input->functions, found);
	return xalloc_printf("%.1f %% of the samples lie in functions without a symbol, most in "
			     "%s: "
			     "install its debug symbols (on Debian, find-dbgsym-packages %s names "
			     "the packages), then run tbconvert finalize again",
			     share, dso->name, dso->path);
}

char *quality_advise(const struct report_input *input, const struct quality *quality)
{
	const struct quality_row *run = &quality->run;
	uint64_t lost = quality->overview.notes[PROFILE_NOTE_SAMPLES_LOST].value;
	uint64_t worst = 0;
	int reason = -1;
	for (int i = 0; i < PROFILE_SKIP_REASON_COUNT; i++) {
		if (run->skipped[i] > worst) {
			worst = run->skipped[i];
			reason = i;
		}
	}
	uint64_t unseen = unseen_time_share(input, &quality->overview);
	if (run->samples == 0)
		return unseen_time_advise(input, &quality->overview, 0);
	uint64_t least = worst > run->nameless ? worst : run->nameless;
	/* Lost are samples of the whole run, whatever the filter. */
	if (input->options->filter.count == 0 && lost > least &&
	    table_share(lost, lost + run->samples) >= SKIP_FINDING_MIN)
		return xalloc_printf("%" PRIu64 " samples (%.1f %%) were lost: use a longer "
				     "--interval or a smaller --stack-size",
				     lost, table_percent(lost, lost + run->samples));
	if (unseen > table_share(least, run->samples))
		return unseen_time_advise(input, &quality->overview, run->samples);
	if (table_share(least, run->samples) < SKIP_FINDING_MIN)
		return xalloc_text("nothing to do: each kind of gap is below 0.5 % of the samples");
	if (run->nameless > worst)
		return advise_nameless(input, quality, table_percent(run->nameless, run->samples));
	return skip_reason_advise(input, quality, (enum profile_skip_reason)reason,
				  table_percent(worst, run->samples));
}
