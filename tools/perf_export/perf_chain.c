#include "tools/perf_export/perf_chain.h"

#include "tools/functions/functions.h"
#include "tools/memory/xalloc.h"
#include "tools/perf_data/perf_record.h"
#include "tools/perf_export/perf_space.h"
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Room for a last frame and the seams around it, each with a context. */
#define DEPTH_MAX (PERF_RECORD_CHAIN_MAX - 8)

/* A stack and its entries while the process's mappings stay. */
struct perf_chain_kept {
	uint64_t version; /* 0: none */
	uint64_t place;   /* of the first entry, as if none had been replaced */
	uint32_t node;
	uint16_t count;
	uint8_t state;
};

/* A stack is in one of the WAYS places of its set. All together take 70 MB at most. */
enum { SET_BITS = 16, WAYS = 4, KEPT_ENTRIES = 8 << 20, LINE = 64, PAGE = 4096 };

void perf_chain_finish(struct perf_chain *chain)
{
	free(chain->kept);
	free(chain->kept_entries);
	free(chain->made);
	*chain = (struct perf_chain){.reader = chain->reader};
}

static void clear_chain(struct perf_chain *chain)
{
	chain->count = 0;
	chain->context = 0;
}

static void add_entry(struct perf_chain *chain, uint64_t entry)
{
	xalloc_room(&chain->made, &chain->capacity, chain->count + 1, sizeof(*chain->made));
	chain->made[chain->count++] = entry;
	chain->entries = chain->made;
}

static void add_address(struct perf_chain *chain, uint64_t address)
{
	uint64_t context = perf_record_context(address);
	if (context != chain->context)
		add_entry(chain, context);
	chain->context = context;
	add_entry(chain, address);
}

/* Several in a row are one. */
static void add_gap(struct perf_chain *chain, enum profile_gap gap)
{
	uint64_t address = profile_gap_address(gap);
	if (chain->count == 0 || chain->made[chain->count - 1] != address)
		add_address(chain, address);
}

void perf_chain_set_gap(struct perf_chain *chain, enum profile_gap gap)
{
	clear_chain(chain);
	add_gap(chain, gap);
}

/* Adds the frames of a node and its callers; the first guessed one behind others follows the seam.
 * Returns the outermost node in the chain, 0: none. */
static uint32_t add_frames(struct perf_chain *chain, struct perf_space *space, uint32_t pid,
			   uint32_t leaf, bool *has_seam)
{
	const struct profile_reader *reader = chain->reader;
	uint64_t version = perf_space_version(space, pid);
	bool was_guessed = true;
	uint32_t outermost = 0;
	for (uint32_t node = leaf; node != 0 && chain->count < DEPTH_MAX;) {
		const struct profile_node *at = profile_reader_node(reader, node);
		uint64_t address;
		bool is_guessed =
			profile_reader_frame(reader, at->frame)->flags & PROFILE_FRAME_GUESSED;
		if (is_guessed && !was_guessed) {
			add_gap(chain, PROFILE_GAP_GUESSED);
			*has_seam = true;
		}
		if (perf_space_find(space, pid, version, at->frame, &address))
			add_address(chain, address);
		else
			add_gap(chain, PROFILE_GAP_UNKNOWN);
		was_guessed = is_guessed;
		outermost = node;
		node = at->parent;
	}
	return outermost;
}

static void make_stack(struct perf_chain *chain, struct perf_space *space,
		       const struct profile_sample_info *sample)
{
	const struct profile_stack *stack = &sample->stack;
	bool has_seam = false, is_guessed = false, is_cut = false;
	clear_chain(chain);
	uint32_t outermost = add_frames(chain, space, sample->pid, stack->node, &has_seam);
	if (chain->count == 0)
		add_gap(chain, PROFILE_GAP_UNKNOWN);
	if (outermost != 0) {
		const struct profile_node *node = profile_reader_node(chain->reader, outermost);
		is_guessed = profile_reader_frame(chain->reader, node->frame)->flags &
			     PROFILE_FRAME_GUESSED;
		is_cut = node->parent != 0;
	}
	if (!has_seam && (is_guessed || stack->state == PROFILE_STACK_GUESSED))
		add_gap(chain, PROFILE_GAP_GUESSED);
	if (is_cut || stack->state == PROFILE_STACK_SKIPPED)
		add_gap(chain, PROFILE_GAP_SKIPPED);
}

static bool is_whole(const struct perf_chain *chain, const struct perf_chain_kept *kept)
{
	return chain->kept_end - kept->place <= KEPT_ENTRIES;
}

static void keep_stack(struct perf_chain *chain, struct perf_chain_kept *kept)
{
	uint64_t room = KEPT_ENTRIES - chain->kept_end % KEPT_ENTRIES;
	if (room < chain->count)
		chain->kept_end += room;
	kept->place = chain->kept_end;
	kept->count = (uint16_t)chain->count;
	memcpy(&chain->kept_entries[kept->place % KEPT_ENTRIES], chain->entries,
	       chain->count * sizeof(*chain->entries));
	chain->kept_end += chain->count;
}

static struct perf_chain_kept *set_of(const struct perf_chain *chain, uint64_t version,
				      const struct profile_stack *stack)
{
	uint32_t hash = (stack->node ^ (uint32_t)version << 20) * UINT32_C(2654435761);
	return &chain->kept[(hash >> (32 - SET_BITS)) * WAYS];
}

/* The kept stack; or the one to be replaced, the oldest of its set. */
static struct perf_chain_kept *find_kept(const struct perf_chain *chain, uint64_t version,
					 const struct profile_stack *stack)
{
	struct perf_chain_kept *set = set_of(chain, version, stack);
	struct perf_chain_kept *oldest = set;
	for (struct perf_chain_kept *kept = set; kept < set + WAYS; kept++) {
		if (kept->version == version && kept->node == stack->node &&
		    kept->state == stack->state)
			return kept;
		if (kept->place < oldest->place)
			oldest = kept;
	}
	return oldest;
}

static void fetch(const void *bytes, size_t size)
{
	for (size_t at = 0; at < size; at += LINE)
		__builtin_prefetch((const char *)bytes + at);
}

void perf_chain_expect(const struct perf_chain *chain, struct perf_space *space,
		       const struct profile_sample_info *sample)
{
	if (chain->kept)
		fetch(set_of(chain, perf_space_version(space, sample->pid), &sample->stack),
		      WAYS * sizeof(*chain->kept));
}

void perf_chain_expect_soon(const struct perf_chain *chain, struct perf_space *space,
			    const struct profile_sample_info *sample)
{
	if (!chain->kept)
		return;
	const struct perf_chain_kept *kept =
		find_kept(chain, perf_space_version(space, sample->pid), &sample->stack);
	fetch(&chain->kept_entries[kept->place % KEPT_ENTRIES],
	      kept->count * sizeof(*chain->kept_entries));
}

/* Zeros, in large pages where the kernel has some: stacks are looked up all over, and a look in a
 * small page waits for the page's address, too. */
static void *take_pages(size_t size)
{
	char *pages = xalloc_zeroed(1, size);
	size_t before = PAGE - (uintptr_t)pages % PAGE;
	madvise(pages + before, size - before, MADV_HUGEPAGE);
	return pages;
}

void perf_chain_set_stack(struct perf_chain *chain, struct perf_space *space,
			  const struct profile_sample_info *sample)
{
	const struct profile_stack *stack = &sample->stack;
	uint64_t version = perf_space_version(space, sample->pid);
	if (!chain->kept) {
		chain->kept = take_pages(sizeof(*chain->kept) * WAYS << SET_BITS);
		chain->kept_entries = take_pages(sizeof(*chain->kept_entries) * KEPT_ENTRIES);
	}
	struct perf_chain_kept *kept = find_kept(chain, version, stack);
	bool is_same = kept->version == version && kept->node == stack->node &&
		       kept->state == stack->state;
	if (!is_same || !is_whole(chain, kept)) {
		make_stack(chain, space, sample);
		keep_stack(chain, kept);
		kept->version = version;
		kept->node = stack->node;
		kept->state = (uint8_t)stack->state;
	}
	chain->entries = &chain->kept_entries[kept->place % KEPT_ENTRIES];
	chain->count = kept->count;
}

/* A kernel frame's function as a range of addresses, if it lies below *start, that of the last one.
 * Where the function's size is not known, it ends behind its last frame. */
static void write_function(const struct profile_reader *reader, struct perf_space *space,
			   uint32_t frame, struct perf_writer *writer, uint64_t *start)
{
	uint32_t count;
	uint64_t address, before = 0, size = 1;
	const char *name = "[kernel]";
	const struct profile_symbol *symbols = profile_reader_symbols(reader, frame, &count);
	if (!perf_space_find(space, 0, perf_space_version(space, 0), frame, &address) ||
	    address >= *start)
		return;
	if (count > 0) {
		const struct profile_symbol *symbol = &symbols[count - 1];
		before = profile_reader_frame(reader, frame)->rva - symbol->start;
		size = symbol->size > before ? symbol->size : before + 1;
		name = profile_reader_symtext(reader, symbol->name);
	}
	if (before >= UINT32_MAX || size > UINT32_MAX)
		return;
	*start = address - before;
	perf_write_symbol(writer, *start, (uint32_t)size, name);
}

/* The last in the kernel first. */
static int compare_frames(const void *a, const void *b, void *user)
{
	const struct profile_reader *reader = user;
	const struct profile_frame *left = profile_reader_frame(reader, *(const uint32_t *)a);
	const struct profile_frame *right = profile_reader_frame(reader, *(const uint32_t *)b);
	return (left->rva < right->rva) - (left->rva > right->rva);
}

static void write_kernel_functions(struct profile_reader *reader, struct perf_space *space,
				   struct perf_writer *writer)
{
	uint32_t *frames = xalloc_zeroed(profile_reader_frame_count(reader), sizeof(*frames));
	uint64_t start = UINT64_MAX;
	size_t count = 0;
	for (uint32_t i = 0; i < profile_reader_frame_count(reader); i++) {
		uint32_t image = profile_reader_frame(reader, i)->image;
		if (profile_reader_image(reader, image)->kind == PROFILE_IMAGE_KERNEL)
			frames[count++] = i;
	}
	if (count > 1)
		qsort_r(frames, count, sizeof(*frames), compare_frames, reader);
	for (size_t i = 0; i < count; i++)
		write_function(reader, space, frames[i], writer, &start);
	free(frames);
}

void perf_chain_write_symbols(struct profile_reader *reader, struct perf_space *space,
			      struct perf_writer *writer)
{
	write_kernel_functions(reader, space, writer);
	/* A perf.data file has no time of no thread. */
	for (enum profile_gap gap = 0; gap < PROFILE_GAP_NO_THREAD; gap++)
		perf_write_symbol(writer, profile_gap_address(gap), PROFILE_GAP_SIZE,
				  profile_gap_name(gap));
}
