#include "tests/collector/fake_unwind.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static struct fake_walk the_walk;

static struct uw_space {
	enum uw_arch arch;
	uint64_t start; /* of the last mapping */
	uint64_t end;
	uint32_t tag;
	struct uw_counts counts;
} the_space;

struct uw_space *uw_space_create(enum uw_arch arch)
{
	the_space = (struct uw_space){.arch = arch};
	return &the_space;
}

struct uw_space *uw_space_sibling(const struct uw_space *space, enum uw_arch arch)
{
	ck_assert_ptr_eq(space, &the_space);
	return uw_space_create(arch);
}

struct uw_space *uw_space_clone(struct uw_space *space)
{
	ck_assert_ptr_eq(space, &the_space);
	return &the_space;
}

void uw_space_set_reader(struct uw_space *space, const struct uw_code_reader *reader)
{
	ck_assert_ptr_eq(space, &the_space);
	ck_assert_ptr_nonnull(reader->read);
}

void uw_space_destroy(struct uw_space *space)
{
	ck_assert(space == NULL || space == &the_space);
}

int uw_space_map(struct uw_space *space, uint64_t start, uint64_t end, uint64_t pgoff,
		 struct uw_module *module, uint32_t tag)
{
	ck_assert_ptr_null(module);
	ck_assert_uint_eq(pgoff, 0);
	*space = (struct uw_space){space->arch, start, end, tag, {0}};
	return 0;
}

uint64_t uw_module_rva(const struct uw_module *module, uint64_t pgoff)
{
	ck_assert_ptr_nonnull(module);
	return pgoff;
}

bool uw_module_has_data(const struct uw_module *module, uint64_t rva)
{
	(void)module;
	(void)rva;
	return false;
}

void uw_space_counts(const struct uw_space *space, struct uw_counts *counts)
{
	*counts = space->counts;
}

bool uw_space_find(const struct uw_space *space, uint64_t ip, uint32_t *tag, uint64_t *rva)
{
	if (ip < space->start || ip >= space->end)
		return false;
	*tag = space->tag;
	*rva = ip - space->start;
	return true;
}

struct uw_history {
	size_t walks;
};

struct uw_history *uw_history_create(void)
{
	return calloc(1, sizeof(struct uw_history));
}

void uw_history_destroy(struct uw_history *history)
{
	free(history);
}

size_t uw_walk_reuse(struct uw_space *space, struct uw_history *history, const struct uw_regs *regs,
		     const struct uw_stack *stack, struct uw_frame *out, size_t max_frames,
		     enum uw_stop *why, size_t *reused)
{
	/* The first walk with a history has nothing to take over. */
	*reused = history && history->walks++ > 0 ? the_walk.reused_count : 0;
	ck_assert_ptr_eq(space, &the_space);
	ck_assert(regs != NULL && stack != NULL);
	ck_assert_uint_le(the_walk.frame_count, max_frames);
	memcpy(out, the_walk.frames, the_walk.frame_count * sizeof(*out));
	*why = the_walk.stop;
	the_walk.walks++;
	space->counts.walks++;
	space->counts.frames += the_walk.frame_count;
	space->counts.frames_reused += *reused;
	for (size_t i = 0; i < the_walk.frame_count; i++)
		space->counts.frames_by_source[the_walk.frames[i].source]++;
	return the_walk.frame_count;
}

size_t uw_walk(struct uw_space *space, const struct uw_regs *regs, const struct uw_stack *stack,
	       struct uw_frame *frames, size_t max_frames, enum uw_stop *stop)
{
	size_t reused;
	if (the_walk.whole_count == 0)
		return uw_walk_reuse(space, NULL, regs, stack, frames, max_frames, stop, &reused);
	ck_assert_uint_le(the_walk.whole_count, max_frames);
	memcpy(frames, the_walk.whole, the_walk.whole_count * sizeof(*frames));
	*stop = UW_STOP_ROOT;
	return the_walk.whole_count;
}

bool uw_space_has_call(struct uw_space *space, const struct uw_frame *callee,
		       const struct uw_frame *caller)
{
	ck_assert_ptr_eq(space, &the_space);
	ck_assert(callee != NULL);
	return caller->rva != 'x';
}

void fake_walk_set(const char *letters, enum uw_stop stop)
{
	the_walk.frame_count = strlen(letters);
	for (size_t i = 0; i < the_walk.frame_count; i++)
		the_walk.frames[i] = (struct uw_frame){.rva = (uint64_t)letters[i], .tag = 1};
	the_walk.stop = stop;
	the_walk.reused_count = 0;
	the_walk.walks = 0;
}

static struct uw_frame place_frame(char letter)
{
	uint64_t number = (uint64_t)letter;
	return (struct uw_frame){.ip = number,
				 .rva = number,
				 .sp = 0x8000 - number * 0x10,
				 .tag = 1};
}

void fake_walk_set_placed(const char *letters, enum uw_stop stop)
{
	fake_walk_set(letters, stop);
	for (size_t i = 0; i < the_walk.frame_count; i++)
		the_walk.frames[i] = place_frame(letters[i]);
}

void fake_walk_set_whole(const char *letters)
{
	the_walk.whole_count = strlen(letters);
	for (size_t i = 0; i < the_walk.whole_count; i++)
		the_walk.whole[i] = place_frame(letters[i]);
}

struct fake_walk *fake_walk(void)
{
	return &the_walk;
}

enum uw_arch fake_unwind_arch(void)
{
	return the_space.arch;
}
