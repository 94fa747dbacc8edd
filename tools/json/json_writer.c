#include "tools/json/json_writer.h"

#include <assert.h>
#include <string.h>

#define DIGITS_MAX 20u /* of a 64-bit number */

static void put(const struct json_writer *writer, const char *bytes, size_t size)
{
	fwrite_unlocked(bytes, 1, size, writer->stream);
}

static void put_escaped(const struct json_writer *writer, unsigned char c)
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

static void put_text(const struct json_writer *writer, const char *text)
{
	putc_unlocked('"', writer->stream);
	while (*text) {
		size_t plain = 0;
		while (text[plain] && !must_escape((unsigned char)text[plain]))
			plain++;
		put(writer, text, plain);
		text += plain;
		if (*text)
			put_escaped(writer, (unsigned char)*text++);
	}
	putc_unlocked('"', writer->stream);
}

static void begin_value(struct json_writer *writer, const char *name)
{
	if (writer->needs_comma)
		putc_unlocked(',', writer->stream);
	if (name) {
		put_text(writer, name);
		putc_unlocked(':', writer->stream);
	}
	writer->needs_comma = true;
}

static void open_group(struct json_writer *writer, const char *name, char bracket)
{
	begin_value(writer, name);
	putc_unlocked(bracket, writer->stream);
	writer->needs_comma = false;
}

static void close_group(struct json_writer *writer, char bracket)
{
	putc_unlocked(bracket, writer->stream);
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

/* value / 10^digits. Samples are numbers by the hundred million: fprintf takes four times as long,
 * and fwrite twice, for texts that short. */
static void put_decimal(const struct json_writer *writer, uint64_t value, unsigned digits)
{
	char text[DIGITS_MAX + 1];
	unsigned first = sizeof(text);
	for (unsigned place = 0; value > 0 || place <= digits; place++) {
		if (place > 0 && place == digits)
			text[--first] = '.';
		text[--first] = (char)('0' + value % 10);
		value /= 10;
	}
	for (; first < sizeof(text); first++)
		putc_unlocked(text[first], writer->stream);
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
