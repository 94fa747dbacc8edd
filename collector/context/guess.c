#include "collector/context/guess.h"

#include "containers/array.h"
#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
	ENTRIES_MAX = 512, /* two of the deepest stacks */
	SLOTS = 1024,      /* a power of two, at most half full */
	HITS_MIN = 4,
	CUTS_MAX = 16,
	AGE_MAX = 16, /* stacks of the full size */
	NO_ENTRY = UINT16_MAX
};

_Static_assert(2 * ENTRIES_MAX <= SLOTS && 2 * GUESS_DEPTH_MAX <= ENTRIES_MAX,
	       "searches end at a free slot, and each stack fits after one restart");
_Static_assert(ENTRIES_MAX < NO_ENTRY, "entries are 16 bits");

/* A frame of whole stacks. */
struct entry {
	struct uw_frame frame;
	uint32_t seen;   /* guess.age when the entry left the path */
	uint16_t caller; /* entry, always an older one; NO_ENTRY: the root called it */
	uint16_t depth;  /* number of its callers: its index when in the path */
	uint8_t hits;    /* whole stacks with the entry, counted up to UINT8_MAX, since a stack last
			    had another return address in its place */
	bool ambiguous;  /* seen with another caller too */
	bool has_rival;  /* its callee was called from elsewhere too, at the same place */
};

/* A place on the stack for a return address. */
struct place {
	uint16_t caller; /* entry + 1 to return to, by the last whole stack with a frame here; 0:
			    free */
	uint16_t callee; /* the entry called by the caller */
};

struct guess {
	uint64_t version;
	struct entry *entries;
	size_t count;
	size_t capacity;
	uint16_t slots[SLOTS];          /* entry + 1; 0: free */
	uint16_t path[GUESS_DEPTH_MAX]; /* entries of the last whole stack, outermost first */
	size_t path_count;
	uint32_t age;               /* stacks of the full size so far */
	uint32_t noted;             /* guess.age at the last whole stack */
	size_t settled;             /* of path: outer entries with hits at the maximum */
	struct place places[SLOTS]; /* by the caller's stack pointer */
	uint64_t cuts[CUTS_MAX];    /* the last places where a copy ended too early */
	size_t cut_count;           /* since the beginning */
	size_t cut_turn;
};

struct guess *guess_create(void)
{
	return calloc(1, sizeof(struct guess));
}

void guess_destroy(struct guess *guess)
{
	if (!guess)
		return;
	free(guess->entries);
	free(guess);
}

static void forget(struct guess *guess)
{
	guess->count = 0;
	guess->path_count = 0;
	guess->settled = 0;
	memset(guess->slots, 0, sizeof(guess->slots));
	memset(guess->places, 0, sizeof(guess->places));
}

static bool is_same_place(const struct uw_frame *left, const struct uw_frame *right)
{
	return left->ip == right->ip && left->sp == right->sp && left->exact == right->exact;
}

/* The slot where the search for a number begins. */
static size_t choose_slot(uint64_t number)
{
	_Static_assert(SLOTS == 1 << (64 - 54), "the hash's upper bits are a slot");
	return number * 0xff51afd7ed558ccdu >> 54;
}

/* The slot of the frame's entry, or the free slot for a new entry. */
static size_t find_slot(const struct guess *guess, const struct uw_frame *frame)
{
	size_t slot = choose_slot(frame->ip ^ frame->sp * 0x9e3779b97f4a7c15u);
	while (guess->slots[slot] != 0 &&
	       !is_same_place(&guess->entries[guess->slots[slot] - 1].frame, frame))
		slot = (slot + 1) % SLOTS;
	return slot;
}

/* The number of the place with this stack pointer, or of the free place for a new one. */
static size_t find_place(const struct guess *guess, uint64_t sp)
{
	size_t number = choose_slot(sp);
	while (guess->places[number].caller != 0 &&
	       guess->entries[guess->places[number].caller - 1].frame.sp != sp)
		number = (number + 1) % SLOTS;
	return number;
}

/* The entry of a frame with this caller; NO_ENTRY: there is no room. */
static uint16_t meet(struct guess *guess, const struct uw_frame *frame, uint16_t caller)
{
	size_t slot = find_slot(guess, frame);
	if (guess->slots[slot] != 0) {
		uint16_t known = (uint16_t)(guess->slots[slot] - 1);
		if (guess->entries[known].caller != caller)
			guess->entries[known].ambiguous = true;
		return known;
	}
	if (guess->count == ENTRIES_MAX || !array_reserve(&guess->entries, &guess->capacity,
							  guess->count + 1, sizeof(struct entry)))
		return NO_ENTRY;
	uint16_t added = (uint16_t)guess->count++;
	assert(caller == NO_ENTRY || caller < added); /* lists of callers end */
	guess->entries[added] = (struct entry){.frame = *frame, .caller = caller};
	if (caller != NO_ENTRY)
		guess->entries[added].depth = (uint16_t)(guess->entries[caller].depth + 1);
	guess->slots[slot] = (uint16_t)(added + 1);
	return added;
}

static bool is_same_function(const struct uw_frame *left, const struct uw_frame *right)
{
	if (left->function == 0 || right->function == 0)
		return left->ip == right->ip;
	return left->function == right->function && left->tag == right->tag;
}

/* Notes the return address to `caller` at its place on the stack, and judges the entry that was
 * there before. */
static void meet_call(struct guess *guess, uint16_t caller, uint16_t callee)
{
	struct entry *now = &guess->entries[caller];
	struct place *place = &guess->places[find_place(guess, now->frame.sp)];
	/* A signal pushes no return address. */
	if (now->frame.exact)
		return;
	if (place->caller != 0 && place->caller != caller + 1) {
		struct entry *before = &guess->entries[place->caller - 1];
		/* The same function may have gone on to another call. */
		if (!is_same_function(&before->frame, &now->frame))
			before->hits = now->hits = 0;
		if (is_same_function(&guess->entries[place->callee].frame,
				     &guess->entries[callee].frame))
			before->has_rival = now->has_rival = true;
	}
	*place = (struct place){.caller = (uint16_t)(caller + 1), .callee = callee};
}

/* Puts the frames into the path from its entry number `from` on; false: there is no room. */
static bool follow(struct guess *guess, const struct uw_frame *frames, size_t count, size_t from)
{
	size_t depth = count < GUESS_DEPTH_MAX ? count : GUESS_DEPTH_MAX;
	for (size_t i = from; i < guess->path_count; i++)
		guess->entries[guess->path[i]].seen = guess->noted;
	guess->path_count = from;
	if (guess->settled > from)
		guess->settled = from;
	for (size_t i = from; i < depth; i++) {
		uint16_t caller = i > 0 ? guess->path[i - 1] : NO_ENTRY;
		uint16_t entry = meet(guess, &frames[count - 1 - i], caller);
		if (entry == NO_ENTRY)
			return false;
		if (caller != NO_ENTRY)
			meet_call(guess, caller, entry);
		guess->path[guess->path_count++] = entry;
	}
	return true;
}

void guess_note(struct guess *guess, uint64_t version, const struct uw_frame *frames, size_t count,
		size_t reused)
{
	if (guess->version != version)
		forget(guess);
	guess->version = version;
	size_t kept = reused < guess->path_count ? reused : guess->path_count;
	if (!follow(guess, frames, count, kept)) {
		/* Starting afresh drops code that no longer runs. */
		forget(guess);
		if (!follow(guess, frames, count, 0))
			forget(guess);
	}
	guess->noted = guess->age;
	for (size_t i = guess->settled; i < guess->path_count; i++) {
		struct entry *entry = &guess->entries[guess->path[i]];
		if (entry->hits < UINT8_MAX)
			entry->hits++;
	}
	while (guess->settled < guess->path_count &&
	       guess->entries[guess->path[guess->settled]].hits == UINT8_MAX)
		guess->settled++;
}

static bool is_recursive(const struct uw_frame *last, const struct uw_frame *callers, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (is_same_function(last, &callers[i]))
			return true;
		for (size_t j = 0; j < i; j++)
			if (is_same_function(&callers[i], &callers[j]))
				return true;
	}
	return false;
}

static bool is_recent(const struct guess *guess, const struct entry *entry)
{
	bool is_on_path = entry->depth < guess->path_count &&
			  &guess->entries[guess->path[entry->depth]] == entry;
	return guess->age - (is_on_path ? guess->noted : entry->seen) <= AGE_MAX;
}

size_t guess_callers(const struct guess *guess, uint64_t version, const struct uw_frame *last,
		     uint64_t copy_end, struct uw_frame *callers, uint8_t *hits)
{
	size_t count = 0;
	size_t slot = find_slot(guess, last);
	if (guess->version != version || guess->slots[slot] == 0)
		return 0;
	const struct entry *entry = &guess->entries[guess->slots[slot] - 1];
	if (!is_recent(guess, entry))
		return 0;
	uint8_t least = entry->hits;
	while (entry->hits >= HITS_MIN && !entry->ambiguous && entry->caller != NO_ENTRY &&
	       count < GUESS_DEPTH_MAX) {
		entry = &guess->entries[entry->caller];
		if (entry->has_rival)
			return 0;
		callers[count++] = entry->frame;
		if (entry->hits < least)
			least = entry->hits;
	}
	if (entry->hits < HITS_MIN || entry->ambiguous || entry->caller != NO_ENTRY)
		return 0;
	/* A copy with this return address in it would have led the walk there. */
	if (count == 0 || callers[0].sp <= copy_end || is_recursive(last, callers, count))
		return 0;
	*hits = least;
	return count;
}

static bool is_as_it_was(const struct uw_frame *guessed, const struct uw_frame *real, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (guessed[i].ip != real[i].ip || guessed[i].sp != real[i].sp ||
		    guessed[i].rva != real[i].rva || guessed[i].tag != real[i].tag)
			return false;
	return true;
}

void guess_grow_old(struct guess *guess)
{
	guess->age++;
}

/* Takes an entry's hits away: only new whole stacks make it count again. */
static void distrust(struct guess *guess, struct entry *entry)
{
	entry->hits = 0;
	if (guess->settled > entry->depth)
		guess->settled = entry->depth;
}

void guess_note_part(struct guess *guess, uint64_t version, const struct uw_frame *frames,
		     size_t count)
{
	for (size_t i = count; guess->version == version && i > 1; i--) {
		const struct uw_frame *caller = &frames[i - 1];
		size_t number = find_place(guess, caller->sp);
		if (guess->places[number].caller == 0 || caller->exact)
			continue;
		struct entry *before = &guess->entries[guess->places[number].caller - 1];
		if (!is_same_function(&before->frame, caller))
			distrust(guess, before);
	}
}

void guess_note_cut(struct guess *guess, uint64_t copy_end)
{
	guess->cuts[guess->cut_count++ % CUTS_MAX] = copy_end;
}

bool guess_has_cut(const struct guess *guess)
{
	return guess->cut_count > 0;
}

uint64_t guess_choose_cut(struct guess *guess, const struct uw_frame *frames, size_t count,
			  uint64_t base)
{
	size_t known = guess->cut_count < CUTS_MAX ? guess->cut_count : CUTS_MAX;
	uint64_t top = count > 0 ? frames[count - 1].sp : 0;
	if (top <= base)
		return 0;
	if (known == 0)
		return base + (top - base) / 2;
	for (size_t i = 0; i < known; i++) {
		uint64_t cut = guess->cuts[guess->cut_turn++ % known];
		if (cut > base && cut < top)
			return cut;
	}
	return 0;
}

enum guess_result guess_test(const struct guess *guess, uint64_t version,
			     const struct uw_frame *frames, size_t count, uint64_t copy_end)
{
	struct uw_frame callers[GUESS_DEPTH_MAX];
	size_t last = 0;
	uint8_t hits;
	/* The return address of a frame lies right below its caller's stack. */
	while (last + 1 < count && frames[last + 1].sp <= copy_end)
		last++;
	if (last + 1 >= count)
		return GUESS_NOT_TESTED;
	size_t guessed = guess_callers(guess, version, &frames[last], copy_end, callers, &hits);
	if (guessed == 0)
		return GUESS_NONE;
	bool is_right =
		guessed == count - 1 - last && is_as_it_was(callers, &frames[last + 1], guessed);
	return is_right ? GUESS_RIGHT : GUESS_WRONG;
}
