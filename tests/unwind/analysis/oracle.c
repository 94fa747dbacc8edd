/*
 * Rows by analysis of code alone against rows by call frame information, address by address, of
 * every function in the given files and folders. What the analysis is told of call frame
 * information: where functions and their parts begin and end, and which of them are entries.
 *
 * Then, at some of the instructions, rows by the way ahead, which is told nothing but the address.
 *
 * Options: -a COUNT, one of so many instructions, and behind one of so many calls (0: none); -v
 * shows differences; -c PERCENT, least share of the code with rows; -n COUNT and -s
 * BYTES, of the folders' files that many, spread evenly, of at most this size.
 *
 * Fails on any row that claims what the tables do not say, unless the table contradicts itself: it
 * gives the CFA the same distance to the stack pointer before and after an instruction that pushes,
 * pops or adds a constant. Two causes are known, both looked at: clang 14 moves the addition of an
 * epilogue in front of a branch, and its row begins behind the branch (all programs of LLVM), and
 * assembly without call frame information for its pushes (glibc's __mpn_mul_1 and others).
 */
#include "containers/array.h"
#include "unwind/analysis/analysis.h"
#include "unwind/analysis/effect.h"
#include "unwind/cfi/row.h"
#include "unwind/module/module.h"
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { SHOWN = 20 };

/* What became of a byte of code, the best last. */
enum verdict {
	NO_CODE,      /* not described by call frame information */
	LINKAGE,      /* stubs with a CFA by expression, written by linkers */
	PADDING,      /* nops that no way leads to */
	EXCEPTIONS,   /* of functions with landing pads; no way leads there */
	UNTOLD,       /* described; no analysis came there */
	FIRST_REASON, /* no row: FIRST_REASON + enum uw_analysis_reason */
	PARTLY = FIRST_REASON + UW_ANALYSIS_REASON_COUNT, /* a register is not known */
	RIGHT,
	TABLE_ERRS, /* the table contradicts itself */
	WRONG,
	DISPUTED, /* two functions claim different rows: neither's are used */
	VERDICT_COUNT
};

static const char *const words[VERDICT_COUNT] = {
	[LINKAGE] = "linkage",
	[PADDING] = "padding",
	[EXCEPTIONS] = "exceptions",
	[UNTOLD] = "untold",
	[FIRST_REASON + UW_ANALYSIS_APART] = "apart",
	[FIRST_REASON + UW_ANALYSIS_JUMP] = "jump",
	[FIRST_REASON + UW_ANALYSIS_CONFLICT] = "conflict",
	[FIRST_REASON + UW_ANALYSIS_COMPUTED] = "computed",
	[FIRST_REASON + UW_ANALYSIS_RETURN] = "return",
	[FIRST_REASON + UW_ANALYSIS_LIMIT] = "limit",
	[PARTLY] = "partly",
	[RIGHT] = "right",
	[TABLE_ERRS] = "table errs",
	[WRONG] = "WRONG",
	[DISPUTED] = "disputed",
};

struct comparison {
	struct uw_module *module;
	Dwarf_CFI *cfi;
	const char *path;
	uint64_t base, end; /* of the executable segment */
	uint8_t *verdict;   /* of each of its bytes */
	bool table_errs;    /* in the function being compared */
	size_t shown;
	uint64_t analyzed; /* bytes */
	double seconds;
	uint64_t ahead[VERDICT_COUNT]; /* places */
	double ahead_seconds;
};

static bool verbose;
static unsigned ahead_every = 256;

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static bool read_code(void *context, uint64_t address, void *bytes, size_t size)
{
	const struct comparison *comparison = context;
	return uw_elf_read_constant(&comparison->module->elf, address, bytes, size);
}

static bool find_bounds(void *context, uint64_t address, uint64_t *start, uint64_t *end)
{
	const struct comparison *comparison = context;
	struct uw_cfi_gap gap;
	struct uw_fde fde;

	if (uw_module_find(comparison->module, address, &fde, &gap) != UW_CFI_OK)
		return false;
	*start = fde.start;
	*end = fde.end;
	return true;
}

/* Whether the rules at an address are those of a function's entry. */
static bool is_entry_at(const struct uw_fde *fde, uint64_t rva)
{
	struct uw_row row;

	if (fde->signal || uw_cfi_row(fde, rva, &row, &(uint32_t){0}) != UW_CFI_OK ||
	    row.cfa.kind != UW_RULE_REGISTER || row.cfa.reg != 7 || row.cfa.offset != 8 ||
	    row.reg[16].kind != UW_RULE_AT_CFA || row.reg[16].offset != -8)
		return false;
	for (int reg = 0; reg < 16; reg++)
		if (row.reg[reg].kind != UW_RULE_UNSPECIFIED && row.reg[reg].kind != UW_RULE_SAME)
			return false;
	return true;
}

/* DW_OP_breg6 offset, and after it operation tail if that is not 0. */
static bool is_near_fp(const struct uw_rule *rule, uint8_t tail, int64_t *offset)
{
	const struct uw_span span = {rule->expression, rule->size, 0};
	struct uw_cursor cursor = uw_cursor_of(&span, 0, rule->size);

	if (uw_read_u8(&cursor) != 0x76)
		return false;
	*offset = uw_read_sleb(&cursor);
	if (tail && uw_read_u8(&cursor) != tail)
		return false;
	return !cursor.failed && uw_cursor_left(&cursor) == 0;
}

/* A part with landing pads begins with a nop where gcc must not have a pad at distance 0. */
static bool is_entry(const struct comparison *comparison, const struct uw_fde *fde)
{
	uint8_t first;

	return is_entry_at(fde, fde->start) &&
	       (fde->end - fde->start < 2 ||
		!uw_elf_read_constant(&comparison->module->elf, fde->start, &first, 1) ||
		first != 0x90 || is_entry_at(fde, fde->start + 1));
}

static enum verdict judge_cfa(const struct uw_row *theirs, const struct uw_analysis_row *ours)
{
	const struct uw_rule *cfa = &theirs->cfa;
	int64_t offset;

	if (cfa->kind != UW_RULE_REGISTER) {
		if (!is_near_fp(cfa, 0x06, &offset))
			return PARTLY;
		if (ours->cfa_is_stored)
			return ours->cfa_reg == 6 && ours->cfa_offset == offset ? RIGHT : WRONG;
		return PARTLY;
	}
	if (!ours->cfa_is_stored && ours->cfa_reg == cfa->reg)
		return ours->cfa_offset == cfa->offset ? RIGHT : WRONG;
	if (cfa->reg == 7 && ours->sp_offset != INT32_MIN)
		return ours->sp_offset == cfa->offset ? RIGHT : WRONG;
	if (cfa->reg == 6 && ours->fp_offset != INT32_MIN)
		return ours->fp_offset == cfa->offset ? RIGHT : WRONG;
	return PARTLY;
}

static enum verdict judge_register(const struct uw_rule *theirs, const struct uw_analysis_row *ours,
				   unsigned index, int32_t sp)
{
	bool same = ours->same >> index & 1, saved = ours->saved >> index & 1;
	bool by_fp = ours->by_fp >> index & 1;
	int64_t offset = theirs->offset;

	switch (theirs->kind) {
	case UW_RULE_UNSPECIFIED:
	case UW_RULE_SAME:
		return same ? RIGHT : saved ? WRONG : PARTLY;
	case UW_RULE_UNDEFINED:
		return RIGHT;
	case UW_RULE_AT_CFA:
		if (saved && !by_fp)
			return ours->slot[index] == offset ? RIGHT : WRONG;
		/* Popped already. */
		if (same)
			return sp != INT32_MIN && offset < -sp ? RIGHT : PARTLY;
		return PARTLY;
	case UW_RULE_AT_EXPRESSION:
		if (saved && by_fp && is_near_fp(theirs, 0, &offset))
			return ours->slot[index] == offset ? RIGHT : WRONG;
		return same ? RIGHT : PARTLY;
	default:
		return PARTLY;
	}
}

static enum verdict judge(const struct uw_row *theirs, const struct uw_analysis_row *ours)
{
	static const uint8_t saved[] = {3, 6, 12, 13, 14, 15};

	if (ours->reason != UW_ANALYSIS_KNOWN)
		return FIRST_REASON + ours->reason;
	enum verdict verdict = judge_cfa(theirs, ours);
	for (unsigned i = 0; i < UW_SAVED_COUNT; i++) {
		enum verdict next =
			judge_register(&theirs->reg[saved[i]], ours, i, ours->sp_offset);
		if (next == WRONG || verdict == RIGHT)
			verdict = next;
	}
	return verdict;
}

static void print_row(const struct uw_row *theirs, const struct uw_analysis_row *ours)
{
	static const uint8_t saved[] = {3, 6, 12, 13, 14, 15};

	printf("   table: cfa kind %d r%d%+ld", theirs->cfa.kind, theirs->cfa.reg,
	       theirs->cfa.offset);
	for (unsigned i = 0; i < UW_SAVED_COUNT; i++)
		if (theirs->reg[saved[i]].kind != UW_RULE_UNSPECIFIED)
			printf(" r%d:%d@%ld", saved[i], theirs->reg[saved[i]].kind,
			       theirs->reg[saved[i]].offset);
	printf("\n   ours:  cfa %sr%d%+d sp%+d fp%+d", ours->cfa_is_stored ? "*" : "",
	       ours->cfa_reg, ours->cfa_offset, ours->sp_offset, ours->fp_offset);
	for (unsigned i = 0; i < UW_SAVED_COUNT; i++)
		printf(" r%d:%s%s@%d", saved[i], ours->same >> i & 1 ? "=" : "",
		       ours->saved >> i & 1 ? (ours->by_fp >> i & 1 ? "f" : "c") : "",
		       ours->slot[i]);
	printf("\n");
}

/* Whether the table is the same before at and from at on, although the stack pointer changed by a
 * known distance in between. */
static bool table_contradicts(struct comparison *comparison, const struct uw_analysis *analysis,
			      uint64_t at, const struct uw_row *theirs,
			      const struct uw_analysis_row *ours)
{
	const struct uw_analysis_row *before = uw_analysis_find(analysis, at - 1);
	struct uw_cfi_gap gap;
	struct uw_fde fde;
	struct uw_row row;

	return theirs->cfa.kind == UW_RULE_REGISTER && theirs->cfa.reg == 7 &&
	       ours->reason == UW_ANALYSIS_KNOWN && before->reason == UW_ANALYSIS_KNOWN &&
	       ours->sp_offset != INT32_MIN && before->sp_offset == theirs->cfa.offset &&
	       ours->sp_offset != before->sp_offset &&
	       uw_module_find(comparison->module, at - 1, &fde, &gap) == UW_CFI_OK &&
	       uw_cfi_row(&fde, at - 1, &row, &(uint32_t){0}) == UW_CFI_OK &&
	       row.cfa.kind == UW_RULE_REGISTER && row.cfa.reg == 7 &&
	       row.cfa.offset == theirs->cfa.offset;
}

/* One is right, the other wrong. Where a function jumps out of its code because gcc holds a case to
 * be impossible, the next function's part begins. */
static bool is_dispute(uint8_t known, enum verdict verdict)
{
	return (known == RIGHT && verdict == WRONG) || (known == WRONG && verdict == RIGHT);
}

static void compare_range(struct comparison *comparison, const struct uw_analysis *analysis,
			  uint64_t function, uint64_t start, uint64_t end,
			  const struct uw_row *theirs)
{
	const struct uw_analysis_row *last = NULL;
	enum verdict verdict = UNTOLD;

	for (uint64_t at = start; at < end; at++) {
		const struct uw_analysis_row *ours = uw_analysis_find(analysis, at);
		uint8_t *known = &comparison->verdict[at - comparison->base];
		if (ours != last) {
			last = ours;
			verdict = judge(theirs, ours);
			if (verdict == WRONG && !comparison->table_errs)
				comparison->table_errs =
					table_contradicts(comparison, analysis, at, theirs, ours);
			if (verbose && verdict == WRONG && !comparison->table_errs &&
			    comparison->shown++ < SHOWN) {
				printf("%s: %#lx in %#lx: %s\n", comparison->path, at, function,
				       words[verdict]);
				print_row(theirs, ours);
			}
		}
		if (is_dispute(*known, verdict))
			*known = DISPUTED;
		else if (*known < verdict)
			*known = (uint8_t)verdict;
	}
}

static void compare_part(struct comparison *comparison, const struct uw_analysis *analysis,
			 uint64_t function, uint64_t start, uint64_t end)
{
	for (uint64_t at = start; at < end;) {
		Dwarf_Addr row_start = 0, row_end = 0;
		Dwarf_Frame *frame = NULL;
		struct uw_cfi_gap gap;
		struct uw_fde fde;
		struct uw_row row;

		if (uw_module_find(comparison->module, at, &fde, &gap) != UW_CFI_OK ||
		    dwarf_cfi_addrframe(comparison->cfi, at, &frame) != 0)
			break;
		dwarf_frame_info(frame, &row_start, &row_end, NULL);
		free(frame);
		if (row_end <= at || row_end > end)
			row_end = end;
		if (!fde.signal && uw_cfi_row(&fde, at, &row, &(uint32_t){0}) == UW_CFI_OK)
			compare_range(comparison, analysis, function, at, row_end, &row);
		at = row_end;
	}
}

/* The functions where the table is wrong somewhere are not known to be wrong elsewhere. */
static void excuse(struct comparison *comparison, uint64_t start, uint64_t end)
{
	for (uint64_t at = start; at < end; at++)
		if (comparison->verdict[at - comparison->base] == WRONG)
			comparison->verdict[at - comparison->base] = TABLE_ERRS;
}

/* A part that is a function by itself has the rows of its own analysis. */
static bool is_function(const struct comparison *comparison, uint64_t start)
{
	struct uw_cfi_gap gap;
	struct uw_fde fde;

	return uw_module_find(comparison->module, start, &fde, &gap) == UW_CFI_OK &&
	       is_entry(comparison, &fde);
}

static void compare_function(struct comparison *comparison, const struct uw_fde *fde)
{
	const struct uw_analysis_source source = {comparison, read_code, find_bounds, false};
	uint64_t start, end;

	double before = now();
	struct uw_analysis *analysis = uw_analysis_run(&source, fde->start);
	comparison->seconds += now() - before;
	comparison->analyzed += fde->end - fde->start;
	comparison->table_errs = false;
	for (int round = 0; analysis && round < 2; round++) {
		for (size_t i = 0; uw_analysis_part(analysis, i, &start, &end); i++) {
			if (start < comparison->base || end > comparison->end ||
			    (i > 0 && is_function(comparison, start)))
				continue;
			if (round == 0)
				compare_part(comparison, analysis, fde->start, start, end);
			else if (comparison->table_errs)
				excuse(comparison, start, end);
		}
	}
	uw_analysis_destroy(analysis);
}

/* Whether an FDE names a table of landing pads, by a distance of 4 bytes: its only augmentation
 * data, between the address range and the instructions (Linux Standard Base Core 5.0,
 * section 10.6.1). */
static bool has_pads(const struct uw_cfi *cfi, const struct uw_fde *fde)
{
	const uint8_t *at = fde->code.at;
	int32_t distance;

	if (fde->cfi != cfi || at - cfi->frame.bytes < 13 || at[-5] != 4)
		return false;
	memcpy(&distance, at - 13, sizeof(distance));
	return fde->code.rva - 13 + (uint64_t)(int64_t)distance == fde->start;
}

/* Code of an FDE that no way leads to: nops that fill up, and what only exceptions lead to. */
static void settle(struct comparison *comparison, const struct uw_fde *fde, uint64_t end)
{
	bool pads = has_pads(&comparison->module->cfi, fde);
	struct uw_flow_state scratch = {0};
	uint8_t bytes[UW_INSTRUCTION_SIZE_MAX];
	struct uw_effect effect;

	for (uint64_t at = fde->start; at < end;) {
		uint8_t *verdict = &comparison->verdict[at - comparison->base];
		uint64_t size = end - at < sizeof(bytes) ? end - at : sizeof(bytes);
		bool apart = *verdict == UNTOLD || *verdict == FIRST_REASON + UW_ANALYSIS_APART ||
			     *verdict == FIRST_REASON + UW_ANALYSIS_JUMP;
		if (!apart || !read_code(comparison, at, bytes, size) ||
		    !uw_effect_apply(&scratch, at, bytes, size, &effect)) {
			at++;
			continue;
		}
		if (uw_effect_nop(bytes, size) > 0 || bytes[0] == 0xcc)
			memset(verdict, PADDING, effect.size);
		else if (pads && *verdict != FIRST_REASON + UW_ANALYSIS_JUMP)
			memset(verdict, EXCEPTIONS, effect.size);
		at += effect.size;
	}
}

/* Whether a row that the tables do not have is the analysis's, as far as it goes: tables say of
 * registers that were saved, but not changed yet, that they are the same. */
static bool analysis_agrees(struct comparison *comparison, uint64_t function, uint64_t at,
			    const struct uw_analysis_row *ours)
{
	const struct uw_analysis_source source = {comparison, read_code, find_bounds, false};
	struct uw_analysis *analysis = uw_analysis_run(&source, function);

	if (!analysis)
		return false;
	const struct uw_analysis_row *row = uw_analysis_find(analysis, at);
	bool agrees = row->reason == UW_ANALYSIS_KNOWN &&
		      (ours->sp_offset == row->sp_offset ||
		       (ours->fp_offset == row->fp_offset && ours->fp_offset == 16));
	for (unsigned i = 0; agrees && i < UW_SAVED_COUNT; i++)
		agrees = ours->saved >> i & 1 ? (row->saved >> i & 1) && !(row->by_fp >> i & 1) &&
							ours->slot[i] == row->slot[i]
					      : row->same >> i & 1;
	uw_analysis_destroy(analysis);
	return agrees;
}

/* The row by the way ahead of an instruction, or from behind the call before it. */
static void compare_ahead(struct comparison *comparison, const struct uw_fde *fde, uint64_t at,
			  bool is_behind_call)
{
	const struct uw_analysis_source source = {comparison, read_code, NULL, false};
	enum verdict verdict = UNTOLD;
	struct uw_analysis_row ours;
	uint32_t steps = 0;
	struct uw_row row;

	if (uw_cfi_row(fde, at - is_behind_call, &row, &(uint32_t){0}) != UW_CFI_OK)
		return;
	double before = now();
	bool is_known = uw_analysis_ahead(&source, at, is_behind_call, &ours, &steps);
	comparison->ahead_seconds += now() - before;
	/* Such a row is believed where the frame pointer says so, too. */
	bool needs_record = is_known && (ours.saved >> 1 & 1) && ours.slot[1] == -16;
	bool has_record =
		row.cfa.kind == UW_RULE_REGISTER && row.cfa.reg == 6 && row.cfa.offset == 16;
	if (is_known && (!needs_record || has_record))
		verdict = judge(&row, &ours);
	if (verdict == WRONG && analysis_agrees(comparison, fde->start, at - is_behind_call, &ours))
		verdict = RIGHT;
	comparison->ahead[verdict]++;
	if (verdict == WRONG && comparison->shown++ < SHOWN) {
		printf("%s: %s %#lx in %#lx, ahead: WRONG\n", comparison->path,
		       is_behind_call ? "behind the call before" : "at", at, fde->start);
		print_row(&row, &ours);
	}
}

/* Whether an address is among those looked at: always the same ones. */
static bool is_drawn(uint64_t address)
{
	return ahead_every > 0 && (address * UINT64_C(0x9e3779b97f4a7c15) >> 32) % ahead_every == 0;
}

static void compare_all_ahead(struct comparison *comparison, const struct uw_fde *fde, uint64_t end)
{
	struct uw_flow_state scratch = {0};
	uint8_t bytes[UW_INSTRUCTION_SIZE_MAX];
	struct uw_effect effect = {.flow = UW_FLOW_END};

	for (uint64_t at = fde->start; !fde->signal && at < end; at += effect.size) {
		bool was_call = effect.flow == UW_FLOW_CALL;
		uint64_t size = end - at < sizeof(bytes) ? end - at : sizeof(bytes);
		if (!read_code(comparison, at, bytes, size) ||
		    !uw_effect_apply(&scratch, at, bytes, size, &effect))
			break;
		uint8_t verdict = comparison->verdict[at - comparison->base];
		/* Where the analysis came, so that it is code; not behind a call that does not
		 * return. */
		if (verdict != RIGHT || !is_drawn(at) ||
		    (was_call && uw_effect_nop(bytes, size) > 0))
			continue;
		compare_ahead(comparison, fde, at, false);
		if (effect.flow == UW_FLOW_CALL && at + effect.size < end)
			compare_ahead(comparison, fde, at + effect.size, true);
	}
}

enum round { DESCRIBE, COMPARE, SETTLE, ROUND_COUNT };

static void visit(struct comparison *comparison, enum round round, const struct uw_fde *fde,
		  uint64_t end)
{
	uint8_t *verdict = comparison->verdict + (fde->start - comparison->base);
	struct uw_row row;

	switch (round) {
	case DESCRIBE:
		memset(verdict, UNTOLD, end - fde->start);
		if (uw_cfi_row(fde, fde->start, &row, &(uint32_t){0}) == UW_CFI_OK &&
		    uw_cfi_row(fde, fde->end - 1, &row, &(uint32_t){0}) == UW_CFI_OK &&
		    row.cfa.kind == UW_RULE_EXPRESSION_VALUE && !is_entry(comparison, fde))
			memset(verdict, LINKAGE, end - fde->start);
		break;
	case COMPARE:
		if (is_entry(comparison, fde))
			compare_function(comparison, fde);
		break;
	default:
		settle(comparison, fde, end);
		compare_all_ahead(comparison, fde, end);
	}
}

static void compare_segment(struct comparison *comparison, const struct uw_segment *segment)
{
	comparison->base = segment->rva;
	comparison->end = segment->rva + segment->file_size;
	comparison->verdict = calloc(segment->file_size + 1, 1);
	for (int round = 0; round < ROUND_COUNT; round++) {
		for (uint64_t at = comparison->base; at < comparison->end;) {
			struct uw_cfi_gap gap;
			struct uw_fde fde;
			enum uw_cfi_result result =
				uw_module_find(comparison->module, at, &fde, &gap);
			if (result != UW_CFI_OK || fde.start < comparison->base) {
				at = result == UW_CFI_NONE && gap.end > at ? gap.end : at + 1;
				continue;
			}
			uint64_t end = fde.end < comparison->end ? fde.end : comparison->end;
			visit(comparison, (enum round)round, &fde, end);
			at = end > at ? end : at + 1;
		}
	}
}

/* Of all files. */
struct totals {
	uint64_t count[VERDICT_COUNT];
	uint64_t analyzed;
	double seconds;
	uint64_t ahead[VERDICT_COUNT];
	double ahead_seconds;
};

static uint64_t all_of(const uint64_t counts[static VERDICT_COUNT])
{
	uint64_t all = 0;

	for (int i = UNTOLD; i < VERDICT_COUNT; i++)
		all += counts[i];
	return all;
}

static double share(const uint64_t counts[static VERDICT_COUNT])
{
	return 100.0 * (double)(counts[RIGHT] + counts[TABLE_ERRS]) / (double)all_of(counts);
}

static void print_counts(const char *name, const uint64_t counts[static VERDICT_COUNT])
{
	if (all_of(counts) == 0)
		return;
	printf("%s: %.2f %%", name, share(counts));
	for (int i = LINKAGE; i < VERDICT_COUNT; i++)
		if (counts[i] > 0)
			printf(", %s %lu", words[i], counts[i]);
	printf("\n");
}

static void compare_file(const char *path, struct totals *totals)
{
	struct comparison comparison = {.path = path};
	uint64_t counts[VERDICT_COUNT] = {0};
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || uw_module_open(fd, &comparison.module) != 0) {
		if (fd >= 0)
			close(fd);
		return;
	}
	uw_module_load(comparison.module);
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
	comparison.cfi = dwarf_getcfi_elf(elf);
	const struct uw_elf *file = &comparison.module->elf;
	bool usable = comparison.cfi && file->arch == UW_ARCH_X86_64;
	for (size_t i = 0; usable && i < file->segment_count; i++) {
		if (!file->segments[i].executable)
			continue;
		compare_segment(&comparison, &file->segments[i]);
		for (uint64_t at = comparison.base; at < comparison.end; at++)
			counts[comparison.verdict[at - comparison.base]]++;
		free(comparison.verdict);
	}
	if (verbose || counts[WRONG] > 0)
		print_counts(path, counts);
	for (int i = 0; i < VERDICT_COUNT; i++) {
		totals->count[i] += counts[i];
		totals->ahead[i] += comparison.ahead[i];
	}
	totals->ahead_seconds += comparison.ahead_seconds;
	totals->analyzed += comparison.analyzed;
	totals->seconds += comparison.seconds;
	dwarf_cfi_end(comparison.cfi);
	elf_end(elf);
	uw_module_unref(comparison.module);
	close(fd);
}

struct paths {
	char **items;
	size_t count, capacity;
};

static int compare_names(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

/* The regular files in a folder with the first bytes of ELF, or the file itself. */
static void list_files(struct paths *paths, char *root, off_t size_max)
{
	char *const roots[] = {root, NULL};
	FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_COMFOLLOW, compare_names);

	for (const FTSENT *entry; (entry = fts_read(tree));) {
		char magic[4] = "";
		if (entry->fts_info != FTS_F || entry->fts_statp->st_size > size_max)
			continue;
		int fd = open(entry->fts_accpath, O_RDONLY | O_CLOEXEC);
		bool is_elf =
			fd >= 0 && read(fd, magic, 4) == 4 && memcmp(magic, "\177ELF", 4) == 0;
		close(fd);
		if (!is_elf || !array_reserve(&paths->items, &paths->capacity, paths->count + 1,
					      sizeof(*paths->items)))
			continue;
		paths->items[paths->count++] = strdup(entry->fts_path);
	}
	fts_close(tree);
}

int main(int argc, char **argv)
{
	struct totals totals = {0};
	struct paths paths = {0};
	double least = 0;
	size_t count = SIZE_MAX, examined = 0;
	off_t size_max = INT64_MAX;

	elf_version(EV_CURRENT);
	for (int option; (option = getopt(argc, argv, "a:vc:n:s:")) != -1;) {
		if (option == 'a')
			ahead_every = (unsigned)strtoul(optarg, NULL, 10);
		else if (option == 'v')
			verbose = true;
		else if (option == 'c')
			least = strtod(optarg, NULL);
		else if (option == 'n')
			count = strtoul(optarg, NULL, 10);
		else
			size_max = strtol(optarg, NULL, 10);
	}
	for (int i = optind; i < argc; i++)
		list_files(&paths, argv[i], size_max);
	if (count > paths.count)
		count = paths.count;
	for (size_t i = 0; i < paths.count; i++) {
		if (i * count / paths.count == examined && examined < count) {
			compare_file(paths.items[i], &totals);
			examined++;
		}
		free(paths.items[i]);
	}
	free(paths.items);
	printf("%zu files, %.1f MB/s; ", examined, (double)totals.analyzed / totals.seconds / 1e6);
	print_counts("all", totals.count);
	if (all_of(totals.ahead) > 0)
		printf("%.1f us each; ", 1e6 * totals.ahead_seconds / (double)all_of(totals.ahead));
	print_counts("ahead", totals.ahead);
	return totals.count[WRONG] > 0 || totals.ahead[WRONG] > 0 || totals.analyzed == 0 ||
	       share(totals.count) < least;
}
