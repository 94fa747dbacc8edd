/*
 * A tracker that is fed records by hand; emit and image are the fakes. The ids lie above what the
 * kernel gives out (4194304, linux/threads.h), so that /proc knows none of them.
 */
#ifndef TESTS_COLLECTOR_TRACKER_FIXTURE_H
#define TESTS_COLLECTOR_TRACKER_FIXTURE_H

#include "collector/model/tracker.h"
#include "collector/perf/sampling.h"
#include "tests/collector/fake_emit.h"

enum { FIXTURE_RINGS = 2, FIXTURE_CPU_0 = 3, FIXTURE_CPU_1 = 7 };

extern struct emit *emit;
extern struct tracker *tracker;

/* For tcase_add_checked_fixture: counts with the samples, the leaf only, collapsing. */
void fixture_setup(void);
void fixture_teardown(void);

/* Another configuration instead: fields of event_config and analysis_config. */
struct fixture_config {
	const struct sampling *sampling; /* NULL: a fixed period */
	uint64_t deep_interval_ns;
	enum profile_kernel_time kernel_time;
	bool has_count;
	bool final_counts;
	bool same_process;
	bool switches; /* from time 0 on */
	bool unwind;
	bool collapse;
};
void fixture_configure(struct fixture_config config);

/* fixture_setup with the threads' states, and their last counts. */
void fixture_setup_states(void);

/* Has hotspots apply a record, and so the tracker. */
void feed(const struct record *record, size_t ring, bool is_left_out);

/* tracker_add_thread, exec of NAME at time_ns, and /bin/NAME mapped at 400000-500000. */
void feed_launch(uint64_t time_ns, uint32_t pid, const char *name);

void feed_fork(uint64_t time_ns, uint32_t pid, uint32_t tid, uint32_t parent_pid,
	       uint32_t parent_tid);
void feed_exit(uint64_t time_ns, uint32_t pid, uint32_t tid);
void feed_comm(uint64_t time_ns, uint32_t pid, uint32_t tid, const char *name);
void feed_exec(uint64_t time_ns, uint32_t pid, const char *name);
void feed_map(uint64_t time_ns, uint32_t pid, uint64_t start, uint64_t end, const char *path);
void feed_sample(uint64_t time_ns, uint32_t pid, uint32_t tid, size_t ring, uint64_t count);
/* A sample of the process's first thread, all of whose registers are the sampled address. */
struct record fixture_make_sample(uint64_t time_ns, uint32_t pid);
/* Applies a sample's record from ring 0; what was emitted of it. */
struct profile_sample fixture_apply(const struct record *record, bool is_left_out);
void feed_count(uint64_t time_ns, uint32_t pid, uint32_t tid, size_t ring, uint64_t count);
void feed_lost(uint64_t time_ns, size_t ring, uint64_t lost);
/* Of `lost` records, so many switches. */
void feed_lost_switches(uint64_t time_ns, size_t ring, uint64_t lost, uint64_t switches);

enum fixture_switch { FIXTURE_ON, FIXTURE_OFF, FIXTURE_PREEMPTED };
void feed_switch(uint64_t time_ns, uint32_t pid, uint32_t tid, size_t ring,
		 enum fixture_switch what);
/* The threads' states; with fixture_config.switches. */
struct states *fixture_states(void);

/* Ends the collection, at fixture_end_ns. */
extern uint64_t fixture_end_ns;
void fixture_end(void);

/* fixture_end, and that nothing was counted twice or lost on the way to the result. */
void fixture_finish(void);

#endif
