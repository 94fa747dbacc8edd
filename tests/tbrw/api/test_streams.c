/* The sections of streams: what is written is read back, and what the state does not allow is
 * refused. */
#include "tests/tbrw/support.h"
#include <stdlib.h>
#include <string.h>

START_TEST(stream_states)
{
	TBRW_PTR ptr = open_file("a.tb5", CREATE);
	const TBRW_STREAM_SECTION_IDENTIFIER unknown = (TBRW_STREAM_SECTION_IDENTIFIER)5;
	TBRW_STREAM_INFO info = stream_info_of(TBRW_CUSTOM_STREAM, L"c");
	TBRW_SAMPREC_DESC_ENTRY d = descriptor_of(ST_EVENT_ID, SST_NONE, 0, 4, L"event");
	uint32_t value = 0;

	FAILS(TBRW_reading_stream(ptr, 0), VT_STREAM_NOT_EXIST);
	FAILS(TBRW_done_stream(ptr, 0), VT_STREAM_NOT_EXIST);
	FAILS(TBRW_writing_stream(ptr, 1), VT_INVALID_STREAM);
	OK(TBRW_writing_stream(ptr, 0));
	FAILS(TBRW_writing_stream(ptr, 0), VT_STREAM_ALREADY_IN_USE);
	FAILS(TBRW_reading_stream(ptr, 0), VT_STREAM_ALREADY_IN_USE);
	FAILS(TBRW_writing_stream_section(ptr, 0, unknown), VT_UNKNOWN_SECTION_NUMBER);
	FAILS(TBRW_writing_stream_section(ptr, 1, TBRW_DATA_SECTION), VT_STREAM_NOT_EXIST);
	FAILS(TBRW_done_stream_section(ptr, 0, TBRW_DATA_SECTION), VT_SECTION_NOT_EXIST);
	FAILS(TBRW_add_data(ptr, 0, 4, &value), VT_SECTION_NOT_WRITEABLE);
	FAILS(TBRW_set_stream_info(ptr, 0, &info), VT_SECTION_NOT_WRITEABLE);
	FAILS(TBRW_done_stream(ptr, 0), VT_SECTION_NOT_EXIST);
	OK(TBRW_writing_stream_section(ptr, 0, TBRW_STREAM_INFO_SECTION));
	FAILS(TBRW_writing_stream_section(ptr, 0, TBRW_STREAM_INFO_SECTION),
	      VT_SECTION_ALREADY_IN_USE);
	FAILS(TBRW_done_stream_section(ptr, 0, TBRW_STREAM_INFO_SECTION), VT_NO_DATA_TO_WRITE);
	info.stream_type = TBRW_BIND_DATA_INFORMATION_STREAM;
	FAILS(TBRW_set_stream_info(ptr, 0, &info), VT_UNEXPECTED_VALUE);
	info.stream_type = 9;
	FAILS(TBRW_set_stream_info(ptr, 0, &info), VT_UNEXPECTED_VALUE);
	info.stream_type = TBRW_CUSTOM_STREAM;
	OK(TBRW_set_stream_info(ptr, 0, &info));
	FAILS(TBRW_set_stream_info(ptr, 0, &info), VT_SECTION_ALREADY_IN_USE);
	FAILS(TBRW_done_stream(ptr, 0), VT_STREAM_SECTION_NOT_CLOSED);
	OK(TBRW_done_stream_section(ptr, 0, TBRW_STREAM_INFO_SECTION));
	FAILS(TBRW_done_stream(ptr, 0), VT_DATA_DESC_NOT_EXIST);
	OK(TBRW_writing_stream_section(ptr, 0, TBRW_DATA_DESCRIPTION_SECTION));
	FAILS(TBRW_done_stream_section(ptr, 0, TBRW_DATA_DESCRIPTION_SECTION),
	      VT_DATA_DESC_NOT_EXIST);
	OK(TBRW_add_data_descriptor_entry(ptr, 0, &d));
	OK(TBRW_done_stream_section(ptr, 0, TBRW_DATA_DESCRIPTION_SECTION));
	/* An event id needs the events. */
	FAILS(TBRW_done_stream(ptr, 0), VT_SECTION_NOT_EXIST);
	OK(TBRW_writing_stream_section(ptr, 0, TBRW_EVENT_DESCRIPTION_SECTION));
	OK(TBRW_done_stream_section(ptr, 0, TBRW_EVENT_DESCRIPTION_SECTION));
	OK(TBRW_writing_stream_section(ptr, 0, TBRW_DATA_SECTION));
	OK(TBRW_add_data(ptr, 0, 3, &value));
	FAILS(TBRW_add_data(ptr, 0, 3, NULL), VT_BUFFER_NULL);
	FAILS(TBRW_done_stream_section(ptr, 0, TBRW_DATA_SECTION), VT_UNSUPPORTED_DATA_SIZE);
	OK(TBRW_add_data(ptr, 0, 1, &value));
	OK(TBRW_done_stream_section(ptr, 0, TBRW_DATA_SECTION));
	OK(TBRW_done_stream(ptr, 0));
	FAILS(TBRW_done_stream(ptr, 0), VT_INVALID_STREAM);
	FAILS(TBRW_writing_stream_section(ptr, 0, TBRW_USER_DEFINED_STREAM_SECTION),
	      VT_SECTION_NOT_WRITEABLE);
	FAILS(TBRW_reading_stream_section(ptr, 0, TBRW_DATA_SECTION), VT_SECTION_NOT_READABLE);
	OK(TBRW_reading_stream(ptr, 0));
	FAILS(TBRW_reading_stream(ptr, 0), VT_STREAM_ALREADY_IN_USE);
	FAILS(TBRW_reading_stream_section(ptr, 0, TBRW_USER_DEFINED_STREAM_SECTION),
	      VT_SECTION_NOT_EXIST);
	OK(TBRW_reading_stream_section(ptr, 0, TBRW_DATA_SECTION));
	FAILS(TBRW_reading_stream_section(ptr, 0, TBRW_DATA_SECTION), VT_SECTION_ALREADY_IN_USE);
	FAILS(TBRW_done_stream(ptr, 0), VT_STREAM_SECTION_NOT_CLOSED);
	OK(TBRW_done_stream_section(ptr, 0, TBRW_DATA_SECTION));
	OK(TBRW_done_stream(ptr, 0));
	OK(TBRW_close(ptr));
}
END_TEST

static TBRW_U32 see_descriptors(TBRW_SAMPREC_DESC_ENTRY *d, TBRW_U32 size, TBRW_U32 count,
				void *user)
{
	TBRW_SAMPREC_DESC_ENTRY *out = user;

	ck_assert_uint_eq(count, 3);
	ck_assert_uint_eq(size, 3 * sizeof(*d));
	memcpy(out, d, size);
	return TRUE;
}

START_TEST(descriptors)
{
	TBRW_PTR ptr = open_file("a.tb5", CREATE);
	TBRW_SAMPREC_DESC_ENTRY out[3];
	TBRW_SAMPREC_DESC_ENTRY legacy =
		descriptor_of(ST_LEGACY_SAMPLE_RECORD, SST_NONE, 0, 32, NULL);
	TBRW_SAMPREC_DESC_ENTRY d = descriptor_of(ST_START_USER_DEFINED, SST_NONE, 0, 8, L"a");
	TBRW_STREAM_INFO info = stream_info_of(TBRW_CUSTOM_STREAM, L"c");

	OK(TBRW_writing_stream(ptr, 0));
	OK(TBRW_writing_stream(ptr, 1));
	OK(TBRW_writing_stream_section(ptr, 1, TBRW_DATA_DESCRIPTION_SECTION));
	FAILS(TBRW_add_data_descriptor_entry(ptr, 1, &legacy), VT_INVALID_STREAM);
	FAILS(TBRW_add_data_descriptor_entry(ptr, 1, NULL), VT_UNEXPECTED_NULL_PTR);
	d.desc_type = ST_RESERVED_START;
	FAILS(TBRW_add_data_descriptor_entry(ptr, 1, &d), VT_UNEXPECTED_VALUE);
	d.desc_type = ST_NONE;
	d.desc_subtype = SST_RESERVED_END;
	FAILS(TBRW_add_data_descriptor_entry(ptr, 1, &d), VT_UNEXPECTED_VALUE);
	d.desc_subtype = SST_TSC;
	d.desc_data_size = 0;
	FAILS(TBRW_add_data_descriptor_entry(ptr, 1, &d), VT_UNSUPPORTED_DATA_SIZE);
	d.desc_data_size = (1 << 20) + 1;
	FAILS(TBRW_add_data_descriptor_entry(ptr, 1, &d), VT_UNSUPPORTED_DATA_SIZE);
	d.desc_data_size = 8;
	d.desc_offset = UINT32_MAX;
	FAILS(TBRW_add_data_descriptor_entry(ptr, 1, &d), VT_UNSUPPORTED_DATA_SIZE);
	d.desc_offset = 0;
	d.desc_size--;
	FAILS(TBRW_add_data_descriptor_entry(ptr, 1, &d), VT_UNSUPPORTED_DATA_SIZE);
	d.desc_size++;
	d.desc_access_offset = 0x1234567890;
	OK(TBRW_add_data_descriptor_entry(ptr, 1, &d));
	d.desc_data_size = 4;
	OK(TBRW_add_data_descriptor_entry(ptr, 1, &d));
	d.desc_offset = 10;
	d.desc_data_size = 1;
	OK(TBRW_add_data_descriptor_entry(ptr, 1, &d));
	OK(TBRW_done_stream_section(ptr, 1, TBRW_DATA_DESCRIPTION_SECTION));
	OK(TBRW_writing_stream_section(ptr, 1, TBRW_STREAM_INFO_SECTION));
	OK(TBRW_set_stream_info(ptr, 1, &info));
	OK(TBRW_done_stream_section(ptr, 1, TBRW_STREAM_INFO_SECTION));
	OK(TBRW_done_stream(ptr, 1));
	OK(TBRW_reading_stream(ptr, 1));
	OK(TBRW_reading_stream_section(ptr, 1, TBRW_DATA_DESCRIPTION_SECTION));
	FAILS(TBRW_enumerate_data_descriptor_entries(ptr, 1, NULL, out), VT_UNEXPECTED_NULL_PTR);
	OK(TBRW_enumerate_data_descriptor_entries(ptr, 1, see_descriptors, out));
	/* The second one was given offset 0, and follows the first. */
	ck_assert_uint_eq(out[0].desc_offset, 0);
	ck_assert_uint_eq(out[1].desc_offset, 8);
	ck_assert_uint_eq(out[2].desc_offset, 10);
	ck_assert_uint_eq(out[0].desc_access_offset, 0x1234567890);
	ck_assert(same_text(ptr, out[2].desc_name, L"a"));
	OK(TBRW_abort_cleanup_and_close(ptr));
}
END_TEST

static TBRW_U32 see_events(TBRW_EVENT *event, TBRW_U32 size, TBRW_U32 count, void *user)
{
	TBRW_U32 *seen = user;

	ck_assert_uint_eq(count, 1);
	ck_assert_uint_eq(size,
			  sizeof(*event) + event->event_num_details * sizeof(TBRW_EVENT_DETAIL));
	ck_assert_uint_eq(event->event_num_details, event->event_id);
	if (event->event_id)
		ck_assert_ptr_eq(event->event_detail_array, event + 1);
	for (TBRW_U32 i = 0; i < event->event_num_details; i++)
		ck_assert_uint_eq(event->event_detail_array[i].detail_address,
				  event->event_id * 100 + i);
	++*seen;
	return TRUE;
}

START_TEST(events)
{
	TBRW_PTR ptr = open_file("a.tb5", CREATE);
	TBRW_EVENT event = {.event_size = sizeof(event), .event_name = string_of(L"Ünicode")};
	TBRW_U32 seen = 0;
	TBRW_EVENT_DETAIL details[3];
	char user[] = "user";
	TBRW_U32 size;

	memset(details, 0, sizeof(details));
	begin_samples(ptr);
	OK(TBRW_writing_stream_section(ptr, 0, TBRW_EVENT_DESCRIPTION_SECTION));
	FAILS(TBRW_add_event(ptr, 0, NULL), VT_UNEXPECTED_NULL_PTR);
	for (TBRW_U32 n = 0; n < 4; n++) {
		event.event_id = n;
		event.event_num_details = n;
		event.event_detail_array = NULL;
		if (n)
			FAILS(TBRW_add_event(ptr, 0, &event), VT_UNEXPECTED_NULL_PTR);
		event.event_detail_array = details;
		for (TBRW_U32 i = 0; i < n; i++) {
			details[i].detail_size = 1;
			FAILS(TBRW_add_event(ptr, 0, &event), VT_UNSUPPORTED_DATA_SIZE);
			details[i].detail_size = sizeof(*details);
			details[i].detail_address = n * 100 + i;
		}
		OK(TBRW_add_event(ptr, 0, &event));
	}
	OK(TBRW_done_stream_section(ptr, 0, TBRW_EVENT_DESCRIPTION_SECTION));
	OK(TBRW_writing_stream_section(ptr, 0, TBRW_USER_DEFINED_STREAM_SECTION));
	FAILS(TBRW_done_stream_section(ptr, 0, TBRW_USER_DEFINED_STREAM_SECTION),
	      VT_NO_DATA_TO_WRITE);
	OK(TBRW_set_user_defined_stream(ptr, 0, sizeof(user), user));
	OK(TBRW_done_stream_section(ptr, 0, TBRW_USER_DEFINED_STREAM_SECTION));
	end_samples(ptr);
	OK(TBRW_close(ptr));

	ptr = open_file("a.tb5", READ);
	OK(TBRW_reading_stream(ptr, 0));
	FAILS(TBRW_enumerate_events(ptr, 0, see_events, &seen, 0), VT_SECTION_NOT_READABLE);
	OK(TBRW_reading_stream_section(ptr, 0, TBRW_EVENT_DESCRIPTION_SECTION));
	OK(TBRW_enumerate_events(ptr, 0, see_events, &seen, 0));
	ck_assert_uint_eq(seen, 4);
	OK(TBRW_enumerate_events(ptr, 0, see_events, &seen, 3));
	ck_assert_uint_eq(seen, 5);
	FAILS(TBRW_enumerate_events(ptr, 0, see_events, &seen, 5), VT_INVALID_READ_START);
	OK(TBRW_reading_stream_section(ptr, 0, TBRW_USER_DEFINED_STREAM_SECTION));
	memset(user, 0, sizeof(user));
	OK(TBRW_get_user_defined_stream(ptr, 0, sizeof(user), user, &size));
	ck_assert_str_eq(user, "user");
	OK(TBRW_abort_cleanup_and_close(ptr));
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		stream_states,
		descriptors,
		events,
	};

	return run_suite(suite_of("streams", tests, sizeof(tests) / sizeof(*tests)));
}
