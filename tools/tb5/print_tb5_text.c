#include "tools/memory/xalloc.h"
#include "tools/tb5/print_tb5.h"
#include "tools/tb5/tb5_text.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void print_escaped_piece(struct terminal_filter *filter, const char *utf8, size_t size)
{
	char *escaped = utf8 ? xalloc_zeroed(size + 1, 2) : NULL;
	size_t length = 0;
	for (size_t i = 0; utf8 && i < size; i++) {
		char c = utf8[i];
		if (c == '"' || c == '\\' || c == '\n' || c == '\t')
			escaped[length++] = '\\';
		escaped[length++] = c == '\n' ? 'n' : c == '\t' ? 't' : c;
	}
	char *shown = terminal_filter_piece(filter, escaped, length, &length);
	fwrite(shown, 1, length, stdout);
	free(shown);
	free(escaped);
}

void print_escaped(const char *utf8)
{
	struct terminal_filter filter = {.held_size = 0};
	print_escaped_piece(&filter, utf8, strlen(utf8));
	print_escaped_piece(&filter, NULL, 0);
}

void print_string(TBRW_PTR file, TBRW_STRING_OR_ID id)
{
	char *text = tb5_text_of(file, id);
	if (!id.soi_uniqueid)
		putchar('-');
	else if (!text)
		printf("(unreadable string %#llx)", id.soi_uniqueid);
	else {
		putchar('"');
		print_escaped(text);
		putchar('"');
	}
	free(text);
}

void print_bytes(struct printer *p, const unsigned char *data, TBRW_U32 size)
{
	printf("  %u bytes\n", size);
	for (TBRW_U32 i = 0; i < size; i += 16) {
		if (!print_next_entry(p))
			return;
		for (TBRW_U32 j = i; j < size && j < i + 16; j++)
			printf(" %02x", data[j]);
		putchar('\n');
	}
}

bool print_next_entry(struct printer *p)
{
	p->cut = p->index >= p->limit;
	if (p->cut)
		return false;
	printf("  %" PRIu64 ":", p->index++);
	return true;
}

void print_end_entries(struct printer *p)
{
	if (p->cut)
		printf("  (limited to %" PRIu64 " entries)\n", p->limit);
	p->cut = false;
	p->index = 0;
}
