#include "profile/read/strpool.h"

#include "profile/base/streams.h"
#include "tbrw/utf8.h"
#include <assert.h>
#include <stdlib.h>

#define BLOCK_SIZE     (64u << 10)
#define BUDGET_FACTOR  4u
#define BUDGET_MINIMUM (64u << 10)

struct profile_strpool_block {
	struct profile_strpool_block *next;
	size_t used;
	size_t size;
	char bytes[];
};

void profile_strpool_finish(struct profile_strpool *pool)
{
	while (pool->blocks) {
		struct profile_strpool_block *next = pool->blocks->next;
		free(pool->blocks);
		pool->blocks = next;
	}
}

static char *pool_reserve(struct profile_strpool *pool, size_t size)
{
	struct profile_strpool_block *block = pool->blocks;

	if (!block || block->size - block->used < size) {
		size_t capacity = size > BLOCK_SIZE ? size : BLOCK_SIZE;
		block = malloc(sizeof(*block) + capacity);
		if (!block)
			return NULL;
		*block = (struct profile_strpool_block){.next = pool->blocks, .size = capacity};
		pool->blocks = block;
	}
	assert(size <= block->size - block->used);
	char *bytes = block->bytes + block->used;
	block->used += size;
	return bytes;
}

const char *profile_strpool_add(struct profile_strpool *pool, const char *s, size_t size)
{
	size_t length = tb5_utf8_clean(s, size, NULL);
	char *out = pool_reserve(pool, length + 1);

	if (!out)
		return NULL;
	tb5_utf8_clean(s, size, out);
	out[length] = '\0';
	return out;
}

struct slot {
	struct hash_slot head;
	uint64_t key;
	const char *string;
};

static bool is_key(const void *slot, const void *key)
{
	const struct slot *known = slot;
	const uint64_t *wanted = key;

	return known->key == *wanted;
}

void profile_strings_finish(struct profile_strings *strings)
{
	profile_strpool_finish(&strings->pool);
	hash_table_finish(&strings->table);
}

const char *profile_strings_get(const struct profile_strings *strings, uint64_t key)
{
	const struct slot *slot = hash_table_find(&strings->table, sizeof(*slot),
						  hash_number(&strings->key, key), is_key, &key);

	return slot ? slot->string : NULL;
}

const char *profile_strings_put(struct profile_strings *strings, uint64_t key, const char *s,
				size_t size)
{
	assert(!profile_strings_get(strings, key));
	if (!strings->table.capacity)
		strings->key = hash_key_draw();
	const char *string = profile_strpool_add(&strings->pool, s, size);
	if (!string)
		return NULL;
	struct slot *slot =
		hash_table_add(&strings->table, sizeof(*slot), hash_number(&strings->key, key));
	if (!slot)
		return NULL;
	slot->key = key;
	slot->string = string;
	return string;
}

void profile_texts_init(struct profile_texts *texts, size_t blob_size)
{
	*texts = (struct profile_texts){
		.budget = (uint64_t)blob_size * BUDGET_FACTOR + BUDGET_MINIMUM,
	};
}

void profile_texts_finish(struct profile_texts *texts)
{
	profile_strings_finish(&texts->strings);
}

static uint64_t text_key(struct profile_text text)
{
	return (uint64_t)text.offset << 32 | text.length;
}

bool profile_texts_add(struct profile_texts *texts, const char *blob, size_t blob_size,
		       struct profile_text *text)
{
	if (text->offset > blob_size || text->length > blob_size - text->offset)
		text->length = 0;
	if (text->length > 0 && profile_strings_get(&texts->strings, text_key(*text)))
		return true;
	if (text->length > texts->budget)
		text->length = 0;
	if (text->length == 0) {
		text->offset = 0;
		return true;
	}
	texts->budget -= text->length;
	return profile_strings_put(&texts->strings, text_key(*text), blob + text->offset,
				   text->length) != NULL;
}

bool profile_texts_make(struct profile_texts *texts, const char *s, struct profile_text *text)
{
	size_t size = tb5_utf8_cut(s, strlen(s), PROFILE_TEXT_MAX);

	*text = (struct profile_text){0};
	if (size == 0 || size > UINT32_MAX - texts->made)
		return true;
	*text = (struct profile_text){texts->made, (uint32_t)size};
	texts->made += text->length;
	return profile_strings_put(&texts->strings, text_key(*text), s, size) != NULL;
}

const char *profile_texts_get(const struct profile_texts *texts, struct profile_text text)
{
	const char *string = profile_strings_get(&texts->strings, text_key(text));

	return string ? string : "";
}
