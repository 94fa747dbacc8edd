#include "unwind/go/source.h"

#include "unwind/elf/elf.h"
#include "unwind/go/data.h"
#include <string.h>

enum {
	LIST_INLINED = 2,       /* PCDATA_InlTreeIndex */
	DATA_INLINED = 3,       /* FUNCDATA_InlTree */
	NODE_MAX = 20,          /* bytes of an inlined call in the tree */
	EFFORT_MAX = 256 * 1024 /* pairs read for an address */
};

uint64_t uw_go_data_start(const struct uw_go *go, const struct uw_elf *elf)
{
	struct uw_go_clue clue = {
		.table = go->span.rva,
		.names = go->names,
		.units = go->units,
		.files = go->files,
		.values = go->values,
		.index = go->index,
		.first = go->start - go->text,
		.end = go->end - go->text,
	};
	struct uw_go_data data;

	if (go->span.size == 0 || go->version < UW_GO_1_18 ||
	    !uw_go_data_find(elf, &clue, go->version >= UW_GO_1_20, &data))
		return 0;
	return data.functions;
}

/* The name of a file by its number. */
static const char *file_name(const struct uw_go *go, const struct uw_go_function *function,
			     int32_t number)
{
	uint64_t at, offset;

	if (number < 0)
		return NULL;
	if (go->version == UW_GO_1_2) {
		/* The number of files comes first. */
		at = go->files + (uint64_t)number * 4;
		return number > 0 && uw_go_number(go, at, 4, &offset) ? uw_go_text(go, offset)
								      : NULL;
	}
	at = go->units + ((uint64_t)function->unit + (uint64_t)number) * 4;
	if (!uw_go_number(go, at, 4, &offset) || offset == UINT32_MAX)
		return NULL;
	return uw_go_text(go, go->files + offset);
}

static void find_place(const struct uw_go *go, const struct uw_go_function *function, uint64_t rva,
		       uint32_t *effort, struct uw_go_call *call)
{
	int32_t number;

	call->file = NULL;
	call->line = 0;
	if (uw_go_value(go, function, function->files, rva, effort, &number))
		call->file = file_name(go, function, number);
	if (uw_go_value(go, function, function->lines, rva, effort, &number) && number > 0)
		call->line = (uint32_t)number;
}

/* The address of the function's tree of inlined calls; 0: it has none. */
static uint64_t find_tree(const struct uw_go *go, uint64_t data_start,
			  const struct uw_go_function *function)
{
	uint64_t offset, at = function->lists_at + ((uint64_t)function->lists + DATA_INLINED) * 4;

	if (data_start == 0 || function->data <= DATA_INLINED ||
	    !uw_go_number(go, at, 4, &offset) || offset == UINT32_MAX)
		return 0;
	return data_start + offset;
}

/* Reads an inlined call: the name of its function, and an instruction at the place of the call. */
static bool read_node(const struct uw_go *go, const struct uw_elf *elf, uint64_t tree,
		      uint32_t number, const char **name, uint32_t *place)
{
	bool is_1_20 = go->version >= UW_GO_1_20;
	uint64_t size = is_1_20 ? 16 : NODE_MAX;
	uint8_t bytes[NODE_MAX];
	uint32_t offset;
	const struct uw_segment *segment = uw_elf_segment(elf, tree + number * size);

	if (!segment)
		return false;
	/* In position-independent programs the trees lie in a segment that the loader makes
	 * constant. */
	uint64_t at = tree + number * size - segment->rva;
	if (segment->file_size - at < size || !uw_elf_read(elf, segment->offset + at, bytes, size))
		return false;
	memcpy(&offset, bytes + (is_1_20 ? 4 : 12), sizeof(offset));
	memcpy(place, bytes + (is_1_20 ? 8 : 16), sizeof(*place));
	*name = uw_go_text(go, go->names + offset);
	return *name != NULL;
}

size_t uw_go_calls(const struct uw_go *go, const struct uw_elf *elf, uint64_t data_start,
		   const struct uw_go_function *function, uint64_t rva,
		   struct uw_go_call calls[static UW_GO_CALLS_MAX])
{
	uint64_t tree = find_tree(go, data_start, function);
	uint32_t list = uw_go_list(go, function, LIST_INLINED), place, effort = 0;
	size_t count = 0;
	int32_t number;

	while (tree != 0 && count + 1 < UW_GO_CALLS_MAX && effort < EFFORT_MAX &&
	       uw_go_value(go, function, list, rva, &effort, &number) && number >= 0 &&
	       read_node(go, elf, tree, (uint32_t)number, &calls[count].name, &place) &&
	       place < function->end - function->start) {
		find_place(go, function, rva, &effort, &calls[count++]);
		rva = function->start + place;
	}
	calls[count].name = uw_go_name(go, function);
	find_place(go, function, rva, &effort, &calls[count]);
	return count + 1;
}
