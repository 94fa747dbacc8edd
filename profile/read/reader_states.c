/* Slices, waits and their objects. */
#include "containers/compare.h"
#include "profile/read/reader_private.h"
#include "profile/read/states.h"
#include <assert.h>
#include <stdlib.h>

/* The bits of the notes of a kind: 1 << tid of each if by_tid, else their values. */
static uint32_t bits_of_notes(const struct profile_reader *reader, enum profile_note_kind kind,
			      bool by_tid)
{
	uint32_t bits = 0;

	for (uint32_t i = 0; i < profile_reader_note_count(reader); i++) {
		const struct profile_note *note = profile_reader_note(reader, i);
		if (note->kind == kind)
			bits |= !by_tid          ? (uint32_t)note->value
				: note->tid < 32 ? 1u << note->tid
						 : 0;
	}
	return bits;
}

uint32_t profile_reader_states(const struct profile_reader *reader)
{
	return bits_of_notes(reader, PROFILE_NOTE_STATES, false);
}

uint32_t profile_reader_wait_sources(const struct profile_reader *reader)
{
	return bits_of_notes(reader, PROFILE_NOTE_WAITS, true);
}

uint32_t profile_reader_object_count(const struct profile_reader *reader)
{
	return reader->records[PROFILE_STREAM_OBJECTS].count;
}

const struct profile_object *profile_reader_object(const struct profile_reader *r, uint32_t index)
{
	const struct profile_object *objects = r->records[PROFILE_STREAM_OBJECTS].items;

	assert(index < profile_reader_object_count(r));
	return &objects[index];
}

static int compare_lives(const void *left, const void *right, void *user)
{
	const struct profile_thread_info *threads = user;
	const struct profile_thread_info *a = &threads[*(const uint32_t *)left];
	const struct profile_thread_info *b = &threads[*(const uint32_t *)right];
	int order = compare_numbers(a->tid, b->tid);

	return order ? order : compare_numbers(a->start_tsc, b->start_tsc);
}

static bool order_threads(struct profile_reader *reader)
{
	if (reader->thread_order)
		return true;
	reader->thread_order =
		calloc((size_t)reader->thread_count + 1, sizeof(*reader->thread_order));
	if (!reader->thread_order)
		return false;
	for (uint32_t i = 0; i < reader->thread_count; i++)
		reader->thread_order[i] = i;
	for (unsigned i = 0; i < PROFILE_FOUND_THREADS; i++)
		reader->found_threads[i] = (struct profile_found_thread){.first_tsc = 1};
	qsort_r(reader->thread_order, reader->thread_count, sizeof(*reader->thread_order),
		compare_lives, reader->threads);
	return true;
}

/* Fills *found with the thread's life at a time and what is known for it: all times with the same
 * answer, PROFILE_NONE if there is none. */
static void search_thread(const struct profile_reader *reader, uint32_t tid, uint64_t tsc,
			  struct profile_found_thread *found)
{
	uint32_t low = 0, high = reader->thread_count;

	/* The last life of the id that began no later. */
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		const struct profile_thread_info *thread =
			&reader->threads[reader->thread_order[middle]];
		if (thread->tid < tid || (thread->tid == tid && thread->start_tsc <= tsc))
			low = middle + 1;
		else
			high = middle;
	}
	const uint32_t *order = reader->thread_order;
	*found = (struct profile_found_thread){tid, PROFILE_NONE, tsc, tsc};
	if (low == 0 || reader->threads[order[low - 1]].tid != tid)
		return;
	const struct profile_thread_info *thread = &reader->threads[order[low - 1]];
	if (tsc > thread->end_tsc)
		return;
	found->thread = order[low - 1];
	found->first_tsc = thread->start_tsc;
	found->last_tsc = thread->end_tsc;
	if (low == reader->thread_count || reader->threads[order[low]].tid != tid)
		return;
	/* Of two lives at once, as only damaged files have them, the later one counts. */
	uint64_t next_tsc = reader->threads[order[low]].start_tsc;
	if (next_tsc <= found->last_tsc)
		found->last_tsc = next_tsc - 1;
}

/* Threads come again and again. */
uint32_t profile_reader_find_thread(struct profile_reader *reader, uint32_t tid, uint64_t tsc)
{
	if (!order_threads(reader))
		return PROFILE_NONE;
	struct profile_found_thread *found = &reader->found_threads[tid % PROFILE_FOUND_THREADS];

	if (found->tid != tid || tsc < found->first_tsc || tsc > found->last_tsc)
		search_thread(reader, tid, tsc, found);
	return found->thread;
}

struct pass {
	struct profile_reader *reader;
	profile_slice_callback *on_slice;
	profile_wait_callback *on_wait;
	uint64_t fields; /* of a wait: those that refer to records */
	void *user;
};

static struct profile_slice_info describe(struct profile_reader *reader,
					  const struct profile_slice *slice)
{
	uint64_t start_ns = profile_reader_raw_ns(reader, slice->start_tsc);

	return (struct profile_slice_info){
		.start_ns = start_ns,
		.end_ns = add_saturating(start_ns, slice->run_ns),
		.ready_ns = slice->before == PROFILE_STATE_READY ? 0 : slice->ready_ns,
		.tid = slice->tid,
		.thread = profile_reader_find_thread(reader, slice->tid, slice->start_tsc),
		.cpu = slice->cpu,
		.before = slice->before <= PROFILE_STATE_STOPPED ? slice->before
								 : (uint8_t)PROFILE_STATE_UNKNOWN,
		.flags = slice->flags,
	};
}

static bool pass_slice(union profile_record *record, void *user)
{
	const struct pass *pass = user;
	const struct profile_slice_info info = describe(pass->reader, &record->slice);

	return pass->on_slice(&info, pass->user);
}

struct taking {
	struct profile_reader *reader;
	struct profile_slice_info *slices; /* or waits */
	struct profile_wait_info *waits;
	uint64_t fields; /* as of a pass */
	size_t capacity;
	size_t count;
	uint64_t read; /* records */
};

static bool take_slice(union profile_record *record, void *user)
{
	struct taking *taking = user;

	taking->slices[taking->count++] = describe(taking->reader, &record->slice);
	return taking->count < taking->capacity;
}

/* As a sample's stack is made safe and honest: node 0, and SKIPPED, where the way has a gap. */
static void mend_stack(const struct profile_reader *reader, uint32_t *node, uint8_t *state,
		       uint8_t *reason)
{
	bool is_damaged = *node == PROFILE_NONE || *state > PROFILE_STACK_NONE ||
			  *state == PROFILE_STACK_GUESSED || *reason >= PROFILE_SKIP_REASON_COUNT;

	if (*node == PROFILE_NONE)
		*node = 0;
	if (reader->node_damaged && reader->node_damaged[*node] && *state != PROFILE_STACK_SKIPPED)
		is_damaged = true;
	if (is_damaged) {
		*state = PROFILE_STACK_SKIPPED;
		*reason = PROFILE_SKIP_BAD_INFO;
	}
}

/* false: the record is not whole. */
static bool describe_wait(struct profile_reader *reader, uint64_t fields,
			  union profile_record *record, struct profile_wait_info *info)
{
	struct profile_wait *wait = &record->wait;

	if (!profile_reader_check(reader, PROFILE_STREAM_WAITS, fields, 0, record))
		return false;
	mend_stack(reader, &wait->node, &wait->state, &wait->reason);
	mend_stack(reader, &wait->waker_node, &wait->waker_state, &wait->waker_reason);
	*info = (struct profile_wait_info){
		.start_ns = profile_reader_raw_ns(reader, wait->start_tsc),
		.thread = profile_reader_find_thread(reader, wait->tid, wait->start_tsc),
		.waker_thread = PROFILE_NONE,
		.wait = *wait,
	};
	/* The waker may be younger than the wait. */
	uint64_t woken_tsc =
		profile_reader_tsc_of_raw(reader, add_saturating(info->start_ns, wait->wait_ns));
	if (wait->waker_tid != 0)
		info->waker_thread = profile_reader_find_thread(reader, wait->waker_tid, woken_tsc);
	return true;
}

static bool pass_wait(union profile_record *record, void *user)
{
	const struct pass *pass = user;
	struct profile_wait_info info;

	return !describe_wait(pass->reader, pass->fields, record, &info) ||
	       pass->on_wait(&info, pass->user);
}

static bool take_wait(union profile_record *record, void *user)
{
	struct taking *taking = user;

	taking->read++;
	taking->count += describe_wait(taking->reader, taking->fields, record,
				       &taking->waits[taking->count]);
	return taking->count < taking->capacity;
}

static TBRW_U32 pass_all(struct pass *pass, enum profile_stream stream,
			 profile_record_callback *callback)
{
	uint32_t number = pass->reader->streams[stream];

	if (number == PROFILE_NONE)
		return VT_SUCCESS;
	return order_threads(pass->reader)
		       ? profile_reader_each_record(pass->reader, stream, number, callback, pass)
		       : VT_NO_MEMORY;
}

TBRW_U32 profile_reader_each_slice(struct profile_reader *reader, profile_slice_callback *callback,
				   void *user)
{
	struct pass pass = {.reader = reader, .on_slice = callback, .user = user};

	return pass_all(&pass, PROFILE_STREAM_SLICES, pass_slice);
}

TBRW_U32 profile_reader_read_slices(struct profile_reader *reader, uint64_t first,
				    struct profile_slice_info *slices, size_t capacity,
				    size_t *count)
{
	struct taking taking = {.reader = reader, .slices = slices, .capacity = capacity};
	uint32_t number = reader->streams[PROFILE_STREAM_SLICES];
	TBRW_U32 code = VT_SUCCESS;

	if (!order_threads(reader))
		code = VT_NO_MEMORY;
	else if (number != PROFILE_NONE && capacity > 0)
		code = profile_reader_each_record_from(reader, PROFILE_STREAM_SLICES, number, first,
						       take_slice, &taking);
	*count = taking.count;
	return code;
}

TBRW_U32 profile_reader_each_wait(struct profile_reader *reader, profile_wait_callback *callback,
				  void *user)
{
	struct pass pass = {.reader = reader, .on_wait = callback, .user = user};

	pass.fields = profile_stream_references(PROFILE_STREAM_WAITS).indices;
	return pass_all(&pass, PROFILE_STREAM_WAITS, pass_wait);
}

TBRW_U32 profile_reader_read_waits(struct profile_reader *reader, uint64_t *next,
				   struct profile_wait_info *waits, size_t capacity, size_t *count)
{
	struct taking taking = {.reader = reader, .waits = waits, .capacity = capacity};
	uint32_t number = reader->streams[PROFILE_STREAM_WAITS];
	TBRW_U32 code = VT_SUCCESS;

	taking.fields = profile_stream_references(PROFILE_STREAM_WAITS).indices;
	if (!order_threads(reader))
		code = VT_NO_MEMORY;
	else if (number != PROFILE_NONE && capacity > 0)
		code = profile_reader_each_record_from(reader, PROFILE_STREAM_WAITS, number, *next,
						       take_wait, &taking);
	*next += taking.read;
	*count = taking.count;
	return code;
}
