#include "tools/symbolization/live_symbols.h"

#include "tools/generated/code_lives.h"
#include "tools/memory/xalloc.h"
#include "tools/symbolization/frame_symbols.h"
#include <stdlib.h>
#include <string.h>

struct live_symbols {
	struct profile_frame *frames; /* of the result as last read */
	bool *is_known;               /* of these: their symbols are final */
	uint32_t frame_count;
	struct profile_symbol *symbols;
	struct profile_symbol_text *texts; /* of these, owned */
	size_t count;
	size_t symbols_capacity;
	size_t texts_capacity;
};

struct live_symbols *live_symbols_create(void)
{
	return xalloc_zeroed(1, sizeof(struct live_symbols));
}

/* The texts are the struct's. */
static void free_texts(const struct profile_symbol_text *texts)
{
	free((void *)(uintptr_t)texts->name);
	free((void *)(uintptr_t)texts->full);
	free((void *)(uintptr_t)texts->file);
}

void live_symbols_destroy(struct live_symbols *live)
{
	if (!live)
		return;
	for (size_t i = 0; i < live->count; i++)
		free_texts(&live->texts[i]);
	free(live->frames);
	free(live->is_known);
	free(live->symbols);
	free(live->texts);
	free(live);
}

/* Frames are only ever added to a result. */
static bool is_same_result(const struct live_symbols *live, const struct profile_reader *reader)
{
	if (profile_reader_frame_count(reader) < live->frame_count)
		return false;
	for (uint32_t i = 0; i < live->frame_count; i++) {
		const struct profile_frame *frame = profile_reader_frame(reader, i);
		if (memcmp(frame, &live->frames[i], sizeof(*frame)) != 0)
			return false;
	}
	return true;
}

static void take_frames(struct live_symbols *live, const struct profile_reader *reader)
{
	uint32_t count = profile_reader_frame_count(reader);
	if (!is_same_result(live, reader)) {
		for (size_t i = 0; i < live->count; i++)
			free_texts(&live->texts[i]);
		live->count = live->frame_count = 0;
	}
	live->frames = xalloc_resize(live->frames, count, sizeof(*live->frames));
	live->is_known = xalloc_resize(live->is_known, count, sizeof(*live->is_known));
	for (uint32_t i = live->frame_count; i < count; i++) {
		live->frames[i] = *profile_reader_frame(reader, i);
		live->is_known[i] = false;
	}
	live->frame_count = count;
}

/* Symbols of frames that are looked for again. */
static void drop_unknown(struct live_symbols *live)
{
	size_t kept = 0;
	for (size_t i = 0; i < live->count; i++) {
		if (!live->is_known[live->symbols[i].frame]) {
			free_texts(&live->texts[i]);
			continue;
		}
		live->symbols[kept] = live->symbols[i];
		live->texts[kept++] = live->texts[i];
	}
	live->count = kept;
}

static const char *copy_text(const char *text)
{
	return text ? xalloc_text(text) : NULL;
}

static TBRW_U32 keep_symbol(const struct profile_symbol *symbol,
			    const struct profile_symbol_text *text, void *user)
{
	struct live_symbols *live = user;
	xalloc_room(&live->symbols, &live->symbols_capacity, live->count + 1,
		    sizeof(*live->symbols));
	xalloc_room(&live->texts, &live->texts_capacity, live->count + 1, sizeof(*live->texts));
	live->symbols[live->count] = *symbol;
	live->texts[live->count++] =
		(struct profile_symbol_text){copy_text(text->name), copy_text(text->full),
					     copy_text(text->file)};
	return VT_SUCCESS;
}

static bool is_generated(const struct profile_reader *reader, uint32_t frame)
{
	uint32_t image = profile_reader_frame(reader, frame)->image;
	return profile_reader_image(reader, image)->kind == PROFILE_IMAGE_JIT;
}

static void look_for_symbols(struct live_symbols *live, struct profile_reader *reader)
{
	struct frame_symbols found;
	struct code_lives *lives = code_lives_read(reader);
	frame_symbols_collect(&(struct frame_symbols_source){.reader = reader,
							     .lives = lives,
							     .is_known = live->is_known},
			      &found);
	frame_symbols_each(&found, keep_symbol, live); /* keep_symbol never fails */
	for (size_t i = 0; i < found.count; i++) {
		const struct symbol_address *address = &found.addresses[i];
		live->is_known[address->frame] =
			!address->function.is_pseudo || !is_generated(reader, address->frame);
	}
	frame_symbols_finish(&found);
	code_lives_destroy(lives);
}

TBRW_U32 live_symbols_name(struct live_symbols *live, struct profile_reader *reader)
{
	bool is_whole = true;
	if (profile_reader_symbol_count(reader) > 0)
		return VT_SUCCESS;
	take_frames(live, reader);
	for (uint32_t i = 0; i < live->frame_count; i++)
		is_whole &= live->is_known[i];
	drop_unknown(live);
	if (!is_whole)
		look_for_symbols(live, reader);
	return profile_reader_name_frames(reader, live->symbols, live->texts,
					  (uint32_t)live->count);
}
