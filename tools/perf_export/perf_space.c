#include "tools/perf_export/perf_space.h"

#include "tools/memory/xalloc.h"
#include <stdlib.h>

/* A module at its place in the order by process and image, the modules of a process and an image in
 * the order of the file, which is that of mapping. */
struct place {
	uint32_t pid;
	uint32_t image;
	uint32_t module;
	bool is_mapped;
};

/* The address last found for a frame. */
struct known {
	uint64_t version; /* of the process's mappings; 0: none */
	uint32_t frame;
	bool is_found;
	uint64_t address;
};

enum { KNOWN_COUNT = 1 << 16 };

/* Kernel code has no process. */
#define PID_ANY UINT32_MAX

struct perf_space {
	struct profile_reader *reader;
	uint64_t *rvas; /* of the modules' first bytes */
	struct place *places;
	uint32_t *place_of_module;
	/* By the place of the process's first module. Processes without share the last one. */
	uint64_t *versions;
	uint64_t version; /* the newest */
	size_t count;
	struct known *known;
	uint32_t pid; /* looked up last, and its first place */
	size_t first;
};

static int compare_places(const void *a, const void *b)
{
	const struct place *left = a;
	const struct place *right = b;
	if (left->pid != right->pid)
		return left->pid < right->pid ? -1 : 1;
	if (left->image != right->image)
		return left->image < right->image ? -1 : 1;
	return (left->module > right->module) - (left->module < right->module);
}

static bool has_rvas(const struct profile_reader *reader)
{
	for (uint32_t i = 0; i < profile_reader_module_count(reader); i++)
		if (profile_reader_module(reader, i)->rva != 0)
			return true;
	return profile_reader_module_count(reader) == 0;
}

/* A leaf's rva and its address in the process. */
static bool learn_rva(const struct profile_sample_info *sample, void *user)
{
	struct perf_space *space = user;
	if (sample->module == PROFILE_NONE || sample->stack.node == 0)
		return true;
	const struct profile_module_info *module =
		profile_reader_module(space->reader, sample->module);
	const struct profile_node *node = profile_reader_node(space->reader, sample->stack.node);
	if (node->frame == PROFILE_NONE)
		return true;
	const struct profile_frame *frame = profile_reader_frame(space->reader, node->frame);
	if (frame->image == module->image)
		space->rvas[sample->module] = frame->rva - (sample->ip - module->start);
	return true;
}

/* Without a hit the file offset is the best guess: linkers often lay code out so. */
static TBRW_U32 find_rvas(struct perf_space *space)
{
	bool is_known = has_rvas(space->reader);
	for (uint32_t i = 0; i < space->count; i++) {
		const struct profile_module_info *module = profile_reader_module(space->reader, i);
		space->rvas[i] = is_known ? module->rva : module->pgoff;
	}
	return is_known ? VT_SUCCESS : profile_reader_each_sample(space->reader, learn_rva, space);
}

static void sort_places(struct perf_space *space)
{
	for (uint32_t i = 0; i < space->count; i++) {
		const struct profile_module_info *module = profile_reader_module(space->reader, i);
		space->places[i] = (struct place){.pid = module->is_global ? PID_ANY : module->pid,
						  .image = module->image,
						  .module = i};
	}
	if (space->count > 1)
		qsort(space->places, space->count, sizeof(*space->places), compare_places);
	for (uint32_t i = 0; i < space->count; i++)
		space->place_of_module[space->places[i].module] = i;
}

TBRW_U32 perf_space_create(struct profile_reader *reader, struct perf_space **created)
{
	struct perf_space *space = xalloc_zeroed(1, sizeof(*space));
	*space = (struct perf_space){.reader = reader,
				     .count = profile_reader_module_count(reader),
				     .version = 1};
	space->rvas = xalloc_zeroed(space->count, sizeof(*space->rvas));
	space->places = xalloc_zeroed(space->count, sizeof(*space->places));
	space->place_of_module = xalloc_zeroed(space->count, sizeof(*space->place_of_module));
	space->versions = xalloc_zeroed(space->count + 1, sizeof(*space->versions));
	space->known = xalloc_zeroed(KNOWN_COUNT, sizeof(*space->known));
	sort_places(space);
	space->pid = PID_ANY - 1; /* none */
	space->first = space->count;
	TBRW_U32 code = find_rvas(space);
	if (code != VT_SUCCESS) {
		perf_space_destroy(space);
		return code;
	}
	*created = space;
	return VT_SUCCESS;
}

void perf_space_destroy(struct perf_space *space)
{
	if (!space)
		return;
	free(space->rvas);
	free(space->places);
	free(space->place_of_module);
	free(space->versions);
	free(space->known);
	free(space);
}

/* The first place that is not before the process's image; the count: none. */
static size_t find_place(const struct perf_space *space, uint32_t pid, uint32_t image)
{
	const struct place wanted = {.pid = pid, .image = image};
	size_t from = 0, to = space->count;
	while (from < to) {
		size_t middle = from + (to - from) / 2;
		if (compare_places(&space->places[middle], &wanted) < 0)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

/* The count: the process has no modules. */
static size_t first_place(struct perf_space *space, uint32_t pid)
{
	if (pid != space->pid) {
		space->pid = pid;
		space->first = find_place(space, pid, 0);
		if (space->first < space->count && space->places[space->first].pid != pid)
			space->first = space->count;
	}
	return space->first;
}

void perf_space_map(struct perf_space *space, uint32_t module)
{
	struct place *place = &space->places[space->place_of_module[module]];
	place->is_mapped = true;
	space->versions[first_place(space, place->pid)] = ++space->version;
}

/* Whether the module holds the rva, and its address. */
static bool take_address(const struct perf_space *space, uint32_t module, uint64_t rva,
			 uint64_t *address)
{
	const struct profile_module_info *info = profile_reader_module(space->reader, module);
	if (rva - space->rvas[module] >= info->length)
		return false;
	*address = info->start + (rva - space->rvas[module]);
	return true;
}

/* A module mapped later counts if there is no other: its record may be late. */
static bool search_modules(const struct perf_space *space, uint32_t pid,
			   const struct profile_frame *frame, uint64_t *address)
{
	bool is_found = false;
	for (size_t i = find_place(space, pid, frame->image); i < space->count; i++) {
		const struct place *place = &space->places[i];
		if (place->pid != pid || place->image != frame->image ||
		    (!place->is_mapped && is_found))
			break;
		if (take_address(space, place->module, frame->rva, address))
			is_found = true;
	}
	return is_found;
}

static bool find_address(const struct perf_space *space, uint32_t pid, uint32_t index,
			 uint64_t *address)
{
	const struct profile_frame *frame = profile_reader_frame(space->reader, index);
	const struct profile_image *image = profile_reader_image(space->reader, frame->image);
	if (image->kind == PROFILE_IMAGE_UNKNOWN)
		return false;
	/* Most kernel frames, and all of generated code, have addresses for their rvas. */
	if (image->kind == PROFILE_IMAGE_KERNEL && frame->rva >> 63)
		*address = frame->rva;
	else if (image->kind == PROFILE_IMAGE_KERNEL)
		return search_modules(space, PID_ANY, frame, address);
	else if (image->kind == PROFILE_IMAGE_JIT)
		*address = frame->rva;
	else
		return search_modules(space, pid, frame, address);
	return true;
}

uint64_t perf_space_version(struct perf_space *space, uint32_t pid)
{
	uint64_t *version = &space->versions[first_place(space, pid)];
	if (*version == 0)
		*version = ++space->version;
	return *version;
}

bool perf_space_find(struct perf_space *space, uint32_t pid, uint64_t version, uint32_t frame,
		     uint64_t *address)
{
	struct known *known =
		&space->known[(frame ^ (pid * UINT32_C(2654435761)) >> 12) % KNOWN_COUNT];
	if (known->version != version || known->frame != frame) {
		*known = (struct known){.version = version, .frame = frame};
		known->is_found = find_address(space, pid, frame, &known->address);
	}
	*address = known->address;
	return known->is_found;
}
