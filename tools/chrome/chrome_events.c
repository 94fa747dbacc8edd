#include "tools/chrome/chrome_events.h"

#include "tools/timelines/timelines.h"

/* Linux has no PID from here on (PID_MAX_LIMIT of include/linux/threads.h). */
#define PID_LIMIT (UINT32_C(1) << 22)

/* Readers find processes and threads by their numbers. One that was used again gets a number that
 * cannot be in use. */
static uint32_t make_number(uint32_t number, uint32_t earlier)
{
	return number + PID_LIMIT * earlier;
}

/* For Perfetto, number 0 is the idle thread. */
struct chrome_thread chrome_thread_of(const struct timeline *timeline)
{
	if (timeline->is_threadless)
		return (struct chrome_thread){PID_LIMIT, PID_LIMIT};
	return (struct chrome_thread){make_number(timeline->pid, timeline->earlier_processes),
				      make_number(timeline->tid, timeline->earlier_threads)};
}

struct chrome_thread chrome_nobody(void)
{
	return (struct chrome_thread){2 * PID_LIMIT, 2 * PID_LIMIT};
}

struct chrome_thread chrome_machine(void)
{
	return (struct chrome_thread){3 * PID_LIMIT, 3 * PID_LIMIT};
}

void chrome_open_event(struct json_writer *json, const char *phase, const char *name,
		       const struct chrome_thread *thread)
{
	json_open_object(json, NULL);
	json_write_text(json, "ph", phase);
	json_write_text(json, "name", name);
	json_write_number(json, "pid", thread->pid);
	json_write_number(json, "tid", thread->tid);
}

void chrome_write_name(struct json_writer *json, const char *event,
		       const struct chrome_thread *thread, const char *name)
{
	chrome_open_event(json, "M", event, thread);
	json_open_object(json, "args");
	json_write_text(json, "name", name);
	json_close_object(json);
	json_close_object(json);
}

void chrome_write_us(struct json_writer *json, const char *name, uint64_t ns)
{
	json_write_decimal(json, name, ns, 3);
}
