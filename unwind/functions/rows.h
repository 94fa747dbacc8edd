/* Rows of single addresses of a file's code, found by the way ahead (uw_analysis_ahead), and kept;
 * that there is none is kept, too. */
#ifndef UNWIND_FUNCTIONS_ROWS_H
#define UNWIND_FUNCTIONS_ROWS_H

#include "containers/hash.h"
#include "containers/hash_table.h"
#include "unwind/analysis/analysis.h"

/* All zero but for the key: empty. */
struct uw_rows {
	struct hash_table table;
	struct hash_key key; /* drawn by the owner */
};

void uw_rows_finish(struct uw_rows *rows);

/* The row of the instruction at rva, or, if not exact, of the call that ends behind rva; NULL:
 * none. is_full: none are added. *steps grows by the instructions looked at. Valid until the next
 * call. */
const struct uw_analysis_row *uw_rows_find(struct uw_rows *rows,
					   const struct uw_analysis_source *source, uint64_t rva,
					   bool exact, bool is_full, uint32_t *steps);

/* Takes it that there is none. */
void uw_rows_refuse(struct uw_rows *rows, uint64_t rva, bool exact);

/* The bytes of memory that they take. */
size_t uw_rows_memory(const struct uw_rows *rows);

#endif
