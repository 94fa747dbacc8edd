#include "tools/cli/xalloc.h"
#include "tools/collection/quality.h"
#include "tools/collection/sampling.h"
#include <inttypes.h>
#include <string.h>

/* Less than this share of the samples is no finding: 0.5 %, in parts of 10^6. */
#define FINDING_MIN 5000u

/* The default where it is as large as can be: a record, which holds less than 64 KB, has some 320
 * bytes besides. What --stack-size may ask for beyond that, up to 65528, is no step up. */
#define STACK_SIZE_LARGEST 65208u

/* At shorter intervals, ns, no ring holds copies of that size: more would be lost or left out than
 * is won. */
#define LARGEST_INTERVAL_MIN 1000000u

/* The module in which most stacks were cut for this reason. */
static uint32_t find_cutting_module(const struct quality *quality, enum profile_skip_reason reason)
{
	uint32_t found = 0;
	for (uint32_t i = 1; i < quality->module_count; i++) {
		if (quality->modules[i].skipped[reason] > quality->modules[found].skipped[reason])
			found = i;
	}
	return found;
}

/* Why the collector could not read the module, and what to do about it. */
static const char *why_unread(const struct report_input *input, const struct module *module)
{
	uint32_t flags = 0;
	for (uint32_t i = 0; i < profile_reader_image_count(input->reader); i++) {
		const struct profile_image *image = profile_reader_image(input->reader, i);
		if (image->flags & PROFILE_IMAGE_NOT_OPEN &&
		    strcmp(profile_reader_text(input->reader, image->path), module->path) == 0)
			flags |= image->flags;
	}
	if (flags & PROFILE_IMAGE_NO_DESCRIPTOR)
		return "which the limit of open files kept the collector from reading: raise it "
		       "(ulimit -n)";
	if (flags & PROFILE_IMAGE_CHANGED)
		return "which was changed after it was mapped, and before the collector looked at "
		       "it: put the new file in place of the old one (mv), or build it with a "
		       "build-id (-Wl,--build-id)";
	if (flags & PROFILE_IMAGE_GONE)
		return "which was gone when the collector looked at it: delete programs later";
	return "which the collector could not read, or found replaced: run tbcollect as the owner "
	       "of the process or as root, and replace programs later";
}

static bool has_java(const struct report_input *input, const struct quality *quality)
{
	for (uint32_t i = 0; i < quality->module_count; i++)
		if (strcmp(functions_module(input->functions, i)->name, "libjvm.so") == 0)
			return true;
	return false;
}

static char *advise_no_info(const struct report_input *input, const struct quality *quality,
			    double share)
{
	uint32_t index = find_cutting_module(quality, PROFILE_SKIP_NO_INFO);
	const struct quality_row *row = &quality->modules[index];
	const struct module *module = functions_module(input->functions, index);
	if (row->unreadable > row->skipped[PROFILE_SKIP_NO_INFO] / 2)
		return xalloc_printf("%.1f %% of the stacks end where no unwind information is "
				     "known, most in %s, %s",
				     share, module->name, why_unread(input, module));
	if (module->name[0] == '[') /* just-in-time compiled, in all likelihood */
		return xalloc_printf("%.1f %% of the stacks end where no unwind information is "
				     "known, most in %s: let %s",
				     share, module->name,
				     has_java(input, quality)
					     ? "its compiler keep frame pointers (java "
					       "-XX:+PreserveFramePointer)"
					     : "what made this code keep frame pointers, if it "
					       "can");
	return xalloc_printf("%.1f %% of the stacks end where no unwind information is known, most "
			     "in %s: install its debug symbols, or build it with "
			     "-fasynchronous-unwind-tables",
			     share, module->path);
}

static bool uses_bpf(const struct quality *quality)
{
	return quality->stack_source.is_known &&
	       quality->stack_source.value == PROFILE_STACKS_BY_BPF;
}

/* Whether copies of the largest size would be taken, and not left out for what they cost. */
static bool has_room(const struct quality *quality)
{
	const struct overview_number *interval = &quality->overview.interval_ns;
	const struct quality_row *run = &quality->run;
	return (!interval->is_known || interval->value >= LARGEST_INTERVAL_MIN) &&
	       table_share(run->skipped[PROFILE_SKIP_BUDGET], run->samples) < FINDING_MIN;
}

static char *advise_truncated(const struct quality *quality, double share)
{
	const char *larger = "";
	if (uses_bpf(quality))
		return xalloc_printf("%.1f %% of the stacks are larger than what BPF copies of "
				     "them, which is up to 512 KB and less at short intervals: "
				     "use a longer --interval, without --stack-size",
				     share);
	if (!has_room(quality))
		larger = "use a longer --interval, or ";
	else if (quality->stack_size.is_known && quality->stack_size.value < STACK_SIZE_LARGEST)
		larger = "use --stack-size 65528, or ";
	return xalloc_printf("%.1f %% of the stacks are larger than what is copied of them: %slet "
			     "BPF copy larger ones (tbcollect as root, or with CAP_BPF and "
			     "CAP_PERFMON)",
			     share, larger);
}

static char *advise_not_resident(const struct quality *quality, double share)
{
	if (uses_bpf(quality))
		return xalloc_printf("%.1f %% of the stacks have pages that are not in memory "
				     "(swapped out, most likely), so that BPF cannot copy them "
				     "either: see that the program has the memory that it needs",
				     share);
	return xalloc_printf("%.1f %% of the stacks have pages that are not in memory (swapped "
			     "out, or never touched), where a copy by the kernel ends: BPF copies "
			     "what lies beyond them (tbcollect as root, or with CAP_BPF and "
			     "CAP_PERFMON)",
			     share);
}

static char *advise_skipped(const struct report_input *input, const struct quality *quality,
			    enum profile_skip_reason reason, double share)
{
	uint32_t index = find_cutting_module(quality, reason);
	const char *module = functions_module(input->functions, index)->name;
	switch (reason) {
	case PROFILE_SKIP_BUDGET:
		return xalloc_printf("%.1f %% of the stacks were left out to keep the collector's "
				     "cost down: use a longer --interval, or a higher "
				     "--overhead-limit",
				     share);
	case PROFILE_SKIP_TRUNCATED:
		return advise_truncated(quality, share);
	case PROFILE_SKIP_NO_INFO:
		return advise_no_info(input, quality, share);
	case PROFILE_SKIP_NOT_RESIDENT:
		return advise_not_resident(quality, share);
	case PROFILE_SKIP_RED_ZONE:
		return xalloc_printf("%.1f %% of the stacks are hit in functions that keep what "
				     "leads to their caller below the stack pointer, most in %s, "
				     "where a copy by the kernel starts: BPF copies that too "
				     "(tbcollect as root, or with CAP_BPF and CAP_PERFMON)",
				     share, module);
	case PROFILE_SKIP_OTHER_STACK:
		return xalloc_printf("%.1f %% of the stacks continue on a stack that is not copied "
				     "(a signal handler's, a coroutine's), most from %s: the "
				     "frames up to there are right, and their callers are that "
				     "code's own scheduler",
				     share, module);
	case PROFILE_SKIP_BAD_INFO:
		return xalloc_printf("the unwind information contradicts itself in %.1f %% of the "
				     "stacks, most in %s: look for a newer build of it",
				     share, module);
	case PROFILE_SKIP_NO_MEMORY:
		return xalloc_printf("%.1f %% of the stacks were left out because the collector "
				     "ran out of memory: give it more, or use a longer --interval",
				     share);
	case PROFILE_SKIP_DEPTH:
		return xalloc_printf("%.1f %% of the stacks are deeper than the collector follows: "
				     "their outermost frames are missing",
				     share);
	case PROFILE_SKIP_NO_REGS:
		return xalloc_printf("%.1f %% of the samples came without registers, or from "
				     "32-bit code of another machine than x86: these have no "
				     "stacks",
				     share);
	default:
		return xalloc_printf("%.1f %% of the stacks are incomplete for a reason that this "
				     "tbreport does not know: use a newer one",
				     share);
	}
}

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
	const struct module *module = functions_module(input->functions, found);
	return xalloc_printf("%.1f %% of the samples lie in functions without a symbol, most in "
			     "%s: "
			     "install its debug symbols (on Debian, find-dbgsym-packages %s names "
			     "the packages), then run tbconvert finalize again",
			     share, module->name, module->path);
}

char *quality_advise(const struct report_input *input, const struct quality *quality)
{
	const struct quality_row *run = &quality->run;
	uint64_t lost = quality->overview.samples_lost;
	uint64_t worst = 0;
	int reason = -1;
	for (int i = 0; i < PROFILE_SKIP_REASON_COUNT; i++) {
		if (run->skipped[i] > worst) {
			worst = run->skipped[i];
			reason = i;
		}
	}
	uint64_t unseen = sampling_unseen_share(input, &quality->overview);
	if (run->samples == 0)
		return sampling_advise(input, &quality->overview, 0);
	uint64_t least = worst > run->nameless ? worst : run->nameless;
	/* Lost are samples of the whole run, whatever the filter. */
	if (input->options->filter.count == 0 && lost > least &&
	    table_share(lost, lost + run->samples) >= FINDING_MIN)
		return xalloc_printf("%" PRIu64 " samples (%.1f %%) were lost: use a longer "
				     "--interval or a smaller --stack-size",
				     lost, table_percent(lost, lost + run->samples));
	if (unseen > table_share(least, run->samples))
		return sampling_advise(input, &quality->overview, run->samples);
	if (table_share(least, run->samples) < FINDING_MIN)
		return xalloc_text("nothing to do: each kind of gap is below 0.5 % of the samples");
	if (run->nameless > worst)
		return advise_nameless(input, quality, table_percent(run->nameless, run->samples));
	return advise_skipped(input, quality, (enum profile_skip_reason)reason,
			      table_percent(worst, run->samples));
}
