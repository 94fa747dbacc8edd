#include "tests/unwind/rules/table_check.h"

#include "unwind/cfi/row.h"
#include "unwind/rules/quick.h"
#include "unwind/rules/table.h"
#include <stdlib.h>
#include <string.h>

/* Whether all rows of the FDE can be said in the common form. */
static bool is_ordinary(const struct uw_fde *fde)
{
	size_t room = uw_reader_left(&fde->code) + 1;
	struct uw_quick_row *rows = calloc(room, sizeof(*rows));

	if (!rows)
		abort();
	bool ordinary = !fde->signal && uw_cfi_quick_rows(fde, NULL, rows, room) > 0;
	free(rows);
	return ordinary;
}

/* Whether the code is near enough to the first of the module for the table to hold it. */
static bool is_near(const struct uw_cfi *cfi, const struct uw_fde *fde)
{
	return fde->end - uw_cfi_entry_start(cfi, 0) < UW_TABLE_PAGES_MAX / 2 * UINT64_C(512);
}

/* What is wrong with what was found, given the FDE of rva and its rules. */
static const char *check_found(const struct uw_cfi *cfi, uint64_t rva, size_t entry,
			       const struct uw_fde *fde, const struct uw_quick *rules,
			       const struct uw_found_row *found)
{
	bool next_takes_over =
		entry + 1 < uw_cfi_count(cfi) && uw_cfi_entry_start(cfi, entry + 1) == rva + 1;

	if (memcmp(&found->rules, rules, sizeof(*rules)) != 0)
		return "other rules";
	if (found->function != fde->start)
		return "another function";
	if (found->ends != (rva + 1 == fde->end) && !(found->ends && next_takes_over))
		return "whether the function ends";
	return NULL;
}

struct table_check table_check(const struct uw_cfi *cfi, const struct uw_table *table, uint64_t rva)
{
	struct uw_found_row found;
	struct table_check check = {.has = uw_table_find(table, rva, &found)};
	struct uw_quick rules;
	struct uw_cfi_gap gap;
	struct uw_fde fde;
	size_t entry;

	if (uw_cfi_find(cfi, rva, &fde, &gap) != UW_CFI_OK) {
		check.wrong = check.has ? "only the table has a row" : NULL;
		return check;
	}
	if (!uw_cfi_quick(&fde, rva, &rules)) {
		check.wrong = check.has ? "the table has a row that is not ordinary" : NULL;
		return check;
	}
	uw_cfi_entry(cfi, rva, &entry);
	if (check.has)
		check.wrong = check_found(cfi, rva, entry, &fde, &rules, &found);
	else if (fde.start == uw_cfi_entry_start(cfi, entry) && is_near(cfi, &fde) &&
		 is_ordinary(&fde))
		check.wrong = "no row in the table";
	return check;
}
