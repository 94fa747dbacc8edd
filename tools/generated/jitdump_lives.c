#include "tools/generated/jitdump_lives.h"

#include "containers/compare.h"
#include "tools/memory/xalloc.h"
#include <assert.h>
#include <stdlib.h>

/* Lines are written in front of the load that they belong to; threads may write in between. */
enum { PENDING_COUNT = 64 };

/* Code that was moved to addresses asked for. Its load is found in a second reading: most dumps
 * have no moves. */
struct move {
	uint64_t index;
	size_t life; /* the first one of the move */
	size_t count;
};

struct reading {
	struct jitdump *dump;
	const struct symbol_address *addresses;
	size_t count;
	size_t work;
	struct jitdump_lives *lives;
	size_t capacity;
	struct jitdump_record pending[PENDING_COUNT]; /* kind JITDUMP_LINES where used */
	size_t next_pending;
	struct move *moves;
	size_t move_count, move_capacity;
};

static void keep_lines(struct reading *reading, const struct jitdump_record *lines)
{
	reading->pending[reading->next_pending++ % PENDING_COUNT] = *lines;
}

/* Takes the latest lines of a load, and drops older ones; count 0: it has none. */
static struct jitdump_record take_lines(struct reading *reading, const struct jitdump_record *load)
{
	struct jitdump_record taken = {0};
	for (size_t i = 0; i < PENDING_COUNT && i < reading->next_pending; i++) {
		struct jitdump_record *lines =
			&reading->pending[(reading->next_pending - 1 - i) % PENDING_COUNT];
		if (lines->count == 0 || lines->address != load->address)
			continue;
		if (taken.count == 0)
			taken = *lines;
		lines->count = 0;
	}
	taken.size = load->size;
	return taken;
}

/* Adds a life at each address inside the code; returns how many. */
static size_t add_lives(struct reading *reading, const struct jitdump_life *life)
{
	struct jitdump_lives *lives = reading->lives;
	uint64_t last = life->start + (life->size - 1);
	size_t before = lives->count;
	for (size_t i = symbol_addresses_from(reading->addresses, reading->count, life->start);
	     i < reading->count && reading->addresses[i].rva <= last; i++) {
		if (reading->work++ >= JITDUMP_LIVES_MAX)
			break;
		xalloc_room(&lives->items, &reading->capacity, lives->count + 1,
			    sizeof(*lives->items));
		lives->items[lives->count] = *life;
		lives->items[lives->count++].address = i;
	}
	return lives->count - before;
}

static void add_load(struct reading *reading, const struct jitdump_record *load)
{
	struct jitdump_life life = {.time = load->time,
				    .start = load->address,
				    .size = load->size,
				    .order = load->end,
				    .load = *load,
				    .lines = take_lines(reading, load)};
	reading->lives->loads++;
	add_lives(reading, &life);
}

static void add_move(struct reading *reading, const struct jitdump_record *record)
{
	struct jitdump_life life = {.time = record->time,
				    .start = record->address,
				    .size = record->size,
				    .order = record->end};
	struct move move = {.index = record->index, .life = reading->lives->count};
	move.count = add_lives(reading, &life);
	if (move.count == 0)
		return;
	xalloc_room(&reading->moves, &reading->move_capacity, reading->move_count + 1,
		    sizeof(*reading->moves));
	reading->moves[reading->move_count++] = move;
}

static int compare_moves(const void *a, const void *b)
{
	const struct move *left = a;
	const struct move *right = b;
	return compare_numbers(left->index, right->index);
}

static size_t find_moves(const struct reading *reading, uint64_t index)
{
	size_t low = 0;
	size_t high = reading->move_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (reading->moves[middle].index < index)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Gives moved code its load: of several with its index the last one before the move. */
static void set_loads(struct reading *reading, const struct jitdump_record *load)
{
	struct jitdump_record lines = take_lines(reading, load);
	for (size_t i = find_moves(reading, load->index);
	     i < reading->move_count && reading->moves[i].index == load->index; i++) {
		const struct move *move = &reading->moves[i];
		for (size_t k = move->life; k < move->life + move->count; k++) {
			struct jitdump_life *life = &reading->lives->items[k];
			if (reading->work++ >= JITDUMP_LIVES_MAX)
				return;
			if (load->time > life->time)
				continue;
			life->load = *load;
			life->lines = lines;
			life->moved = life->start - load->address;
		}
	}
}

static void find_loads_of_moves(struct reading *reading)
{
	struct jitdump again;
	struct jitdump_record record;
	qsort(reading->moves, reading->move_count, sizeof(*reading->moves), compare_moves);
	reading->next_pending = 0;
	if (!jitdump_open(&again, reading->dump->fd))
		return;
	while (jitdump_next(&again, &record)) {
		if (record.kind == JITDUMP_LINES)
			keep_lines(reading, &record);
		else if (record.kind == JITDUMP_LOAD)
			set_loads(reading, &record);
	}
}

static int compare_lives(const void *a, const void *b)
{
	const struct jitdump_life *left = a;
	const struct jitdump_life *right = b;
	int order = compare_numbers(left->address, right->address);
	if (!order)
		order = compare_numbers(left->time, right->time);
	/* Where times say nothing, the file's order does. */
	return order ? order : compare_numbers(left->order, right->order);
}

/* Leaves out moves of code that nobody loaded. */
static void drop_nameless(struct jitdump_lives *lives)
{
	size_t kept = 0;
	for (size_t i = 0; i < lives->count; i++)
		if (lives->items[i].load.end != 0)
			lives->items[kept++] = lives->items[i];
	lives->count = kept;
}

void jitdump_lives_read(struct jitdump *dump, const struct symbol_address *addresses, size_t count,
			struct jitdump_lives *lives)
{
	struct reading *reading = xalloc_zeroed(1, sizeof(*reading));
	struct jitdump_record record;
	assert(symbol_addresses_are_sorted(addresses, count));
	*lives = (struct jitdump_lives){0};
	reading->dump = dump;
	reading->addresses = addresses;
	reading->count = count;
	reading->lives = lives;
	while (reading->work < JITDUMP_LIVES_MAX && jitdump_next(dump, &record)) {
		if (record.kind == JITDUMP_LINES)
			keep_lines(reading, &record);
		else if (record.kind == JITDUMP_LOAD)
			add_load(reading, &record);
		else if (record.kind == JITDUMP_MOVE)
			add_move(reading, &record);
	}
	if (reading->move_count > 0)
		find_loads_of_moves(reading);
	free(reading->moves);
	free(reading);
	drop_nameless(lives);
	if (lives->count > 1)
		qsort(lives->items, lives->count, sizeof(*lives->items), compare_lives);
}

void jitdump_lives_finish(struct jitdump_lives *lives)
{
	free(lives->items);
	*lives = (struct jitdump_lives){0};
}

bool jitdump_life_resolve(struct jitdump *dump, const struct jitdump_life *life,
			  struct symbol_address *address)
{
	char text[JITDUMP_NAME_MAX];
	struct symbol_entry *function = &address->function;
	jitdump_name(dump, &life->load, text);
	if (!text[0])
		return false;
	symbol_entry_finish(function);
	*function = (struct symbol_entry){.name = xalloc_text(text),
					  .start = life->start,
					  .size = life->size};
	uint32_t line;
	if (life->lines.count > 0 &&
	    jitdump_line(dump, &life->lines, address->rva - life->moved, text, &line)) {
		function->file = xalloc_text(text);
		function->line = line;
	}
	return true;
}
