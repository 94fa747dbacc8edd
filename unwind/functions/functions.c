#include "unwind/functions/functions.h"

#include "containers/array.h"
#include "containers/hash.h"
#include "containers/hash_table.h"
#include "unwind/functions/rows.h"
#include "unwind/functions/starts.h"
#include "unwind/functions/symbols.h"

enum {
	LEARNT_MAX = 64 * 1024,
	LEARNT_ASKED = 4, /* of the learnt starts before an address */
	LIKELY_ASKED = 8, /* of the likely ones */
	/* Bytes analysed for one address, beyond which no other likely start is asked: of the
	 * addresses of Chromium that have a row by a likely start 98 % take less. */
	LIKELY_MAX = 8 * 1024,
	LIKELY_SIZE_MAX = 32 * 1024, /* of a function that is told by a likely start */
	OWNERS_ASKED = 4,            /* places that a cold part jumps to */
	TAILS_MAX = 2,               /* tail calls followed to a return */
	PART_MAX = 8192,             /* bytes of a part that is jumped to */
	GROWN_MAX = 4096,            /* a function's end may have been missed by this */
	ROUNDS_MAX = 4,
	REPEATED_MAX = 16 * 1024, /* bytes analysed for one start, beyond which no more is tried */
	ENTRY_SIZE = 64,          /* of the code at a program's entry */
	/* Bytes that may be analysed for each byte of a file's code, and beyond: starts that turn
	 * out to be none cost time too. */
	WORK_PER_BYTE = 2,
	WORK_MIN = 1024 * 1024
};

/* Where code is held to end. */
enum strictness {
	STRICT_NOT,
	STRICT_PARTS, /* parts that are jumped to: behind their first call */
	STRICT_CALLS, /* and the function, perhaps behind any call */
	STRICT_COUNT
};

/* A start that was analysed; the key. */
struct known {
	struct hash_slot head;
	uint64_t start;
	struct uw_analysis *analysis; /* owned; NULL: there are no rows */
};

struct uw_functions {
	struct uw_elf *elf;
	struct uw_lines *lines;
	const struct uw_cfi *cfi, *debug;
	bool has_symbols; /* they were read */
	struct uw_symbols symbols;
	uint64_t *learnt; /* owned; sorted */
	size_t learnt_count, learnt_capacity;
	struct hash_table table; /* struct known */
	struct hash_key key;
	/* The function that is analysed: where it starts, and where at least it ends, or 0. */
	uint64_t current, current_end;
	uint8_t strictness;  /* enum strictness */
	uint64_t begun;      /* counts.bytes before it */
	uint64_t asked;      /* counts.bytes before the address that is looked up */
	bool is_guess;       /* the start is a likely one */
	size_t memory;       /* of all analyses */
	uint64_t work;       /* bytes that may still be analysed */
	struct uw_rows rows; /* of addresses */
	struct uw_functions_counts counts;
};

struct uw_functions *uw_functions_create(struct uw_elf *elf, struct uw_lines *lines,
					 const struct uw_cfi *cfi, const struct uw_cfi *debug)
{
	struct uw_functions *functions = calloc(1, sizeof(*functions));

	if (!functions)
		return NULL;
	functions->elf = elf;
	functions->lines = lines;
	functions->cfi = cfi;
	functions->debug = debug;
	functions->key = functions->rows.key = hash_key_draw();
	functions->work = WORK_MIN;
	for (size_t i = 0; i < elf->segment_count; i++)
		if (elf->segments[i].executable)
			functions->work += elf->segments[i].file_size * WORK_PER_BYTE;
	return functions;
}

void uw_functions_destroy(struct uw_functions *functions)
{
	if (!functions)
		return;
	for (size_t i = 0; i < functions->table.capacity; i++) {
		struct known *known =
			(struct known *)hash_table_at(&functions->table, sizeof(*known), i);
		if (known->head.number != 0)
			uw_analysis_destroy(known->analysis);
	}
	hash_table_finish(&functions->table);
	uw_rows_finish(&functions->rows);
	uw_symbols_finish(&functions->symbols);
	free(functions->learnt);
	free(functions);
}

/* The code at the entry of a program hands main to the C library in its first argument: lea
 * main(%rip), %rdi or mov $main, %rdi, in glibc and musl. Nobody calls main by name. */
static void learn_main(struct uw_functions *functions)
{
	uint64_t entry = functions->elf->entry;
	uint8_t bytes[ENTRY_SIZE];
	int32_t operand;

	if (entry == 0 || !uw_elf_read_constant(functions->elf, entry, bytes, sizeof(bytes)))
		return;
	for (size_t i = 0; i + 7 <= sizeof(bytes); i++) {
		bool is_lea = memcmp(bytes + i, "\x48\x8d\x3d", 3) == 0;
		if (!is_lea && memcmp(bytes + i, "\x48\xc7\xc7", 3) != 0)
			continue;
		memcpy(&operand, bytes + i + 3, sizeof(operand));
		uint64_t start = (uint64_t)(int64_t)operand + (is_lea ? entry + i + 7 : 0);
		const struct uw_segment *segment = uw_elf_segment(functions->elf, start);
		if (segment && segment->executable)
			uw_functions_learn(functions, start);
		return;
	}
}

static void want_symbols(struct uw_functions *functions)
{
	if (functions->has_symbols)
		return;
	functions->has_symbols = true;
	learn_main(functions);
	if (!uw_symbols_read(&functions->symbols, functions->elf))
		uw_symbols_finish(&functions->symbols);
}

/* The number of learnt starts at or before rva. */
static size_t learnt_until(const struct uw_functions *functions, uint64_t rva)
{
	size_t low = 0, high = functions->learnt_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (functions->learnt[middle] <= rva)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The code around rva without call frame information, in one segment; false: there is none. */
static bool find_gap(const struct uw_functions *functions, uint64_t rva, struct uw_cfi_gap *gap)
{
	const struct uw_segment *segment = uw_elf_segment(functions->elf, rva);
	struct uw_fde fde;

	if (!segment || !segment->executable || segment->writable ||
	    uw_cfi_find_either(functions->cfi, functions->debug, rva, &fde, gap) != UW_CFI_NONE)
		return false;
	if (gap->start < segment->rva)
		gap->start = segment->rva;
	if (gap->end > segment->rva + segment->file_size)
		gap->end = segment->rva + segment->file_size;
	return true;
}

static bool read_code(void *context, uint64_t address, void *bytes, size_t size)
{
	const struct uw_functions *functions = context;

	return uw_lines_read(functions->lines, functions->elf, address, bytes, size);
}

static void charge_work(struct uw_functions *functions, uint64_t work)
{
	functions->work -= work < functions->work ? work : functions->work;
}

/* The end of the code that starts at start and is not described, nor of known size; start: there is
 * none, or the file's work is done. */
static uint64_t find_end(struct uw_functions *functions, uint64_t start, uint64_t limit)
{
	const struct uw_analysis_source source = {functions, read_code, NULL, true};
	size_t until = learnt_until(functions, start);
	uint64_t most = functions->is_guess ? LIKELY_SIZE_MAX : UW_ANALYSIS_EXTENT_MAX;

	if (until < functions->learnt_count && functions->learnt[until] < limit)
		limit = functions->learnt[until];
	if (limit > start && limit - start > most)
		limit = start + most;
	if (functions->work == 0)
		return start;
	/* Each jump of a function that is none may ask. */
	if (start != functions->current && limit > start + PART_MAX)
		limit = start + PART_MAX;
	if (start != functions->current && functions->strictness >= STRICT_PARTS)
		return uw_analysis_call_end(&source, start, limit);
	uint64_t end =
		uw_analysis_extent(&source, start, limit, functions->strictness >= STRICT_CALLS);
	/* A look at each instruction takes an eighth of its analysis. */
	charge_work(functions, (end - start) / 8);
	/* No end was found: V8's builtins, which begin and end as no function does. */
	if (end - start >= most)
		return start;
	return start == functions->current && end < functions->current_end ? functions->current_end
									   : end;
}

/* The bounds of one function's code, or of a part of it. */
static bool find_bounds(void *context, uint64_t address, uint64_t *start, uint64_t *end)
{
	struct uw_functions *functions = context;
	struct uw_cfi_gap gap;
	struct uw_fde fde;
	uint64_t next;

	*start = address;
	if (uw_cfi_find_either(functions->cfi, functions->debug, address, &fde, &gap) ==
	    UW_CFI_OK) {
		*start = fde.start;
		*end = fde.end;
	} else if (find_gap(functions, address, &gap)) {
		const struct uw_symbol *symbol =
			uw_symbols_find(&functions->symbols, address, &next);
		if (symbol && symbol->size > 0 && address - symbol->start < symbol->size) {
			*start = symbol->start;
			*end = symbol->start + symbol->size;
			if (*start < gap.start)
				*start = gap.start;
			if (*end > gap.end)
				*end = gap.end;
		} else {
			*end = find_end(functions, address, next < gap.end ? next : gap.end);
		}
	} else {
		return false;
	}
	return *end > *start && *end - *start <= UW_FUNCTION_SIZE_MAX;
}

static bool is_known(const void *slot, const void *key)
{
	const struct known *known = slot;
	const uint64_t *start = key;

	return known->start == *start;
}

/* Where the function's code ends, by what it jumps to behind its end as far as that was known; 0:
 * there. */
static uint64_t find_growth(const struct uw_analysis *analysis)
{
	uint64_t start, end, from, to, grown = 0;

	if (!uw_analysis_part(analysis, 0, &start, &end))
		return 0;
	for (size_t i = 1; uw_analysis_part(analysis, i, &from, &to); i++)
		if (from >= end && from - end < GROWN_MAX && to > grown)
			grown = to;
	return grown;
}

static struct uw_analysis *analyse_once(struct uw_functions *functions, uint64_t start)
{
	const struct uw_analysis_source source = {functions, read_code, find_bounds, true};
	struct uw_analysis *analysis = uw_analysis_run(&source, start);
	uint64_t from, to, work = UW_ANALYSIS_EXTENT_MAX / 64; /* of a start that is none */

	for (size_t i = 0; analysis && uw_analysis_part(analysis, i, &from, &to); i++)
		work += to - from;
	functions->counts.analyses++;
	functions->counts.bytes += work - UW_ANALYSIS_EXTENT_MAX / 64;
	charge_work(functions, work);
	return analysis;
}

/* Whether much was done for the function already. */
static bool is_tired(const struct uw_functions *functions)
{
	return functions->counts.bytes - functions->begun > REPEATED_MAX;
}

/* Code of other functions, reached behind a call that does not return, contradicts. */
static struct uw_analysis *analyse_strictly(struct uw_functions *functions, uint64_t start)
{
	struct uw_analysis *analysis = NULL;

	for (unsigned strictness = STRICT_NOT; strictness < STRICT_COUNT; strictness++) {
		uw_analysis_destroy(analysis);
		functions->strictness = (uint8_t)strictness;
		analysis = analyse_once(functions, start);
		if (!analysis || !uw_analysis_is_contradicted(analysis) || is_tired(functions))
			break;
	}
	return analysis;
}

static struct uw_analysis *analyse(struct uw_functions *functions, uint64_t start)
{
	uint64_t from, to;

	functions->current = start;
	functions->current_end = 0;
	functions->begun = functions->counts.bytes;
	struct uw_analysis *analysis = analyse_strictly(functions, start);
	for (unsigned round = 1; analysis && round < ROUNDS_MAX; round++) {
		uint64_t grown = find_growth(analysis);
		if (grown <= functions->current_end || is_tired(functions))
			break;
		functions->current_end = grown;
		if (!find_bounds(functions, start, &from, &to) || to < grown)
			break;
		struct uw_analysis *next = analyse_strictly(functions, start);
		/* More code that contradicts is another function's. */
		if (!next ||
		    (uw_analysis_is_contradicted(next) && !uw_analysis_is_contradicted(analysis))) {
			uw_analysis_destroy(next);
			break;
		}
		uw_analysis_destroy(analysis);
		analysis = next;
	}
	if (analysis)
		functions->memory += uw_analysis_memory(analysis);
	return analysis;
}

const struct uw_analysis *uw_functions_analysis(struct uw_functions *functions, uint64_t start)
{
	uint64_t hash = hash_number(&functions->key, start);
	struct known *known =
		hash_table_find(&functions->table, sizeof(*known), hash, is_known, &start);

	if (known)
		return known->analysis;
	if (functions->work == 0 || functions->memory > UW_FUNCTIONS_MEMORY_MAX ||
	    !hash_table_reserve(&functions->table, sizeof(*known)))
		return NULL;
	want_symbols(functions);
	functions->memory += 2 * sizeof(*known);
	known = hash_table_add(&functions->table, sizeof(*known), hash);
	known->start = start;
	known->analysis = analyse(functions, start);
	return known->analysis;
}

const struct uw_analysis_row *uw_functions_row_from(struct uw_functions *functions, uint64_t start,
						    uint64_t rva)
{
	const struct uw_analysis *analysis = uw_functions_analysis(functions, start);
	const struct uw_analysis_row *row = analysis ? uw_analysis_find(analysis, rva) : NULL;

	return row && row->reason == UW_ANALYSIS_KNOWN ? row : NULL;
}

void uw_functions_learn(struct uw_functions *functions, uint64_t start)
{
	size_t until = learnt_until(functions, start);

	if ((until > 0 && functions->learnt[until - 1] == start) ||
	    functions->learnt_count == LEARNT_MAX ||
	    !array_reserve(&functions->learnt, &functions->learnt_capacity,
			   functions->learnt_count + 1, sizeof(*functions->learnt)))
		return;
	memmove(functions->learnt + until + 1, functions->learnt + until,
		(functions->learnt_count - until) * sizeof(*functions->learnt));
	functions->learnt[until] = start;
	functions->learnt_count++;
}

void uw_functions_count(const struct uw_functions *functions, struct uw_functions_counts *counts)
{
	*counts = functions->counts;
}

bool uw_functions_deviates(struct uw_functions *functions, uint64_t rva)
{
	struct uw_cfi_gap gap;
	uint64_t next;

	if (!find_gap(functions, rva, &gap))
		return false;
	want_symbols(functions);
	const struct uw_symbol *symbol = uw_symbols_find(&functions->symbols, rva, &next);
	if (!symbol || symbol->is_part || rva - symbol->start >= symbol->size ||
	    symbol->start < gap.start)
		return false;
	const struct uw_analysis *analysis = uw_functions_analysis(functions, symbol->start);
	return analysis && uw_analysis_is_contradicted(analysis) && !uw_analysis_is_spent(analysis);
}

uint32_t uw_functions_learnt(const struct uw_functions *functions)
{
	return (uint32_t)functions->learnt_count;
}

static const struct uw_analysis_row *row_of_learnt(struct uw_functions *functions, uint64_t rva,
						   uint64_t *start)
{
	size_t until = learnt_until(functions, rva);

	for (size_t i = 0; i < LEARNT_ASKED && i < until; i++) {
		const struct uw_analysis_row *row;
		*start = functions->learnt[until - 1 - i];
		if (rva - *start > UW_FUNCTION_SIZE_MAX)
			break;
		row = uw_functions_row_from(functions, *start, rva);
		if (row)
			return row;
	}
	return NULL;
}

/* Whether much was analysed for the address that is looked up. */
static bool has_asked_enough(const struct uw_functions *functions)
{
	return functions->counts.bytes - functions->asked > LIKELY_MAX;
}

/* Whether the entry at start is proven, by the function's own returns or by those of the functions
 * that it jumps to. */
static bool is_proven(struct uw_functions *functions, uint64_t start, bool makes_frame,
		      unsigned tails)
{
	const struct uw_analysis *analysis = uw_functions_analysis(functions, start);
	const uint64_t *exits;

	if (!analysis || uw_analysis_is_contradicted(analysis))
		return false;
	if (uw_analysis_is_closed(analysis) || (makes_frame && uw_analysis_returns(analysis)))
		return true;
	size_t count = tails < TAILS_MAX ? uw_analysis_exits(analysis, &exits) : 0;
	for (size_t i = 0; i < count && !has_asked_enough(functions); i++)
		if (is_proven(functions, exits[i], false, tails + 1))
			return true;
	return false;
}

/* The row by the nearest likely start that is proven. A call that does not return could lead from
 * what is no start to the next function's return: such code seldom begins by making a frame, and
 * where it lies within a frame, its calls do not seem aligned. *limit becomes the end of a function
 * that is known to lie before rva. */
static const struct uw_analysis_row *row_of_likely(struct uw_functions *functions, uint64_t rva,
						   bool only_frames, uint64_t *limit,
						   uint64_t *start)
{
	struct uw_starts starts;

	uw_starts_begin(&starts, functions->elf, functions->lines, *limit, rva, only_frames);
	for (unsigned i = 0; i < LIKELY_ASKED && uw_starts_next(&starts, start); i++) {
		if (has_asked_enough(functions))
			break;
		const struct uw_analysis_row *row = uw_functions_row_from(functions, *start, rva);
		uint64_t from, end;
		if (!is_proven(functions, *start, only_frames, 0))
			continue;
		const struct uw_analysis *analysis = uw_functions_analysis(functions, *start);
		if (row && (only_frames || uw_analysis_keeps_alignment(analysis)))
			return row;
		if (only_frames && uw_analysis_part(analysis, 0, &from, &end) && end <= rva) {
			*limit = end;
			break;
		}
	}
	return NULL;
}

/* As uw_functions_row, but for cold parts. */
static const struct uw_analysis_row *find_row(struct uw_functions *functions, uint64_t rva,
					      const struct uw_cfi_gap *gap, uint64_t *start)
{
	const struct uw_analysis_row *row;
	uint64_t next, limit = gap->start;
	const struct uw_symbol *symbol = uw_symbols_find(&functions->symbols, rva, &next);

	if (symbol && symbol->start >= gap->start && !symbol->is_part &&
	    (symbol->size == 0 || rva - symbol->start < symbol->size)) {
		*start = symbol->start;
		row = uw_functions_row_from(functions, *start, rva);
		if (row || symbol->size > 0)
			return row;
	}
	row = row_of_learnt(functions, rva, start);
	if (row || (symbol && rva - symbol->start < symbol->size))
		return row;
	if (symbol && symbol->start + symbol->size > limit)
		limit = symbol->start + symbol->size;
	functions->is_guess = true;
	row = row_of_likely(functions, rva, true, &limit, start);
	if (!row)
		row = row_of_likely(functions, rva, false, &limit, start);
	functions->is_guess = false;
	return row;
}

/* The row of a function's cold part, which jumps back to the function. */
static const struct uw_analysis_row *row_of_part(struct uw_functions *functions, uint64_t rva,
						 uint64_t ip, const struct uw_cfi_gap *gap,
						 uint64_t *start)
{
	const struct uw_analysis_source source = {functions, read_code, NULL, true};
	uint64_t targets[OWNERS_ASKED];
	size_t count = uw_analysis_jumps(&source, ip, gap->end, targets, OWNERS_ASKED);

	for (size_t i = 0; i < count; i++) {
		struct uw_cfi_gap other;
		if (!find_gap(functions, targets[i], &other) ||
		    !find_row(functions, targets[i], &other, start))
			continue;
		const struct uw_analysis_row *row = uw_functions_row_from(functions, *start, rva);
		if (row)
			return row;
	}
	return NULL;
}

/* The row by the way ahead, where no symbol tells the function. */
static const struct uw_analysis_row *row_ahead(struct uw_functions *functions, uint64_t rva,
					       bool exact)
{
	const struct uw_analysis_source source = {functions, read_code, NULL, true};
	bool is_full =
		functions->work == 0 ||
		functions->memory + uw_rows_memory(&functions->rows) > UW_FUNCTIONS_MEMORY_MAX;
	uint32_t steps = 0;
	uint64_t next;
	const struct uw_symbol *symbol = uw_symbols_find(&functions->symbols, rva, &next);

	if (symbol && rva - symbol->start < symbol->size)
		return NULL;
	const struct uw_analysis_row *row =
		uw_rows_find(&functions->rows, &source, rva, exact, is_full, &steps);
	charge_work(functions, steps);
	functions->counts.steps += steps;
	return row;
}

void uw_functions_refuse(struct uw_functions *functions, uint64_t rva, bool exact)
{
	uw_rows_refuse(&functions->rows, rva, exact);
}

const struct uw_analysis_row *uw_functions_row(struct uw_functions *functions, uint64_t rva,
					       bool exact, uint64_t *start)
{
	const struct uw_analysis_row *row;
	struct uw_cfi_gap gap;

	if (!find_gap(functions, rva, &gap))
		return NULL;
	want_symbols(functions);
	functions->asked = functions->counts.bytes;
	*start = UW_START_UNKNOWN;
	row = row_ahead(functions, rva, exact);
	if (row)
		return row;
	row = find_row(functions, rva, &gap, start);
	return row ? row : row_of_part(functions, rva, rva + !exact, &gap, start);
}
