#include "unwind/functions/rows.h"

struct kept_row {
	struct hash_slot head;
	uint64_t place; /* rva * 2 + exact */
	struct uw_analysis_row row;
	bool is_known;
};

void uw_rows_finish(struct uw_rows *rows)
{
	hash_table_finish(&rows->table);
}

static bool is_place(const void *slot, const void *key)
{
	const struct kept_row *kept = slot;
	const uint64_t *place = key;

	return kept->place == *place;
}

static struct kept_row *find_kept(struct uw_rows *rows, uint64_t place, uint64_t *hash)
{
	*hash = hash_number(&rows->key, place);
	return hash_table_find(&rows->table, sizeof(struct kept_row), *hash, is_place, &place);
}

const struct uw_analysis_row *uw_rows_find(struct uw_rows *rows,
					   const struct uw_analysis_source *source, uint64_t rva,
					   bool exact, bool is_full, uint32_t *steps)
{
	uint64_t place = rva * 2 + exact, hash;
	struct kept_row *kept = find_kept(rows, place, &hash);

	if (kept)
		return kept->is_known ? &kept->row : NULL;
	kept = is_full ? NULL : hash_table_add(&rows->table, sizeof(*kept), hash);
	if (!kept)
		return NULL;
	kept->place = place;
	kept->is_known = uw_analysis_ahead(source, rva + !exact, !exact, &kept->row, steps);
	return kept->is_known ? &kept->row : NULL;
}

void uw_rows_refuse(struct uw_rows *rows, uint64_t rva, bool exact)
{
	uint64_t hash;
	struct kept_row *kept = find_kept(rows, rva * 2 + exact, &hash);

	if (kept)
		kept->is_known = false;
}

size_t uw_rows_memory(const struct uw_rows *rows)
{
	return rows->table.capacity * sizeof(struct kept_row);
}
