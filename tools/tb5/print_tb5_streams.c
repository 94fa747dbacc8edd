/* The sections of a stream other than its data. */
#include "tools/tb5/print_tb5.h"
#include "tools/tb5/tb5_text.h"
#include <stdio.h>
#include <stdlib.h>

static TBRW_U32 print_stream_info(struct printer *p, TBRW_U32 stream)
{
	static const char *const types[] =
		{"?",           "sampling",     "aggregated",  "bookmark", "bind data",
		 "bind module", "bind process", "bind thread", "custom"};
	TBRW_STREAM_INFO info;
	TBRW_U32 code = TBRW_get_stream_info(p->file, stream, sizeof(info), &info, NULL);

	if (code != VT_SUCCESS)
		return code;
	printf("  type=%u (%s) duration_ms=%u interval_us=%u start=0x%x%08x end=0x%x%08x",
	       info.stream_type, types[info.stream_type <= 8 ? info.stream_type : 0],
	       info.sampling_duration, info.sampling_interval,
	       info.sampling_start_time.dwHighDateTime, info.sampling_start_time.dwLowDateTime,
	       info.sampling_end_time.dwHighDateTime, info.sampling_end_time.dwLowDateTime);
	print_string(p->file, "comment", info.comment);
	print_string(p->file, "command_line", info.command_line);
	print_string(p->file, "cpu_mask", info.cpu_mask);
	putchar('\n');
	return VT_SUCCESS;
}

static TBRW_U32 print_events(TBRW_EVENT *event, TBRW_U32 size, TBRW_U32 count, void *user)
{
	struct printer *p = user;

	(void)size;
	(void)count;
	if (!print_next_entry(p))
		return FALSE;
	printf(" event id=%u flags=%#x sample_after=%llu", event->event_id, event->event_flags,
	       event->event_sav);
	print_string(p->file, "name", event->event_name);
	print_string(p->file, "arch", event->event_arch_name);
	putchar('\n');
	for (TBRW_U32 i = 0; i < event->event_num_details; i++) {
		const TBRW_EVENT_DETAIL *d = &event->event_detail_array[i];

		printf("      detail: method=%u access=%u bits=%u address=%#llx value=%#llx "
		       "command=%u\n",
		       d->detail_method, d->detail_access, d->detail_access_size, d->detail_address,
		       d->detail_value, d->legacy_command);
	}
	return TRUE;
}

static TBRW_U32 print_event_section(struct printer *p, TBRW_U32 stream)
{
	puts("  events:");
	return TBRW_enumerate_events(p->file, stream, print_events, p, 0);
}

static TBRW_U32 add_fields(TBRW_SAMPREC_DESC_ENTRY *descriptors, TBRW_U32 size, TBRW_U32 count,
			   void *user)
{
	struct printer *p = user;
	struct field *grown = realloc(p->fields, (p->field_count + count) * sizeof(*grown));

	(void)size;
	if (!grown) {
		p->no_memory = true;
		return FALSE;
	}
	p->fields = grown;
	for (TBRW_U32 i = 0; i < count; i++) {
		const TBRW_SAMPREC_DESC_ENTRY *d = &descriptors[i];

		p->fields[p->field_count++] =
			(struct field){*d, tb5_text_of(p->file, d->desc_name)};
		printf("  field offset=%u size=%u type=%#x subtype=%#x", d->desc_offset,
		       d->desc_data_size, d->desc_type, d->desc_subtype);
		print_string(p->file, "name", d->desc_name);
		putchar('\n');
	}
	return TRUE;
}

static TBRW_U32 print_descriptors(struct printer *p, TBRW_U32 stream)
{
	TBRW_U32 code = TBRW_enumerate_data_descriptor_entries(p->file, stream, add_fields, p);

	return p->no_memory ? VT_NO_MEMORY : code;
}

static TBRW_U32 print_user_stream(struct printer *p, TBRW_U32 stream)
{
	TBRW_U32 size = 0;
	TBRW_U32 code = TBRW_get_user_defined_stream(p->file, stream, 0, NULL, &size);

	puts("  user-defined:");
	if (code == VT_BUFFER_NULL && size == 0) {
		print_bytes(p, NULL, 0);
		return VT_SUCCESS;
	}
	if (code != VT_BUFFER_TOO_SMALL)
		return code;
	unsigned char *data = malloc(size);
	if (!data)
		return VT_NO_MEMORY;
	code = TBRW_get_user_defined_stream(p->file, stream, size, data, NULL);
	if (code == VT_SUCCESS)
		print_bytes(p, data, size);
	free(data);
	return code;
}

struct stream_section {
	TBRW_STREAM_SECTION_IDENTIFIER id;
	TBRW_U32 (*print)(struct printer *p, TBRW_U32 stream);
};

/* The descriptors come before the data, which is printed by them. */
static const struct stream_section stream_sections[] = {
	{TBRW_STREAM_INFO_SECTION, print_stream_info},
	{TBRW_EVENT_DESCRIPTION_SECTION, print_event_section},
	{TBRW_DATA_DESCRIPTION_SECTION, print_descriptors},
	{TBRW_DATA_SECTION, print_data},
	{TBRW_USER_DEFINED_STREAM_SECTION, print_user_stream},
};

static TBRW_U32 print_stream_sections(struct printer *p, TBRW_U32 stream)
{
	TBRW_U32 code = VT_SUCCESS;

	for (size_t i = 0; i < sizeof(stream_sections) / sizeof(*stream_sections); i++) {
		const struct stream_section *s = &stream_sections[i];

		code = TBRW_reading_stream_section(p->file, stream, s->id);
		if (code == VT_SECTION_NOT_EXIST) {
			code = VT_SUCCESS;
			continue;
		}
		if (code == VT_SUCCESS)
			code = s->print(p, stream);
		print_end_entries(p);
		TBRW_done_stream_section(p->file, stream, s->id);
		if (code != VT_SUCCESS)
			break;
	}
	return code;
}

int print_stream(struct printer *p, TBRW_U32 stream)
{
	TBRW_U32 code = TBRW_reading_stream(p->file, stream);
	char name[32];

	if (code == VT_STREAM_NOT_EXIST)
		return EXIT_SUCCESS;
	printf("[stream %u]\n", stream);
	p->fields = NULL;
	p->field_count = 0;
	if (code == VT_SUCCESS)
		code = print_stream_sections(p, stream);
	TBRW_done_stream(p->file, stream);
	for (size_t i = 0; i < p->field_count; i++)
		free(p->fields[i].name);
	free(p->fields);
	if (code == VT_SUCCESS)
		return EXIT_SUCCESS;
	snprintf(name, sizeof(name), "%u", stream);
	return tb5_text_fail("cannot read stream", name, code,
			     "collect again, or recover what is left with tbconvert recover");
}
