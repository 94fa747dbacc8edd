#include "tools/external/csv.h"

#include "containers/hash.h"
#include "tools/memory/xalloc.h"
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Read at once; checksums are of blocks of this size. */
#define BLOCK_SIZE (1u << 20)

/* Changes of a file are to be seen, nobody is to be kept out: the key is no secret. */
static void add_checksum(struct csv *csv, const char *bytes, size_t size)
{
	static const struct hash_key key = {{0x7462636f6c6c6563, 0x742d65787465726e}};

	csv->size += size;
	if (size > 0)
		csv->checksum = csv->checksum * 0x9e3779b97f4a7c15 + hash_bytes(&key, bytes, size);
}

/* Reads a whole block, if there is one, behind the bytes that are left. false: nothing more. */
static bool fill_buffer(struct csv *csv)
{
	if (csv->is_at_end)
		return false;
	if (csv->start > 0) {
		memmove(csv->buffer, csv->buffer + csv->start, csv->end - csv->start);
		csv->end -= csv->start;
		csv->start = 0;
	}
	/* One more for the NUL behind the last field. */
	xalloc_room(&csv->buffer, &csv->buffer_capacity, csv->end + BLOCK_SIZE + 1, 1);
	size_t got = 0;
	while (got < BLOCK_SIZE) {
		ssize_t n = read(csv->fd, csv->buffer + csv->end + got, BLOCK_SIZE - got);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			csv->error = errno;
		if (n <= 0) {
			csv->is_at_end = true;
			break;
		}
		got += (size_t)n;
	}
	add_checksum(csv, csv->buffer + csv->end, got);
	csv->end += got;
	return got > 0;
}

/* The place where a scan is. */
struct scan {
	const char *at;
	const char *limit;
	const char *line_start;
	uint32_t line; /* from the row's on */
};

enum scan_status { SCAN_FIELD, SCAN_LAST, SCAN_MORE, SCAN_BAD };

/* Behind the opening quote. The field's place is known. */
static enum scan_status scan_quoted(struct csv *csv, struct scan *scan, struct csv_field *field)
{
	const char *open = scan->at - 1;
	for (;;) {
		size_t left = (size_t)(scan->limit - scan->at);
		const char *quote = memchr(scan->at, '"', left);
		const char *end = quote ? quote : scan->limit;
		if ((size_t)(end - open) > CSV_ROW_MAX || (!quote && csv->is_at_end)) {
			csv->problem = "a quote that opens here does not close";
			csv->at = *field;
			return SCAN_BAD;
		}
		for (const char *line; (line = memchr(scan->at, '\n', (size_t)(end - scan->at)));) {
			scan->at = line + 1;
			scan->line_start = line + 1;
			scan->line++;
		}
		/* The byte behind the quote tells whether it closes. */
		if (!quote || (quote + 1 == scan->limit && !csv->is_at_end))
			return SCAN_MORE;
		scan->at = quote + 1;
		if (scan->at == scan->limit || *scan->at != '"')
			break;
		scan->at++;
	}
	field->raw_size = (uint32_t)(scan->at - open);
	return SCAN_FIELD;
}

/* Finds the field's end: behind it is a comma, the end of the line or the end of the file. */
static enum scan_status scan_field(struct csv *csv, struct scan *scan, struct csv_field *field)
{
	field->column = (uint32_t)(scan->at - scan->line_start) + 1;
	field->line = scan->line;
	if (scan->at < scan->limit && *scan->at == '"') {
		scan->at++;
		enum scan_status status = scan_quoted(csv, scan, field);
		if (status != SCAN_FIELD)
			return status;
		if (scan->at < scan->limit && *scan->at == '\r')
			scan->at++;
	} else {
		const char *begin = scan->at;
		while (scan->at < scan->limit && *scan->at != ',' && *scan->at != '\n')
			scan->at++;
		field->raw_size = (uint32_t)(scan->at - begin);
		if (scan->at > begin && scan->at[-1] == '\r' &&
		    (scan->at == scan->limit || *scan->at == '\n'))
			field->raw_size--;
	}
	if (scan->at == scan->limit)
		return csv->is_at_end ? SCAN_LAST : SCAN_MORE;
	if (*scan->at == '\n')
		return SCAN_LAST;
	if (*scan->at == ',')
		return SCAN_FIELD;
	csv->problem = "text behind a closing quote";
	csv->at = *field;
	return SCAN_BAD;
}

/* The fields of the row at the start of the buffer, as far as the buffer goes. */
static enum scan_status scan_row(struct csv *csv, struct scan *scan)
{
	enum scan_status status = SCAN_FIELD;
	csv->count = 0;
	while (status == SCAN_FIELD) {
		xalloc_room(&csv->fields, &csv->field_capacity, csv->count + 1,
			    sizeof(*csv->fields));
		struct csv_field *field = &csv->fields[csv->count++];
		field->text = csv->buffer + (scan->at - csv->buffer);
		status = scan_field(csv, scan, field);
		if (status == SCAN_FIELD)
			scan->at++; /* the comma */
	}
	return status;
}

/* Takes the quotes away and ends the texts, in place: the row is whole, nobody scans it again. */
static void end_texts(struct csv *csv)
{
	for (size_t i = 0; i < csv->count; i++) {
		struct csv_field *field = &csv->fields[i];
		field->size = field->raw_size;
		if (field->raw_size > 0 && field->text[0] == '"') {
			const char *from = field->text + 1,
				   *end = field->text + field->raw_size - 1;
			char *to = field->text;
			while (from < end) {
				*to++ = *from;
				from += *from == '"' ? 2 : 1;
			}
			field->size = (uint32_t)(to - field->text);
		}
		field->text[field->size] = '\0';
	}
}

/* Skips to the start of the next line, without keeping what is between. */
static void skip_line(struct csv *csv)
{
	for (;;) {
		size_t left = csv->end - csv->start;
		const char *end = left ? memchr(csv->buffer + csv->start, '\n', left) : NULL;
		if (end) {
			csv->start = (size_t)(end - csv->buffer) + 1;
			csv->next_line++;
			return;
		}
		csv->start = csv->end;
		if (!fill_buffer(csv))
			return;
	}
}

static void begin_file(struct csv *csv)
{
	csv->is_begun = true;
	fill_buffer(csv);
	if (csv->end >= 3 && memcmp(csv->buffer, "\xef\xbb\xbf", 3) == 0)
		csv->start = 3;
}

static enum csv_status take_bad_row(struct csv *csv)
{
	skip_line(csv);
	return csv->error ? CSV_FAILED : CSV_BAD;
}

/* Scans the row at the start, which gets as many blocks as it needs. */
static enum scan_status scan_whole_row(struct csv *csv, struct scan *scan)
{
	for (;;) {
		scan->at = scan->line_start = csv->buffer + csv->start;
		scan->limit = csv->buffer + csv->end;
		scan->line = 0;
		enum scan_status status = scan_row(csv, scan);
		if (status != SCAN_MORE)
			return status;
		if (csv->end - csv->start > CSV_ROW_MAX) {
			csv->problem = "a row of more than 1 MB";
			csv->at = csv->fields[0];
			return SCAN_BAD;
		}
		fill_buffer(csv);
	}
}

enum csv_status csv_next(struct csv *csv)
{
	struct scan scan;
	if (!csv->is_begun)
		begin_file(csv);
	for (;;) {
		if (csv->start == csv->end && !fill_buffer(csv))
			return csv->error ? CSV_FAILED : CSV_END;
		csv->line = csv->next_line + 1;
		enum scan_status status = scan_whole_row(csv, &scan);
		if (status == SCAN_BAD)
			return take_bad_row(csv);
		if (csv->error)
			return CSV_FAILED;
		csv->next_line += scan.line + 1;
		csv->start = (size_t)(scan.at - csv->buffer);
		if (csv->start < csv->end)
			csv->start++; /* the end of the line */
		end_texts(csv);
		if (csv->count > 1 || csv->fields[0].raw_size > 0)
			return CSV_ROW;
	}
}

int csv_skip(struct csv *csv)
{
	csv->is_begun = true;
	do
		csv->start = csv->end;
	while (fill_buffer(csv));
	return csv->error;
}

void csv_finish(struct csv *csv)
{
	free(csv->buffer);
	free(csv->fields);
}
