#include "tools/states/collected.h"

#include "containers/compare.h"
#include "profile/read/reader.h"
#include "tools/functions/filter.h"
#include "tools/memory/xalloc.h"
#include <stdlib.h>
#include <string.h>

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t add(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static int compare_pauses(const void *a, const void *b)
{
	const struct collected_pause *left = a;
	const struct collected_pause *right = b;
	return compare_numbers(left->start_ns, right->start_ns);
}

static void sort_pauses(struct collected *collected)
{
	uint64_t end_ns = 0;
	if (collected->pause_count > 1)
		qsort(collected->pauses, collected->pause_count, sizeof(*collected->pauses),
		      compare_pauses);
	for (size_t i = 0; i < collected->pause_count; i++) {
		struct collected_pause *pause = &collected->pauses[i];
		pause->start_ns = larger(pause->start_ns, end_ns);
		end_ns = pause->end_ns = larger(pause->end_ns, pause->start_ns);
	}
}

/* A killed collection lost at most a second, and sync points are a second apart. */
#define UNNOTED_NS UINT64_C(10000000000)

void collected_init(struct collected *collected, const struct profile_reader *reader,
		    const struct filter *filter)
{
	uint32_t clocks = profile_reader_clock_count(reader);
	uint64_t last_ns = clocks ? profile_reader_clock(reader, clocks - 1)->raw_ns : 0;
	size_t capacity = 0;
	*collected = (struct collected){.start_ns = profile_reader_start_ns(reader),
					.end_ns = clocks ? add(last_ns, UNNOTED_NS) : UINT64_MAX,
					.least_end_ns = last_ns};
	for (uint32_t i = 0; i < profile_reader_note_count(reader); i++) {
		const struct profile_note *note = profile_reader_note(reader, i);
		uint64_t time_ns = profile_reader_raw_ns(reader, note->tsc);
		if (note->kind == PROFILE_NOTE_ELAPSED)
			collected->end_ns = collected->least_end_ns =
				add(collected->start_ns, note->value);
		if (note->kind != PROFILE_NOTE_PAUSED)
			continue;
		xalloc_room(&collected->pauses, &capacity, collected->pause_count + 1,
			    sizeof(*collected->pauses));
		collected->pauses[collected->pause_count++] =
			(struct collected_pause){time_ns - smaller(time_ns, note->value), time_ns};
	}
	sort_pauses(collected);
	if (filter->to_ns > 0)
		collected->end_ns =
			smaller(collected->end_ns, add(collected->start_ns, filter->to_ns));
	collected->start_ns = add(collected->start_ns, filter->from_ns);
	collected->end_ns = larger(collected->end_ns, collected->start_ns);
	collected->least_end_ns =
		smaller(larger(collected->least_end_ns, collected->start_ns), collected->end_ns);
}

void collected_finish(struct collected *collected)
{
	free(collected->pauses);
	memset(collected, 0, sizeof(*collected));
}
