/*
 * Rows by analysis of code alone against rows by call frame information, address by address, of
 * every function in the given files and folders. What the analysis is told of call frame
 * information: where functions and their parts begin and end, and which of them are entries.
 *
 * Then, at some of the instructions, rows by the way ahead, which is told nothing but the address.
 *
 * Options: -a COUNT, one of so many instructions, and behind one of so many calls (0: none); -v
 * shows differences; -c PERCENT, least share of the code with rows; -m MB, least megabytes of code
 * a second of CPU time; -n COUNT and -s BYTES, of the folders' files that many, spread evenly, of
 * at most this size; -t FILE, the table of causes.
 *
 * Fails on any row that claims what the tables do not say, but for the functions in the table of
 * causes, and prints what to write there.
 */
#include "containers/array.h"
#include "tests/unwind/analysis/causes.h"
#include "tests/unwind/analysis/judge.h"
#include "tests/unwind/analysis/names.h"
#include "unwind/analysis/effect.h"
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

struct comparison {
	struct uw_module *module;
	Dwarf_CFI *cfi;
	Elf *elf;
	struct causes *causes;
	const char *path;
	const char *file;   /* its name in the table of causes */
	uint64_t base, end; /* of the executable segment */
	uint8_t *code;      /* its bytes; all zero if they may change */
	uint8_t *verdict;   /* of each of them */
	bool table_errs;    /* the function's table contradicts itself */
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

/* At most size bytes of the segment, up to end; returns their number. */
static size_t copy_code(const struct comparison *comparison, uint64_t address, uint64_t end,
			uint8_t *bytes, size_t size)
{
	if (end - address < size)
		size = (size_t)(end - address);
	memcpy(bytes, comparison->code + (address - comparison->base), size);
	return size;
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

/* A part with landing pads begins with a nop where gcc must not have a pad at distance 0. */
static bool is_entry(const struct comparison *comparison, const struct uw_fde *fde)
{
	uint8_t first;

	return is_entry_at(fde, fde->start) &&
	       (fde->end - fde->start < 2 ||
		!uw_elf_read_constant(&comparison->module->elf, fde->start, &first, 1) ||
		first != 0x90 || is_entry_at(fde, fde->start + 1));
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
	       fde.end > at && uw_cfi_row(&fde, at - 1, &row, &(uint32_t){0}) == UW_CFI_OK &&
	       row.cfa.kind == UW_RULE_REGISTER && row.cfa.reg == 7 &&
	       row.cfa.offset == theirs->cfa.offset;
}

/* One is right, the other wrong. Where a function jumps out of its code because gcc holds a case to
 * be impossible, the next function's part begins. */
static bool is_dispute(uint8_t known, enum verdict verdict)
{
	return known == RIGHT ? verdict == WRONG
			      : (known == WRONG || known == CONTRADICTORY) && verdict == RIGHT;
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
				       judge_word(verdict));
				judge_print(theirs, ours);
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

/* A function whose table is wrong somewhere is not known to be wrong elsewhere. */
static void note_contradiction(struct comparison *comparison, uint64_t start, uint64_t end)
{
	for (uint64_t at = start; at < end; at++)
		if (comparison->verdict[at - comparison->base] == WRONG)
			comparison->verdict[at - comparison->base] = CONTRADICTORY;
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
				note_contradiction(comparison, start, end);
		}
	}
	uw_analysis_destroy(analysis);
}

/* The cause of what differs in an FDE's code; NULL, with a message: none is known. */
static struct cause *find_cause(struct comparison *comparison, const struct uw_fde *fde,
				bool is_contradictory)
{
	const char *symbol = name_symbol(comparison->elf, fde->start);
	char shape[NAME_SIZE];

	name_shape(comparison->module, fde, shape);
	const char *const names[] = {symbol, shape, is_contradictory ? CAUSE_CONTRADICTORY : NULL};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct cause *cause = names[i] ? causes_find(comparison->causes, comparison->path,
							     comparison->file, names[i])
					       : NULL;
		if (cause)
			cause->excused++;
		if (cause)
			return cause;
	}
	printf("%s: no cause known at %#lx: %s %s %s%s\n", comparison->path, fde->start,
	       comparison->file, symbol ? symbol : "", shape,
	       is_contradictory ? " " CAUSE_CONTRADICTORY : "");
	return NULL;
}

/* What differs in an FDE's code is excused, or wrong. */
static void excuse(struct comparison *comparison, const struct uw_fde *fde, uint64_t end)
{
	uint8_t *verdict = comparison->verdict + (fde->start - comparison->base);
	size_t size = (size_t)(end - fde->start), contradictory = 0, wrong = 0;

	for (size_t i = 0; i < size; i++) {
		contradictory += verdict[i] == CONTRADICTORY;
		wrong += verdict[i] == WRONG;
	}
	if (contradictory + wrong == 0)
		return;
	struct cause *cause = find_cause(comparison, fde, wrong == 0);
	if (cause)
		cause->bytes += contradictory + wrong;
	for (size_t i = 0; i < size; i++)
		if (verdict[i] == CONTRADICTORY || verdict[i] == WRONG)
			verdict[i] = cause ? EXCUSED : WRONG;
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
		size_t size = copy_code(comparison, at, end, bytes, sizeof(bytes));
		bool apart = *verdict == UNTOLD || *verdict == FIRST_REASON + UW_ANALYSIS_APART ||
			     *verdict == FIRST_REASON + UW_ANALYSIS_JUMP;
		if (!apart || !uw_effect_apply(&scratch, at, bytes, size, &effect)) {
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
	if (verdict == WRONG && find_cause(comparison, fde, false))
		verdict = EXCUSED;
	comparison->ahead[verdict]++;
	if (verdict == WRONG && comparison->shown++ < SHOWN) {
		printf("%s: %s %#lx in %#lx, ahead: WRONG\n", comparison->path,
		       is_behind_call ? "behind the call before" : "at", at, fde->start);
		judge_print(&row, &ours);
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
		size_t size = copy_code(comparison, at, end, bytes, sizeof(bytes));
		if (!uw_effect_apply(&scratch, at, bytes, size, &effect))
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
		excuse(comparison, fde, end);
		settle(comparison, fde, end);
		compare_all_ahead(comparison, fde, end);
	}
}

static void compare_segment(struct comparison *comparison, const struct uw_segment *segment)
{
	comparison->base = segment->rva;
	comparison->end = segment->rva + segment->file_size;
	comparison->verdict = calloc(segment->file_size + 1, 1);
	comparison->code = calloc(segment->file_size + 1, 1);
	uw_elf_read_constant(&comparison->module->elf, segment->rva, comparison->code,
			     segment->file_size);
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
	return 100.0 * (double)(counts[RIGHT] + counts[EXCUSED]) / (double)all_of(counts);
}

static void print_counts(const char *name, const uint64_t counts[static VERDICT_COUNT])
{
	if (all_of(counts) == 0)
		return;
	printf("%s: %.2f %%", name, share(counts));
	for (int i = LINKAGE; i < VERDICT_COUNT; i++)
		if (counts[i] > 0)
			printf(", %s %lu", judge_word((enum verdict)i), counts[i]);
	printf("\n");
}

static void compare_file(const char *path, struct causes *causes, struct totals *totals)
{
	struct comparison comparison = {.path = path, .causes = causes};
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
	comparison.elf = elf;
	comparison.file = name_file(elf, path);
	const struct uw_elf *file = &comparison.module->elf;
	bool usable = comparison.cfi && file->arch == UW_ARCH_X86_64;
	if (usable)
		causes_note_file(causes, path, comparison.file);
	for (size_t i = 0; usable && i < file->segment_count; i++) {
		if (!file->segments[i].executable)
			continue;
		compare_segment(&comparison, &file->segments[i]);
		for (uint64_t at = comparison.base; at < comparison.end; at++)
			counts[comparison.verdict[at - comparison.base]]++;
		free(comparison.verdict);
		free(comparison.code);
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

struct path {
	char *name; /* owned */
	dev_t device;
	ino_t inode;
};

struct paths {
	struct path *items;
	size_t count, capacity;
};

/* Whether a file is listed by another of its names. */
static bool is_listed(const struct paths *paths, const struct stat *file)
{
	for (size_t i = 0; file->st_nlink > 1 && i < paths->count; i++)
		if (paths->items[i].device == file->st_dev && paths->items[i].inode == file->st_ino)
			return true;
	return false;
}

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
		if (entry->fts_info != FTS_F || entry->fts_statp->st_size > size_max ||
		    is_listed(paths, entry->fts_statp))
			continue;
		int fd = open(entry->fts_accpath, O_RDONLY | O_CLOEXEC);
		bool is_elf =
			fd >= 0 && read(fd, magic, 4) == 4 && memcmp(magic, "\177ELF", 4) == 0;
		close(fd);
		if (!is_elf || !array_reserve(&paths->items, &paths->capacity, paths->count + 1,
					      sizeof(*paths->items)))
			continue;
		paths->items[paths->count++] =
			(struct path){strdup(entry->fts_path), entry->fts_statp->st_dev,
				      entry->fts_statp->st_ino};
	}
	fts_close(tree);
}

/* Of the command line. */
struct options {
	double least, least_rate; /* percent; megabytes a second */
	size_t count;
	off_t size_max;
	const char *causes;
};

/* false: an option is not known. */
static bool read_options(int argc, char **argv, struct options *options)
{
	for (int option; (option = getopt(argc, argv, "a:vc:m:n:s:t:")) != -1;) {
		if (option == 'a')
			ahead_every = (unsigned)strtoul(optarg, NULL, 10);
		else if (option == 'v')
			verbose = true;
		else if (option == 'c')
			options->least = strtod(optarg, NULL);
		else if (option == 'm')
			options->least_rate = strtod(optarg, NULL);
		else if (option == 'n')
			options->count = strtoul(optarg, NULL, 10);
		else if (option == 's')
			options->size_max = strtol(optarg, NULL, 10);
		else if (option == 't')
			options->causes = optarg;
		else
			return false;
	}
	return true;
}

static size_t compare_files(struct paths *paths, size_t count, struct causes *causes,
			    struct totals *totals)
{
	size_t examined = 0;

	if (count > paths->count)
		count = paths->count;
	for (size_t i = 0; i < paths->count; i++) {
		if (i * count / paths->count == examined && examined < count) {
			compare_file(paths->items[i].name, causes, totals);
			examined++;
		}
		free(paths->items[i].name);
	}
	free(paths->items);
	return examined;
}

int main(int argc, char **argv)
{
	struct options options = {.count = SIZE_MAX, .size_max = INT64_MAX};
	struct totals totals = {0};
	struct causes causes = {0};
	struct paths paths = {0};

	setlinebuf(stdout);
	elf_version(EV_CURRENT);
	if (!read_options(argc, argv, &options) ||
	    (options.causes && !causes_read(&causes, options.causes)))
		return 2;
	for (int i = optind; i < argc; i++)
		list_files(&paths, argv[i], options.size_max);
	size_t examined = compare_files(&paths, options.count, &causes, &totals);
	double rate = (double)totals.analyzed / totals.seconds / 1e6;
	causes_print(&causes);
	causes_finish(&causes);
	printf("%zu files, %.1f MB/s; ", examined, rate);
	print_counts("all", totals.count);
	if (all_of(totals.ahead) > 0)
		printf("%.1f us each; ", 1e6 * totals.ahead_seconds / (double)all_of(totals.ahead));
	print_counts("ahead", totals.ahead);
	return totals.count[WRONG] > 0 || totals.ahead[WRONG] > 0 || totals.analyzed == 0 ||
	       share(totals.count) < options.least || rate < options.least_rate;
}
