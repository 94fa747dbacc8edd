/*
 * Feeds the tracker and the states with records in any order, seven bytes each: forks, ends, execs,
 * switches, samples and losses of a few threads on a few CPUs, with a clock that goes either way.
 * Whatever comes: slices end in order, are no longer than they may be, those of an id do not
 * overlap, and those of a thread that lives on reach up to the end.
 */
#include "collector/model/tracker.h"
#include "collector/perf/sampler.h"
#include "collector/result/emit.h"
#include "collector/states/states.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { IDS = 8, CPUS = 4, RECORD_SIZE = 7 };

#define START_NS 5000000000ull

/* Beyond the kernel's ids. */
#define ID_BASE 5000000u

static uint64_t last_end_ns;       /* of all slices */
static uint64_t ends_ns[IDS];      /* of the last slice of an id */
static bool has_slices[IDS];       /* since the id's last birth */
static uint64_t collection_end_ns; /* 0: not yet */

static void expect(bool holds)
{
	if (!holds)
		abort();
}

void emit_slice(struct emit *emit, const struct profile_slice *slice, uint64_t start_ns)
{
	uint64_t end_ns = start_ns + slice->run_ns;
	uint32_t id = slice->tid - ID_BASE;
	(void)emit;
	expect(id < IDS && slice->run_ns <= PROFILE_SLICE_NS_MAX);
	expect(end_ns >= last_end_ns && start_ns >= ends_ns[id]);
	expect(slice->before <= PROFILE_STATE_STOPPED);
	last_end_ns = ends_ns[id] = end_ns;
	has_slices[id] = true;
}

void emit_thread(struct emit *emit, const struct profile_thread_life *thread)
{
	uint32_t id = thread->tid - ID_BASE;
	(void)emit;
	expect(id < IDS);
	if (thread->end_ns == PROFILE_TIME_NEVER)
		expect(has_slices[id] && ends_ns[id] >= collection_end_ns &&
		       ends_ns[id] == last_end_ns);
}

/* What else the tracker writes is of no interest. */
uint32_t emit_image(struct emit *emit, const struct profile_image *image, const char *path)
{
	(void)emit, (void)image, (void)path;
	return 1;
}

void emit_module_load(struct emit *emit, const struct profile_module *module)
{
	(void)emit, (void)module;
}

void emit_module_unload(struct emit *emit, const struct profile_module *module)
{
	(void)emit, (void)module;
}

void emit_frame(struct emit *emit, const struct profile_frame *frame)
{
	(void)emit, (void)frame;
}

void emit_node(struct emit *emit, const struct profile_node *node)
{
	(void)emit, (void)node;
}

void emit_sample(struct emit *emit, const struct profile_sample *sample)
{
	(void)emit, (void)sample;
}

void emit_process(struct emit *emit, const struct profile_process *process)
{
	(void)emit, (void)process;
}

void emit_record(struct emit *emit, enum profile_stream stream, const void *record,
		 const char *const *texts)
{
	(void)emit, (void)stream, (void)record, (void)texts;
}

void emit_add_note(struct emit *emit, enum profile_note_kind kind, uint64_t time_ns,
		   const struct emit_note *note)
{
	(void)emit, (void)kind, (void)time_ns, (void)note;
}

static void fill(struct record *record, const uint8_t *data)
{
	uint8_t other = data[2] >> 4;
	record->source = record->cpu = data[1] % CPUS;
	record->pid = ID_BASE + (data[1] >> 4) % 2;
	record->tid = ID_BASE + data[2] % IDS;
	switch (data[0] % 10) {
	case 0:
		record->kind = RECORD_FORK;
		record->fork.parent_pid = other & 1 ? record->pid : ID_BASE;
		record->fork.parent_tid = ID_BASE + other % IDS;
		break;
	case 1:
		record->kind = RECORD_EXIT;
		break;
	case 2:
		record->kind = RECORD_COMM;
		record->comm.name = "name";
		record->comm.exec = other & 1;
		break;
	case 3:
		record->kind = RECORD_LOST;
		record->lost = record->lost_switches = 1;
		record->has_lost_switches = other & 1;
		break;
	case 4:
		record->kind = RECORD_SAMPLE;
		break;
	default:
		record->kind = RECORD_SWITCH;
		record->switched.out = other & 1;
		record->switched.preempted = other & 1 && other & 2;
		break;
	}
}

/* Forward in small steps, sometimes in seconds, sometimes back. */
static uint64_t move_clock(uint64_t now_ns, const uint8_t *data)
{
	uint64_t step = (uint64_t)data[4] << (data[5] % 32);
	if (data[6] == 255)
		return data[5] & 1 ? UINT64_MAX - step : step;
	return data[6] > 240 && step < now_ns ? now_ns - step : now_ns + step;
}

static void apply_all(struct tracker *tracker, struct states *states, const uint8_t *data,
		      size_t size)
{
	uint64_t now_ns = START_NS;
	struct states_now now;
	for (; size >= RECORD_SIZE; data += RECORD_SIZE, size -= RECORD_SIZE) {
		struct record record = {0};
		now_ns = move_clock(now_ns, data);
		fill(&record, data);
		record.time_ns = now_ns;
		tracker_apply(tracker, &record);
		states_apply(states, &record);
		if (data[3] & 1)
			states_note_wake(states, ID_BASE + data[3] % IDS, now_ns);
		states_find(states, record.tid, &now);
	}
	collection_end_ns = now_ns < INT64_MAX ? now_ns : INT64_MAX;
	states_finish(states, now_ns);
	tracker_finish(tracker);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint32_t numbers[CPUS] = {0, 1, 2, 3};
	static struct sampler sampler = {
		.cpus = {.numbers = numbers, .count = CPUS},
		.config = {.sampling = {PROFILE_SAMPLING_FIXED, 10000000, 10000000, 0},
			   .switches = true},
	};
	last_end_ns = collection_end_ns = 0;
	memset(ends_ns, 0, sizeof(ends_ns));
	memset(has_slices, 0, sizeof(has_slices));
	struct tracker *tracker = tracker_create_recorded(&sampler, NULL, 0);
	struct states *states = tracker ? states_create(tracker, NULL) : NULL;
	if (states) {
		states_begin(states, START_NS);
		apply_all(tracker, states, data, size);
	}
	tracker_destroy(tracker);
	states_destroy(states);
	return 0;
}
