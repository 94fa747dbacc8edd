#include "tools/symbolization/frame_symbols.h"

#include "containers/compare.h"
#include "tools/generated/code_lives.h"
#include "tools/memory/xalloc.h"
#include "tools/modules/image_identity.h"
#include "tools/names/cold_name.h"
#include "tools/names/demangle.h"
#include "tools/symbolization/boot.h"
#include "tools/symbolization/kept_symbols.h"
#include "tools/text/path.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void add_miss(struct frame_symbols *symbols, const char *path,
		     struct frame_symbols_miss miss)
{
	miss.path = xalloc_text(path);
	symbols->misses =
		xalloc_resize(symbols->misses, symbols->miss_count + 1, sizeof(*symbols->misses));
	symbols->misses[symbols->miss_count++] = miss;
}

/* Code whose functions cannot be told apart counts as one: [module]. */
static void name_by_module(const char *module, struct symbol_address *addresses, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct symbol_entry *function = &addresses[i].function;
		if (function->name || function->is_pseudo)
			continue;
		function->name =
			module[0] == '[' ? xalloc_text(module) : xalloc_printf("[%s]", module);
		function->is_pseudo = true;
	}
}

static uint64_t nanoseconds(const struct timespec *time)
{
	return (uint64_t)time->tv_sec * UINT64_C(1000000000) + (uint64_t)time->tv_nsec;
}

/* The kernel's addresses change with each start of the machine. */
static bool is_same_boot(const struct profile_reader *reader)
{
	struct timespec raw;
	struct timespec real;
	if (profile_reader_clock_count(reader) == 0 || clock_gettime(CLOCK_MONOTONIC_RAW, &raw) ||
	    clock_gettime(CLOCK_REALTIME, &real))
		return false;
	return boot_is_same(profile_reader_clock(reader, 0), nanoseconds(&raw), nanoseconds(&real));
}

/* What the images are found by. */
struct search {
	const struct frame_symbols_source *source;
	int64_t *dates; /* of all images */
};

/* The start of the process with this generated code; 0: not known. */
static int64_t start_of(const struct profile_reader *reader, uint32_t pid, const char *path)
{
	int64_t start = 0;
	for (uint32_t i = 0; i < profile_reader_note_count(reader); i++) {
		const struct profile_note *note = profile_reader_note(reader, i);
		if (note->kind == PROFILE_NOTE_JIT_STARTED && note->pid == pid &&
		    strcmp(profile_reader_text(reader, note->text), path) == 0)
			start = (int64_t)note->value;
	}
	return start;
}

/* Tells of the dumps that could not be read; false: the image has none. */
static bool tell_of_dumps(const struct code_lives *lives, uint32_t image,
			  struct frame_symbols *symbols)
{
	size_t count;
	bool any = false;
	const struct code_dump_file *files = code_lives_files(lives, &count);
	for (size_t i = 0; i < count; i++) {
		if (files[i].image != image)
			continue;
		any = true;
		if (files[i].status != PERF_MAP_READ)
			add_miss(symbols, files[i].path,
				 (struct frame_symbols_miss){.is_map = true,
							     .is_dump = true,
							     .map_status = files[i].status});
	}
	return any;
}

/* A dump knows when names were true, a map does not. */
static void resolve_by_makers(const struct search *search, uint32_t index,
			      struct symbol_address *addresses, size_t count,
			      struct frame_symbols *symbols)
{
	const struct profile_reader *reader = search->source->reader;
	const struct profile_image *image = profile_reader_image(reader, index);
	const char *path = profile_reader_text(reader, image->path);
	struct perf_map_process process = {image->owner_uid, start_of(reader, image->pid, path)};
	enum perf_map_status status = PERF_MAP_MISSING;
	if (path[0])
		status = resolve_generated(path, &process, addresses, count);
	for (size_t i = 0; i < count; i++)
		code_lives_resolve(search->source->lives, &addresses[i]);
	if (!tell_of_dumps(search->source->lives, index, symbols) && path[0] &&
	    status != PERF_MAP_READ)
		add_miss(symbols, path,
			 (struct frame_symbols_miss){.is_map = true, .map_status = status});
}

static void resolve_image(const struct search *search, uint32_t index,
			  struct symbol_address *addresses, size_t count,
			  struct frame_symbols *symbols)
{
	const struct profile_reader *reader = search->source->reader;
	const struct profile_image *image = profile_reader_image(reader, index);
	enum symbol_file_status status = SYMBOL_FILE_OPEN;
	const char *path = profile_reader_text(reader, image->path);
	struct mapped_file identity;
	bool is_same = image_identity_make(reader, search->dates, index, &identity);
	switch (image->kind) {
	case PROFILE_IMAGE_FILE:
		status = is_same ? resolve_file(&identity, search->source->debug_path, addresses,
						count)
				 : SYMBOL_FILE_REPLACED;
		if (status != SYMBOL_FILE_OPEN)
			add_miss(symbols, path, (struct frame_symbols_miss){.status = status});
		name_by_module(path_base_name(path), addresses, count);
		break;
	case PROFILE_IMAGE_VDSO:
		resolve_file(&identity, search->source->debug_path, addresses, count);
		name_by_module("[vdso]", addresses, count);
		break;
	case PROFILE_IMAGE_JIT:
		resolve_by_makers(search, index, addresses, count, symbols);
		name_by_module("[jit]", addresses, count);
		break;
	case PROFILE_IMAGE_KERNEL:
		if (is_same_boot(reader))
			resolve_kernel(addresses, count);
		name_by_module("[kernel]", addresses, count);
		break;
	default:
		break;
	}
}

/* A file that cannot be read is told of for its code. */
static void resolve_data(const struct search *search, uint32_t index,
			 struct symbol_address *addresses, size_t count)
{
	const struct profile_reader *reader = search->source->reader;
	struct mapped_file identity;
	if (profile_reader_image(reader, index)->kind == PROFILE_IMAGE_FILE &&
	    image_identity_make(reader, search->dates, index, &identity))
		resolve_file_data(&identity, search->source->debug_path, addresses, count);
}

struct placed {
	uint32_t image;
	uint32_t is_data;
	uint32_t frame;
	uint64_t rva;
};

static int compare_placed(const void *a, const void *b)
{
	const struct placed *left = a;
	const struct placed *right = b;
	int order = compare_numbers(left->image, right->image);
	if (!order)
		order = compare_numbers(left->is_data, right->is_data);
	return order ? order : compare_numbers(left->rva, right->rva);
}

/* Addresses of the wanted frames, those of an image's code together and sorted, and those of its
 * data. */
static struct placed *place_frames(const struct frame_symbols_source *source, size_t *placed_count)
{
	uint32_t frames = profile_reader_frame_count(source->reader);
	struct placed *placed = xalloc_zeroed(frames, sizeof(*placed));
	size_t count = 0;
	for (uint32_t i = 0; i < frames; i++) {
		const struct profile_frame *frame = profile_reader_frame(source->reader, i);
		bool is_data = frame->flags & PROFILE_FRAME_DATA;
		if (!source->is_known || !source->is_known[i])
			placed[count++] = (struct placed){frame->image, is_data, i, frame->rva};
	}
	if (count > 1)
		qsort(placed, count, sizeof(*placed), compare_placed);
	*placed_count = count;
	return placed;
}

static bool is_together(const struct placed *one, const struct placed *other)
{
	return one->image == other->image && one->is_data == other->is_data;
}

static int compare_frames(const void *a, const void *b)
{
	const struct symbol_address *left = a;
	const struct symbol_address *right = b;
	return compare_numbers(left->frame, right->frame);
}

static void resolve_placed(const struct search *search, const struct placed *placed, size_t count,
			   struct frame_symbols *symbols)
{
	const struct frame_symbols_source *source = search->source;
	for (size_t first = 0, end; first < count; first = end) {
		for (end = first; end < count && is_together(&placed[end], &placed[first]); end++)
			;
		struct symbol_address *addresses = symbols->addresses + first;
		if (placed[first].is_data)
			resolve_data(search, placed[first].image, addresses, end - first);
		else
			resolve_image(search, placed[first].image, addresses, end - first, symbols);
		if (source->tell)
			source->tell(end, source->user);
	}
}

void frame_symbols_collect(const struct frame_symbols_source *source, struct frame_symbols *symbols)
{
	size_t count;
	struct placed *placed = place_frames(source, &count);
	struct search search = {source, image_identity_dates(source->reader)};
	*symbols = (struct frame_symbols){
		.reader = source->reader,
		.addresses = xalloc_zeroed(count, sizeof(*symbols->addresses)),
		.count = count,
	};
	for (size_t i = 0; i < count; i++) {
		symbols->addresses[i].rva = placed[i].rva;
		symbols->addresses[i].frame = placed[i].frame;
	}
	resolve_placed(&search, placed, count, symbols);
	free(search.dates);
	free(placed);
	if (count > 1)
		qsort(symbols->addresses, count, sizeof(*symbols->addresses), compare_frames);
	for (size_t i = 0; i < count; i++)
		symbols->kept_count +=
			kept_symbols_are_better(source->reader, &symbols->addresses[i]);
}

/* The names to show, for the caller to free. *full is NULL if equal to *name. */
static void spell_names(const struct symbol_entry *entry, char **name, char **full)
{
	*full = NULL;
	if (entry->is_plt) {
		char *target = demangle_name(entry->name, DEMANGLE_SHORT);
		*name = target[0] ? xalloc_printf("[Import thunk %s]", target)
				  : xalloc_text("[Import thunk]");
		free(target);
	} else if (!entry->name) {
		*name = xalloc_printf("func@0x%" PRIx64, entry->start);
	} else {
		char *owner = xalloc_text_of(entry->name, cold_name_owner_length(entry->name));
		*name = demangle_name(owner, DEMANGLE_SHORT);
		free(owner);
		*full = demangle_name(entry->name, DEMANGLE_FULL);
	}
	if (*full && strcmp(*name, *full) == 0) {
		free(*full);
		*full = NULL;
	}
}

/* Where symbols go, with the callback's user. */
struct sink {
	frame_symbols_callback *callback;
	void *user;
};

static TBRW_U32 give_entry(const struct sink *sink, uint32_t frame, size_t depth,
			   struct symbol_entry *entry, bool is_inlined)
{
	char *name;
	char *full;
	struct profile_symbol symbol = {
		.frame = frame,
		.depth = (uint16_t)depth,
		.line = entry->line,
		.start = entry->start,
		.size = entry->size,
	};
	if (is_inlined)
		symbol.flags |= PROFILE_SYMBOL_INLINED;
	if (entry->is_pseudo)
		symbol.flags |= PROFILE_SYMBOL_PSEUDO;
	if (entry->is_plt)
		symbol.flags |= PROFILE_SYMBOL_PLT;
	spell_names(entry, &name, &full);
	const struct profile_symbol_text text = {name, full, entry->file};
	TBRW_U32 code = sink->callback(&symbol, &text, sink->user);
	free(name);
	free(full);
	return code;
}

static TBRW_U32 give_address(const struct sink *sink, struct symbol_address *address)
{
	TBRW_U32 code = VT_SUCCESS;
	size_t depth = 0;
	/* code in no known module has no symbol */
	if (!address->function.name && !address->function.is_pseudo)
		return VT_SUCCESS;
	for (size_t i = address->inlined_count; i-- > 0 && code == VT_SUCCESS;)
		code = give_entry(sink, address->frame, depth++, &address->inlined[i], true);
	if (code == VT_SUCCESS)
		code = give_entry(sink, address->frame, depth, &address->function, false);
	return code;
}

TBRW_U32 frame_symbols_each(struct frame_symbols *symbols, frame_symbols_callback *callback,
			    void *user)
{
	const struct sink sink = {callback, user};
	TBRW_U32 code = VT_SUCCESS;
	for (size_t i = 0; i < symbols->count && code == VT_SUCCESS; i++) {
		struct symbol_address *address = &symbols->addresses[i];
		code = kept_symbols_are_better(symbols->reader, address)
			       ? kept_symbols_give(symbols->reader, address->frame, callback, user)
			       : give_address(&sink, address);
	}
	return code;
}

static TBRW_U32 write_symbol(const struct profile_symbol *symbol,
			     const struct profile_symbol_text *text, void *user)
{
	return profile_symbol_writer_add(user, symbol, text);
}

TBRW_U32 frame_symbols_write(const char *path, struct frame_symbols *symbols)
{
	struct profile_writer *writer = NULL;
	TBRW_U32 code = profile_symbol_writer_begin(path, &writer);
	if (code != VT_SUCCESS)
		return code;
	code = frame_symbols_each(symbols, write_symbol, writer);
	if (code != VT_SUCCESS) {
		profile_writer_abandon(writer);
		return code;
	}
	return profile_symbol_writer_finish(writer);
}

void frame_symbols_finish(struct frame_symbols *symbols)
{
	for (size_t i = 0; i < symbols->count; i++)
		symbol_address_finish(&symbols->addresses[i]);
	for (size_t i = 0; i < symbols->miss_count; i++)
		free(symbols->misses[i].path);
	free(symbols->addresses);
	free(symbols->misses);
	memset(symbols, 0, sizeof(*symbols));
}
