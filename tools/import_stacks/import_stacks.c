#include "tools/import_stacks/import_stacks.h"

#include "tbrw/tbrw.h"
#include "tools/import_stacks/load.h"
#include "tools/import_stacks/wire.h"
#include "tools/terminal/diagnose.h"
#include <stdlib.h>
#include <string.h>

typedef int load_function(const struct import_input *input, struct stack_result *result,
			  struct stack_run *run);

static int import(const struct import_input *input, const char *path, const char *name,
		  load_function *load)
{
	char text[DIAGNOSE_CODE_SIZE];
	struct stack_run run = {0};
	struct stack_result *result = stack_result_create();
	int status = load(input, result, &run);
	if (status == 0) {
		TBRW_U32 code = stack_result_write(result, path, &run);
		if (code != VT_SUCCESS) {
			diagnose("cannot write %s: %s", name, diagnose_code(code, text));
			status = EXIT_FAILURE;
		}
	}
	stack_result_destroy(result);
	return status;
}

int import_pprof_read(const struct import_input *input, const char *path, const char *name,
		      struct import_events *events)
{
	(void)events;
	return import(input, path, name, load_pprof);
}

int import_folded_read(const struct import_input *input, const char *path, const char *name,
		       struct import_events *events)
{
	(void)events;
	return import(input, path, name, load_folded);
}

/* By number and type, as profile.proto has them. */
static bool is_field(const struct wire_field *field)
{
	static const char types[] = " mmmmmmvvvvmvbvv"; /* messages and texts, numbers, both */
	if (field->number == 0 || field->number >= sizeof(types) - 1)
		return false;
	char type = types[field->number];
	return (field->type == WIRE_LENGTH && type != 'v') ||
	       (field->type == WIRE_VARINT && type != 'm');
}

/* gzip, or fields of a profile up to the head's end. */
bool import_pprof_recognizes(const uint8_t *head, size_t size)
{
	uint8_t *bytes = (uint8_t *)(uintptr_t)head; /* only read */
	struct wire wire = {.at = bytes, .end = bytes + size};
	struct wire_field field;
	size_t count = 0;
	if (size >= 3 && head[0] == 0x1f && head[1] == 0x8b && head[2] == 8)
		return true;
	while (wire_next(&wire, &field)) {
		if (!is_field(&field))
			return false;
		count++;
	}
	/* The head may end within a field. */
	return count > 0 && (!wire.is_damaged || field.number == 0 || is_field(&field));
}

static bool is_text(const uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (bytes[i] < 0x20 && bytes[i] != '\t' && bytes[i] != '\n' && bytes[i] != '\r')
			return false;
	}
	return true;
}

static bool is_digit(uint8_t byte)
{
	return byte >= '0' && byte <= '9';
}

/* A line with a number behind its last space; of a line longer than the head, one with parts. */
static bool is_stack(const uint8_t *line, size_t size, bool is_whole)
{
	size_t digits = 0;
	if (!is_whole)
		return memchr(line, ';', size) != NULL;
	if (size > 0 && line[size - 1] == '\r')
		size--;
	while (digits < size && is_digit(line[size - 1 - digits]))
		digits++;
	return digits > 0 && size - digits > 1 && line[size - 1 - digits] == ' ';
}

bool import_folded_recognizes(const uint8_t *head, size_t size)
{
	const uint8_t *line = head;
	const uint8_t *end = head + size;
	if (!is_text(head, size))
		return false;
	while (line < end) {
		const uint8_t *next = memchr(line, '\n', (size_t)(end - line));
		size_t length = (size_t)((next ? next : end) - line);
		if (length > 0 && line[0] != '#')
			return is_stack(line, length, next || size < IMPORT_HEAD_SIZE);
		line = next ? next + 1 : end;
	}
	return false;
}
