#include "tools/collection/skip_reason.h"

#include "profile/base/stack_size.h"
#include "tools/collection/quality.h"
#include "tools/memory/xalloc.h"
#include "tools/report/report.h"
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(PROFILE_STACK_SIZE_MAX == 65528, "the advice on cut stacks names the number");

/* At shorter intervals, ns, no ring holds copies of this size: more stacks would be lost or left
 * out than won. */
#define LARGEST_INTERVAL_MIN 1000000u

/* The module with most stacks cut for the reason. */
static uint32_t find_cutting_dso(const struct quality *quality, enum profile_skip_reason reason)
{
	uint32_t found = 0;
	for (uint32_t i = 1; i < quality->module_count; i++) {
		if (quality->modules[i].skipped[reason] > quality->modules[found].skipped[reason])
			found = i;
	}
	return found;
}

/* The collector's findings on the module's unreadable file, PROFILE_IMAGE_... */
static uint32_t unread_flags(const struct report_input *input, const struct dso *dso)
{
	uint32_t flags = 0;
	for (uint32_t i = 0; i < profile_reader_image_count(input->reader); i++) {
		const struct profile_image *image = profile_reader_image(input->reader, i);
		if (image->flags & PROFILE_IMAGE_NOT_OPEN &&
		    strcmp(profile_reader_text(input->reader, image->path), dso->path) == 0)
			flags |= image->flags;
	}
	return flags;
}

static bool has_java(const struct skip_finding *finding)
{
	for (uint32_t i = 0; i < finding->quality->module_count; i++)
		if (strcmp(functions_dso(finding->input->functions, i)->name, "libjvm.so") == 0)
			return true;
	return false;
}

static bool uses_bpf(const struct quality *quality)
{
	const struct overview_number *source = &quality->overview.notes[PROFILE_NOTE_STACK_SOURCE];
	return source->is_known && source->value == PROFILE_STACKS_BY_BPF;
}

/* Whether copies of the largest size would be taken, not left out for their cost. */
static bool has_room(const struct quality *quality)
{
	const struct overview_number *interval = &quality->overview.notes[PROFILE_NOTE_INTERVAL];
	const struct quality_row *run = &quality->run;
	return (!interval->is_known || interval->value >= LARGEST_INTERVAL_MIN) &&
	       table_share(run->skipped[PROFILE_SKIP_BUDGET], run->samples) < SKIP_FINDING_MIN;
}

#define NO_INFO "{share} % of the stacks end in code without unwind information, most of them in "

static const char *advise_unread(const struct skip_finding *finding, const struct dso *dso)
{
	uint32_t flags = unread_flags(finding->input, dso);
	if (flags & PROFILE_IMAGE_NO_DESCRIPTOR)
		return NO_INFO "{module}. The collector had too many open files to read it. Raise "
			       "the limit (ulimit -n).";
	if (flags & PROFILE_IMAGE_CHANGED)
		return NO_INFO "{module}. The file was changed after the program mapped it and "
			       "before the collector read it. Put new versions in place with mv, "
			       "or build it with a build-id (-Wl,--build-id).";
	if (flags & PROFILE_IMAGE_GONE)
		return NO_INFO "{module}. The file was gone before the collector could read it. "
			       "Delete programs later.";
	return NO_INFO "{module}. The collector could not read the file, or found another one in "
		       "its place. Run tbcollect as the owner of the process or as root, and "
		       "replace programs later.";
}

static const char *advise_no_info(const struct skip_finding *finding)
{
	const struct quality_row *row = &finding->quality->modules[finding->dso];
	const struct dso *dso = functions_dso(finding->input->functions, finding->dso);
	if (row->unreadable > row->skipped[PROFILE_SKIP_NO_INFO] / 2)
		return advise_unread(finding, dso);
	if (dso->name[0] != '[')
		return NO_INFO "{path}. Install its debug symbols, or build it with "
			       "-fasynchronous-unwind-tables.";
	/* Just-in-time compiled, in all likelihood. */
	if (has_java(finding))
		return NO_INFO "{module}. Let the Java compiler keep frame pointers (java "
			       "-XX:+PreserveFramePointer).";
	return NO_INFO "{module}. Let the compiler of this code keep frame pointers, if it can.";
}

#define WITH_BPF  "run tbcollect as root, or with CAP_BPF and CAP_PERFMON"
#define TRUNCATED "{share} % of the stacks are larger than the kernel's copy of them. "
#define BPF_COPY  "BPF copy larger stacks: " WITH_BPF "."

static const char *advise_truncated(const struct skip_finding *finding)
{
	const struct overview_number *size =
		&finding->quality->overview.notes[PROFILE_NOTE_STACK_SIZE];
	if (uses_bpf(finding->quality))
		return "{share} % of the stacks are larger than BPF's copy of them. BPF copies up "
		       "to 512 KB, and less at short intervals. Use a longer --interval, without "
		       "--stack-size.";
	if (!has_room(finding->quality))
		return TRUNCATED "Use a longer --interval, or let " BPF_COPY;
	/* Values between the largest default and the most are no step up. */
	if (size->is_known && size->value < PROFILE_STACK_SIZE_DEFAULT_MAX)
		return TRUNCATED "Use --stack-size 65528, or let " BPF_COPY;
	return TRUNCATED "Let " BPF_COPY;
}

#define NOT_RESIDENT "{share} % of the stacks have pages that are not in memory: "

static const char *advise_not_resident(const struct skip_finding *finding)
{
	if (uses_bpf(finding->quality))
		return NOT_RESIDENT "most likely swapped out. BPF cannot copy them either. Give "
				    "the program more memory.";
	return NOT_RESIDENT "most likely swapped out. The kernel's copy ends at the first such "
			    "page. BPF copies the pages behind it: " WITH_BPF ".";
}

/* The names of a reason: its key, its words behind a number of stacks, its column's title. */
#define REASON(key, words, title)                             \
	key, words,                                           \
	{                                                     \
		title, "skipped_" key, TABLE_COUNT, TABLE_ALL \
	}

static const struct skip_reason reasons[PROFILE_SKIP_REASON_COUNT] = {
	[PROFILE_SKIP_NOT_SKIPPED] =
		{REASON("other", "other reasons", "Other"),
		 .advice = "{share} % of the stacks are incomplete for a reason that this "
			   "tbreport does not know. Use a newer tbreport."},
	[PROFILE_SKIP_BUDGET] =
		{REASON("budget", "collector's budget", "Budget"),
		 .advice = "{share} % of the stacks were left out to keep the overhead low. Use a "
			   "longer --interval or a higher --overhead-limit."},
	[PROFILE_SKIP_TRUNCATED] = {REASON("truncated", "stack larger than the copy", "Truncated"),
				    .choose = advise_truncated},
	[PROFILE_SKIP_NOT_RESIDENT] = {REASON("not_resident", "stack not in memory",
					      "Not Resident"),
				       .choose = advise_not_resident},
	[PROFILE_SKIP_NO_INFO] = {REASON("no_info", "no unwind information", "No Info"),
				  .choose = advise_no_info},
	[PROFILE_SKIP_OTHER_STACK] =
		{REASON("other_stack", "continues on another stack", "Other Stack"),
		 .advice =
			 "{share} % of the stacks continue on another stack (a coroutine's, or the "
			 "one that a signal's handler left), most of them from {module}. The "
			 "other stack is not copied: BPF, as root, copies the one that a "
			 "handler left. The frames up to there are right. Only their callers are "
			 "missing: the code's own scheduler."},
	[PROFILE_SKIP_DEPTH] = {REASON("depth", "too deep", "Depth"),
				.advice = "{share} % of the stacks are deeper than the collector "
					  "follows. Their outermost frames are missing."},
	[PROFILE_SKIP_BAD_INFO] =
		{REASON("bad_info", "contradictory unwind information", "Bad Info"),
		 .advice = "{share} % of the stacks end at unwind information that contradicts "
			   "itself, most of them in {module}. Look for a newer build of it."},
	[PROFILE_SKIP_NO_REGS] =
		{REASON("no_regs", "no user registers", "No Registers"),
		 .advice = "{share} % of the samples have no stack: they came without user "
			   "registers, or from 32-bit code of a machine other than x86."},
	[PROFILE_SKIP_NO_MEMORY] =
		{REASON("no_memory", "collector out of memory", "Out of Memory"),
		 .advice = "{share} % of the stacks were left out because the collector ran out "
			   "of memory. Give it more, or use a longer --interval."},
	[PROFILE_SKIP_RED_ZONE] =
		{REASON("red_zone", "continues below the stack pointer, not copied", "Red Zone"),
		 .advice = "{share} % of the stacks start in functions that keep the way to their "
			   "caller in the red zone, below the stack pointer, most of them in "
			   "{module}. The kernel's copy starts at the stack pointer. BPF copies "
			   "the red zone too: " WITH_BPF "."},
	[PROFILE_SKIP_CHAIN_ENDS] =
		{REASON("chain_ends", "no further in the recording", "Chain Ends"),
		 .advice = "{share} % of the stacks of the recording end too early, most of them "
			   "in {module}, which keeps no frame pointers. Record with perf record "
			   "--call-graph dwarf, or with tbcollect."},
	[PROFILE_SKIP_UNTOUCHED] =
		{REASON("untouched", "stack page never touched", "Untouched"),
		 .advice = "{share} % of the stacks have pages that the program never touched: "
			   "large local arrays, most of them of functions in {module}. The "
			   "kernel's copy ends at the first such page. tbcollect has later "
			   "copies go past it where it may trace the process. BPF copies the "
			   "pages behind it at once: " WITH_BPF "."},
};

const struct skip_reason *skip_reason_of(enum profile_skip_reason reason)
{
	assert(reason < PROFILE_SKIP_REASON_COUNT);
	return &reasons[reason];
}

/* The text with a value in place of its name, or unchanged without the name; takes the text. */
static char *put_value(char *text, const char *name, const char *value)
{
	const char *place = strstr(text, name);
	if (!place)
		return text;
	char *whole =
		xalloc_printf("%.*s%s%s", (int)(place - text), text, value, place + strlen(name));
	free(text);
	return whole;
}

char *skip_reason_advise(const struct report_input *input, const struct quality *quality,
			 enum profile_skip_reason reason, double percent)
{
	const struct skip_reason *row = skip_reason_of(reason);
	const struct skip_finding finding = {input, quality, find_cutting_dso(quality, reason)};
	const struct dso *dso = functions_dso(input->functions, finding.dso);
	char share[32];
	snprintf(share, sizeof(share), "%.1f", percent);
	char *text = xalloc_text(row->choose ? row->choose(&finding) : row->advice);
	text = put_value(text, "{share}", share);
	return strstr(text, "{path}") ? put_value(text, "{path}", dso->path)
				      : put_value(text, "{module}", dso->name);
}
