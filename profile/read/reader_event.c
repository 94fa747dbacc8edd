/* Results with samples of several events: the one whose samples are given. */
#include "profile/read/reader_private.h"
#include <assert.h>

TBRW_U32 profile_reader_find_events(struct profile_reader *reader)
{
	for (uint32_t i = 0; i < profile_reader_note_count(reader); i++) {
		const struct profile_note *note = profile_reader_note(reader, i);
		if (note->kind == PROFILE_NOTE_EVENT_ADDED && note->value > reader->event_count &&
		    note->value <= PROFILE_EVENTS_MAX)
			reader->event_count = (uint32_t)note->value;
	}
	return VT_SUCCESS;
}

uint32_t profile_reader_event_count(const struct profile_reader *reader)
{
	return reader->event_count;
}

const char *profile_reader_event_name(const struct profile_reader *reader, uint32_t event)
{
	for (uint32_t i = 0; i < profile_reader_note_count(reader); i++) {
		const struct profile_note *note = profile_reader_note(reader, i);
		if (note->kind == PROFILE_NOTE_EVENT_ADDED && note->value == event)
			return profile_reader_text(reader, note->text);
	}
	return "";
}

static TBRW_U32 count_sample(struct profile_reader *reader, uint64_t index,
			     const struct profile_sample_record *sample,
			     const struct profile_stack *stack, const DATA_BIND_STRUCT *bind,
			     void *user)
{
	uint64_t process, at;

	(void)index, (void)bind, (void)user;
	if (!profile_reader_is_of(reader, sample, reader->event))
		return VT_SUCCESS;
	if (!tb5_binder_lives(&reader->binder, sample->pc.pidRecIndex, sample->pc.tid,
			      sample->tsc.tsc, false, &process, &at))
		return VT_NO_MEMORY;
	if (at >= reader->thread_count)
		return VT_SUCCESS;
	struct profile_thread_info *thread = &reader->threads[at];
	thread->samples += thread->samples < UINT32_MAX;
	thread->cpu_ns = add_saturating(thread->cpu_ns, stack->cpu_ns);
	thread->sampled_ns = thread->cpu_ns;
	return VT_SUCCESS;
}

/* A thread's account of CPU time says nothing of the event. */
static void clear_account(struct profile_thread_info *thread)
{
	thread->samples = 0;
	thread->cpu_ns = thread->rest_ns = 0;
	thread->sampled_ns = thread->kernel_ns = 0;
	thread->unseen_ns = thread->estimated_ns = thread->estimated_rest_ns = 0;
}

TBRW_U32 profile_reader_choose_event(struct profile_reader *reader, uint32_t event)
{
	if (event == 0 || event > reader->event_count)
		return VT_BAD_PARAMETER;
	assert(reader->event == 0);
	reader->event = event;
	reader->unattributed_ns = 0;
	for (uint32_t i = 0; i < reader->thread_count; i++)
		clear_account(&reader->threads[i]);
	return reader->has_sample_streams
		       ? profile_reader_each_raw_sample(reader, false, count_sample, NULL)
		       : VT_SUCCESS;
}
