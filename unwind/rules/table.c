#include "unwind/rules/table.h"

#include "unwind/cfi/opcodes.h"
#include "unwind/rules/quick.h"
#include "unwind/x86/stack_switch.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	PAGE_SHIFT =
		9, /* with a row for each 50 bytes of code, most searches stay in a cache line */
	PAGE_SIZE = 1 << PAGE_SHIFT,
	ASK = 0,       /* the rule that stands for the interpreter */
	BACK_MAX = 64, /* rows to go back for the function's start, before it is searched */
	LOG_BUCKETS_FIRST = 10, /* of the hash table of rules */
	CAPACITY_FIRST = 4096
};

struct uw_table {
	const struct uw_cfi *cfi; /* the module's, which owns the table */
	uint64_t start;           /* of the first page */
	uint32_t page_count, row_count, rule_count;
	uint32_t *pages;  /* the first row of each page or of one after it; one more than pages */
	uint16_t *places; /* of a row: its offset in the page, times two, plus 1 where an FDE
			     starts or nothing is known from there on */
	uint16_t *rules;  /* of a row: index in table, or ASK */
	struct uw_quick *table; /* distinct rules; the first is unused */
};

size_t uw_table_bytes(const struct uw_table *table)
{
	return sizeof(*table) + ((size_t)table->page_count + 1) * sizeof(table->pages[0]) +
	       table->row_count * (sizeof(table->places[0]) + sizeof(table->rules[0])) +
	       table->rule_count * sizeof(table->table[0]);
}

/* A table that is being built. */
struct builder {
	struct uw_table table; /* whose arrays are blocks of their own */
	const struct uw_elf *elf;
	size_t row_capacity, rule_capacity, page_capacity;
	uint16_t *buckets; /* rules by their hash; 0: empty */
	unsigned log_buckets;
	struct uw_quick_row *rows; /* of one FDE */
	size_t room;
	size_t effort; /* bytes of instructions that may still be run */
	uint64_t at;   /* of the row that was added last */
};

/* Makes room for one more element of an array that holds count; false: out of memory. */
static bool reserve(void *array, size_t *capacity, size_t count, size_t size)
{
	size_t wanted = *capacity ? *capacity * 2 : CAPACITY_FIRST;
	void *before;

	if (count < *capacity)
		return true;
	memcpy(&before, array, sizeof(before));
	void *grown = reallocarray(before, wanted, size);
	if (!grown)
		return false;
	memcpy(array, &grown, sizeof(grown));
	*capacity = wanted;
	return true;
}

static size_t rules_hash(const struct uw_quick *rules, unsigned log)
{
	uint64_t words[2];

	memcpy(words, rules, sizeof(words));
	/* As uw_cache_index; the two words are multiplied by different odd numbers. */
	return (size_t)((words[0] * UINT64_C(0x9e3779b97f4a7c15) ^
			 words[1] * UINT64_C(0xc2b2ae3d27d4eb4f)) *
				UINT64_C(0x9e3779b97f4a7c15) >>
			(64 - log));
}

/* The bucket of rules, or the empty one where they go. */
static uint16_t *builder_bucket(const struct builder *builder, const struct uw_quick *rules)
{
	size_t mask = ((size_t)1 << builder->log_buckets) - 1;
	size_t i = rules_hash(rules, builder->log_buckets);

	while (builder->buckets[i] != 0 &&
	       memcmp(&builder->table.table[builder->buckets[i]], rules, sizeof(*rules)) != 0)
		i = (i + 1) & mask;
	return &builder->buckets[i];
}

/* Doubles the hash table; false: out of memory. */
static bool builder_rehash(struct builder *builder)
{
	uint16_t *before = builder->buckets;
	size_t size = (size_t)1 << (builder->log_buckets + 1);

	builder->buckets = calloc(size, sizeof(*builder->buckets));
	if (!builder->buckets) {
		builder->buckets = before;
		return false;
	}
	free(before);
	builder->log_buckets++;
	for (uint32_t i = 1; i < builder->table.rule_count; i++)
		*builder_bucket(builder, &builder->table.table[i]) = (uint16_t)i;
	return true;
}

/* The number of rules; ASK where there is no number left for them. -1: out of memory. */
static int builder_intern(struct builder *builder, const struct uw_quick *rules)
{
	struct uw_table *table = &builder->table;

	if (!rules->has_cfa || !rules->has_ra)
		return ASK;
	uint16_t *bucket = builder_bucket(builder, rules);
	if (*bucket != 0)
		return *bucket;
	if (table->rule_count > UW_TABLE_RULES_MAX)
		return ASK;
	if (!reserve(&table->table, &builder->rule_capacity, table->rule_count,
		     sizeof(table->table[0])))
		return -1;
	*bucket = (uint16_t)table->rule_count;
	table->table[table->rule_count++] = *rules;
	/* At most half full. */
	if (table->rule_count > (uint32_t)1 << (builder->log_buckets - 1) &&
	    !builder_rehash(builder))
		return -1;
	return (int)table->rule_count - 1;
}

/* Gives all pages up to the given one their first row; false: out of memory. */
static bool builder_reach(struct builder *builder, uint64_t page)
{
	struct uw_table *table = &builder->table;

	while (table->page_count <= page) {
		if (!reserve(&table->pages, &builder->page_capacity, table->page_count,
			     sizeof(table->pages[0])))
			return false;
		table->pages[table->page_count++] = table->row_count;
	}
	return true;
}

static int builder_grow_rows(struct builder *builder)
{
	struct uw_table *table = &builder->table;
	size_t capacity = builder->row_capacity;

	if (table->row_count == UW_TABLE_ROWS_MAX) {
		errno = EFBIG;
		return -1;
	}
	return reserve(&table->places, &capacity, table->row_count, sizeof(table->places[0])) &&
			       reserve(&table->rules, &builder->row_capacity, table->row_count,
				       sizeof(table->rules[0]))
		       ? 0
		       : -1;
}

/* Adds a row at rva, within reach and not before the last one; starts: nothing from before goes on
 * there. */
static int builder_add(struct builder *builder, uint64_t rva, int rule, bool starts)
{
	struct uw_table *table = &builder->table;
	uint64_t offset = rva - table->start, page = offset >> PAGE_SHIFT;
	uint32_t row = table->row_count;

	if (!starts && row > 0 && rule == table->rules[row - 1])
		return 0;
	if (row > 0 && rva == builder->at) {
		/* A function starts where the one before it ended. */
		table->rules[row - 1] = (uint16_t)rule;
		return 0;
	}
	if ((page >= table->page_count && !builder_reach(builder, page)) ||
	    (row == builder->row_capacity && builder_grow_rows(builder) < 0))
		return -1;
	table->places[row] = (uint16_t)((offset & (PAGE_SIZE - 1)) * 2 + starts);
	table->rules[row] = (uint16_t)rule;
	table->row_count = row + 1;
	builder->at = rva;
	return 0;
}

/* From rva on the interpreter knows. */
static int builder_add_ask(struct builder *builder, uint64_t rva)
{
	const struct uw_table *table = &builder->table;

	if (table->row_count > 0 && table->rules[table->row_count - 1] == ASK)
		return 0;
	return builder_add(builder, rva, ASK, true);
}

/* The rows of an FDE from its start to limit. */
static int builder_add_rows(struct builder *builder, const struct uw_fde *fde, uint64_t limit,
			    size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct uw_quick_row *row = &builder->rows[i];
		uint64_t rva = fde->start + row->offset;

		if (rva >= limit)
			break;
		/* Of several at one address the last one holds. */
		if (i + 1 < count && row[1].offset == row->offset)
			continue;
		int rule = builder_intern(builder, &row->rules);
		if (rule < 0 || builder_add(builder, rva, rule, rva == fde->start) < 0)
			return -1;
	}
	return 0;
}

/* Room for what an FDE may have; false: out of memory. */
static bool builder_reserve_rows(struct builder *builder, size_t room)
{
	struct uw_quick_row *rows;

	if (builder->rows && room <= builder->room)
		return true;
	rows = reallocarray(builder->rows, room * 2, sizeof(*rows));
	if (!rows)
		return false;
	builder->rows = rows;
	builder->room = room * 2;
	return true;
}

/* Counts the instructions of an FDE and its CIE; false: too many in all. */
static bool builder_spend(struct builder *builder, const struct uw_fde *fde)
{
	size_t size = uw_reader_left(&fde->code) + uw_reader_left(&fde->cie_code);

	if (size > builder->effort) {
		errno = EFBIG;
		return false;
	}
	builder->effort -= size;
	return true;
}

/* What a search finds from the entry's start to next. */
static int builder_add_entry(struct builder *builder, const struct uw_cfi *cfi, size_t entry,
			     uint64_t next, struct uw_last_cie *last, struct uw_quick_cie *quick)
{
	uint64_t start = uw_cfi_entry_start(cfi, entry);
	struct uw_fde fde;

	if (start == next)
		return 0; /* the next entry is found instead */
	if (!uw_cfi_entry_read(cfi, entry, last, &fde) || fde.start != start || fde.signal)
		return builder_add_ask(builder, start);
	if (builder->elf && uw_stack_may_switch(&fde) && uw_stack_is_loaded(builder->elf, &fde))
		return builder_add_ask(builder, start);
	if (fde.end < next)
		next = fde.end;
	if ((next - builder->table.start) >> PAGE_SHIFT >= UW_TABLE_PAGES_MAX)
		return builder_add_ask(builder, start);
	size_t room = uw_reader_left(&fde.code) + 1;
	/* The interpreter refuses so much too. */
	if (room > UW_CFA_CODE_SIZE_MAX)
		return builder_add_ask(builder, start);
	if (!builder_spend(builder, &fde) || !builder_reserve_rows(builder, room))
		return -1;
	size_t count = uw_cfi_quick_rows(&fde, quick, builder->rows, room);
	if (count == 0)
		return builder_add_ask(builder, start);
	if (builder_add_rows(builder, &fde, next, count) < 0)
		return -1;
	return builder_add_ask(builder, next);
}

static int builder_run(struct builder *builder, const struct uw_cfi *cfi)
{
	struct uw_table *table = &builder->table;
	size_t count = uw_cfi_count(cfi);
	struct uw_last_cie last = {0};
	struct uw_quick_cie quick = {0};

	builder->log_buckets = LOG_BUCKETS_FIRST;
	builder->buckets = calloc((size_t)1 << LOG_BUCKETS_FIRST, sizeof(*builder->buckets));
	builder->effort = (cfi->frame.size + PAGE_SIZE) * UW_TABLE_EFFORT_MAX;
	if (!builder->buckets ||
	    !reserve(&table->table, &builder->rule_capacity, 0, sizeof(table->table[0])))
		return -1;
	table->table[table->rule_count++] = (struct uw_quick){0};
	table->start = count ? uw_cfi_entry_start(cfi, 0) & ~(uint64_t)(PAGE_SIZE - 1) : 0;
	for (size_t i = 0; i < count; i++) {
		uint64_t next = i + 1 < count ? uw_cfi_entry_start(cfi, i + 1) : UINT64_MAX;

		if (builder_add_entry(builder, cfi, i, next, &last, &quick) < 0)
			return -1;
	}
	/* The last page's rows end where those of one more would begin. */
	if (!reserve(&table->pages, &builder->page_capacity, table->page_count,
		     sizeof(table->pages[0])))
		return -1;
	table->pages[table->page_count] = table->row_count;
	for (uint32_t i = 0; i < table->rule_count; i++)
		uw_quick_finish(uw_machine_of(cfi->arch), &table->table[i]);
	return 0;
}

/* Copies an array to *at, which goes on to behind it. */
static void *table_pack(uint8_t **at, const void *array, size_t size)
{
	void *copy = *at;

	if (size > 0)
		memcpy(copy, array, size);
	*at += size;
	return copy;
}

/* The table as one block, in which the arrays follow it in order of their elements' alignment;
 * NULL: out of memory. */
static struct uw_table *table_packed(const struct uw_table *table)
{
	struct uw_table *packed = malloc(uw_table_bytes(table));
	uint8_t *at = (uint8_t *)(packed + 1);

	if (!packed)
		return NULL;
	*packed = *table;
	packed->pages = table_pack(&at, table->pages,
				   ((size_t)table->page_count + 1) * sizeof(table->pages[0]));
	packed->table = table_pack(&at, table->table, table->rule_count * sizeof(table->table[0]));
	packed->places =
		table_pack(&at, table->places, table->row_count * sizeof(table->places[0]));
	packed->rules = table_pack(&at, table->rules, table->row_count * sizeof(table->rules[0]));
	return packed;
}

int uw_table_build(const struct uw_cfi *cfi, const struct uw_elf *elf, struct uw_table **table)
{
	struct builder builder = {.table = {.cfi = cfi}, .elf = elf};

	*table = builder_run(&builder, cfi) == 0 ? table_packed(&builder.table) : NULL;
	free(builder.table.pages);
	free(builder.table.places);
	free(builder.table.rules);
	free(builder.table.table);
	free(builder.buckets);
	free(builder.rows);
	return *table ? 0 : -1;
}

/* The number of places in a page that are not beyond the given one. */
static uint32_t places_until(const uint16_t *places, uint32_t count, uint32_t place)
{
	const uint16_t *first = places;

	/* Without a branch on the outcome, which nothing predicts. */
	while (count > 0) {
		uint32_t half = count / 2;
		bool before = places[half] <= place;

		places = before ? places + half + 1 : places;
		count = before ? count - half - 1 : half;
	}
	return (uint32_t)(places - first);
}

/* Where the function of a row starts that is in a page or in one before it. */
static uint64_t table_function(const struct uw_table *table, uint32_t page, uint32_t row,
			       uint64_t rva)
{
	size_t entry;

	for (uint32_t back = 0; back < BACK_MAX; back++, row--) {
		if (!(table->places[row] & 1))
			continue;
		while (table->pages[page] > row)
			page--;
		return table->start + (uint64_t)page * PAGE_SIZE + table->places[row] / 2;
	}
	/* The row is of an FDE that starts where its entry does. */
	uw_cfi_entry(table->cfi, rva, &entry);
	return uw_cfi_entry_start(table->cfi, entry);
}

/* Whether a row starts, and with it something else, right after rva. */
static bool table_ends(const struct uw_table *table, uint32_t page, uint32_t next, uint32_t offset)
{
	if (next == table->row_count || !(table->places[next] & 1))
		return false;
	if (offset == PAGE_SIZE - 1)
		return next >= table->pages[page + 1] && page + 1 < table->page_count &&
		       next < table->pages[page + 2] && table->places[next] / 2 == 0;
	return next < table->pages[page + 1] && table->places[next] / 2U == offset + 1;
}

bool uw_table_find(const struct uw_table *table, uint64_t rva, struct uw_found_row *found)
{
	uint64_t page = (rva - table->start) >> PAGE_SHIFT;
	uint32_t offset = (uint32_t)(rva - table->start) & (PAGE_SIZE - 1);

	if (rva < table->start || page >= table->page_count)
		return false;
	uint32_t first = table->pages[page];
	uint32_t next = first + places_until(table->places + first, table->pages[page + 1] - first,
					     offset * 2 + 1);
	if (next == 0 || table->rules[next - 1] == ASK)
		return false;
	found->rules = table->table[table->rules[next - 1]];
	found->function = table_function(table, (uint32_t)page, next - 1, rva);
	found->ends = table_ends(table, (uint32_t)page, next, offset);
	return true;
}
