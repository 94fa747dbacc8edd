/* Stands in for collector/image/image.c at link time: an image per path, no file is opened. */
#include "tests/collector/fake_image.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

struct image_table {
	char **paths;
	uint32_t count;
	uint32_t asked;
};

uint32_t fake_image_asked(const struct image_table *table)
{
	return table->asked;
}

struct image_table *image_table_create(struct emit *emit, struct asker *asker)
{
	(void)asker;
	ck_assert_ptr_nonnull(emit);
	struct image_table *table = calloc(1, sizeof(*table));
	ck_assert_ptr_nonnull(table);
	return table;
}

void image_table_set_recorded(struct image_table *table, uint32_t owner)
{
	(void)table;
	(void)owner;
}

void image_table_destroy(struct image_table *table)
{
	if (!table)
		return;
	for (uint32_t i = 0; i < table->count; i++)
		free(table->paths[i]);
	free(table->paths);
	free(table);
}

bool image_is_anonymous(const struct image_source *source)
{
	return strcmp(source->path, "//anon") == 0;
}

uint32_t image_table_get(struct image_table *table, const struct image_source *source)
{
	ck_assert_uint_lt(source->start, source->end);
	table->asked++;
	for (uint32_t i = 0; i < table->count; i++)
		if (strcmp(table->paths[i], source->path) == 0)
			return i + 1;
	table->paths = realloc(table->paths, (table->count + 1) * sizeof(*table->paths));
	ck_assert_ptr_nonnull(table->paths);
	table->paths[table->count] = strdup(source->path);
	ck_assert_ptr_nonnull(table->paths[table->count]);
	return ++table->count;
}

uint32_t image_table_open(struct image_table *table, uint32_t image,
			  const struct image_place *place)
{
	ck_assert_uint_le(image, table->count);
	ck_assert_uint_lt(place->start, place->end);
	return image;
}

bool image_is_unread(const struct image_table *table, uint32_t image)
{
	ck_assert_uint_le(image, table->count);
	return false;
}

struct uw_module *image_module(const struct image_table *table, uint32_t image)
{
	ck_assert_uint_le(image, table->count);
	return NULL;
}

bool image_is_32bit(const struct image_table *table, uint32_t image)
{
	ck_assert_uint_le(image, table->count);
	return false;
}

const char *image_path(const struct image_table *table, uint32_t image)
{
	return image > 0 && image <= table->count ? table->paths[image - 1] : "";
}
