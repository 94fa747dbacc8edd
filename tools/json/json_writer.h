/*
 * JSON text written as it comes, without a tree in memory: a file of samples may be larger than
 * memory. The writer places commas and escapes texts; the caller opens and closes what belongs
 * together. The stream has all that was written whenever an array or object is closed. Errors of
 * the stream show in ferror.
 */
#ifndef TOOLS_JSON_JSON_WRITER_H
#define TOOLS_JSON_JSON_WRITER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct json_writer { /* begins with the stream set */
	FILE *stream;
	bool needs_comma;
	unsigned used;
	char ahead[256]; /* not in the stream yet */
};

/* In all calls: name is the member's in an object, NULL for an element of an array and for the
 * outermost value. Texts are well-formed UTF-8, as all texts of a result are. */
void json_open_object(struct json_writer *writer, const char *name);
void json_close_object(struct json_writer *writer);
void json_open_array(struct json_writer *writer, const char *name);
void json_close_array(struct json_writer *writer);

void json_write_text(struct json_writer *writer, const char *name, const char *text);
void json_write_number(struct json_writer *writer, const char *name, uint64_t number);
/* value / 10^digits, exactly: 1500 with 3 digits is 1.500. At most 18 digits. */
void json_write_decimal(struct json_writer *writer, const char *name, uint64_t value,
			unsigned digits);
void json_write_bool(struct json_writer *writer, const char *name, bool value);
void json_write_null(struct json_writer *writer, const char *name);
/* A value that is JSON already. */
void json_write_raw(struct json_writer *writer, const char *name, const char *json, size_t size);

#endif
