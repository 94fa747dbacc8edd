/* Plain files: a sampling stream and modules of another program, written through the TBRW API,
 * without the streams of profile.h. Their records are made here from the guide's sections: an image
 * per module path, a frame and a node per distinct leaf, the weight of a sample from its event. */
#include "containers/hash.h"
#include "containers/hash_table.h"
#include "profile/read/reader_private.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_US         UINT64_C(1000)
#define NS_PER_MS         UINT64_C(1000000)
#define NS_PER_FILETIME   UINT64_C(100)
#define NOTES_MAX         4u
#define FRAMES_FIRST_SIZE 4096u
#define FRAMES_MAX        (UINT32_MAX / 2)

/* ---- The fields of a sample ---- */

static TBRW_U32 take_descriptors(TBRW_SAMPREC_DESC_ENTRY *entries, TBRW_U32 size, TBRW_U32 count,
				 void *user)
{
	struct profile_sample_layout *layout = user;

	if (size / sizeof(*entries) < count)
		return VT_INVALID_SAMPLE_FILE;
	for (TBRW_U32 i = 0; i < count; i++) {
		const TBRW_SAMPREC_DESC_ENTRY *entry = &entries[i];
		uint64_t end = (uint64_t)entry->desc_offset + entry->desc_data_size;
		if (end > UINT32_MAX)
			return VT_INVALID_SAMPLE_FILE;
		if (end > layout->entry_size)
			layout->entry_size = (uint32_t)end;
		if (entry->desc_type == ST_LEGACY_SAMPLE_RECORD &&
		    entry->desc_data_size == sizeof(TBRW_SampleRecordPC))
			layout->pc_offset = entry->desc_offset;
		if (entry->desc_type == ST_TIME_STAMP && entry->desc_subtype == SST_TSC &&
		    entry->desc_data_size == sizeof(TBRW_SampleRecordTSC))
			layout->tsc_offset = entry->desc_offset;
	}
	return TRUE;
}

TBRW_U32 profile_plain_find(struct profile_reader *reader)
{
	struct profile_sample_layout layout = {.pc_offset = PROFILE_NONE,
					       .tsc_offset = PROFILE_NONE};
	TBRW_U32 code = TBRW_reading_stream(reader->file, 0);

	if (code != VT_SUCCESS)
		return code == VT_NO_MEMORY ? code : VT_SUCCESS;
	code = TBRW_reading_stream_section(reader->file, 0, TBRW_DATA_DESCRIPTION_SECTION);
	if (code == VT_SUCCESS) {
		code = TBRW_enumerate_data_descriptor_entries(reader->file, 0, take_descriptors,
							      &layout);
		TBRW_done_stream_section(reader->file, 0, TBRW_DATA_DESCRIPTION_SECTION);
	}
	TBRW_done_stream(reader->file, 0);
	code = profile_reader_tolerate(reader, code);
	if (code == VT_SUCCESS && layout.pc_offset != PROFILE_NONE) {
		reader->layout = layout;
		reader->is_plain = true;
	}
	return code;
}

/* ---- Images ---- */

static bool make_text(struct profile_reader *reader, const char *s, struct profile_text *text)
{
	return profile_texts_make(&reader->texts[PROFILE_STREAM_STRINGS], s, text);
}

static enum profile_image_kind kind_of_path(const char *path)
{
	if (strcmp(path, "[vdso]") == 0 || strncmp(path, "linux-vdso.so", 13) == 0)
		return PROFILE_IMAGE_VDSO;
	if (strncmp(path, "[kernel", 7) == 0 || strncmp(path, "vmlinux", 7) == 0)
		return PROFILE_IMAGE_KERNEL;
	return PROFILE_IMAGE_FILE;
}

struct path_slot {
	struct hash_slot head;
	const char *path; /* equal strings of a file have one id, and so one address */
	uint32_t image;
};

static bool is_path(const void *slot, const void *key)
{
	return ((const struct path_slot *)slot)->path == key;
}

static TBRW_U32 add_image(struct profile_reader *reader, struct hash_table *known, const char *path,
			  uint32_t *index)
{
	struct profile_records *images = &reader->records[PROFILE_STREAM_IMAGES];
	/* Who wrote the file does not choose the address. */
	uint64_t hash = hash_number(&(struct hash_key){{0}}, (uintptr_t)path);
	struct path_slot *slot = hash_table_find(known, sizeof(*slot), hash, is_path, path);

	if (!slot) {
		struct profile_image image = {.kind = kind_of_path(path)};
		if (!make_text(reader, path, &image.path))
			return VT_NO_MEMORY;
		slot = hash_table_add(known, sizeof(*slot), hash);
		if (!slot)
			return VT_NO_MEMORY;
		slot->path = path;
		slot->image = images->count;
		assert(images->count <= reader->module_count); /* the unknown one is before */
		((struct profile_image *)images->items)[images->count++] = image;
	}
	*index = slot->image;
	return VT_SUCCESS;
}

static TBRW_U32 make_images(struct profile_reader *reader)
{
	struct hash_table known = {0};
	TBRW_U32 code = VT_SUCCESS;
	struct profile_records *images = &reader->records[PROFILE_STREAM_IMAGES];
	void *grown = reallocarray(images->items, (size_t)images->count + reader->module_count,
				   sizeof(struct profile_image));

	if (!grown)
		return VT_NO_MEMORY;
	images->items = grown;
	for (uint32_t i = 0; code == VT_SUCCESS && i < reader->module_count; i++)
		if (*reader->modules[i].path)
			code = add_image(reader, &known, reader->modules[i].path,
					 &reader->modules[i].image);
	hash_table_finish(&known);
	return code;
}

/* ---- What a sample weighs, and what is known about the run ---- */

struct run {
	struct profile_reader *reader;
	TBRW_STREAM_INFO info; /* zero where nothing is known */
	uint64_t interval_ns;  /* of the first time-based event, or of the stream; 0: not known */
	bool has_event[PROFILE_EVENT_COUNT];
	bool is_untimed; /* some samples have no weight */
};

static uint64_t us_to_ns(uint64_t us)
{
	return us > UINT64_MAX / NS_PER_US ? UINT64_MAX : us * NS_PER_US;
}

/* Events that count something else than time say nothing about CPU time. */
static TBRW_U32 take_event(TBRW_EVENT *event, TBRW_U32 size, TBRW_U32 count, void *user)
{
	struct run *run = user;

	if (count == 0 || size < sizeof(*event) || event->event_id >= PROFILE_EVENT_COUNT)
		return TRUE;
	if (run->has_event[event->event_id])
		return TRUE;
	run->has_event[event->event_id] = true;
	if (!(event->event_flags & TBRW_EVENT_TBS) || event->event_sav == 0) {
		run->is_untimed = true;
		return TRUE;
	}
	run->reader->weight_ns[event->event_id] = us_to_ns(event->event_sav);
	if (run->interval_ns == 0)
		run->interval_ns = us_to_ns(event->event_sav);
	return TRUE;
}

static TBRW_U32 read_run(struct run *run)
{
	TBRW_PTR file = run->reader->file;
	TBRW_U32 code = TBRW_reading_stream_section(file, 0, TBRW_STREAM_INFO_SECTION);

	if (code == VT_SUCCESS) {
		code = TBRW_get_stream_info(file, 0, sizeof(run->info), &run->info, NULL);
		TBRW_done_stream_section(file, 0, TBRW_STREAM_INFO_SECTION);
	}
	code = profile_reader_tolerate(run->reader, code);
	if (code != VT_SUCCESS)
		return code;
	code = TBRW_reading_stream_section(file, 0, TBRW_EVENT_DESCRIPTION_SECTION);
	if (code == VT_SUCCESS) {
		code = TBRW_enumerate_events(file, 0, take_event, run, 0);
		TBRW_done_stream_section(file, 0, TBRW_EVENT_DESCRIPTION_SECTION);
	}
	return profile_reader_tolerate(run->reader, code);
}

/* Samples of an event without a description weigh the stream's interval. */
static void weigh_other_events(struct run *run)
{
	uint64_t stream_ns = run->info.sampling_interval * NS_PER_US;
	bool is_any = false;

	for (uint32_t i = 0; i < PROFILE_EVENT_COUNT; i++) {
		is_any = is_any || run->has_event[i];
		if (!run->has_event[i])
			run->reader->weight_ns[i] = stream_ns;
	}
	if (run->interval_ns == 0 && !is_any)
		run->interval_ns = stream_ns;
	if (stream_ns == 0 && !is_any)
		run->is_untimed = true;
}

static uint64_t filetime_ns(VTUNE_ANALYZER_FILETIME time)
{
	return (uint64_t)time.dwHighDateTime << 32 | time.dwLowDateTime;
}

static uint64_t elapsed_ns(const TBRW_STREAM_INFO *info)
{
	uint64_t start = filetime_ns(info->sampling_start_time);
	uint64_t end = filetime_ns(info->sampling_end_time);

	if (start > 0 && end > start && end - start <= UINT64_MAX / NS_PER_FILETIME)
		return (end - start) * NS_PER_FILETIME;
	return info->sampling_duration * NS_PER_MS;
}

static void put_note(struct profile_reader *reader, enum profile_note_kind kind, uint64_t value,
		     struct profile_text text)
{
	struct profile_records *notes = &reader->records[PROFILE_STREAM_NOTES];

	assert(notes->count < NOTES_MAX);
	((struct profile_note *)notes->items)[notes->count++] = (struct profile_note){
		.kind = kind,
		.value = value,
		.text = text,
	};
}

static TBRW_U32 make_notes(struct run *run)
{
	static const char warning[] = "some samples do not stand for a known time: they count as "
				      "samples, not as CPU time";
	struct profile_reader *reader = run->reader;
	struct profile_text command = {0}, untimed = {0};
	const char *line;
	TBRW_U32 code = profile_reader_string(reader, run->info.command_line, &line);

	if (code != VT_SUCCESS)
		return code;
	struct profile_records *notes = &reader->records[PROFILE_STREAM_NOTES];
	notes->items = calloc(NOTES_MAX, sizeof(struct profile_note));
	if (!notes->items || !make_text(reader, line, &command) ||
	    (run->is_untimed && !make_text(reader, warning, &untimed)))
		return VT_NO_MEMORY;
	if (command.length > 0)
		put_note(reader, PROFILE_NOTE_COMMAND, 0, command);
	if (run->interval_ns > 0)
		put_note(reader, PROFILE_NOTE_INTERVAL, run->interval_ns, (struct profile_text){0});
	if (elapsed_ns(&run->info) > 0)
		put_note(reader, PROFILE_NOTE_ELAPSED, elapsed_ns(&run->info),
			 (struct profile_text){0});
	if (run->is_untimed)
		put_note(reader, PROFILE_NOTE_WARNING, 0, untimed);
	return VT_SUCCESS;
}

TBRW_U32 profile_plain_load(struct profile_reader *reader)
{
	struct run run = {.reader = reader};
	TBRW_U32 code = TBRW_reading_stream(reader->file, 0);

	if (code == VT_SUCCESS) {
		code = read_run(&run);
		TBRW_done_stream(reader->file, 0);
	}
	code = profile_reader_tolerate(reader, code);
	weigh_other_events(&run);
	if (code == VT_SUCCESS)
		code = make_images(reader);
	return code == VT_SUCCESS ? make_notes(&run) : code;
}

/* ---- Frames ---- */

static void sort_frames(struct profile_records *records)
{
	struct profile_frame *frames = records->items;
	uint32_t kept = 0;

	if (records->count > 0)
		qsort(frames, records->count, sizeof(*frames), profile_plain_compare);
	for (uint32_t i = 0; i < records->count; i++)
		if (kept == 0 || profile_plain_compare(&frames[kept - 1], &frames[i]) != 0)
			frames[kept++] = frames[i];
	records->count = kept;
}

/* Makes room for a frame: repeated ones go first, and memory grows only if half of it is left with
 * distinct ones. */
static TBRW_U32 reserve_frame(struct profile_records *frames, uint32_t *capacity)
{
	if (frames->count < *capacity)
		return VT_SUCCESS;
	sort_frames(frames);
	if (*capacity > 0 && frames->count <= *capacity / 2)
		return VT_SUCCESS;
	if (*capacity > FRAMES_MAX / 2)
		return VT_BUFFER_OVERFLOW;
	uint32_t grown = *capacity ? *capacity * 2 : FRAMES_FIRST_SIZE;
	void *items = reallocarray(frames->items, grown, sizeof(struct profile_frame));
	if (!items)
		return VT_NO_MEMORY;
	frames->items = items;
	*capacity = grown;
	return VT_SUCCESS;
}

static TBRW_U32 see_leaf(struct profile_reader *reader, uint64_t index,
			 const struct profile_sample_record *sample,
			 const struct profile_stack *stack, const DATA_BIND_STRUCT *bind,
			 void *user)
{
	struct profile_records *frames = &reader->records[PROFILE_STREAM_FRAMES];
	uint32_t module = profile_sample_module(reader, index, sample);

	(void)stack, (void)bind;
	if (module == PROFILE_NONE || reader->modules[module].image == PROFILE_NONE)
		return VT_SUCCESS;
	TBRW_U32 code = reserve_frame(frames, user);
	if (code == VT_SUCCESS)
		((struct profile_frame *)frames->items)[frames->count++] =
			profile_plain_leaf(reader, module, profile_sample_ip(&sample->pc));
	return code;
}

/* Frame i is the leaf of node i + 1, right below the root. */
TBRW_U32 profile_plain_make_frames(struct profile_reader *reader)
{
	uint32_t capacity = 0;
	TBRW_U32 code = profile_reader_each_raw_sample(reader, false, see_leaf, &capacity);

	if (code != VT_SUCCESS)
		return code;
	const struct profile_records *frames = &reader->records[PROFILE_STREAM_FRAMES];
	struct profile_records *nodes = &reader->records[PROFILE_STREAM_NODES];
	sort_frames(&reader->records[PROFILE_STREAM_FRAMES]);
	assert(nodes->count == 1);
	struct profile_node *items =
		reallocarray(nodes->items, (size_t)frames->count + 1, sizeof(*items));
	if (!items)
		return VT_NO_MEMORY;
	for (uint32_t i = 0; i < frames->count; i++)
		items[i + 1] = (struct profile_node){.parent = 0, .frame = i};
	*nodes = (struct profile_records){items, frames->count + 1};
	return VT_SUCCESS;
}
