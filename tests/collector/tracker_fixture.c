#include "tests/collector/tracker_fixture.h"

#include "collector/analysis/analyzer.h"
#include "collector/perf/sampler.h"
#include <check.h>
#include <stdio.h>

static uint32_t numbers[FIXTURE_RINGS] = {FIXTURE_CPU_0, FIXTURE_CPU_1};
static struct sampler sampler = {.cpus = {.numbers = numbers, .count = FIXTURE_RINGS}};

static const struct sampling fixed = {PROFILE_SAMPLING_FIXED, 10000000, 10000000, 0};

struct emit *emit;
struct tracker *tracker;
uint64_t fixture_end_ns;
static struct analyzer *analyzer;
static uint64_t deep_interval_ns;

void fixture_setup(void)
{
	emit = fake_emit_create();
	fixture_end_ns = 0;
	fixture_configure(
		(struct fixture_config){.has_count = true, .final_counts = true, .collapse = true});
}

static void destroy(void)
{
	tracker_destroy(tracker);
	analyzer_destroy(analyzer);
	tracker = NULL;
	analyzer = NULL;
}

void fixture_teardown(void)
{
	destroy();
	fake_emit_destroy(emit);
}

void fixture_configure(struct fixture_config config)
{
	struct analysis_config sampled = {
		.kernel_time = config.kernel_time,
		.unwind = config.unwind,
		.collapse = config.collapse,
		.switches = config.switches,
	};
	destroy();
	deep_interval_ns = config.deep_interval_ns;
	sampler.config = (struct event_config){
		.sampling = config.sampling ? *config.sampling : fixed,
		.has_count = config.has_count,
		.final_counts = config.final_counts,
		.kernel = config.kernel_time == PROFILE_KERNEL_TIME_FRAMES,
		.has_kernel = config.kernel_time != PROFILE_KERNEL_TIME_APART,
		.same_process = config.same_process,
		.switches = config.switches,
	};
	tracker = tracker_create(&sampler, emit);
	ck_assert_ptr_nonnull(tracker);
	analyzer = analyzer_create(&sampled, tracker, emit);
	ck_assert_ptr_nonnull(analyzer);
}

void fixture_setup_states(void)
{
	fixture_setup();
	fixture_configure((struct fixture_config){.has_count = true,
						  .final_counts = true,
						  .collapse = true,
						  .switches = true});
}

void feed(const struct record *record, size_t ring, bool is_left_out)
{
	struct record fed = *record;
	fed.source = (uint32_t)ring;
	if (fed.cpu == 0)
		fed.cpu = numbers[ring];
	if (fed.kind == RECORD_SAMPLE && is_left_out)
		fed.sample.choice = RECORD_LEFT_OUT;
	if (fed.kind == RECORD_SAMPLE)
		fed.sample.is_deep = deep_interval_ns > 0 && fed.sample.period == deep_interval_ns;
	analyzer_apply(analyzer, &fed);
}

void fixture_end(void)
{
	analyzer_finish(analyzer, fixture_end_ns);
}

void feed_launch(uint64_t time_ns, uint32_t pid, const char *name)
{
	char path[64];
	ck_assert_int_ge(tracker_add_thread(tracker, (pid_t)pid, (pid_t)pid, false), 0);
	feed_exec(time_ns, pid, name);
	snprintf(path, sizeof(path), "/bin/%s", name);
	feed_map(time_ns, pid, 0x400000, 0x500000, path);
}

void feed_fork(uint64_t time_ns, uint32_t pid, uint32_t tid, uint32_t parent_pid,
	       uint32_t parent_tid)
{
	struct record record = {.kind = RECORD_FORK,
				.time_ns = time_ns,
				.pid = pid,
				.tid = tid,
				.fork = {parent_pid, parent_tid}};
	feed(&record, 0, false);
}

void feed_exit(uint64_t time_ns, uint32_t pid, uint32_t tid)
{
	struct record record = {.kind = RECORD_EXIT, .time_ns = time_ns, .pid = pid, .tid = tid};
	feed(&record, 0, false);
}

void feed_comm(uint64_t time_ns, uint32_t pid, uint32_t tid, const char *name)
{
	struct record record = {.kind = RECORD_COMM,
				.time_ns = time_ns,
				.pid = pid,
				.tid = tid,
				.comm = {.name = name}};
	feed(&record, 0, false);
}

void feed_exec(uint64_t time_ns, uint32_t pid, const char *name)
{
	struct record record = {.kind = RECORD_COMM,
				.time_ns = time_ns,
				.pid = pid,
				.tid = pid,
				.comm = {.name = name, .exec = true}};
	feed(&record, 0, false);
}

void feed_map(uint64_t time_ns, uint32_t pid, uint64_t start, uint64_t end, const char *path)
{
	struct record record =
		{.kind = RECORD_MMAP,
		 .time_ns = time_ns,
		 .pid = pid,
		 .tid = pid,
		 .mmap = {.start = start, .length = end - start, .inode = 1, .path = path}};
	feed(&record, 0, false);
}

void feed_sample(uint64_t time_ns, uint32_t pid, uint32_t tid, size_t ring, uint64_t count)
{
	struct record record = {.kind = RECORD_SAMPLE,
				.time_ns = time_ns,
				.pid = pid,
				.tid = tid,
				.sample = {.ip = 0x400010,
					   .count = count,
					   .period = 10000000,
					   .abi = RECORD_REGISTERS_64}};
	for (size_t i = 0; i < UW_REGS_MAX; i++)
		record.sample.regs.value[i] = 0x400010; /* the instruction pointer among them */
	feed(&record, ring, false);
}

struct record fixture_make_sample(uint64_t time_ns, uint32_t pid)
{
	struct record record = {.kind = RECORD_SAMPLE,
				.time_ns = time_ns,
				.pid = pid,
				.tid = pid,
				.cpu = 9,
				.sample = {.ip = 0x400020,
					   .processor_flags = 0x246,
					   .code_segment = 0x33,
					   .abi = RECORD_REGISTERS_64}};
	for (size_t i = 0; i < UW_REGS_MAX; i++)
		record.sample.regs.value[i] = 0x400020;
	return record;
}

struct profile_sample fixture_apply(const struct record *record, bool is_left_out)
{
	feed(record, 0, is_left_out);
	return fake_emit_last_sample(emit);
}

void feed_count(uint64_t time_ns, uint32_t pid, uint32_t tid, size_t ring, uint64_t count)
{
	struct record record = {.kind = RECORD_COUNT,
				.time_ns = time_ns,
				.pid = pid,
				.tid = tid,
				.count = count};
	feed(&record, ring, false);
}

void feed_lost(uint64_t time_ns, size_t ring, uint64_t lost)
{
	feed_lost_switches(time_ns, ring, lost, 0);
}

void feed_lost_switches(uint64_t time_ns, size_t ring, uint64_t lost, uint64_t switches)
{
	struct record record = {.kind = RECORD_LOST,
				.time_ns = time_ns,
				.lost = lost,
				.lost_switches = switches,
				.has_lost_switches = switches > 0};
	feed(&record, ring, false);
}

void feed_switch(uint64_t time_ns, uint32_t pid, uint32_t tid, size_t ring,
		 enum fixture_switch what)
{
	struct record record = {.kind = RECORD_SWITCH,
				.time_ns = time_ns,
				.pid = pid,
				.tid = tid,
				.switched = {what != FIXTURE_ON, what == FIXTURE_PREEMPTED}};
	feed(&record, ring, false);
}

struct states *fixture_states(void)
{
	return analyzer_states(analyzer);
}

void fixture_finish(void)
{
	struct tracker_counts counts;
	fixture_end();
	tracker_counts(tracker, &counts);
	struct fake_emit_sums sums = fake_emit_sums(emit);
	ck_assert_uint_eq(sums.samples, counts.samples);
	ck_assert_uint_eq(sums.thread_samples, counts.samples);
	ck_assert_uint_eq(sums.cpu_ns, counts.cpu_ns);
	ck_assert_uint_eq(sums.weight_ns + sums.rest_ns, counts.cpu_ns);
	ck_assert_uint_eq(fake_emit_count(emit, "thread "), counts.threads);
}
