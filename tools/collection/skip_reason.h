/*
 * Why stacks are skipped: all that is said of a reason is one row. To add one: its number in
 * profile/profile.h, its row in skip_reason.c.
 */
#ifndef TOOLS_COLLECTION_SKIP_REASON_H
#define TOOLS_COLLECTION_SKIP_REASON_H

#include "profile/profile.h"
#include "tools/table/table.h"

struct quality;
struct report_input;

struct skip_finding {
	const struct report_input *input;
	const struct quality *quality;
	uint32_t module; /* of input->functions: where most stacks were cut for the reason */
};

struct skip_reason {
	const char *key;            /* in JSON */
	const char *words;          /* behind a number of stacks */
	struct table_column column; /* of the report quality */
	/* What to do: {share} stands for the share of the stacks, {module} and {path} for the
	 * module where most were cut. Where that depends, choose() returns it. */
	const char *advice;
	const char *(*choose)(const struct skip_finding *finding);
};

/* The row of a reason below PROFILE_SKIP_REASON_COUNT. PROFILE_SKIP_NOT_SKIPPED: reasons that this
 * program does not know. */
const struct skip_reason *skip_reason_of(enum profile_skip_reason reason);

/* The advice, for stacks that are skipped for that reason. percent: of all stacks. For the caller
 * to free. */
char *skip_reason_advise(const struct report_input *input, const struct quality *quality,
			 enum profile_skip_reason reason, double percent);

/* Less than this share of the samples is no finding: 0.5 %, in parts of 10^6. */
#define SKIP_FINDING_MIN 5000u

#endif
