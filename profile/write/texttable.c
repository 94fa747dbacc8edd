#include "profile/write/texttable.h"

#include "tbrw/utf8.h"
#include <string.h>

/* Returns the size that is left. */
static size_t cut_text(char *text, size_t size)
{
	static const char mark[] = PROFILE_TEXT_CUT;
	enum { MARK_SIZE = sizeof(mark) - 1 }; /* texts have no terminators */
	if (size <= PROFILE_TEXT_MAX)
		return size;
	size_t cut = tb5_utf8_cut(text, size, PROFILE_TEXT_MAX - MARK_SIZE);
	memcpy(text + cut, mark, MARK_SIZE);
	return cut + MARK_SIZE;
}

enum profile_text_status profile_text_add(struct text_set *set, const char *s,
					  struct profile_text *text)
{
	*text = (struct profile_text){0};
	if (!s || !*s)
		return PROFILE_TEXT_KNOWN;
	size_t raw = strnlen(s, PROFILE_TEXT_MAX + 1);
	if (!array_reserve(&set->bytes, &set->capacity, set->size + 3 * raw, 1))
		return PROFILE_TEXT_NO_MEMORY;

	/* Cleaned in place behind the last text, where a new one stays. */
	char *clean = set->bytes + set->size;
	size_t size = tb5_utf8_clean(s, raw, clean);
	size = cut_text(clean, size);
	struct text_slot *known = text_set_enter(set, set->size, (uint32_t)size);
	if (!known)
		return PROFILE_TEXT_NO_MEMORY;
	bool is_new = known->offset == set->size;
	if (is_new && set->size + size > INT32_MAX) {
		hash_table_remove(&set->table, sizeof(*known), known);
		return PROFILE_TEXT_KNOWN;
	}
	*text = (struct profile_text){(uint32_t)known->offset, known->size};
	if (!is_new)
		return PROFILE_TEXT_KNOWN;
	set->size += size;
	return PROFILE_TEXT_NEW;
}
