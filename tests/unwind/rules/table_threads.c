/*
 * One thread builds the tables of all modules while others walk, each in an address space of its
 * own over the same modules: every walk gives the same frames. Compiled with the thread sanitizer,
 * which fails it for any access that is not ordered.
 */
#include "tests/unwind/capture.h"
#include "unwind/module/module.h"
#include "unwind/space/space.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { WALKERS = 3, ROUNDS = 400, DEPTH = 24 };

static struct capture sample;

struct walker {
	pthread_t thread;
	struct uw_space *space;
	size_t differences;
};

static __attribute__((noinline)) int descend(int depth)
{
	int below = 0;

	if (depth > 0)
		below = descend(depth - 1);
	else
		CAPTURE(&sample);
	/* No compiler makes a loop of it. */
	__asm__ volatile("" : "+r"(below));
	return below + 1;
}

static size_t walk(struct uw_space *space, struct uw_frame frames[static UW_DEPTH_MAX])
{
	enum uw_stop stop;

	/* Forgets what is known of addresses. */
	if (uw_space_map(space, 4096, 8192, 0, NULL, 0) < 0 ||
	    uw_space_unmap(space, 4096, 8192) < 0)
		abort();
	return uw_walk(space, &sample.regs, &sample.stack, frames, UW_DEPTH_MAX, &stop);
}

/* The same mappings and a cache of its own: siblings are one thread's. */
static struct uw_space *copy_space(const struct uw_space *space)
{
	struct uw_space *copy = uw_space_create(space->arch);
	struct uw_mapping_place place = {0};
	const struct uw_mapping *mapping;

	if (!copy || uw_mapping_list_copy(&copy->mappings, &space->mappings) < 0)
		abort();
	while ((mapping = uw_mapping_list_next(&copy->mappings, &place)))
		if (mapping->module)
			uw_module_ref(mapping->module);
	return copy;
}

static void *walk_often(void *user)
{
	struct walker *walker = user;
	struct uw_frame *first = calloc(UW_DEPTH_MAX, sizeof(*first));
	struct uw_frame *again = calloc(UW_DEPTH_MAX, sizeof(*again));

	if (!first || !again)
		abort();
	size_t count = walk(walker->space, first);
	for (int round = 0; round < ROUNDS; round++) {
		size_t frames = walk(walker->space, again);
		bool same = frames == count && count > DEPTH;

		for (size_t i = 0; same && i < count; i++)
			same = first[i].ip == again[i].ip && first[i].sp == again[i].sp &&
			       first[i].function == again[i].function;
		walker->differences += !same;
		uw_module_unref(uw_space_wanted_table(walker->space));
	}
	free(first);
	free(again);
	return NULL;
}

int main(void)
{
	struct uw_space *space = capture_space();
	struct walker walkers[WALKERS] = {0};
	struct uw_mapping_place place = {0};
	const struct uw_mapping *mapping;
	size_t built = 0, differences = 0;

	descend(DEPTH);
	for (int i = 0; i < WALKERS; i++) {
		walkers[i].space = copy_space(space);
		if (pthread_create(&walkers[i].thread, NULL, walk_often, &walkers[i]) != 0)
			abort();
	}
	while ((mapping = uw_mapping_list_next(&space->mappings, &place)))
		built += mapping->module && uw_module_build_table(mapping->module) == 0;
	for (int i = 0; i < WALKERS; i++) {
		pthread_join(walkers[i].thread, NULL);
		differences += walkers[i].differences;
		uw_space_destroy(walkers[i].space);
	}
	uw_space_destroy(space);
	return built == 0 || differences > 0;
}
