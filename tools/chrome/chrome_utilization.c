#include "profile/read/reader.h"
#include "profile/read/states.h"
#include "tools/chrome/chrome_states.h"
#include "tools/states/concurrency.h"

/* A value stands for this much time, or more where there would be too many. */
#define STEP_NS    UINT64_C(1000000)
#define STEPS_MAX  UINT64_C(100000)
#define THOUSANDTH 3u

struct utilization {
	const struct timelines *timelines;
	struct json_writer *json;
	uint64_t step_ns;
	uint64_t start_ns; /* of the step under way, since the start of the collection */
	uint64_t sum_ns;   /* of running threads in it */
	uint64_t last;     /* value, in thousandths; UINT64_MAX: none */
};

static void write_value(struct utilization *utilization, uint64_t time_ns, uint64_t value)
{
	struct json_writer *json = utilization->json;
	const struct chrome_thread machine = chrome_machine();
	if (value == utilization->last ||
	    !timelines_take_time(utilization->timelines->stacks, time_ns, time_ns))
		return;
	utilization->last = value;
	chrome_open_event(json, "C", "Running threads", &machine);
	chrome_write_us(json, "ts", time_ns);
	json_open_object(json, "args");
	json_write_decimal(json, "mean", value, THOUSANDTH);
	json_close_object(json);
	json_close_object(json);
}

static void end_step(struct utilization *utilization, uint64_t length_ns)
{
	if (length_ns > 0)
		write_value(utilization, utilization->start_ns,
			    (utilization->sum_ns * 1000 + length_ns / 2) / length_ns);
	utilization->start_ns += length_ns;
	utilization->sum_ns = 0;
}

static void take_segment(uint64_t start_ns, uint64_t end_ns, uint32_t running, void *user)
{
	struct utilization *utilization = user;
	const struct profile_reader *reader = utilization->timelines->stacks->reader;
	uint64_t at_ns = profile_reader_since_start(reader, start_ns);
	uint64_t until_ns = profile_reader_since_start(reader, end_ns);
	while (at_ns < until_ns) {
		/* Steps without a thread, as in a pause, are one. */
		if (at_ns >= utilization->start_ns + utilization->step_ns) {
			end_step(utilization, utilization->step_ns);
			if (at_ns >= utilization->start_ns + utilization->step_ns) {
				write_value(utilization, utilization->start_ns, 0);
				utilization->start_ns = at_ns - at_ns % utilization->step_ns;
			}
		}
		uint64_t step_end_ns = utilization->start_ns + utilization->step_ns;
		uint64_t to_ns = until_ns < step_end_ns ? until_ns : step_end_ns;
		utilization->sum_ns += running * (to_ns - at_ns);
		at_ns = to_ns;
	}
}

TBRW_U32 chrome_utilization_write(const struct timelines *timelines, struct json_writer *json)
{
	struct profile_reader *reader = timelines->stacks->reader;
	struct utilization utilization = {.timelines = timelines, .json = json, .last = UINT64_MAX};
	const struct chrome_thread machine = chrome_machine();
	uint32_t clocks = profile_reader_clock_count(reader);
	if (profile_reader_states(reader) == 0 || clocks == 0)
		return VT_SUCCESS;
	uint64_t life_ns = profile_reader_clock(reader, clocks - 1)->raw_ns -
			   profile_reader_clock(reader, 0)->raw_ns;
	utilization.step_ns = life_ns / STEPS_MAX > STEP_NS ? life_ns / STEPS_MAX : STEP_NS;
	chrome_write_name(json, "process_name", &machine, "[CPU utilization]");
	TBRW_U32 code = concurrency_each(reader, take_segment, &utilization);
	uint64_t end_ns = utilization.start_ns + utilization.step_ns;
	end_step(&utilization, utilization.step_ns);
	write_value(&utilization, end_ns, 0);
	return code;
}
