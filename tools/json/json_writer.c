#include "tools/json/json_writer.h"

#include <assert.h>
#include <string.h>

#define DIGITS_MAX 20u /* of a 64-bit number */

static void flush_ahead(struct json_writer *writer)
{
	fwrite_unlocked(writer->ahead, 1, writer->used, writer->stream);
	writer->used = 0;
}

/* Where the next bytes go, as many as that. */
static char *make_room(struct json_writer *writer, size_t size)
{
	assert(size <= sizeof(writer->ahead));
	if (size > sizeof(writer->ahead) - writer->used)
		flush_ahead(writer);
	return writer->ahead + writer->used;
}

static void put_byte(struct json_writer *writer, char byte)
{
	*make_room(writer, 1) = byte;
	writer->used++;
}

static void put(struct json_writer *writer, const char *bytes, size_t size)
{
	if (size > sizeof(writer->ahead)) {
		flush_ahead(writer);
		fwrite_unlocked(bytes, 1, size, writer->stream);
		return;
	}
	memcpy(make_room(writer, size), bytes, size);
	writer->used += (unsigned)size;
}

static void put_escaped(struct json_writer *writer, unsigned char c)
{
	char text[8];
	if (c == '"' || c == '\\')
		snprintf(text, sizeof(text), "\\%c", c);
	else
		snprintf(text, sizeof(text), "\\u%04x", c);
	put(writer, text, strlen(text));
}

/* RFC 8259, section 7: quotation mark, backslash and the control characters below U+0020 must be
 * escaped. DEL may be, and then no terminal sees one. */
static bool must_escape(unsigned char c)
{
	return c == '"' || c == '\\' || c < 0x20 || c == 0x7f;
}

static void put_text(struct json_writer *writer, const char *text)
{
	put_byte(writer, '"');
	while (*text) {
		size_t plain = 0;
		while (text[plain] && !must_escape((unsigned char)text[plain]))
			plain++;
		put(writer, text, plain);
		text += plain;
		if (*text)
			put_escaped(writer, (unsigned char)*text++);
	}
	put_byte(writer, '"');
}

static void begin_value(struct json_writer *writer, const char *name)
{
	if (writer->needs_comma)
		put_byte(writer, ',');
	if (name) {
		put_text(writer, name);
		put_byte(writer, ':');
	}
	writer->needs_comma = true;
}

static void open_group(struct json_writer *writer, const char *name, char bracket)
{
	begin_value(writer, name);
	put_byte(writer, bracket);
	writer->needs_comma = false;
}

static void close_group(struct json_writer *writer, char bracket)
{
	put_byte(writer, bracket);
	flush_ahead(writer);
	writer->needs_comma = true;
}

void json_open_object(struct json_writer *writer, const char *name)
{
	open_group(writer, name, '{');
}

void json_close_object(struct json_writer *writer)
{
	close_group(writer, '}');
}

void json_open_array(struct json_writer *writer, const char *name)
{
	open_group(writer, name, '[');
}

void json_close_array(struct json_writer *writer)
{
	close_group(writer, ']');
}

void json_write_text(struct json_writer *writer, const char *name, const char *text)
{
	begin_value(writer, name);
	put_text(writer, text);
}

/* The digits, at least one more than asked for, before text + DIGITS_MAX. Returns the first. */
static const char *make_digits(char text[DIGITS_MAX], uint64_t value, unsigned digits)
{
	static const char pairs[] = "00010203040506070809101112131415161718192021222324"
				    "25262728293031323334353637383940414243444546474849"
				    "50515253545556575859606162636465666768697071727374"
				    "75767778798081828384858687888990919293949596979899";
	char *first = text + DIGITS_MAX;
	for (; value >= 100; value /= 100)
		memcpy(first -= 2, pairs + 2 * (value % 100), 2);
	if (value >= 10)
		memcpy(first -= 2, pairs + 2 * value, 2);
	else
		*--first = (char)('0' + value);
	while (first + digits >= text + DIGITS_MAX)
		*--first = '0';
	return first;
}

/* value / 10^digits. Samples are numbers by the hundred million: copies of one size, with bytes too
 * many, take a third of the time of loops. */
static void put_decimal(struct json_writer *writer, uint64_t value, unsigned digits)
{
	char text[2 * DIGITS_MAX] = {0};
	const char *first = make_digits(text, value, digits);
	size_t whole = (size_t)(text + DIGITS_MAX - first) - digits;
	char *room = make_room(writer, 2 * DIGITS_MAX + 1);
	memcpy(room, first, DIGITS_MAX);
	writer->used += (unsigned)whole;
	if (digits == 0)
		return;
	room[whole] = '.';
	memcpy(room + whole + 1, first + whole, DIGITS_MAX);
	writer->used += 1 + digits;
}

void json_write_number(struct json_writer *writer, const char *name, uint64_t number)
{
	begin_value(writer, name);
	put_decimal(writer, number, 0);
}

void json_write_decimal(struct json_writer *writer, const char *name, uint64_t value,
			unsigned digits)
{
	assert(digits < DIGITS_MAX - 1);
	begin_value(writer, name);
	put_decimal(writer, value, digits);
}

void json_write_bool(struct json_writer *writer, const char *name, bool value)
{
	const char *text = value ? "true" : "false";
	begin_value(writer, name);
	put(writer, text, strlen(text));
}

void json_write_null(struct json_writer *writer, const char *name)
{
	begin_value(writer, name);
	put(writer, "null", 4);
}

void json_write_raw(struct json_writer *writer, const char *name, const char *json, size_t size)
{
	begin_value(writer, name);
	put(writer, json, size);
}
