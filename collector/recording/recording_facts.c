#include "collector/recording/recording_facts.h"

#include "containers/array.h"
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

struct recording_build_id {
	char *path;
	uint8_t id[RECORDING_BUILD_ID_MAX];
	uint32_t size;
};

enum { BUILD_IDS_MAX = 1 << 20, COMMAND_WORDS_MAX = 4096 };

/* struct perf_header_string: its size, then text and zeros. Cut to the room. */
static void take_text(struct recording_cursor *cursor, char *text, size_t room)
{
	uint32_t size = recording_take_u32(cursor);
	const uint8_t *at = recording_take(cursor, size);
	text[0] = '\0';
	if (!at)
		return;
	size_t length = strnlen((const char *)at, size);
	length = length < room ? length : room - 1;
	memcpy(text, at, length);
	text[length] = '\0';
}

static void take_command(struct recording_facts *facts, struct recording_cursor *cursor)
{
	uint32_t count = recording_take_u32(cursor);
	size_t used = 0;
	facts->command[0] = '\0';
	for (uint32_t i = 0; i < count && i < COMMAND_WORDS_MAX && cursor->ok; i++) {
		if (used > 0 && used < sizeof(facts->command) - 1)
			facts->command[used++] = ' ';
		take_text(cursor, facts->command + used, sizeof(facts->command) - used);
		used += strlen(facts->command + used);
	}
}

/* Each event as its attributes, name and ids, in the order of the file's own list. */
static void take_events(struct recording_events *events, struct recording_cursor *cursor)
{
	char name[RECORDING_EVENT_NAME];
	uint32_t count = recording_take_u32(cursor);
	uint32_t size = recording_take_u32(cursor);
	for (uint32_t i = 0; i < count && cursor->ok; i++) {
		recording_take(cursor, size);
		uint32_t ids = recording_take_u32(cursor);
		take_text(cursor, name, sizeof(name));
		const uint8_t *at = recording_take_items(cursor, ids, sizeof(uint64_t));
		struct recording_event *event =
			at && ids > 0 ? recording_events_find(events, recording_u64_at(at, 0))
				      : NULL;
		if (at && !event && i < events->count)
			event = &events->items[i];
		if (event && name[0])
			recording_event_rename(event, name);
	}
}

static void take_clocks(struct recording_facts *facts, struct recording_cursor *cursor)
{
	recording_take_u32(cursor); /* version */
	recording_take_u32(cursor); /* clock */
	uint64_t real_ns = recording_take_u64(cursor);
	uint64_t clock_ns = recording_take_u64(cursor);
	if (!cursor->ok)
		return;
	facts->real_ns = real_ns;
	facts->clock_ns = clock_ns;
}

static void add_build_id(struct recording_facts *facts, const uint8_t *bytes, size_t size)
{
	/* util/header.h, struct perf_record_header_build_id: the size of the build-id stands
	 * behind its bytes, if this bit says so. */
	const uint16_t has_size = 1u << 15;
	enum { PLACE_SIZE = 24 };
	struct perf_event_header header;
	struct recording_cursor cursor = recording_cursor_of(bytes, size);
	const uint8_t *at = recording_take(&cursor, sizeof(header));
	recording_take_u32(&cursor); /* the machine */
	const uint8_t *id = recording_take(&cursor, PLACE_SIZE);
	if (!at || !id || facts->build_id_count == BUILD_IDS_MAX ||
	    !memchr(cursor.at, '\0', cursor.left) ||
	    !array_reserve(&facts->build_ids, &facts->build_id_capacity, facts->build_id_count + 1,
			   sizeof(*facts->build_ids)))
		return;
	memcpy(&header, at, sizeof(header));
	struct recording_build_id found = {.path = strdup((const char *)cursor.at),
					   .size = RECORDING_BUILD_ID_MAX};
	if (header.misc & has_size && id[RECORDING_BUILD_ID_MAX] <= RECORDING_BUILD_ID_MAX)
		found.size = id[RECORDING_BUILD_ID_MAX];
	memcpy(found.id, id, RECORDING_BUILD_ID_MAX);
	if (!found.path || found.size == 0) {
		free(found.path);
		return;
	}
	facts->build_ids[facts->build_id_count++] = found;
	facts->is_sorted = false;
}

void recording_facts_take_build_id(struct recording_facts *facts, const uint8_t *bytes, size_t size)
{
	add_build_id(facts, bytes, size);
}

static void take_build_ids(struct recording_facts *facts, struct recording_cursor *cursor)
{
	struct perf_event_header header;
	while (cursor->ok && cursor->left >= sizeof(header)) {
		memcpy(&header, cursor->at, sizeof(header));
		const uint8_t *at = recording_take(cursor, header.size);
		if (!at || header.size < sizeof(header))
			return;
		add_build_id(facts, at, header.size);
	}
}

static void take_times(struct recording_facts *facts, struct recording_cursor *cursor)
{
	uint64_t first_ns = recording_take_u64(cursor);
	uint64_t last_ns = recording_take_u64(cursor);
	if (!cursor->ok || last_ns < first_ns)
		return;
	facts->first_ns = first_ns;
	facts->last_ns = last_ns;
}

void recording_facts_take(struct recording_facts *facts, unsigned feature,
			  struct recording_cursor *cursor, struct recording_events *events)
{
	switch (feature) {
	case RECORDING_FEATURE_BUILD_ID:
		take_build_ids(facts, cursor);
		break;
	case RECORDING_FEATURE_HOSTNAME:
		take_text(cursor, facts->host, sizeof(facts->host));
		break;
	case RECORDING_FEATURE_RELEASE:
		take_text(cursor, facts->release, sizeof(facts->release));
		break;
	case RECORDING_FEATURE_VERSION:
		take_text(cursor, facts->version, sizeof(facts->version));
		break;
	case RECORDING_FEATURE_ARCH:
		take_text(cursor, facts->arch, sizeof(facts->arch));
		break;
	case RECORDING_FEATURE_CPU:
		take_text(cursor, facts->cpu, sizeof(facts->cpu));
		break;
	case RECORDING_FEATURE_CPUS:
		recording_take_u32(cursor); /* present */
		facts->cpus = recording_take_u32(cursor);
		break;
	case RECORDING_FEATURE_MEMORY:
		facts->memory_kb = recording_take_u64(cursor);
		break;
	case RECORDING_FEATURE_COMMAND:
		take_command(facts, cursor);
		break;
	case RECORDING_FEATURE_EVENTS:
		take_events(events, cursor);
		break;
	case RECORDING_FEATURE_TIMES:
		take_times(facts, cursor);
		break;
	case RECORDING_FEATURE_CLOCKS:
		take_clocks(facts, cursor);
		break;
	default:
		break;
	}
}

static int compare_paths(const void *a, const void *b)
{
	return strcmp(((const struct recording_build_id *)a)->path,
		      ((const struct recording_build_id *)b)->path);
}

uint32_t recording_facts_build_id(struct recording_facts *facts, const char *path,
				  uint8_t id[static RECORDING_BUILD_ID_MAX])
{
	struct recording_build_id key = {.size = 0};
	if (facts->build_id_count == 0)
		return 0;
	if (!facts->is_sorted && facts->build_id_count > 1)
		qsort(facts->build_ids, facts->build_id_count, sizeof(*facts->build_ids),
		      compare_paths);
	facts->is_sorted = true;
	size_t first = 0, end = facts->build_id_count;
	while (first < end) {
		size_t middle = first + (end - first) / 2;
		int order = strcmp(facts->build_ids[middle].path, path);
		if (order == 0) {
			key = facts->build_ids[middle];
			break;
		}
		if (order < 0)
			first = middle + 1;
		else
			end = middle;
	}
	memcpy(id, key.id, sizeof(key.id));
	return key.size;
}

void recording_facts_finish(struct recording_facts *facts)
{
	for (size_t i = 0; i < facts->build_id_count; i++)
		free(facts->build_ids[i].path);
	free(facts->build_ids);
	*facts = (struct recording_facts){0};
}
