/* Writes a finalized result of many samples for benches: 48 threads of 3 processes in the order of
 * time, STACKS (60,000) stacks up to 60 deep, of which a thread has a sixth, 6,000 frames of 30
 * images, a third of them with an inlined function. Samples differ in weight and have a little time
 * in the kernel, and each thread stays with a stack for some samples, as programs do. The same
 * numbers in each run.
 * Usage: bench_large_result FILE SAMPLES [STACKS] */
#include "profile/write/writer.h"
#include <stdio.h>
#include <stdlib.h>

#define START_NS    UINT64_C(1000000000)
#define STEP_NS     250000u
#define INTERVAL_NS UINT64_C(10000000)
#define PID         1000u
#define TID         2000u

enum { PROCESSES = 3, THREADS = 48, IMAGES = 30, FRAMES = 6000, DEPTH_MAX = 60 };
enum { NODES = 60000, THREAD_PARTS = 6 };

/* How much of it. */
struct extent {
	uint64_t samples;
	uint32_t nodes;
};

struct thread {
	uint64_t samples, cpu_ns, kernel_ns;
	uint32_t node;
};

static uint64_t random_state = 1;

/* Steele, Lea and Flood, OOPSLA 2014: SplitMix64. */
static uint32_t draw(uint32_t limit)
{
	uint64_t value = random_state += UINT64_C(0x9e3779b97f4a7c15);
	value = (value ^ value >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	value = (value ^ value >> 27) * UINT64_C(0x94d049bb133111eb);
	return (uint32_t)((value ^ value >> 31) % limit);
}

static void check(TBRW_U32 code, const char *what)
{
	if (code == VT_SUCCESS)
		return;
	fprintf(stderr, "bench_large_result: %s failed: code %u\n", what, code);
	exit(2);
}

#define OK(call) check((call), #call)

static uint32_t pid_of(uint32_t thread)
{
	return PID + thread % PROCESSES;
}

static uint64_t rva_of(uint32_t frame)
{
	return 0x1000 + UINT64_C(64) * (frame / IMAGES);
}

static void add_image(struct profile_writer *writer, uint32_t number)
{
	char path[64];
	uint32_t image;
	snprintf(path, sizeof(path), "/opt/service/lib/module_%u.so", number);
	OK(profile_writer_add_image(writer,
				    &(struct profile_image){.kind = PROFILE_IMAGE_FILE,
							    .build_id_size = 1},
				    path, &image));
	for (uint32_t i = 0; i < PROCESSES; i++) {
		const struct profile_module module = {
			.pid = PID + i,
			.start = UINT64_C(0x7f0000000000) + number * UINT64_C(0x100000),
			.length = 0x80000,
			.path = path,
			.image = image,
			.rva = 0x1000,
			.cs = 0x33,
			.is_executable = true,
			.is_first = number == 0,
		};
		OK(profile_writer_add_module(writer, &module));
	}
}

static void add_nodes(struct profile_writer *writer, uint32_t count)
{
	uint8_t *depths = calloc((size_t)count + 1, sizeof(*depths));
	if (!depths)
		exit(2);
	for (uint32_t i = 1; i <= count; i++) {
		/* One of the last ones: deep stacks. */
		uint32_t parent = i - 1 > 40 ? i - 1 - draw(40) : 0;
		if (depths[parent] >= DEPTH_MAX)
			parent = draw(20);
		depths[i] = (uint8_t)(depths[parent] + 1);
		OK(profile_writer_add_node(writer, &(struct profile_node){parent, draw(FRAMES)}));
	}
	free(depths);
}

static void add_code(struct profile_writer *writer, uint32_t nodes)
{
	for (uint32_t i = 0; i < IMAGES; i++)
		add_image(writer, i);
	for (uint32_t i = 0; i < FRAMES; i++)
		OK(profile_writer_add_frame(writer, &(struct profile_frame){.image = 1 + i % IMAGES,
									    .rva = rva_of(i)}));
	add_nodes(writer, nodes);
}

static void add_sample(struct profile_writer *writer, struct thread *threads, uint32_t nodes,
		       uint64_t number)
{
	uint32_t index = draw(THREADS), part = nodes / THREAD_PARTS;
	struct thread *thread = &threads[index];
	if (thread->samples == 0 || draw(3) == 0)
		thread->node = 1 + index % THREAD_PARTS * part + draw(part);
	struct profile_sample sample = {
		.time_ns = START_NS + number * STEP_NS,
		.ip = UINT64_C(0x7f0000000000) + 64 * (number % 1000),
		.pid = pid_of(index),
		.tid = TID + index,
		.cpu = index % 16,
		.cs = 0x33,
		.stack = {.cpu_ns = INTERVAL_NS + draw(1000000),
			  .kernel_us = draw(300),
			  .node = thread->node},
	};
	if (draw(50) == 0)
		sample.stack.state = PROFILE_STACK_SKIPPED;
	thread->samples++;
	thread->cpu_ns += sample.stack.cpu_ns;
	thread->kernel_ns += UINT64_C(1000) * sample.stack.kernel_us;
	OK(profile_writer_add_sample(writer, &sample));
}

static void add_lives(struct profile_writer *writer, const struct thread *threads)
{
	char name[32];
	for (uint32_t i = 0; i < PROCESSES; i++) {
		snprintf(name, sizeof(name), "service_%u", i);
		const struct profile_process process = {.pid = PID + i,
							.end_ns = PROFILE_TIME_NEVER,
							.path = "/opt/service/bin/service",
							.name = name};
		OK(profile_writer_add_process(writer, &process));
	}
	for (uint32_t i = 0; i < THREADS; i++) {
		const struct thread *thread = &threads[i];
		snprintf(name, sizeof(name), "worker_%u", i);
		const struct profile_thread_life life = {
			.pid = pid_of(i),
			.tid = TID + i,
			.end_ns = PROFILE_TIME_NEVER,
			.cpu_ns = thread->cpu_ns + thread->cpu_ns / 50,
			.sampled_ns = thread->cpu_ns - thread->kernel_ns,
			.kernel_ns = thread->kernel_ns,
			.rest_ns = thread->cpu_ns / 100,
			.samples = (uint32_t)thread->samples,
			.name = name,
		};
		OK(profile_writer_add_thread(writer, &life));
	}
}

static void add_symbol(struct profile_writer *writer, uint32_t frame, uint32_t function,
		       uint16_t depth, uint16_t flags)
{
	char name[64], full[128], file[64];
	snprintf(name, sizeof(name), "service::Handler%u::process", function);
	snprintf(full, sizeof(full), "service::Handler%u::process(service::Request const&)",
		 function);
	snprintf(file, sizeof(file), "/src/service/handler_%u.cc", function % 400);
	const struct profile_symbol symbol = {.frame = frame,
					      .depth = depth,
					      .flags = flags,
					      .line = 10 + function % 900,
					      .start = rva_of(frame) & ~UINT64_C(127),
					      .size = 128};
	const struct profile_symbol_text text = {name, full, file};
	OK(profile_symbol_writer_add(writer, &symbol, &text));
}

static void write_symbols(const char *path)
{
	struct profile_writer *writer;
	OK(profile_symbol_writer_begin(path, &writer));
	for (uint32_t i = 0; i < FRAMES; i++) {
		bool has_inlined = i % 3 == 0;
		if (has_inlined)
			add_symbol(writer, i, FRAMES + i / 6, 0, PROFILE_SYMBOL_INLINED);
		add_symbol(writer, i, i / 2, has_inlined, 0);
	}
	OK(profile_symbol_writer_finish(writer));
}

static void write_result(const char *path, const struct extent *extent)
{
	static struct thread threads[THREADS];
	struct profile_writer *writer;
	const struct profile_run run = {
		.clock = {.tsc = 5000, .raw_ns = START_NS, .tsc_per_ns_q32 = UINT64_C(2) << 32},
		.interval_ns = INTERVAL_NS,
		.event_name = "CPU Time",
	};
	struct profile_run_end end = {.command_line = "service", .comment = "", .clock = run.clock};
	OK(profile_writer_create(path, &run, &writer));
	add_code(writer, extent->nodes);
	for (uint64_t i = 0; i < extent->samples; i++)
		add_sample(writer, threads, extent->nodes, i);
	add_lives(writer, threads);
	OK(profile_writer_add_note(writer, PROFILE_NOTE_INTERVAL, START_NS, INTERVAL_NS, 0, 0,
				   NULL));
	OK(profile_writer_add_note(writer, PROFILE_NOTE_SAMPLING, START_NS,
				   PROFILE_SAMPLING_THREADS, 0, 0, NULL));
	end.clock.raw_ns += extent->samples * STEP_NS;
	end.clock.tsc += 2 * extent->samples * STEP_NS;
	OK(profile_writer_finish(writer, &end));
}

int main(int argc, char **argv)
{
	const struct extent extent = {argc > 2 ? strtoull(argv[2], NULL, 10) : 0,
				      argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : NODES};
	if (argc > 4 || extent.samples == 0 || extent.nodes < THREAD_PARTS) {
		fprintf(stderr, "usage: bench_large_result FILE SAMPLES [STACKS]\n");
		return 2;
	}
	write_result(argv[1], &extent);
	write_symbols(argv[1]);
	return 0;
}
