#include "tools/import_stacks/stack_store.h"

#include "tools/memory/xalloc.h"
#include "tools/names/cold_name.h"
#include <stdlib.h>
#include <string.h>

static bool is_node(const void *item, const void *wanted)
{
	return memcmp(item, wanted, sizeof(struct profile_node)) == 0;
}

static uint32_t enter_node(struct stack_result *result, const struct profile_node *node)
{
	struct index_map *map = &result->node_map;
	uint32_t index = index_map_enter(map, &result->nodes, node, sizeof(*node),
					 index_map_hash(map, node, sizeof(*node)), is_node);
	result->node_count = index_map_count(map);
	return index;
}

struct stack_result *stack_result_create(void)
{
	static const struct profile_image unknown = {.kind = PROFILE_IMAGE_UNKNOWN};
	static const struct profile_node root = {PROFILE_NONE, PROFILE_NONE};
	struct stack_result *result = xalloc_zeroed(1, sizeof(*result));
	index_texts_enter(&result->texts, "");
	stack_result_add_image(result, &unknown, "", &(struct stack_mapping){0});
	enter_node(result, &root);
	return result;
}

static void free_texts(char **texts, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(texts[i]);
	free(texts);
}

void stack_result_destroy(struct stack_result *result)
{
	if (!result)
		return;
	index_texts_finish(&result->texts);
	free_texts(result->warnings, result->warning_count);
	index_map_finish(&result->node_map);
	index_map_finish(&result->owner_map);
	free(result->images);
	free(result->mappings);
	free(result->image_paths);
	free(result->frames);
	free(result->symbols);
	free(result->nodes);
	free(result->owners);
	free(result->weights);
	free(result);
}

uint32_t stack_result_add_image(struct stack_result *result, const struct profile_image *image,
				const char *path, const struct stack_mapping *mapping)
{
	size_t count = (size_t)result->image_count + 1;
	xalloc_room(&result->mappings, &result->mapping_capacity, count, sizeof(*result->mappings));
	result->mappings[result->image_count] = *mapping;
	xalloc_room(&result->images, &result->image_capacity, count, sizeof(*result->images));
	xalloc_room(&result->image_paths, &result->path_capacity, count,
		    sizeof(*result->image_paths));
	result->images[result->image_count] = *image;
	result->image_paths[result->image_count] = index_texts_enter(&result->texts, path);
	return result->image_count++;
}

uint32_t stack_result_add_frame(struct stack_result *result, const struct profile_frame *frame)
{
	xalloc_room(&result->frames, &result->frame_capacity, (size_t)result->frame_count + 1,
		    sizeof(*result->frames));
	result->frames[result->frame_count] = *frame;
	return result->frame_count++;
}

/* The first address of a function is not known; but a cold part by name is one of its own, since
 * the file has it apart: without an address it would join its owner. */
static uint64_t start_of(uint32_t frame, const char *name)
{
	return cold_name_owner_length(name) < strlen(name) ? (uint64_t)frame + 1 : 0;
}

void stack_result_add_symbols(struct stack_result *result, const struct stack_symbol *symbols,
			      size_t count)
{
	xalloc_room(&result->symbols, &result->symbol_capacity, result->symbol_count + count,
		    sizeof(*result->symbols));
	for (size_t i = 0; i < count; i++) {
		const char *full = symbols[i].full ? symbols[i].full : symbols[i].name;
		struct stack_symbol_record *record = &result->symbols[result->symbol_count++];
		memset(record, 0, sizeof(*record));
		record->symbol.frame = result->frame_count - 1;
		record->symbol.depth = (uint16_t)i;
		record->symbol.flags = i + 1 < count ? PROFILE_SYMBOL_INLINED : 0;
		record->symbol.line = symbols[i].line;
		record->symbol.start = start_of(record->symbol.frame, full);
		record->name = index_texts_enter(&result->texts, symbols[i].name);
		record->full = index_texts_enter(&result->texts, full);
		record->file = index_texts_enter(&result->texts, symbols[i].file);
	}
}

uint32_t stack_result_enter_node(struct stack_result *result, uint32_t parent, uint32_t frame)
{
	return enter_node(result, &(struct profile_node){parent, frame});
}

static bool is_owner(const void *item, const void *wanted)
{
	const struct stack_owner_record *owner = item;
	const struct stack_owner_record *other = wanted;
	return owner->pid == other->pid && owner->tid == other->tid &&
	       owner->process == other->process && owner->thread == other->thread;
}

uint32_t stack_result_enter_owner(struct stack_result *result, const struct stack_owner_name *name)
{
	struct index_map *map = &result->owner_map;
	const struct stack_owner_record wanted = {
		.pid = name->pid,
		.tid = name->tid,
		.process = index_texts_enter(&result->texts, name->process),
		.thread = index_texts_enter(&result->texts, name->thread),
	};
	const uint32_t identity[] = {wanted.pid, wanted.tid, wanted.process, wanted.thread};
	return index_map_enter(map, &result->owners, &wanted, sizeof(wanted),
			       index_map_hash(map, identity, sizeof(identity)), is_owner);
}

uint32_t stack_store_owner_count(const struct stack_result *result)
{
	return index_map_count(&result->owner_map);
}

const char *stack_result_keep(struct stack_result *result, const char *text)
{
	return result->texts.texts[index_texts_enter(&result->texts, text)];
}

void stack_result_warn(struct stack_result *result, char *sentence)
{
	/* Of pointers. NOLINTNEXTLINE(bugprone-sizeof-expression) */
	size_t size = sizeof(*result->warnings);
	xalloc_room(&result->warnings, &result->warning_capacity, result->warning_count + 1, size);
	result->warnings[result->warning_count++] = sentence;
}
