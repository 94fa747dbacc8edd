/* Sections and streams as a walk finds them. */
#include "tools/memory/xalloc.h"
#include "tools/tb5/print_tb5.h"
#include "tools/tb5/tb5_text.h"
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(offsetof(struct printer, walk) == 0, "a walk stands for its printer");

static struct printer *printer_of(struct tb5_walk *walk)
{
	return (struct printer *)walk;
}

static const char *stream_type(uint64_t type)
{
	static const char *const types[] =
		{"?",           "sampling",     "aggregated",  "bookmark", "bind data",
		 "bind module", "bind process", "bind thread", "custom"};
	return types[type < sizeof(types) / sizeof(types[0]) ? type : 0];
}

static void print_number(char form, uint64_t number)
{
	if (form == 't' && number == UINT64_MAX)
		fputs("never", stdout);
	else if (form == 'i')
		printf("%" PRId64, (int64_t)number);
	else if (form == 'x')
		printf("%#" PRIx64, number);
	else if (form == 'h')
		printf("%" PRIx64, number);
	else if (form == '8')
		printf("%08" PRIx64, number);
	else
		printf("%" PRIu64, form == 'm' ? number & 3 : number);
	if (form == 'y')
		printf(" (%s)", stream_type(number));
}

/* Prints a structure's line, and the lines of the structures below. */
static void print_structure(TBRW_PTR file, enum dat_kind kind, const unsigned char *bytes)
{
	const struct dat_record *record = dat_record_of(kind);
	const struct dat_place *field = record->fields;
	for (const char *at = record->format; *at; at++) {
		if (*at != '%') {
			putchar(*at);
			continue;
		}
		uint64_t number = dat_number(bytes, *field++);
		if (*++at == DAT_TEXT)
			print_string(file, (TBRW_STRING_OR_ID){.soi_uniqueid = number});
		else
			print_number(*at, number);
	}
	if (record->format[0])
		putchar('\n');
	struct dat_array array = dat_array_of(kind, bytes);
	const unsigned char *entry = NULL;
	if (array.pointer)
		memcpy(&entry, bytes + array.place, sizeof(entry));
	for (uint64_t i = 0; entry && i < array.count;
	     i++, entry += dat_record_of(array.kind)->size)
		print_structure(file, array.kind, entry);
}

static void add_field(struct printer *p, const TBRW_SAMPREC_DESC_ENTRY *descriptor)
{
	p->fields = xalloc_resize(p->fields, p->field_count + 1, sizeof(*p->fields));
	p->fields[p->field_count++] =
		(struct field){*descriptor, tb5_text_of(p->walk.file, descriptor->desc_name)};
}

static TBRW_U32 see_record(struct tb5_walk *walk, enum dat_kind kind, const void *record)
{
	struct printer *p = printer_of(walk);
	bool is_entry = kind == DAT_PROCESS || kind == DAT_THREAD || kind == DAT_MODULE ||
			kind == DAT_EVENT;
	if (kind != p->kind)
		print_end_entries(p);
	p->kind = kind;
	if (is_entry && !print_next_entry(p))
		return FALSE;
	if (kind == DAT_DESCRIPTOR)
		add_field(p, record);
	print_structure(walk->file, kind, record);
	return TRUE;
}

static void see_bytes(struct tb5_walk *walk, enum dat_kind kind, unsigned char *bytes,
		      TBRW_U32 size)
{
	if (kind == DAT_SYSTEM)
		print_structure(walk->file, kind, bytes);
	else
		print_bytes(printer_of(walk), bytes, size);
}

static void begin_section(struct tb5_walk *walk, const struct tb5_walk_section *section,
			  TBRW_U32 code)
{
	bool is_global = walk->stream == DAT_NO_STREAM;
	if (is_global)
		printf("[%s]\n", section->name);
	else if (section->name && code == VT_SUCCESS)
		printf("  %s:\n", section->name);
	if (is_global && code == VT_SECTION_NOT_EXIST)
		puts("  (none)");
}

/* Reports an unreadable global section; a stream's section is reported with the stream. */
static TBRW_U32 end_section(struct tb5_walk *walk, const struct tb5_walk_section *section,
			    TBRW_U32 code)
{
	print_end_entries(printer_of(walk));
	if (walk->stream != DAT_NO_STREAM || code == VT_SUCCESS)
		return code;
	printer_of(walk)->status = tb5_text_fail("cannot read the section", section->name, code,
						 "collect again, or recover what is left with "
						 "tbconvert recover");
	return VT_SUCCESS;
}

static TBRW_U32 print_sections(struct printer *p, uint32_t stream)
{
	p->walk = (struct tb5_walk){
		.file = p->walk.file,
		.stream = stream,
		.begin = begin_section,
		.record = see_record,
		.bytes = see_bytes,
		.data = print_data,
		.end = end_section,
	};
	return tb5_walk_sections(&p->walk);
}

void print_global_sections(struct printer *p)
{
	print_sections(p, DAT_NO_STREAM);
}

void print_stream(struct printer *p, TBRW_U32 stream)
{
	TBRW_U32 code = TBRW_reading_stream(p->walk.file, stream);
	char name[32];
	if (code == VT_STREAM_NOT_EXIST)
		return;
	printf("[stream %u]\n", stream);
	p->fields = NULL;
	p->field_count = 0;
	if (code == VT_SUCCESS)
		code = print_sections(p, stream);
	TBRW_done_stream(p->walk.file, stream);
	for (size_t i = 0; i < p->field_count; i++)
		free(p->fields[i].name);
	free(p->fields);
	if (code == VT_SUCCESS)
		return;
	snprintf(name, sizeof(name), "%u", stream);
	p->status = tb5_text_fail("cannot read stream", name, code,
				  "collect again, or recover what is left with tbconvert recover");
}
