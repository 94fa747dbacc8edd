#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/print_tb5.h"
#include "tools/tb5_text.h"

void print_escaped(const char *utf8, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		unsigned char c = (unsigned char)utf8[i];

		if (c == '"' || c == '\\')
			printf("\\%c", c);
		else if (c == '\n')
			fputs("\\n", stdout);
		else if (c == '\t')
			fputs("\\t", stdout);
		else if (c < 0x20 || c == 0x7f)
			printf("\\x%02x", c);
		else
			putchar(c);
	}
}

void print_string(TBRW_PTR file, const char *name, TBRW_STRING_OR_ID id)
{
	char *text = tb5_text_of(file, id);

	if (!id.soi_uniqueid)
		printf(" %s=-", name);
	else if (!text)
		printf(" %s=(unreadable string %#llx)", name, id.soi_uniqueid);
	else {
		printf(" %s=\"", name);
		print_escaped(text, strlen(text));
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
