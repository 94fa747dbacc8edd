/* The mappings of an address space, in order of address and disjoint. They are kept in blocks, so
 * that adding one moves few others, however many there are and in whatever order they come. */
#ifndef UNWIND_SPACE_MAPPING_H
#define UNWIND_SPACE_MAPPING_H

#include <stddef.h>
#include <stdint.h>

struct uw_mapping {
	uint64_t start, end;
	uint64_t rva; /* of start: an ELF virtual address, or start itself without a module */
	struct uw_module *module; /* a reference of whoever has the list, or NULL */
	uint32_t tag;
};

enum {
	UW_MAPPING_BLOCK = 64, /* mappings in a block */
	UW_MAPPING_MORE = 3    /* that uw_mapping_list_reserve makes room for */
};

/* Zeros: an empty one. */
struct uw_mapping_list {
	size_t count;
	struct uw_mapping_block **blocks; /* none of them empty */
	size_t block_count, block_capacity;
	struct uw_mapping_block *spare[UW_MAPPING_MORE];
	size_t spare_count;
};

/* Where a mapping is, or the end behind the last one. Zeros: the first one. Holds until the list
 * changes. */
struct uw_mapping_place {
	size_t block, item;
};

void uw_mapping_list_finish(struct uw_mapping_list *list);

/* A copy, in as few blocks as hold it. The modules' references are not counted. Returns 0, or -1
 * with errno ENOMEM. */
int uw_mapping_list_copy(struct uw_mapping_list *copy, const struct uw_mapping_list *list);

/* The place of the first mapping that ends after address, or the end. */
struct uw_mapping_place uw_mapping_list_find(const struct uw_mapping_list *list, uint64_t address);

/* The mapping at a place; NULL: it is the end. Valid until the list changes. */
struct uw_mapping *uw_mapping_list_at(const struct uw_mapping_list *list,
				      struct uw_mapping_place place);

/* The same, and the place goes on to the next one. */
struct uw_mapping *uw_mapping_list_next(const struct uw_mapping_list *list,
					struct uw_mapping_place *place);

/* Makes sure that UW_MAPPING_MORE mappings can be inserted. Returns 0, or -1 with errno ENOMEM. */
int uw_mapping_list_reserve(struct uw_mapping_list *list);

/* Inserts a mapping before the one at a place; there is room for it, and it overlaps none. */
void uw_mapping_list_insert(struct uw_mapping_list *list, struct uw_mapping_place place,
			    const struct uw_mapping *mapping);

/* Removes the mapping at a place, which is then the next one's. */
void uw_mapping_list_remove(struct uw_mapping_list *list, struct uw_mapping_place *place);

#endif
