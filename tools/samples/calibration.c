#include "tools/samples/calibration.h"

#include "containers/scale.h"
#include "tools/memory/index_map.h"
#include "tools/memory/xalloc.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Time divided in proportion to weights. */
struct spread {
	uint64_t weight_ns; /* of all */
	uint64_t time_ns;
	uint64_t passed_ns; /* of weight_ns */
	uint64_t given_ns;  /* of time_ns */
};

struct calibration_thread {
	uint32_t pool;
	uint64_t user_ns;        /* its account less the time in the kernel */
	uint64_t kernel_rest_ns; /* in no sample */
	struct spread kernel;    /* of the samples' measured parts */
};

/* Texts and indices outside the pool's key are "" and PROFILE_NONE. */
struct calibration_pool {
	const char *program;
	const char *name;
	uint32_t process;
	uint32_t thread;
	struct spread drawn;
};

static uint64_t add_saturating(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Divides running sums: rounding loses nothing. */
static uint64_t spread_take(struct spread *spread, uint64_t weight_ns)
{
	if (weight_ns == 0)
		return 0;
	spread->passed_ns = least(add_saturating(spread->passed_ns, weight_ns), spread->weight_ns);
	if (spread->weight_ns == 0)
		return 0;
	uint64_t rest;
	uint64_t due_ns =
		scale_number(spread->time_ns, spread->passed_ns, spread->weight_ns, &rest);
	assert(due_ns >= spread->given_ns && due_ns <= spread->time_ns);
	uint64_t part_ns = due_ns - spread->given_ns;
	spread->given_ns = due_ns;
	return part_ns;
}

/* The reader limits the kernel's part to the weight. */
static struct calibration_parts weigh_stack(const struct profile_stack *stack)
{
	uint64_t kernel_ns = 0;
	if (stack->kernel_us != PROFILE_KERNEL_ALL)
		kernel_ns = UINT64_C(1000) * stack->kernel_us;
	assert(kernel_ns <= stack->cpu_ns);
	return (struct calibration_parts){stack->cpu_ns - kernel_ns, kernel_ns};
}

static bool is_pool(const void *item, const void *wanted)
{
	const struct calibration_pool *pool = item;
	const struct calibration_pool *other = wanted;
	return pool->thread == other->thread && pool->process == other->process &&
	       strcmp(pool->program, other->program) == 0 && strcmp(pool->name, other->name) == 0;
}

static uint32_t enter_pool(struct calibration *calibration, struct index_map *map,
			   const struct calibration_pool *pool)
{
	const uint64_t identity[] = {index_map_hash_text(map, pool->program),
				     index_map_hash_text(map, pool->name), pool->process,
				     pool->thread};
	return index_map_enter(map, &calibration->pools, pool, sizeof(*pool),
			       index_map_hash(map, identity, sizeof(identity)), is_pool);
}

/* False for a thread without a record of its own, or with one but no time in the record: only the
 * weights of its samples are known. */
static bool has_account(const struct profile_thread_info *thread)
{
	return !(thread->flags & PROFILE_THREAD_DEDUCED) && thread->cpu_ns > 0;
}

static struct calibration_pool describe_pool(const struct profile_reader *reader, uint32_t thread,
					     enum calibration_pools by)
{
	struct calibration_pool pool = {"", "", PROFILE_NONE, PROFILE_NONE, {0}};
	const struct profile_thread_info *info = profile_reader_thread(reader, thread);
	bool is_own =
		info->cpu_ns / CALIBRATION_OWN_INTERVALS >= profile_reader_interval_ns(reader);
	if (by == CALIBRATION_BY_THREAD || is_own || !has_account(info)) {
		pool.thread = thread;
		return pool;
	}
	pool.name = info->name;
	if (by == CALIBRATION_BY_PROCESS)
		pool.process = info->process;
	else if (info->process != PROFILE_NONE)
		pool.program = profile_reader_process(reader, info->process)->name;
	return pool;
}

static void make_pools(struct calibration *calibration, const struct profile_reader *reader,
		       enum calibration_pools by)
{
	uint32_t count = profile_reader_thread_count(reader);
	struct index_map map = {0};
	calibration->threads = xalloc_zeroed(count, sizeof(*calibration->threads));
	for (uint32_t i = 0; i < count; i++) {
		struct calibration_pool pool = describe_pool(reader, i, by);
		calibration->threads[i].pool = enter_pool(calibration, &map, &pool);
	}
	calibration->thread_count = count;
	calibration->pool_count = index_map_count(&map);
	index_map_finish(&map);
}

static bool add_weight(const struct profile_sample_info *sample, void *user)
{
	struct calibration *calibration = user;
	struct calibration_parts parts = weigh_stack(&sample->stack);
	if (sample->thread == PROFILE_NONE)
		return true;
	struct calibration_thread *thread = &calibration->threads[sample->thread];
	struct spread *drawn = &calibration->pools[thread->pool].drawn;
	drawn->weight_ns = add_saturating(drawn->weight_ns, parts.drawn_ns);
	thread->kernel.weight_ns = add_saturating(thread->kernel.weight_ns, parts.kernel_ns);
	return true;
}

static void divide_account(struct calibration *calibration, uint32_t index,
			   const struct profile_thread_info *info)
{
	struct calibration_thread *thread = &calibration->threads[index];
	struct spread *drawn = &calibration->pools[thread->pool].drawn;
	if (!has_account(info)) {
		thread->kernel.time_ns = thread->kernel.weight_ns;
		drawn->time_ns = drawn->weight_ns;
		return;
	}
	thread->kernel_rest_ns = least(info->rest_ns, info->cpu_ns);
	uint64_t left_ns = info->cpu_ns - thread->kernel_rest_ns;
	thread->kernel.time_ns = least(thread->kernel.weight_ns, left_ns);
	thread->user_ns = left_ns - thread->kernel.time_ns;
	drawn->time_ns = add_saturating(drawn->time_ns, thread->user_ns);
}

TBRW_U32 calibration_init(struct calibration *calibration, struct profile_reader *reader,
			  enum calibration_pools by)
{
	memset(calibration, 0, sizeof(*calibration));
	if (profile_reader_sampling(reader) == PROFILE_SAMPLING_FIXED)
		return VT_SUCCESS;
	make_pools(calibration, reader, by);
	TBRW_U32 code = profile_reader_each_sample(reader, add_weight, calibration);
	if (code != VT_SUCCESS) {
		calibration_finish(calibration);
		return code;
	}
	for (uint32_t i = 0; i < profile_reader_thread_count(reader); i++)
		divide_account(calibration, i, profile_reader_thread(reader, i));
	return VT_SUCCESS;
}

void calibration_finish(struct calibration *calibration)
{
	free(calibration->threads);
	free(calibration->pools);
	memset(calibration, 0, sizeof(*calibration));
}

static void rewind_spread(struct spread *spread)
{
	spread->passed_ns = 0;
	spread->given_ns = 0;
}

void calibration_rewind(struct calibration *calibration)
{
	for (uint32_t i = 0; i < calibration->thread_count; i++)
		rewind_spread(&calibration->threads[i].kernel);
	for (uint32_t i = 0; i < calibration->pool_count; i++)
		rewind_spread(&calibration->pools[i].drawn);
}

struct calibration_parts calibration_take(struct calibration *calibration,
					  const struct profile_sample_info *sample)
{
	struct calibration_parts parts = weigh_stack(&sample->stack);
	if (!calibration->threads || sample->thread == PROFILE_NONE)
		return parts;
	struct calibration_thread *thread = &calibration->threads[sample->thread];
	return (struct calibration_parts){
		spread_take(&calibration->pools[thread->pool].drawn, parts.drawn_ns),
		spread_take(&thread->kernel, parts.kernel_ns),
	};
}

struct calibration_rest calibration_rest(const struct calibration *calibration,
					 const struct profile_reader *reader, uint32_t thread)
{
	if (!calibration->threads)
		return (struct calibration_rest){profile_reader_thread(reader, thread)->rest_ns, 0};
	const struct calibration_thread *own = &calibration->threads[thread];
	bool has_samples = calibration->pools[own->pool].drawn.weight_ns > 0;
	return (struct calibration_rest){has_samples ? 0 : own->user_ns, own->kernel_rest_ns};
}
