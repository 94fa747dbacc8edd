/* CPU time counted by the events, but in no thread's account: each thread's likely part. */
#include "profile/read/reader_private.h"
#include <assert.h>

static uint64_t sum_of_notes(const struct profile_reader *reader, enum profile_note_kind kind)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < profile_reader_note_count(reader); i++)
		if (profile_reader_note(reader, i)->kind == kind)
			sum = add_saturating(sum, profile_reader_note(reader, i)->value);
	return sum;
}

/* Whether each thread of whose time the events counted something has a record. */
static bool knows_all(const struct profile_reader *reader)
{
	for (uint32_t i = 0; i < profile_reader_note_count(reader); i++) {
		uint32_t kind = profile_reader_note(reader, i)->kind;
		if (kind == PROFILE_NOTE_SAMPLES_LOST || kind == PROFILE_NOTE_RECORDS_LOST ||
		    kind == PROFILE_NOTE_NOT_FOLLOWED)
			return false;
	}
	return true;
}

/* The time to divide: all, if every thread is known. Else an expectation (profile_thread.unseen_ns)
 * is half of the most possible. */
static uint64_t divided_ns(const struct profile_reader *reader, uint64_t unattributed_ns,
			   uint64_t unseen_ns)
{
	uint64_t most = add_saturating(unseen_ns, unseen_ns);

	return unattributed_ns < most || knows_all(reader) ? unattributed_ns : most;
}

/* The parts of a sum for threads in turn, in proportion to their expected lack. */
struct division {
	uint64_t whole_ns;
	uint64_t given_ns;
};

/* passed_ns of unseen_ns: of the threads so far. By sums: rounding loses nothing. */
static uint64_t give(struct division *division, uint64_t passed_ns, uint64_t unseen_ns)
{
	assert(passed_ns <= unseen_ns);
	uint64_t until_ns =
		(uint64_t)((unsigned __int128)division->whole_ns * passed_ns / unseen_ns);
	uint64_t part_ns = until_ns - division->given_ns;

	division->given_ns = until_ns;
	return part_ns;
}

TBRW_U32 profile_reader_divide_accounts(struct profile_reader *reader)
{
	bool is_fixed = profile_reader_sampling(reader) == PROFILE_SAMPLING_FIXED;
	uint64_t unseen_ns = 0, passed_ns = 0;

	reader->unattributed_ns = sum_of_notes(reader, PROFILE_NOTE_UNATTRIBUTED);
	for (uint32_t i = 0; i < reader->thread_count; i++)
		unseen_ns = add_saturating(unseen_ns, reader->threads[i].unseen_ns);
	if (unseen_ns == 0)
		return VT_SUCCESS;
	struct division kernel = {sum_of_notes(reader, PROFILE_NOTE_UNATTRIBUTED_KERNEL), 0};
	if (kernel.whole_ns > reader->unattributed_ns)
		kernel.whole_ns = reader->unattributed_ns;
	uint64_t left_ns = reader->unattributed_ns - kernel.whole_ns;
	struct division other = {divided_ns(reader, left_ns, unseen_ns), 0};
	for (uint32_t i = 0; i < reader->thread_count; i++) {
		struct profile_thread_info *thread = &reader->threads[i];
		passed_ns = add_saturating(passed_ns, thread->unseen_ns);
		uint64_t kernel_ns = give(&kernel, passed_ns, unseen_ns);
		uint64_t given_ns = kernel_ns + give(&other, passed_ns, unseen_ns);
		thread->estimated_ns = given_ns;
		thread->cpu_ns = add_saturating(thread->cpu_ns, given_ns);
		thread->estimated_rest_ns = is_fixed ? given_ns : kernel_ns;
		thread->rest_ns = add_saturating(thread->rest_ns, thread->estimated_rest_ns);
	}
	assert(kernel.given_ns == kernel.whole_ns && other.given_ns == other.whole_ns);
	reader->unattributed_ns -= kernel.whole_ns + other.whole_ns;
	return VT_SUCCESS;
}

enum profile_sampling profile_reader_sampling(const struct profile_reader *reader)
{
	for (uint32_t i = 0; reader->event == 0 && i < profile_reader_note_count(reader); i++) {
		const struct profile_note *note = profile_reader_note(reader, i);
		if (note->kind == PROFILE_NOTE_SAMPLING &&
		    (note->value == PROFILE_SAMPLING_THREADS ||
		     note->value == PROFILE_SAMPLING_CPUS))
			return (enum profile_sampling)note->value;
	}
	return PROFILE_SAMPLING_FIXED;
}

const char *profile_reader_counted_event(const struct profile_reader *reader)
{
	if (reader->event > 0)
		return profile_reader_event_name(reader, reader->event);
	for (uint32_t i = 0; i < profile_reader_note_count(reader); i++) {
		const struct profile_note *note = profile_reader_note(reader, i);
		if (note->kind == PROFILE_NOTE_EVENT && note->value == 1)
			return profile_reader_text(reader, note->text);
	}
	return NULL;
}

uint64_t profile_reader_interval_ns(const struct profile_reader *reader)
{
	uint64_t interval_ns = 0;

	if (reader->event > 0)
		return 1;
	for (uint32_t i = 0; i < profile_reader_note_count(reader); i++)
		if (profile_reader_note(reader, i)->kind == PROFILE_NOTE_INTERVAL)
			interval_ns = profile_reader_note(reader, i)->value;
	return interval_ns;
}

uint64_t profile_reader_unattributed_ns(const struct profile_reader *reader)
{
	return reader->unattributed_ns;
}
