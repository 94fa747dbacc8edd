/* The data is a text of JSON and columns of numbers, in gzip and base64. */
#include "tools/page/page_file.h"

#include "tools/memory/xalloc.h"
#include "tools/page/page_base64.h"
#include "tools/page/page_template.h"
#include "tools/pprof/gzip.h"
#include <stdint.h>
#include <stdlib.h>

/* The first bytes of the data: its version. */
#define MAGIC "tbpage2\n"

static void write_columns(const struct page_columns *columns, struct json_writer *json)
{
	json_open_array(json, "columns");
	for (enum page_column_id i = 0; i < PAGE_COLUMN_COUNT; i++) {
		json_open_object(json, NULL);
		json_write_text(json, "name", page_columns_name(i));
		json_write_number(json, "count", columns->columns[i].count);
		json_write_number(json, "bytes", columns->columns[i].size);
		json_close_object(json);
	}
	json_close_array(json);
}

/* The caller frees the text. */
static char *make_json(const struct page_columns *columns, page_file_add *add, void *user,
		       size_t *size)
{
	char *text = NULL;
	struct json_writer json = {.stream = open_memstream(&text, size)};
	if (!json.stream)
		xalloc_fail();
	json_open_object(&json, NULL);
	json_write_text(&json, "version", TBCOLLECT_VERSION);
	add(&json, user);
	write_columns(columns, &json);
	json_close_object(&json);
	if (fclose(json.stream) != 0)
		xalloc_fail();
	return text;
}

static void compress(const struct page_columns *columns, const char *json, size_t size,
		     FILE *stream)
{
	const uint8_t length[4] = {(uint8_t)size, (uint8_t)(size >> 8), (uint8_t)(size >> 16),
				   (uint8_t)(size >> 24)};
	struct gzip *gzip = gzip_create(stream);
	gzip_write(gzip, MAGIC, sizeof(MAGIC) - 1);
	gzip_write(gzip, length, sizeof(length));
	gzip_write(gzip, json, size);
	for (size_t i = 0; i < PAGE_COLUMN_COUNT; i++)
		gzip_write(gzip, columns->columns[i].bytes, columns->columns[i].size);
	gzip_finish(gzip);
}

void page_file_write(const struct page_columns *columns, page_file_add *add, void *user,
		     FILE *stream)
{
	const struct page_template template = page_template_get();
	char *packed = NULL;
	size_t packed_size = 0;
	size_t size = 0;
	char *json = make_json(columns, add, user, &size);
	FILE *packing = open_memstream(&packed, &packed_size);
	if (!packing)
		xalloc_fail();
	compress(columns, json, size, packing);
	/* Its length has 32 bits. */
	if (fclose(packing) != 0 || size > UINT32_MAX)
		xalloc_fail();
	fwrite(template.before, 1, template.before_size, stream);
	page_base64_write((const uint8_t *)packed, packed_size, stream);
	fwrite(template.after, 1, template.after_size, stream);
	free(packed);
	free(json);
}
