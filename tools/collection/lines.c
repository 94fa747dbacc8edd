#include "tools/collection/lines.h"

#include "tools/memory/xalloc.h"
#include "tools/table/table_format.h"
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define ROOM_MIN 20u /* columns beside the labels, however narrow the terminal is */

static const char warning[] = "Warning: ";

void lines_begin(struct lines *lines)
{
	*lines = (struct lines){0};
	lines->stream = open_memstream(&lines->text, &lines->size);
	if (!lines->stream)
		xalloc_fail();
}

void lines_label(FILE *stream, const char *label)
{
	fprintf(stream, "%-*s", LINES_LABEL_WIDTH, label);
}

/* Bytes of the first words that fit in `room` columns; at least one word. */
static size_t count_fitting(const char *text, size_t room)
{
	size_t end = strspn(text, " ");
	end += strcspn(text + end, " ");
	for (size_t next = end; text[next]; end = next) {
		next += strspn(text + next, " ");
		next += strcspn(text + next, " ");
		char *part = xalloc_text_of(text, next);
		bool is_fitting = table_format_columns(part) <= room;
		free(part);
		if (!is_fitting)
			break;
	}
	return end;
}

static void print_line(const char *line, size_t indent, unsigned width, FILE *stream)
{
	size_t room = width > indent + ROOM_MIN ? width - indent : ROOM_MIN;
	size_t label = strnlen(line, indent);
	fwrite(line, 1, label, stream);
	line += label;
	while (width > 0 && table_format_columns(line) > room) {
		size_t taken = count_fitting(line, room);
		if (line[taken] == '\0')
			break;
		fwrite(line, 1, taken, stream);
		fprintf(stream, "\n%*s", (int)indent, "");
		line += taken + strspn(line + taken, " ");
	}
	fprintf(stream, "%s\n", line);
}

void lines_end(struct lines *lines, size_t indent, unsigned width, FILE *stream)
{
	if (fclose(lines->stream) != 0)
		xalloc_fail();
	for (char *line = lines->text; *line;) {
		char *end = line + strcspn(line, "\n");
		char *next = *end ? end + 1 : end;
		bool is_warning = strncmp(line, warning, sizeof(warning) - 1) == 0;
		*end = '\0';
		print_line(line, is_warning ? sizeof(warning) - 1 : indent, width, stream);
		line = next;
	}
	free(lines->text);
}
