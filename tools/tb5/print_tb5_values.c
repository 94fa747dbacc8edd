/* The entries of a stream's data section, by the fields of its descriptors. */
#include "tools/tb5/print_tb5.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void print_sample(const unsigned char *data)
{
	TBRW_SampleRecordPC pc;
	memcpy(&pc, data, sizeof(pc));
	printf(" ip=%#llx flags=%#llx cs=%#x cpu=%u mode=%u tid=%u pid=%u%s event=%u",
	       pc.IA64PC ? pc.iip : pc.eip, pc.IA64PC ? pc.ipsr : pc.eflags, pc.cs, pc.cpuNum,
	       pc.codeMode, pc.tid, pc.pidRecIndex, pc.pidRecIndexRaw ? "" : " (index)",
	       pc.eventIndex);
}

static void print_field(const struct field *field, const unsigned char *entry)
{
	const TBRW_SAMPREC_DESC_ENTRY *d = &field->descriptor;
	const unsigned char *data = entry + d->desc_offset;
	uint64_t value = 0;
	if (d->desc_type == ST_LEGACY_SAMPLE_RECORD &&
	    d->desc_data_size == sizeof(TBRW_SampleRecordPC)) {
		print_sample(data);
		return;
	}
	putchar(' ');
	if (field->name && *field->name)
		print_escaped(field->name);
	else
		printf("@%u", d->desc_offset);
	putchar('=');
	switch (d->desc_data_size) {
	case 1:
	case 2:
	case 4:
	case 8:
		memcpy(&value, data, d->desc_data_size);
		printf("%" PRIu64, value);
		break;
	default:
		for (TBRW_U32 i = 0; i < d->desc_data_size; i++)
			printf("%02x", data[i]);
	}
}

static TBRW_U32 print_text(void *data, TBRW_U32 size, TBRW_U32 count, void *user)
{
	struct printer *p = user;
	(void)size;
	p->cut = count > p->limit - p->index;
	if (p->cut)
		count = (TBRW_U32)(p->limit - p->index);
	print_escaped_piece(&p->text, data, count);
	p->index += count;
	return p->cut ? FALSE : TRUE;
}

static TBRW_U32 print_entries(void *data, TBRW_U32 size, TBRW_U32 count, void *user)
{
	struct printer *p = user;
	const unsigned char *entry = data;
	for (TBRW_U32 i = 0; i < count; i++, entry += size / count) {
		if (!print_next_entry(p))
			return FALSE;
		for (size_t f = 0; f < p->field_count; f++)
			print_field(&p->fields[f], entry);
		putchar('\n');
	}
	return TRUE;
}

TBRW_U32 print_data(struct tb5_walk *walk)
{
	struct printer *p = (struct printer *)walk;
	bool text = p->field_count == 1 && p->fields[0].descriptor.desc_data_size == 1 &&
		    p->fields[0].descriptor.desc_offset == 0;
	/* An incomplete file may lack descriptors; the other sections are worth showing. */
	if (!p->field_count) {
		puts("  (its fields were not described)");
		return VT_SUCCESS;
	}
	if (!text)
		return TBRW_enumerate_data(walk->file, walk->stream, print_entries, p, 0);
	fputs("  \"", stdout);
	TBRW_U32 code = TBRW_enumerate_data(walk->file, walk->stream, print_text, p, 0);
	print_escaped_piece(&p->text, NULL, 0);
	puts("\"");
	return code;
}
