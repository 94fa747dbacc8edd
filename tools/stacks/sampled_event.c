/* The event of a result with several whose samples are shown. */
#include "profile/read/reader.h"
#include "profile/read/states.h"
#include "tools/stacks/sampled_result.h"
#include "tools/terminal/diagnose.h"
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool has_time(const struct profile_reader *reader)
{
	for (uint32_t i = 0; i < profile_reader_note_count(reader); i++) {
		const struct profile_note *note = profile_reader_note(reader, i);
		if (note->kind == PROFILE_NOTE_SAMPLING && note->value == PROFILE_SAMPLING_NONE)
			return profile_reader_states(reader) != 0;
	}
	return true;
}

static uint32_t find(const struct profile_reader *reader, const char *name)
{
	for (uint32_t i = 1; i <= profile_reader_event_count(reader); i++)
		if (strcmp(profile_reader_event_name(reader, i), name) == 0)
			return i;
	return 0;
}

static int refuse(const struct profile_reader *reader, const char *path, const char *name)
{
	char list[512] = "";
	size_t used = 0;
	uint32_t count = profile_reader_event_count(reader);
	if (count == 0) {
		diagnose("%s: its samples are of one event alone: leave out --event %s", path,
			 name);
		return EXIT_FAILURE;
	}
	for (uint32_t i = 1; i <= count && used < sizeof(list); i++)
		used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%.100s",
					 i == 1      ? ""
					 : i < count ? ", "
						     : " or ",
					 profile_reader_event_name(reader, i));
	diagnose("%s: no samples of the event %s; use %s", path, name, list);
	return EXIT_FAILURE;
}

int sampled_result_choose_event(struct profile_reader *reader, const char *path, const char *name)
{
	const char *counted = profile_reader_counted_event(reader);
	uint32_t event = 0;
	if (name && counted && strcmp(name, counted) == 0)
		return 0;
	if (name)
		event = find(reader, name);
	else if (profile_reader_event_count(reader) > 0 && !has_time(reader))
		event = 1;
	if (event == 0)
		return name ? refuse(reader, path, name) : 0;
	TBRW_U32 code = profile_reader_choose_event(reader, event);
	return code == VT_SUCCESS ? 0 : sampled_result_explain(path, code);
}
