#include "containers/compare.h"
#include "tools/memory/xalloc.h"
#include "tools/samples/tally.h"
#include <stdlib.h>

static int compare_lives(const void *a, const void *b, void *user)
{
	const struct profile_process_info *left =
		profile_reader_process(user, *(const uint32_t *)a);
	const struct profile_process_info *right =
		profile_reader_process(user, *(const uint32_t *)b);
	int order = compare_numbers(left->pid, right->pid);
	return order ? order : compare_numbers(left->start_tsc, right->start_tsc);
}

/* Processes by pid, the lives of one in order of time. */
static uint32_t *sort_lives(const struct profile_reader *reader)
{
	uint32_t count = profile_reader_process_count(reader);
	uint32_t *order = xalloc_zeroed(count, sizeof(*order));
	for (uint32_t i = 0; i < count; i++)
		order[i] = i;
	/* qsort_r has no const; the comparison leaves the reader unchanged */
	qsort_r(order, count, sizeof(*order), compare_lives, (void *)(uintptr_t)reader);
	return order;
}

/* The life of a pid at a moment: the last one begun by then, else the first one; PROFILE_NONE if
 * there is none. */
static uint32_t find_life(const struct profile_reader *reader, const uint32_t *order, uint32_t pid,
			  uint64_t tsc)
{
	uint32_t first = 0;
	uint32_t end = profile_reader_process_count(reader);
	uint32_t found = PROFILE_NONE;
	while (first < end) {
		uint32_t middle = first + (end - first) / 2;
		if (profile_reader_process(reader, order[middle])->pid < pid)
			first = middle + 1;
		else
			end = middle;
	}
	for (; first < profile_reader_process_count(reader); first++) {
		const struct profile_process_info *life =
			profile_reader_process(reader, order[first]);
		if (life->pid != pid || (found != PROFILE_NONE && life->start_tsc > tsc))
			break;
		found = order[first];
	}
	return found;
}

const char **tally_command_lines(const struct profile_reader *reader)
{
	uint32_t count = profile_reader_process_count(reader);
	const char **lines = xalloc_zeroed(count, sizeof(*lines));
	uint32_t *order = sort_lives(reader);
	for (uint32_t i = 0; i < count; i++)
		lines[i] = "";
	for (uint32_t i = 0; i < profile_reader_note_count(reader); i++) {
		const struct profile_note *note = profile_reader_note(reader, i);
		/* The command run comes first; the process's own later command line replaces it. */
		if (note->kind != PROFILE_NOTE_COMMAND &&
		    note->kind != PROFILE_NOTE_PROCESS_COMMAND)
			continue;
		uint32_t life = find_life(reader, order, note->pid, note->tsc);
		if (life != PROFILE_NONE)
			lines[life] = profile_reader_text(reader, note->text);
	}
	free(order);
	return lines;
}
