#include "collector/recording/recording_events.h"

#include "containers/array.h"
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct id_slot {
	struct hash_slot head;
	uint64_t id;
	uint32_t event;
};

enum { CLOCK_NONE = -1 };

/* Names as perf has them, without modifiers. */
static void name_event(struct recording_event *event)
{
	static const char *const hardware[] = {
		"cycles",
		"instructions",
		"cache-references",
		"cache-misses",
		"branches",
		"branch-misses",
		"bus-cycles",
		"stalled-cycles-frontend",
		"stalled-cycles-backend",
		"ref-cycles",
	};
	static const char *const software[] = {
		"cpu-clock",        "task-clock",   "page-faults",  "context-switches",
		"cpu-migrations",   "minor-faults", "major-faults", "alignment-faults",
		"emulation-faults", "dummy",        "bpf-output",   "cgroup-switches",
	};
	uint64_t number = event->config & UINT32_MAX; /* above: which PMU */
	if (event->type == PERF_TYPE_HARDWARE && number < sizeof(hardware) / sizeof(hardware[0]))
		recording_event_rename(event, hardware[number]);
	else if (event->type == PERF_TYPE_SOFTWARE &&
		 event->config < sizeof(software) / sizeof(software[0]))
		recording_event_rename(event, software[event->config]);
	else
		snprintf(event->name, sizeof(event->name), "event %u:0x%llx", event->type,
			 (unsigned long long)event->config);
}

void recording_event_rename(struct recording_event *event, const char *name)
{
	snprintf(event->name, sizeof(event->name), "%s", name);
}

bool recording_event_is_time(const struct recording_event *event)
{
	return event->type == PERF_TYPE_SOFTWARE && (event->config == PERF_COUNT_SW_CPU_CLOCK ||
						     event->config == PERF_COUNT_SW_TASK_CLOCK);
}

bool recording_event_is_waits(const struct recording_event *event)
{
	return event->type == PERF_TYPE_SOFTWARE && event->config == PERF_COUNT_SW_DUMMY &&
	       strcmp(event->name, "offcpu-time") == 0;
}

static bool is_traced(const struct recording_event *event, const char *name)
{
	return event->type == PERF_TYPE_TRACEPOINT && event->sample_type & PERF_SAMPLE_RAW &&
	       event->sample_type & PERF_SAMPLE_TIME && strcmp(event->name, name) == 0;
}

bool recording_event_is_switches(const struct recording_event *event)
{
	return is_traced(event, "sched:sched_switch");
}

bool recording_event_is_waking(const struct recording_event *event)
{
	return is_traced(event, "sched:sched_waking");
}

bool recording_event_is_wakeup(const struct recording_event *event)
{
	return is_traced(event, "sched:sched_wakeup");
}

bool recording_events_add(struct recording_events *events, struct recording_cursor *cursor)
{
	struct perf_event_attr attr = {0};
	uint32_t size;
	if (cursor->left < PERF_ATTR_SIZE_VER0)
		return false;
	memcpy(&size, cursor->at + offsetof(struct perf_event_attr, size), sizeof(size));
	size = size == 0 ? PERF_ATTR_SIZE_VER0 : size;
	const uint8_t *at = recording_take(cursor, size);
	if (!at || size < PERF_ATTR_SIZE_VER0 || events->count == RECORDING_EVENTS_MAX ||
	    !array_reserve(&events->items, &events->capacity, events->count + 1,
			   sizeof(*events->items)))
		return false;
	memcpy(&attr, at, size < sizeof(attr) ? size : sizeof(attr));
	struct recording_event *event = &events->items[events->count++];
	*event = (struct recording_event){
		.type = attr.type,
		.config = attr.config,
		.period = attr.sample_period,
		.is_frequency = attr.freq,
		.has_trailers = attr.sample_id_all,
		.has_kernel = !attr.exclude_kernel,
		.is_inherited = attr.inherit,
		.clock = attr.use_clockid ? attr.clockid : CLOCK_NONE,
		.sample_type = attr.sample_type,
		.read_format = attr.read_format,
		.branch_type = attr.branch_sample_type,
		.registers = attr.sample_regs_user,
		.stack_size = attr.sample_stack_user,
	};
	name_event(event);
	return true;
}

static bool is_id(const void *slot, const void *key)
{
	return ((const struct id_slot *)slot)->id == *(const uint64_t *)key;
}

static struct id_slot *find_id(const struct recording_events *events, uint64_t id)
{
	return hash_table_find(&events->ids, sizeof(struct id_slot), hash_number(&events->key, id),
			       is_id, &id);
}

bool recording_events_add_id(struct recording_events *events, uint64_t id)
{
	if (events->count == 0)
		return false;
	if (events->ids.count == 0)
		events->key = hash_key_draw();
	else if (find_id(events, id))
		return true;
	struct id_slot *slot =
		events->ids.count < RECORDING_IDS_MAX
			? hash_table_add(&events->ids, sizeof(*slot), hash_number(&events->key, id))
			: NULL;
	if (!slot)
		return false;
	slot->id = id;
	slot->event = (uint32_t)events->count - 1;
	return true;
}

struct recording_event *recording_events_find(struct recording_events *events, uint64_t id)
{
	if (events->count == 1)
		return &events->items[0];
	const struct id_slot *found = find_id(events, id);
	return found ? &events->items[found->event] : NULL;
}

/* Whether it is the name but for modifiers, as cycles of cycles:u and cycles/period=3/. */
static bool has_name(const struct recording_event *event, const char *name)
{
	size_t length = strlen(name);
	return strncmp(event->name, name, length) == 0 &&
	       (event->name[length] == '\0' || event->name[length] == ':' ||
		event->name[length] == '/');
}

struct recording_event *recording_events_named(const struct recording_events *events,
					       const char *name)
{
	for (size_t i = 0; i < events->count; i++)
		if (strcmp(events->items[i].name, name) == 0)
			return &events->items[i];
	for (size_t i = 0; i < events->count; i++)
		if (has_name(&events->items[i], name))
			return &events->items[i];
	return NULL;
}

void recording_events_finish(struct recording_events *events)
{
	free(events->items);
	hash_table_finish(&events->ids);
	*events = (struct recording_events){0};
}

/* The sample type of a record that is no sample. Behind its parts is its id, if all events have one
 * there; what perf itself made has id 0. */
static uint64_t trailer_type(struct recording_events *events, const uint8_t *bytes, size_t size)
{
	const struct recording_event *event = &events->items[0];
	if (events->count > 1 && event->sample_type & PERF_SAMPLE_IDENTIFIER &&
	    size >= sizeof(struct perf_event_header) + sizeof(uint64_t)) {
		const struct recording_event *found =
			recording_events_find(events,
					      recording_u64_at(bytes + size - sizeof(uint64_t), 0));
		event = found ? found : event;
	}
	return event->sample_type;
}

bool recording_trailer_read(struct recording_events *events, const uint8_t *bytes, size_t size,
			    struct recording_trailer *trailer)
{
	*trailer = (struct recording_trailer){0};
	if (events->count == 0 || !events->items[0].has_trailers)
		return true;
	uint64_t type = trailer_type(events, bytes, size);
	const uint64_t parts[] = {PERF_SAMPLE_TID,       PERF_SAMPLE_TIME, PERF_SAMPLE_ID,
				  PERF_SAMPLE_STREAM_ID, PERF_SAMPLE_CPU,  PERF_SAMPLE_IDENTIFIER};
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		trailer->size += type & parts[i] ? sizeof(uint64_t) : 0;
	if (size < sizeof(struct perf_event_header) + trailer->size)
		return false;
	struct recording_cursor cursor =
		recording_cursor_of(bytes + size - trailer->size, trailer->size);
	trailer->has_task = (type & PERF_SAMPLE_TID) != 0;
	trailer->pid = trailer->has_task ? recording_take_u32(&cursor) : 0;
	trailer->tid = trailer->has_task ? recording_take_u32(&cursor) : 0;
	trailer->time_ns = recording_take_if(&cursor, type & PERF_SAMPLE_TIME);
	trailer->has_time = trailer->time_ns != 0 && trailer->time_ns != UINT64_MAX;
	recording_take_if(&cursor, type & PERF_SAMPLE_ID);
	recording_take_if(&cursor, type & PERF_SAMPLE_STREAM_ID);
	trailer->has_cpu = (type & PERF_SAMPLE_CPU) != 0;
	trailer->cpu = type & PERF_SAMPLE_CPU ? recording_take_u32(&cursor) : 0;
	return true;
}

/* The event of a sample, before its parts are known. */
static struct recording_event *event_of(struct recording_events *events, const uint8_t *bytes,
					size_t size)
{
	if (events->count == 0)
		return NULL;
	struct recording_cursor cursor = recording_cursor_of(bytes, size);
	uint64_t type = events->items[0].sample_type;
	recording_take(&cursor, sizeof(struct perf_event_header));
	if (!(type & PERF_SAMPLE_IDENTIFIER)) {
		recording_take_if(&cursor, type & PERF_SAMPLE_IP);
		recording_take_if(&cursor, type & PERF_SAMPLE_TID);
		recording_take_if(&cursor, type & PERF_SAMPLE_TIME);
		recording_take_if(&cursor, type & PERF_SAMPLE_ADDR);
	}
	return recording_events_find(events,
				     recording_take_if(&cursor, type & (PERF_SAMPLE_IDENTIFIER |
									PERF_SAMPLE_ID)));
}

/* The counts that a sample has read: of a group, the times, then value and id of each; of one
 * event, the value, the times, then its id. */
static void read_counts(struct recording_cursor *cursor, uint64_t format,
			struct recording_sample *sample)
{
	uint64_t times = ((format & PERF_FORMAT_TOTAL_TIME_ENABLED) != 0) +
			 ((format & PERF_FORMAT_TOTAL_TIME_RUNNING) != 0);
	bool has_id = (format & PERF_FORMAT_ID) != 0;
	size_t words = 1 + has_id + ((format & PERF_FORMAT_LOST) != 0);
	bool is_group = (format & PERF_FORMAT_GROUP) != 0;
	uint64_t count = is_group ? recording_take_u64(cursor) : 1;
	if (is_group)
		recording_take(cursor, times * sizeof(uint64_t));
	else
		words += times;
	sample->counts = recording_take_items(cursor, count, words * sizeof(uint64_t));
	sample->count_words = words;
	sample->id_word = is_group ? 1 : 1 + times;
	sample->counts_read = has_id ? count : 0;
	/* The event's own one is known without. */
	sample->nameless = has_id || count == 0 ? 0 : count - 1;
}

struct recording_count recording_sample_count(const struct recording_sample *sample, uint64_t i)
{
	const uint8_t *item = sample->counts + i * sample->count_words * sizeof(uint64_t);
	return (struct recording_count){.id = recording_u64_at(item, sample->id_word),
					.total = recording_u64_at(item, 0)};
}

static void skip_branches(struct recording_cursor *cursor, uint64_t type)
{
	enum { ENTRY_SIZE = 24 };
	uint64_t count = recording_take_u64(cursor);
	recording_take_if(cursor, type & PERF_SAMPLE_BRANCH_HW_INDEX);
	recording_take_items(cursor, count, ENTRY_SIZE);
#ifdef PERF_SAMPLE_BRANCH_COUNTERS
	if (type & PERF_SAMPLE_BRANCH_COUNTERS)
		recording_take_items(cursor, count, sizeof(uint64_t));
#endif
}

static void read_stack(struct recording_cursor *cursor, struct recording_sample *sample)
{
	uint64_t size = recording_take_u64(cursor);
	if (size == 0)
		return;
	sample->stack_size = size;
	sample->stack = recording_take(cursor, size);
	sample->stack_copied = recording_take_u64(cursor);
	cursor->ok = cursor->ok && sample->stack_copied <= size;
}

/* The parts behind the fixed ones, in the order of perf_event_open(2). */
static void read_parts(struct recording_cursor *cursor, uint64_t type,
		       struct recording_sample *sample)
{
	const struct recording_event *event = sample->event;
	if (type & PERF_SAMPLE_READ)
		read_counts(cursor, event->read_format, sample);
	if (type & PERF_SAMPLE_CALLCHAIN) {
		sample->chain_count = recording_take_u64(cursor);
		sample->chain = recording_take_items(cursor, sample->chain_count, sizeof(uint64_t));
	}
	if (type & PERF_SAMPLE_RAW) {
		sample->raw_size = recording_take_u32(cursor);
		sample->raw = recording_take(cursor, sample->raw_size);
	}
	if (type & PERF_SAMPLE_BRANCH_STACK)
		skip_branches(cursor, event->branch_type);
	if (type & PERF_SAMPLE_REGS_USER) {
		sample->abi = recording_take_u64(cursor);
		if (sample->abi != PERF_SAMPLE_REGS_ABI_NONE)
			sample->registers = recording_take_items(cursor,
								 (uint64_t)__builtin_popcountll(
									 event->registers),
								 sizeof(uint64_t));
	}
	if (type & PERF_SAMPLE_STACK_USER)
		read_stack(cursor, sample);
}

bool recording_sample_read(struct recording_events *events, const uint8_t *bytes, size_t size,
			   struct recording_sample *sample)
{
	struct recording_cursor cursor = recording_cursor_of(bytes, size);
	*sample = (struct recording_sample){.event = event_of(events, bytes, size)};
	if (!sample->event)
		return false;
	uint64_t type = sample->event->sample_type;
	recording_take(&cursor, sizeof(struct perf_event_header));
	recording_take_if(&cursor, type & PERF_SAMPLE_IDENTIFIER);
	sample->ip = recording_take_if(&cursor, type & PERF_SAMPLE_IP);
	if (type & PERF_SAMPLE_TID) {
		sample->pid = recording_take_u32(&cursor);
		sample->tid = recording_take_u32(&cursor);
	}
	sample->time_ns = recording_take_if(&cursor, type & PERF_SAMPLE_TIME);
	recording_take_if(&cursor, type & PERF_SAMPLE_ADDR);
	recording_take_if(&cursor, type & PERF_SAMPLE_ID);
	recording_take_if(&cursor, type & PERF_SAMPLE_STREAM_ID);
	sample->has_cpu = (type & PERF_SAMPLE_CPU) != 0;
	if (type & PERF_SAMPLE_CPU) {
		sample->cpu = recording_take_u32(&cursor);
		recording_take_u32(&cursor);
	}
	sample->has_period = (type & PERF_SAMPLE_PERIOD) != 0;
	sample->period = recording_take_if(&cursor, type & PERF_SAMPLE_PERIOD);
	read_parts(&cursor, type, sample);
	return cursor.ok;
}
