/*
 * Stacks of a result as callchains of addresses. What has no address, as a gap in a stack, has a
 * reserved one here: with the result's name for it, in the kernel's half of the addresses, whose
 * symbols all processes share. Kernel functions have their names in the same way.
 */
#ifndef TOOLS_PERF_EXPORT_PERF_CHAIN_H
#define TOOLS_PERF_EXPORT_PERF_CHAIN_H

#include "profile/base/gap.h"
#include "profile/read/reader.h"
#include <stddef.h>
#include <stdint.h>

struct perf_space;
struct perf_writer;

struct perf_chain { /* all zero, but for the reader: empty */
	const struct profile_reader *reader;
	const uint64_t *entries; /* after each call, as struct perf_sample has them */
	size_t count;
	uint64_t *made;
	size_t capacity;
	uint64_t context; /* of the last one made; 0: none */
	/* Stacks seen before, and their entries one after another, the newest over the oldest. */
	struct perf_chain_kept *kept;
	uint64_t *kept_entries;
	uint64_t kept_end; /* as if none had been replaced */
};

void perf_chain_finish(struct perf_chain *chain);

/* The stack as reports show it (tools/stacks/call_path.h): seams and unknown parts at the same
 * places. A stack deeper than a record holds is cut, and shows the cut as skipped. */
void perf_chain_set_stack(struct perf_chain *chain, struct perf_space *space,
			  const struct profile_sample_info *sample);
/* Hints, with no effect but on time: of large results much of that of perf_chain_set_stack is
 * waiting for memory. The stack is wanted some stacks later; then, soon. */
void perf_chain_expect(const struct perf_chain *chain, struct perf_space *space,
		       const struct profile_sample_info *sample);
void perf_chain_expect_soon(const struct perf_chain *chain, struct perf_space *space,
			    const struct profile_sample_info *sample);
void perf_chain_set_gap(struct perf_chain *chain, enum profile_gap gap);

/* Writes the names of the reserved addresses, and of the kernel's functions in stacks. */
void perf_chain_write_symbols(struct profile_reader *reader, struct perf_space *space,
			      struct perf_writer *writer);

#endif
