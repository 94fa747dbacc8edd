#include "tools/lives/lives.h"

#include "profile/read/reader.h"
#include "profile/read/states.h"
#include "tools/memory/index_map.h"
#include "tools/memory/xalloc.h"
#include "tools/spool/thread_spool.h"
#include "tools/states/thread_states.h"
#include "tools/waits/waits.h"
#include <stdlib.h>

#define SPOOL_BYTES (UINT32_C(8) << 20) /* of each of the two */

/* Clocks of waits and of switches differ by so much: a wait that begins so late begins with its
 * piece. */
#define SLACK_NS UINT64_C(10000)

struct piece_record {
	uint64_t start_ns;
	uint64_t end_ns;
	uint32_t state;
};

/* Waits for an object that is not known are told apart by these. */
struct nameless {
	uint32_t node;
	uint32_t syscall;
	uint32_t item;
};

struct lives {
	struct profile_reader *reader;
	struct waits waits; /* their items alone count */
	uint32_t *items;    /* by object; PROFILE_NONE: none of its waits is taken */
	struct nameless *nameless;
	struct index_map nameless_map;
	bool *has_slices; /* by thread */
	uint32_t threads;
	struct thread_spool *pieces;     /* struct piece_record, by thread */
	struct thread_spool *wait_spool; /* struct life_wait, likewise */
	/* Of the thread that is read. */
	struct piece_record piece; /* what is left of it */
	bool has_piece;
	struct life_wait wait;
	uint64_t left_ns;     /* of the wait's time, ... */
	uint32_t left_blocks; /* ... and of its pieces */
	struct life_wait next;
	bool has_next;
};

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* By more than the clocks' difference. */
static bool is_later(uint64_t a, uint64_t b)
{
	return a > b && a - b > SLACK_NS;
}

static bool is_nameless(const void *item, const void *wanted)
{
	const struct nameless *one = item;
	const struct nameless *other = wanted;
	return one->node == other->node && one->syscall == other->syscall;
}

static uint32_t enter_nameless(struct lives *lives, uint32_t node, uint32_t syscall, uint32_t item)
{
	const struct nameless wanted = {node, syscall, item};
	const uint32_t key[] = {node, syscall};
	uint32_t index =
		index_map_enter(&lives->nameless_map, &lives->nameless, &wanted, sizeof(wanted),
				index_map_hash(&lives->nameless_map, key, sizeof(key)),
				is_nameless);
	return lives->nameless[index].item;
}

static TBRW_U32 name_waits(struct lives *lives, const struct functions *functions,
			   const struct filter *filter)
{
	uint32_t objects = profile_reader_object_count(lives->reader);
	TBRW_U32 code = result_waits_collect(&lives->waits, lives->reader, functions, filter, 0);
	if (code != VT_SUCCESS)
		return code;
	lives->items = xalloc_zeroed(objects, sizeof(*lives->items));
	for (uint32_t i = 0; i < objects; i++)
		lives->items[i] = PROFILE_NONE;
	for (size_t i = 0; i < lives->waits.count; i++) {
		const struct waits_entry *entry = &lives->waits.entries[i];
		if (entry->object > 0)
			lives->items[entry->object] = entry->item;
		else
			enter_nameless(lives, entry->node, entry->syscall, entry->item);
	}
	return VT_SUCCESS;
}

static uint32_t find_item(struct lives *lives, const struct profile_wait *wait)
{
	return wait->object > 0 ? lives->items[wait->object]
				: enter_nameless(lives, wait->node, wait->syscall, PROFILE_NONE);
}

static bool take_wait(const struct profile_wait_info *info, void *user)
{
	struct lives *lives = user;
	const struct profile_wait *wait = &info->wait;
	uint32_t item = find_item(lives, wait);
	if (info->thread == PROFILE_NONE || item == PROFILE_NONE)
		return true;
	const struct life_wait record = {
		.start_ns = profile_reader_since_start(lives->reader, info->start_ns),
		.wait_ns = wait->wait_ns,
		.ready_ns = wait->ready_ns,
		.spin_ns = wait->spin_ns,
		.item = item,
		.node = wait->node,
		.waker_thread = wait->waker_tid > 0 ? info->waker_thread : PROFILE_NONE,
		.waker_node = wait->waker_node,
		.blocks = wait->blocks,
		.flags = wait->flags,
		.state = wait->state,
		.waker_state = wait->waker_state,
	};
	thread_spool_add(lives->wait_spool, info->thread, &record);
	return true;
}

static void take_piece(const struct thread_state_piece *piece, void *user)
{
	struct lives *lives = user;
	const struct piece_record record = {profile_reader_since_start(lives->reader,
								       piece->start_ns),
					    profile_reader_since_start(lives->reader,
								       piece->end_ns),
					    piece->state};
	if (piece->lane < lives->threads && record.end_ns > record.start_ns)
		thread_spool_add(lives->pieces, piece->lane, &record);
}

static TBRW_U32 spool_pieces(struct lives *lives, const struct filter *filter)
{
	struct thread_states states;
	thread_states_init(&states, lives->reader, filter);
	TBRW_U32 code = thread_states_read_all(&states, take_piece, lives);
	for (uint32_t i = 0; i < lives->threads; i++)
		lives->has_slices[i] = states.lanes[i].is_taken && states.lanes[i].slices > 0;
	thread_states_finish(&states);
	return code;
}

TBRW_U32 lives_create(struct lives **created, struct profile_reader *reader,
		      const struct functions *functions, const struct filter *filter)
{
	struct lives *lives = xalloc_zeroed(1, sizeof(*lives));
	lives->reader = reader;
	lives->threads = profile_reader_thread_count(reader);
	lives->has_slices = xalloc_zeroed(lives->threads, sizeof(*lives->has_slices));
	lives->pieces = thread_spool_create(sizeof(struct piece_record), SPOOL_BYTES);
	lives->wait_spool = thread_spool_create(sizeof(struct life_wait), SPOOL_BYTES);
	*created = lives;
	TBRW_U32 code = VT_SUCCESS;
	if (profile_reader_states(reader) != 0) {
		code = name_waits(lives, functions, filter);
		if (code == VT_SUCCESS)
			code = profile_reader_each_wait(reader, take_wait, lives);
		if (code == VT_SUCCESS)
			code = spool_pieces(lives, filter);
	}
	if (code != VT_SUCCESS) {
		lives_destroy(lives);
		*created = NULL;
	}
	return code;
}

void lives_destroy(struct lives *lives)
{
	if (!lives)
		return;
	result_waits_finish(&lives->waits);
	index_map_finish(&lives->nameless_map);
	thread_spool_destroy(lives->pieces);
	thread_spool_destroy(lives->wait_spool);
	free(lives->nameless);
	free(lives->items);
	free(lives->has_slices);
	free(lives);
}

bool lives_has(const struct lives *lives, uint32_t thread)
{
	return thread < lives->threads && lives->has_slices[thread];
}

static void read_wait(struct lives *lives)
{
	const struct life_wait *next = thread_spool_next(lives->wait_spool);
	lives->has_next = next != NULL;
	if (next)
		lives->next = *next;
}

void lives_rewind(struct lives *lives, uint32_t thread)
{
	thread_spool_rewind(lives->pieces, thread);
	thread_spool_rewind(lives->wait_spool, thread);
	lives->has_piece = false;
	lives->left_ns = 0;
	lives->left_blocks = 0;
	read_wait(lives);
}

void lives_each_wait(struct lives *lives, uint32_t thread,
		     void (*take)(const struct life_wait *wait, void *user), void *user)
{
	const struct life_wait *wait;
	thread_spool_rewind(lives->wait_spool, thread);
	while ((wait = thread_spool_next(lives->wait_spool)) != NULL)
		take(wait, user);
}

/* The waits that began by the start of the piece: of these the last one counts. */
static void begin_waits(struct lives *lives)
{
	while (lives->has_next && lives->next.start_ns < lives->piece.end_ns &&
	       !is_later(lives->next.start_ns, lives->piece.start_ns)) {
		lives->wait = lives->next;
		lives->left_ns = lives->wait.wait_ns;
		lives->left_blocks = lives->wait.blocks > 0 ? lives->wait.blocks : 1;
		/* It may have begun before the part of the run that counts, or in a lost piece. */
		uint64_t before_ns = is_later(lives->piece.start_ns, lives->wait.start_ns)
					     ? lives->piece.start_ns - lives->wait.start_ns
					     : 0;
		if (lives->left_blocks == 1)
			lives->left_ns -= smaller(lives->left_ns, before_ns);
		read_wait(lives);
	}
}

/* A blocked piece may have several waits, and a wait several pieces. */
static void cut_blocked(struct lives *lives, struct life_piece *piece)
{
	begin_waits(lives);
	if (lives->left_ns > 0 && lives->left_blocks > 0) {
		uint64_t rest_ns = piece->end_ns - piece->start_ns;
		piece->wait = &lives->wait;
		if (is_later(rest_ns, lives->left_ns))
			piece->end_ns = piece->start_ns + lives->left_ns;
	}
	/* Closer to the end it would leave a sliver. */
	if (lives->has_next && is_later(piece->end_ns, lives->next.start_ns))
		piece->end_ns = lives->next.start_ns;
	if (!piece->wait)
		return;
	bool is_whole = piece->end_ns == lives->piece.end_ns;
	lives->left_ns -= smaller(lives->left_ns, piece->end_ns - piece->start_ns);
	lives->left_blocks -= is_whole;
	piece->ends_wait = !is_whole || lives->left_blocks == 0 || lives->left_ns <= SLACK_NS;
	if (piece->ends_wait)
		lives->left_ns = 0;
}

bool lives_next(struct lives *lives, struct life_piece *piece)
{
	if (!lives->has_piece) {
		const struct piece_record *record = thread_spool_next(lives->pieces);
		if (!record)
			return false;
		lives->piece = *record;
	}
	*piece = (struct life_piece){lives->piece.start_ns, lives->piece.end_ns,
				     (enum profile_state)lives->piece.state, NULL, false};
	if (piece->state == PROFILE_STATE_BLOCKED)
		cut_blocked(lives, piece);
	lives->piece.start_ns = piece->end_ns;
	lives->has_piece = lives->piece.start_ns < lives->piece.end_ns;
	return true;
}

const char *lives_wait_name(const struct lives *lives, const struct life_wait *wait)
{
	return lives->waits.items[wait->item].name;
}

const char *lives_wait_type(const struct lives *lives, const struct life_wait *wait)
{
	return wait_type_name(lives->waits.items[wait->item].type);
}
