#include "tools/functions/functions.h"

#include "profile/read/reader.h"
#include "tools/functions/system_library.h"
#include "tools/memory/index_map.h"
#include "tools/memory/xalloc.h"
#include "tools/names/cold_name.h"
#include "tools/text/path.h"
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct functions {
	const struct profile_reader *reader;
	struct function *functions;
	struct index_map map; /* of functions */

	struct dso *dsos;
	struct index_map dso_map;
	uint32_t kernel_dso; /* of FUNCTION_KERNEL */
	uint32_t *dso_of_image;

	uint32_t *of_frames; /* function indices of all frames, one after the other */
	uint32_t *lines;     /* of these */
	size_t used;
	size_t allocated;
	size_t lines_allocated;
	size_t *first_of_frame; /* one more than there are frames */

	char **texts; /* made here, not the reader's */
	size_t text_count;
	size_t text_capacity;
};

static const char *keep_text(struct functions *functions, char *text)
{
	xalloc_room(&functions->texts, &functions->text_capacity, functions->text_count + 1,
		    sizeof(*functions->texts));
	functions->texts[functions->text_count++] = text;
	return text;
}

static struct dso describe_dso(const struct profile_reader *reader,
			       const struct profile_image *image)
{
	const char *path = profile_reader_text(reader, image->path);
	switch (image->kind) {
	case PROFILE_IMAGE_FILE:
		return (struct dso){path_base_name(path), path, system_library_is(path)};
	case PROFILE_IMAGE_VDSO:
		return (struct dso){"[vdso]", "", true};
	case PROFILE_IMAGE_JIT:
		return (struct dso){"[jit]", path, false};
	case PROFILE_IMAGE_KERNEL:
		return (struct dso){"[kernel]", "", true};
	default:
		return (struct dso){"[Unknown]", "", false};
	}
}

static bool is_dso(const void *item, const void *wanted)
{
	const struct dso *dso = item;
	const struct dso *other = wanted;
	return strcmp(dso->path, other->path) == 0 && strcmp(dso->name, other->name) == 0;
}

static uint32_t enter_dso(struct functions *functions, struct dso dso)
{
	struct index_map *map = &functions->dso_map;
	const uint64_t identity[] = {index_map_hash_text(map, dso.path),
				     index_map_hash_text(map, dso.name)};
	return index_map_enter(map, &functions->dsos, &dso, sizeof(dso),
			       index_map_hash(map, identity, sizeof(identity)), is_dso);
}

/* Dso 0 is [Unknown], that of the functions for missing knowledge. */
static void collect_dsos(struct functions *functions)
{
	uint32_t count = profile_reader_image_count(functions->reader);
	functions->dso_of_image = xalloc_zeroed(count, sizeof(*functions->dso_of_image));
	enter_dso(functions, (struct dso){"[Unknown]", "", false});
	functions->kernel_dso =
		enter_dso(functions, (struct dso){PROFILE_GAP_KERNEL_NAME, "", true});
	for (uint32_t i = 0; i < count; i++) {
		const struct profile_image *image = profile_reader_image(functions->reader, i);
		functions->dso_of_image[i] =
			enter_dso(functions, describe_dso(functions->reader, image));
	}
}

/* Whether the names are the same but for the mark of a cold part. */
static bool is_same_but_cold(const char *one, const char *other)
{
	size_t length = cold_name_owner_length(one);
	return length == cold_name_owner_length(other) && memcmp(one, other, length) == 0;
}

/* An out-of-line function is one with its address: C has many static functions of one name. The
 * copies of an inlined one share nothing but the name. */
static bool is_function(const void *item, const void *wanted)
{
	const struct function *found = item;
	const struct function *other = wanted;
	return found->dso == other->dso && found->is_inlined == other->is_inlined &&
	       (other->is_inlined || found->start == other->start) &&
	       is_same_but_cold(found->full, other->full);
}

static uint32_t enter_function(struct functions *functions, const struct function *function)
{
	struct index_map *map = &functions->map;
	const uint64_t identity[] = {function->dso, function->is_inlined ? 0 : function->start,
				     function->is_inlined,
				     index_map_hash(map, function->full,
						    cold_name_owner_length(function->full))};
	uint32_t index =
		index_map_enter(map, &functions->functions, function, sizeof(*function),
				index_map_hash(map, identity, sizeof(identity)), is_function);
	/* The whole function's name goes before its cold part's. */
	struct function *found = &functions->functions[index];
	if (strlen(function->full) < strlen(found->full))
		found->full = function->full;
	return index;
}

/* The functions for missing knowledge, in front of all others. */
static void add_specials(struct functions *functions)
{
	for (uint32_t i = 0; i <= FUNCTION_KERNEL; i++) {
		const char *name = profile_gap_name((enum profile_gap)i);
		enter_function(functions,
			       &(struct function){
				       .name = name,
				       .full = name,
				       .file = "",
				       .dso = i == FUNCTION_KERNEL ? functions->kernel_dso : 0,
			       });
		assert(functions_count(functions) == i + 1);
	}
}

static void add_to_frame(struct functions *functions, uint32_t index, uint32_t line)
{
	size_t used = functions->used++;
	xalloc_room(&functions->of_frames, &functions->allocated, used + 1,
		    sizeof(*functions->of_frames));
	xalloc_room(&functions->lines, &functions->lines_allocated, used + 1,
		    sizeof(*functions->lines));
	functions->of_frames[used] = index;
	functions->lines[used] = line;
}

/* The file of a function is that of its first frame: code from an included file has no line there.
 */
static uint32_t line_of_symbol(const struct functions *functions, uint32_t function,
			       const struct profile_symbol *symbol)
{
	const char *file = profile_reader_symtext(functions->reader, symbol->file);
	return strcmp(file, functions->functions[function].file) == 0 ? symbol->line : 0;
}

/* func@0xRVA, or [module] if there was no file to tell functions apart. */
static uint32_t function_without_symbol(struct functions *functions,
					const struct profile_frame *frame)
{
	const struct profile_image *image = profile_reader_image(functions->reader, frame->image);
	struct function function = {.file = "", .dso = functions->dso_of_image[frame->image]};
	if (image->kind == PROFILE_IMAGE_UNKNOWN)
		return FUNCTION_UNKNOWN;
	bool has_file =
		(image->kind == PROFILE_IMAGE_FILE && !(image->flags & PROFILE_IMAGE_NOT_OPEN)) ||
		image->kind == PROFILE_IMAGE_VDSO;
	const char *dso = functions->dsos[function.dso].name;
	char *name;
	if (has_file) {
		name = xalloc_printf("func@0x%" PRIx64, frame->rva);
		function.start = frame->rva;
	} else if (dso[0] == '[') {
		name = xalloc_text(dso);
	} else {
		name = xalloc_printf("[%s]", dso);
	}
	function.name = name;
	function.full = name;
	uint32_t before = functions_count(functions);
	uint32_t index = enter_function(functions, &function);
	if (index < before)
		free(name);
	else
		keep_text(functions, name);
	return index;
}

static uint32_t function_of_symbol(struct functions *functions, const struct profile_frame *frame,
				   const struct profile_symbol *symbol)
{
	const char *name = profile_reader_symtext(functions->reader, symbol->name);
	const char *full = profile_reader_symtext(functions->reader, symbol->full);
	if (name[0] == '\0')
		return function_without_symbol(functions, frame);
	return enter_function(functions,
			      &(struct function){
				      .name = name,
				      .full = full[0] ? full : name,
				      .file = profile_reader_symtext(functions->reader,
								     symbol->file),
				      .start = symbol->start,
				      .dso = functions->dso_of_image[frame->image],
				      .is_inlined = symbol->flags & PROFILE_SYMBOL_INLINED,
			      });
}

static void name_frame(struct functions *functions, uint32_t index, bool with_inlined)
{
	const struct profile_frame *frame = profile_reader_frame(functions->reader, index);
	uint32_t count = 0;
	const struct profile_symbol *symbols =
		profile_reader_symbols(functions->reader, index, &count);
	if (frame->flags & PROFILE_FRAME_DATA) {
		add_to_frame(functions, FUNCTION_UNKNOWN, 0);
		return;
	}
	if (count == 0)
		add_to_frame(functions, function_without_symbol(functions, frame), 0);
	for (uint32_t i = count; i-- > (with_inlined || count == 0 ? 0 : count - 1);) {
		uint32_t function = function_of_symbol(functions, frame, &symbols[i]);
		add_to_frame(functions, function, line_of_symbol(functions, function, &symbols[i]));
	}
}

struct functions *functions_create(const struct profile_reader *reader, bool with_inlined)
{
	struct functions *functions = xalloc_zeroed(1, sizeof(*functions));
	uint32_t count = profile_reader_frame_count(reader);
	functions->reader = reader;
	collect_dsos(functions);
	add_specials(functions);
	functions->first_of_frame =
		xalloc_zeroed((size_t)count + 1, sizeof(*functions->first_of_frame));
	for (uint32_t i = 0; i < count; i++) {
		functions->first_of_frame[i] = functions->used;
		name_frame(functions, i, with_inlined);
	}
	functions->first_of_frame[count] = functions->used;
	return functions;
}

uint32_t functions_add_label(struct functions *functions, const char *name)
{
	uint32_t before = functions_count(functions);
	char *text = xalloc_text(name);
	uint32_t index = enter_function(functions,
					&(struct function){.name = text, .full = text, .file = ""});
	if (index < before)
		free(text);
	else
		keep_text(functions, text);
	return index;
}

static bool is_trampoline(const struct function *function)
{
	/* Of C libraries, and of the kernel's vdso. */
	static const char *const names[] = {"__restore_rt", "__restore", "__kernel_rt_sigreturn",
					    "__kernel_sigreturn"};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(function->name, names[i]) == 0)
			return true;
	return false;
}

void functions_name_trampolines(struct functions *functions)
{
	for (uint32_t i = 0; i < functions_count(functions); i++)
		if (is_trampoline(&functions->functions[i]))
			functions->functions[i].name = "[signal handler called]";
}

void functions_destroy(struct functions *functions)
{
	if (!functions)
		return;
	for (size_t i = 0; i < functions->text_count; i++)
		free(functions->texts[i]);
	free(functions->texts);
	free(functions->functions);
	free(functions->dsos);
	free(functions->dso_of_image);
	free(functions->of_frames);
	free(functions->lines);
	free(functions->first_of_frame);
	index_map_finish(&functions->map);
	index_map_finish(&functions->dso_map);
	free(functions);
}

uint32_t functions_count(const struct functions *functions)
{
	return index_map_count(&functions->map);
}

const struct function *functions_at(const struct functions *functions, uint32_t index)
{
	assert(index < functions_count(functions));
	return &functions->functions[index];
}

uint32_t functions_dso_of_image(const struct functions *functions, uint32_t image)
{
	return functions->dso_of_image[image];
}

uint32_t functions_dso_count(const struct functions *functions)
{
	return index_map_count(&functions->dso_map);
}

const struct dso *functions_dso(const struct functions *functions, uint32_t index)
{
	assert(index < functions_dso_count(functions));
	return &functions->dsos[index];
}

const struct dso *functions_dso_of(const struct functions *functions, uint32_t index)
{
	return functions_dso(functions, functions_at(functions, index)->dso);
}

const uint32_t *functions_of_frame(const struct functions *functions, uint32_t frame,
				   uint32_t *count)
{
	size_t first = functions->first_of_frame[frame];
	assert(first < functions->first_of_frame[frame + 1]);
	*count = (uint32_t)(functions->first_of_frame[frame + 1] - first);
	return functions->of_frames + first;
}

const uint32_t *functions_lines_of_frame(const struct functions *functions, uint32_t frame)
{
	return functions->lines + functions->first_of_frame[frame];
}
