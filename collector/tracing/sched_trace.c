#include "collector/tracing/sched_trace.h"

#include <string.h>

/* Of a format: its name, fields and the end of them. */
enum { FORMAT_MAX = 4096 };

/* Places in a record; a record's size has 16 bits. */
enum { OFFSET_MAX = 4096 };

/* include/linux/sched.h: EXIT_DEAD and EXIT_ZOMBIE; the states that are reported, of which a thread
 * that could go on has none. */
enum { STATE_ENDED = 0x30, STATE_WAITS = 0xff };

void sched_trace_init(struct sched_trace *trace)
{
	*trace = (struct sched_trace){.prev_pid = {24, 4},
				      .prev_state = {32, 8},
				      .next_pid = {56, 4},
				      .woken_pid = {24, 4}};
}

/* Text with an end. */
struct part {
	const char *at;
	size_t size;
};

/* What follows the text; at NULL: it is not there. */
static struct part behind(struct part part, const char *text)
{
	size_t length = strlen(text);
	const char *found = memmem(part.at, part.size, text, length);
	if (!found)
		return (struct part){NULL, 0};
	size_t used = (size_t)(found - part.at) + length;
	return (struct part){found + length, part.size - used};
}

/* A number of at most four digits with a semicolon behind; SIZE_MAX: there is none. */
static size_t number_at(struct part part)
{
	size_t number = 0, i = 0;
	while (i < part.size && i < 4 && part.at[i] >= '0' && part.at[i] <= '9')
		number = number * 10 + (size_t)(part.at[i++] - '0');
	return i > 0 && i < part.size && part.at[i] == ';' ? number : SIZE_MAX;
}

/* "field:pid_t prev_pid;\toffset:24;\tsize:4;" */
static bool find_field(struct part format, const char *name, struct sched_trace_field *field)
{
	struct part rest = behind(format, name);
	if (!rest.at)
		return false;
	const char *line_end = memchr(rest.at, '\n', rest.size);
	if (line_end)
		rest.size = (size_t)(line_end - rest.at);
	struct part offset = behind(rest, "offset:"), size = behind(rest, "size:");
	if (!offset.at || !size.at)
		return false;
	size_t place = number_at(offset), bytes = number_at(size);
	if (place > OFFSET_MAX || (bytes != sizeof(uint32_t) && bytes != sizeof(uint64_t)))
		return false;
	*field = (struct sched_trace_field){(uint16_t)place, (uint16_t)bytes};
	return true;
}

static struct part find_format(const uint8_t *bytes, size_t size, const char *name)
{
	struct part format = behind((struct part){(const char *)bytes, size}, name);
	if (format.size > FORMAT_MAX)
		format.size = FORMAT_MAX;
	const char *end = format.at ? memmem(format.at, format.size, "print fmt:", 10) : NULL;
	if (end)
		format.size = (size_t)(end - format.at);
	return format;
}

void sched_trace_learn(struct sched_trace *trace, const uint8_t *bytes, size_t size)
{
	struct sched_trace found = *trace;
	struct part format = find_format(bytes, size, "name: sched_switch\n");
	if (format.at && find_field(format, " prev_pid;", &found.prev_pid) &&
	    find_field(format, " prev_state;", &found.prev_state) &&
	    find_field(format, " next_pid;", &found.next_pid)) {
		trace->prev_pid = found.prev_pid;
		trace->prev_state = found.prev_state;
		trace->next_pid = found.next_pid;
	}
	format = find_format(bytes, size, "name: sched_waking\n");
	if (!format.at)
		format = find_format(bytes, size, "name: sched_wakeup\n");
	if (format.at && find_field(format, " pid;", &found.woken_pid))
		trace->woken_pid = found.woken_pid;
}

static bool read_field(const uint8_t *raw, size_t size, struct sched_trace_field field,
		       uint64_t *value)
{
	*value = 0;
	if (field.offset > size || field.size > size - field.offset)
		return false;
	memcpy(value, raw + field.offset, field.size);
	return true;
}

bool sched_trace_read_switch(const struct sched_trace *trace, const uint8_t *raw, size_t size,
			     struct sched_trace_switch *read)
{
	uint64_t prev, state, next;
	if (!read_field(raw, size, trace->prev_pid, &prev) ||
	    !read_field(raw, size, trace->prev_state, &state) ||
	    !read_field(raw, size, trace->next_pid, &next))
		return false;
	*read = (struct sched_trace_switch){
		.prev_tid = (uint32_t)prev,
		.next_tid = (uint32_t)next,
		.leaving = state & STATE_ENDED   ? SCHED_TRACE_ENDED
			   : state & STATE_WAITS ? SCHED_TRACE_BLOCKED
						 : SCHED_TRACE_PREEMPTED,
	};
	return true;
}

bool sched_trace_read_wake(const struct sched_trace *trace, const uint8_t *raw, size_t size,
			   uint32_t *tid)
{
	uint64_t value;
	if (!read_field(raw, size, trace->woken_pid, &value))
		return false;
	*tid = (uint32_t)value;
	return true;
}
