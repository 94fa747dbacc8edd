#include "tools/perf_export/perf_header.h"

#include "profile/read/states.h"
#include "tools/memory/xalloc.h"
#include <stdlib.h>
#include <string.h>

/* The target's command line. */
static const char *find_command(const struct profile_reader *reader)
{
	for (uint32_t i = 0; i < profile_reader_note_count(reader); i++) {
		const struct profile_note *note = profile_reader_note(reader, i);
		if (note->kind == PROFILE_NOTE_COMMAND)
			return profile_reader_text(reader, note->text);
	}
	return "";
}

/* The shortest waits that have a record; not 0. */
static uint64_t find_threshold(const struct profile_reader *reader)
{
	uint64_t least_ns = UINT64_MAX;
	for (uint32_t i = 0; i < profile_reader_note_count(reader); i++) {
		const struct profile_note *note = profile_reader_note(reader, i);
		if (note->kind == PROFILE_NOTE_WAITS && note->value < least_ns)
			least_ns = note->value;
	}
	return least_ns > 0 ? least_ns : 1;
}

/* The build-ids of the result's files; the caller frees the list. */
static struct perf_build_id *list_build_ids(const struct profile_reader *reader, size_t *count)
{
	uint32_t images = profile_reader_image_count(reader);
	struct perf_build_id *list = xalloc_zeroed(images, sizeof(*list));
	*count = 0;
	for (uint32_t i = 0; i < images; i++) {
		const struct profile_image *image = profile_reader_image(reader, i);
		const char *path = profile_reader_text(reader, image->path);
		if (image->kind == PROFILE_IMAGE_FILE && image->build_id_size > 0 && path[0])
			list[(*count)++] =
				(struct perf_build_id){path, image->build_id, image->build_id_size};
	}
	return list;
}

/* The next word, for the caller to free; *text moves behind it. */
static char *take_word(const char **text)
{
	*text += strspn(*text, " ");
	size_t length = strcspn(*text, " ");
	char *word = xalloc_text_of(*text, length);
	*text += length;
	return word;
}

/* The kernel's release and the machine, from "NAME Linux RELEASE MACHINE"; "": not known. */
static void split_system(const char *os, char **release, char **machine)
{
	static const char kernel[] = "Linux ";
	const char *found = NULL;
	for (const char *at = os; (at = strstr(at, kernel)); at++)
		if (at[sizeof(kernel) - 1] >= '0' && at[sizeof(kernel) - 1] <= '9')
			found = at + sizeof(kernel) - 1;
	if (!found)
		found = "";
	*release = take_word(&found);
	*machine = take_word(&found);
}

void perf_header_make(struct perf_header *header, const struct profile_reader *reader,
		      const char *event)
{
	struct profile_host_info host;
	profile_reader_host(reader, &host);
	*header = (struct perf_header){0};
	split_system(host.os, &header->release, &header->machine);
	header->build_ids = list_build_ids(reader, &header->info.build_id_count);
	struct perf_file_info *info = &header->info;
	info->is_counted = profile_reader_counted_event(reader) != NULL;
	info->has_switches = profile_reader_states(reader) != 0;
	info->has_waits = profile_reader_wait_sources(reader) != 0;
	info->wait_ns = find_threshold(reader);
	info->event = event ? event : profile_reader_counted_event(reader);
	info->event = info->event ? info->event : "cpu-clock";
	info->version = "tbcollect " TBCOLLECT_VERSION;
	info->host = host.name;
	info->release = header->release;
	info->arch = header->machine;
	info->cpu = host.cpu;
	info->cpus = host.logical_cpus;
	info->command = find_command(reader);
	info->interval_ns = profile_reader_interval_ns(reader);
	info->build_ids = header->build_ids;
	if (profile_reader_clock_count(reader) > 0) {
		info->raw_ns = profile_reader_clock(reader, 0)->raw_ns;
		info->real_ns = profile_reader_clock(reader, 0)->real_ns;
	}
}

void perf_header_finish(struct perf_header *header)
{
	free(header->build_ids);
	free(header->release);
	free(header->machine);
}
