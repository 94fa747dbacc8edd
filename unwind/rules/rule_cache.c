#include "unwind/rules/rule_cache.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static_assert(sizeof(struct uw_code) == 32, "a slot fills half a cache line");
static_assert(UW_CACHE_EPOCH_MAX * 2 + 1 <= UINT16_MAX, "uw_cache_key has 16 bits");

struct uw_rule_cache *uw_rule_cache_create(void)
{
	struct uw_rule_cache *cache = calloc(1, sizeof(*cache));

	if (cache)
		cache->references = 1;
	return cache;
}

struct uw_rule_cache *uw_rule_cache_ref(struct uw_rule_cache *cache)
{
	cache->references++;
	return cache;
}

void uw_rule_cache_unref(struct uw_rule_cache *cache)
{
	assert(!cache || cache->references > 0);
	if (!cache || --cache->references > 0)
		return;
	free(cache->rows);
	free(cache->calls);
	free(cache);
}

/* Epochs are used again: all entries of earlier ones have to go. */
static void begin_era(struct uw_rule_cache *cache)
{
	memset(cache->slots, 0, sizeof(cache->slots));
	free(cache->rows);
	free(cache->calls);
	cache->rows = NULL;
	cache->calls = NULL;
	cache->epoch = 0;
	cache->era++;
}

uint16_t uw_rule_cache_epoch(struct uw_rule_cache *cache)
{
	if (cache->epoch == UW_CACHE_EPOCH_MAX)
		begin_era(cache);
	return ++cache->epoch;
}
