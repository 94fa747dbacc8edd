/*
 * Reasons to skip stacks, all texts of a reason in one row. To add one: its number in
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
	uint32_t dso; /* of input->functions: with most stacks cut for the reason */
};

struct skip_reason {
	const char *key;            /* in JSON */
	const char *words;          /* behind a number of stacks */
	struct table_column column; /* of the report quality */
	/* The advice: {share} stands for the share of the stacks, {module} and {path} for the
	 * module with most of them. NULL: choose() returns the advice. */
	const char *advice;
	const char *(*choose)(const struct skip_finding *finding);
};

/* The row of a reason below PROFILE_SKIP_REASON_COUNT. PROFILE_SKIP_NOT_SKIPPED: reasons unknown to
 * this program. */
const struct skip_reason *skip_reason_of(enum profile_skip_reason reason);

/* The advice on stacks skipped for the reason: short sentences, for the caller to free. percent: of
 * all stacks. */
char *skip_reason_advise(const struct report_input *input, const struct quality *quality,
			 enum profile_skip_reason reason, double percent);

/* Less than this share of the samples is no finding: 0.5 %, in parts of 10^6. */
#define SKIP_FINDING_MIN 5000u

#endif
