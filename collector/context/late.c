#include "collector/context/late.h"

#include "collector/machine/clock.h"
#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
	TESTED_EACH = 2,    /* whole stacks */
	TESTED_AFTER = 256, /* whole stacks in a row, then no more are tested */
	AGREED_MIN = 4,     /* of readings, before callers are given; */
	AGREED_EACH = 100,  /* of them, at most one is refuted */
	WORD = 8            /* of x86-64: other machines have no uw_space_has_call */
};

/* Bytes of the thread's stack from some address on. */
struct reading {
	uint64_t begun_ns; /* CLOCK_MONOTONIC_RAW */
	uint64_t ended_ns;
	uint64_t start;
	size_t size;    /* 0: there is none */
	uint8_t *bytes; /* NULL before the first one */
};

/* The thread's stacks in a row with the same last verified frame. */
struct row {
	struct uw_frame seam;
	uint64_t since_ns; /* of the first one; 0: no row */
	uint64_t map_version;
	struct reading before;
	struct reading after;
	bool is_compared; /* these two */
	uint64_t agreed;  /* pairs of readings that gave the same callers, in all rows */
	uint64_t refuted; /* or others */
};

struct late_pool {
	size_t users;
	/* For the stack at hand. */
	uint8_t bytes[LATE_COPY_MAX + LATE_SIZE_MAX];
	struct uw_frame frames[UW_DEPTH_MAX];
	struct uw_frame others[UW_DEPTH_MAX];
	struct uw_frame cut[UW_DEPTH_MAX]; /* of a test */
};

struct late {
	struct late_pool *pool;
	struct row row;
	struct row tested;
	uint64_t cut;    /* address where the copy of the stack under test ends; 0: none is */
	unsigned turn;   /* whole stacks */
	unsigned wholes; /* in a row */
};

struct late_pool *late_pool_create(void)
{
	return calloc(1, sizeof(struct late_pool));
}

void late_pool_destroy(struct late_pool *pool)
{
	assert(!pool || pool->users == 0);
	free(pool);
}

struct late *late_create(struct late_pool *pool)
{
	struct late *late = pool->users < LATE_THREADS_MAX ? calloc(1, sizeof(*late)) : NULL;
	if (!late)
		return NULL;
	late->pool = pool;
	pool->users++;
	return late;
}

static void free_readings(struct row *row)
{
	free(row->before.bytes);
	free(row->after.bytes);
}

void late_destroy(struct late *late)
{
	if (!late)
		return;
	assert(late->pool->users > 0);
	late->pool->users--;
	free_readings(&late->row);
	free_readings(&late->tested);
	free(late);
}

static bool is_same_place(const struct uw_frame *left, const struct uw_frame *right)
{
	return left->sp == right->sp && left->tag == right->tag &&
	       left->function == right->function && (left->function != 0 || left->ip == right->ip);
}

static bool is_same_frame(const struct uw_frame *left, const struct uw_frame *right)
{
	return left->ip == right->ip && left->sp == right->sp;
}

/* Whether the frame at the end of what is verified continues the row; else a new one begins. */
static bool continue_row(struct row *row, const struct late_stack *stack,
			 const struct uw_frame *last)
{
	bool is_same = row->since_ns != 0 && row->map_version == stack->map_version &&
		       is_same_place(&row->seam, last);
	if (is_same)
		return true;
	row->seam = *last;
	row->since_ns = stack->sampled_ns;
	row->map_version = stack->map_version;
	return false;
}

static void read_stack(struct reading *reading, const struct late_stack *stack)
{
	uint64_t start = stack->copy->base + stack->copy->size;
	reading->size = 0;
	if (!reading->bytes)
		reading->bytes = malloc(LATE_SIZE_MAX);
	if (!reading->bytes)
		return;
	reading->begun_ns = clock_now();
	reading->start = start;
	reading->size =
		stack->reader->read(stack->reader->context, start, reading->bytes, LATE_SIZE_MAX);
	reading->ended_ns = clock_now();
}

/* Has a reading from behind the sample. Samples that wait together share one. */
static void read_after(struct row *row, const struct late_stack *stack)
{
	if (row->after.size > 0 && row->after.begun_ns > stack->sampled_ns)
		return;
	if (row->after.size > 0 && row->after.ended_ns < stack->sampled_ns) {
		struct reading spare = row->before;
		row->before = row->after;
		row->after = spare;
	}
	row->is_compared = false;
	read_stack(&row->after, stack);
}

/* Whether a reading lies between two samples of the row, of which the sample is the later one, and
 * another reading behind it. */
static bool has_readings(const struct row *row, const struct late_stack *stack)
{
	return row->before.size > 0 && row->before.begun_ns > row->since_ns &&
	       row->before.ended_ns < stack->sampled_ns && row->after.size > 0 &&
	       row->after.begun_ns > stack->sampled_ns;
}

/* The frames of the copy and the reading behind it. Returns their number; 0: the stack is not
 * whole, has others than the count given, or a return address does not fit. */
static size_t walk_joined(struct late_pool *pool, const struct late_stack *stack,
			  const struct reading *reading, const struct uw_frame *known,
			  size_t known_count, struct uw_frame *frames)
{
	const struct uw_stack *copy = stack->copy;
	uint64_t skipped = copy->base + copy->size - reading->start;
	if (skipped >= reading->size || copy->size > LATE_COPY_MAX)
		return 0;
	struct uw_stack joined = {.base = copy->base, .bytes = pool->bytes};
	joined.size = joined.requested = copy->size + (reading->size - skipped);
	memcpy(pool->bytes, copy->bytes, copy->size);
	memcpy(pool->bytes + copy->size, reading->bytes + skipped, reading->size - skipped);
	enum uw_stop stop;
	size_t count = uw_walk(stack->space, stack->regs, &joined, frames, UW_DEPTH_MAX, &stop);
	if (stop != UW_STOP_ROOT || count <= known_count)
		return 0;
	for (size_t i = 0; i < known_count; i++)
		if (!is_same_frame(&frames[i], &known[i]))
			return 0;
	for (size_t i = known_count; i < count; i++)
		if (!uw_space_has_call(stack->space, &frames[i - 1], &frames[i]))
			return 0;
	return count;
}

static bool is_same_stack(const struct uw_frame *left, const struct uw_frame *right, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!is_same_frame(&left[i], &right[i]))
			return false;
	return true;
}

/* Whether the reading behind the sample gives other callers than the one before it. It may give
 * none: the thread has gone on. */
static bool is_refuted(struct late_pool *pool, struct row *row, const struct late_stack *stack,
		       size_t known, size_t whole)
{
	size_t others = walk_joined(pool, stack, &row->after, pool->frames, known, pool->others);
	if (others == 0)
		return false;
	bool agrees = others == whole && is_same_stack(pool->frames, pool->others, whole);
	if (!row->is_compared) {
		row->agreed += agrees;
		row->refuted += !agrees;
	}
	row->is_compared = true;
	return !agrees;
}

/* Whether the thread's readings hold what they say for longer than from one to the next. */
static bool is_steady(const struct row *row)
{
	return row->agreed >= AGREED_MIN && row->refuted * AGREED_EACH <= row->agreed;
}

static size_t find_callers(struct late_pool *pool, struct row *row, const struct late_stack *stack,
			   struct uw_frame *frames, size_t count)
{
	bool continues = continue_row(row, stack, &frames[count - 1]);
	read_after(row, stack);
	if (!continues || !has_readings(row, stack))
		return 0;
	size_t whole = walk_joined(pool, stack, &row->before, frames, count, pool->frames);
	if (whole == 0 || is_refuted(pool, row, stack, count, whole))
		return 0;
	memcpy(frames + count, pool->frames + count, (whole - count) * sizeof(*frames));
	return whole - count;
}

/* Ends a row whose last verified frame is not in the stack. */
static void pass_row(struct row *row, const struct uw_frame *frames, size_t count)
{
	for (size_t i = 0; i < count && row->since_ns != 0; i++)
		if (is_same_place(&frames[i], &row->seam))
			return;
	row->since_ns = 0;
}

size_t late_find(struct late *late, const struct late_stack *stack, struct uw_frame *frames,
		 size_t count)
{
	assert(count > 0 && count <= UW_DEPTH_MAX);
	late->wholes = 0;
	pass_row(&late->tested, frames, count);
	size_t callers = find_callers(late->pool, &late->row, stack, frames, count);
	return is_steady(&late->row) ? callers : 0;
}

void late_pass(struct late *late, const struct uw_frame *frames, size_t count)
{
	pass_row(&late->row, frames, count);
	pass_row(&late->tested, frames, count);
}

/* An address in the largest frame, whose return address lies behind; 0: all frames are small. */
static uint64_t choose_cut(const struct uw_stack *copy, const struct uw_frame *frames, size_t count)
{
	uint64_t largest = 2 * WORD, cut = 0;
	for (size_t i = 1; i + 1 < count; i++) {
		uint64_t end = frames[i + 1].sp - WORD;
		if (end > frames[i].sp && end - frames[i].sp > largest &&
		    frames[i].sp > copy->base && end < copy->base + copy->size) {
			largest = end - frames[i].sp;
			cut = frames[i].sp + WORD;
		}
	}
	return cut;
}

/* The number of frames that a copy would give that ends at the cut; 0: it would not end there. */
static size_t walk_cut(struct late *late, const struct late_stack *stack)
{
	enum uw_stop stop;
	size_t count = uw_walk(stack->space, stack->regs, stack->copy, late->pool->cut,
			       UW_DEPTH_MAX, &stop);
	return stop == UW_STOP_NOT_RESIDENT ? count : 0;
}

static enum guess_result test_at_cut(struct late *late, const struct late_stack *stack,
				     const struct uw_frame *frames, size_t count)
{
	struct uw_frame *cut = late->pool->cut;
	size_t known = walk_cut(late, stack);
	if (known == 0)
		return GUESS_NOT_TESTED;
	size_t found = find_callers(late->pool, &late->tested, stack, cut, known);
	if (found == 0)
		return GUESS_NONE;
	return known + found == count && is_same_stack(cut, frames, count) ? GUESS_RIGHT
									   : GUESS_WRONG;
}

enum guess_result late_test(struct late *late, const struct late_stack *stack,
			    const struct uw_frame *frames, size_t count)
{
	bool is_second = late->cut != 0;
	late_pass(late, frames, count);
	if (++late->wholes > TESTED_AFTER || (!is_second && ++late->turn % TESTED_EACH != 0))
		return GUESS_NOT_TESTED;
	uint64_t end = is_second ? late->cut : choose_cut(stack->copy, frames, count);
	late->cut = is_second ? 0 : end;
	if (end <= stack->copy->base || end >= stack->copy->base + stack->copy->size)
		return GUESS_NOT_TESTED;
	struct uw_stack copy = *stack->copy;
	copy.size = (size_t)(end - copy.base);
	struct late_stack part = *stack;
	part.copy = &copy;
	if (!is_second)
		late->tested.since_ns = 0;
	enum guess_result result = test_at_cut(late, &part, frames, count);
	return is_second ? result : GUESS_NOT_TESTED;
}
