/* The leaves of a plain file's samples: their whole stacks. */
#include "containers/compare.h"
#include "profile/read/reader_private.h"
#include <stdlib.h>

/* The place of an address in the image of its module. A plain file has no file offsets: a module
 * record is taken to begin at the image's address 0. This is right for shared objects and
 * position-independent programs loaded whole, and for others recorded with load address 0. If a
 * record begins elsewhere, addresses are relative to the record, and symbols are not found or
 * func@0x. */
struct profile_frame profile_plain_leaf(const struct profile_reader *reader, uint32_t module,
					uint64_t ip)
{
	const struct profile_module_info *info = &reader->modules[module];
	bool is_kernel = profile_reader_image(reader, info->image)->kind == PROFILE_IMAGE_KERNEL;

	return (struct profile_frame){
		.image = info->image,
		.rva = is_kernel ? ip : ip - info->start,
	};
}

int profile_plain_compare(const void *left, const void *right)
{
	const struct profile_frame *a = left, *b = right;
	int order = compare_numbers(a->image, b->image);

	return order ? order : compare_numbers(a->rva, b->rva);
}

uint32_t profile_plain_node(const struct profile_reader *reader, uint32_t module, uint64_t ip)
{
	const struct profile_records *frames = &reader->records[PROFILE_STREAM_FRAMES];

	if (module == PROFILE_NONE || reader->modules[module].image == PROFILE_NONE ||
	    frames->count == 0)
		return 0;
	struct profile_frame key = profile_plain_leaf(reader, module, ip);
	const struct profile_frame *found =
		bsearch(&key, frames->items, frames->count, sizeof(key), profile_plain_compare);
	return found ? (uint32_t)(found - (struct profile_frame *)frames->items) + 1 : 0;
}
