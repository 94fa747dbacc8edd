#include "collector/recording/recording_feed.h"

#include "collector/machine/registers.h"
#include "collector/model/tracker_sampled.h"
#include "collector/perf/record.h"
#include <linux/perf_event.h>
#include <string.h>

/* linux/perf_event.h of newer kernels: a cookie follows. */
#define CONTEXT_USER_DEFERRED ((uint64_t)-640)

/* util/event.h: samples that a BPF filter dropped are no loss. */
#define MISC_LOST_BY_FILTER (1u << 15)

#define NO_TASK UINT32_MAX

/* Of all samples: sums of them and of what is added to them fit a number. */
#define WEIGHT_MAX (UINT64_MAX / 8)

/* A sample's callchain on its way into kernel and user parts. */
struct chain_parts {
	struct record_chain user;
	enum recording_special special; /* in place of all the stack */
	bool is_ours;                   /* tbconvert's export: addresses of callers lie in calls */
};

static void add_kernel(struct recording_feed *feed, const struct chain_parts *parts, uint64_t ip)
{
	/* Return addresses are looked up inside the call. */
	if (feed->kernel_count < STACK_INNER_MAX) {
		feed->kernel[feed->kernel_count] = ip + (parts->is_ours && feed->kernel_count > 0);
		feed->kernel_count++;
	}
}

static void add_user(struct recording_feed *feed, const struct chain_parts *parts, uint64_t ip)
{
	bool is_caller = feed->user_count > 0 || feed->kernel_count > 0;
	if (feed->user_count < RECORDING_CHAIN_MAX)
		feed->user[feed->user_count++] = ip + (parts->is_ours && is_caller);
}

/* What stands for frames. */
static void add_special(struct recording_feed *feed, struct chain_parts *parts,
			enum recording_special special, size_t *guessed_from)
{
	switch (special) {
	case RECORDING_SPECIAL_UNKNOWN:
		add_user(feed, parts, 0);
		break;
	case RECORDING_SPECIAL_SKIPPED:
		parts->user.is_cut = true;
		break;
	case RECORDING_SPECIAL_GUESSED:
		*guessed_from = feed->user_count;
		break;
	default:
		parts->special = special;
		break;
	}
}

/* The frames of user code that the kernel walked later. */
static void add_deferred(struct recording_feed *feed, const struct recording_sample *sample,
			 uint64_t cookie, struct chain_parts *parts)
{
	size_t count;
	const uint64_t *frames =
		recording_deferred_find(&feed->file->deferred, sample->tid, cookie, &count);
	feed->deferred++;
	if (!frames) {
		feed->undeferred++;
		parts->user.is_cut = true;
		return;
	}
	for (size_t i = 0; i < count; i++)
		if (frames[i] < (uint64_t)PERF_CONTEXT_MAX)
			add_user(feed, parts, frames[i]);
}

static void split_chain(struct recording_feed *feed, const struct recording_sample *sample,
			bool in_kernel, struct chain_parts *parts)
{
	uint64_t context = in_kernel ? PERF_CONTEXT_KERNEL : PERF_CONTEXT_USER;
	size_t guessed_from = SIZE_MAX;
	for (uint64_t i = 0; i < sample->chain_count; i++) {
		uint64_t ip = recording_u64_at(sample->chain, i);
		enum recording_special special =
			recording_symbols_special(&feed->file->symbols, ip);
		if (special != RECORDING_SPECIAL_NONE) {
			add_special(feed, parts, special, &guessed_from);
		} else if (ip == CONTEXT_USER_DEFERRED) {
			uint64_t cookie = i + 1 < sample->chain_count
						  ? recording_u64_at(sample->chain, i + 1)
						  : 0;
			add_deferred(feed, sample, cookie, parts);
			break;
		} else if (ip >= (uint64_t)PERF_CONTEXT_MAX) {
			context = ip;
		} else if (context == (uint64_t)PERF_CONTEXT_KERNEL) {
			add_kernel(feed, parts, ip);
		} else if (context == (uint64_t)PERF_CONTEXT_USER) {
			add_user(feed, parts, ip);
		}
	}
	if (guessed_from != SIZE_MAX)
		parts->user.guessed = guessed_from < feed->user_count
					      ? feed->user_count - guessed_from
					      : feed->user_count;
}

/* The registers in the order of our own records (machine/registers.h). */
static void take_registers(const struct recording_sample *sample, struct record_sample *out)
{
	uint64_t values[REGISTERS_COUNT_MAX];
	uint64_t wanted = registers_mask();
	uint64_t mask = sample->event->registers;
	size_t count = 0;
	bool is_32bit = sample->abi == PERF_SAMPLE_REGS_ABI_32;
	for (unsigned bit = 0; bit < 64; bit++) {
		uint64_t flag = UINT64_C(1) << bit;
		if (!(wanted & flag))
			continue;
		unsigned place = (unsigned)__builtin_popcountll(mask & (flag - 1));
		values[count++] = mask & flag ? recording_u64_at(sample->registers, place) : 0;
	}
	registers_unpack(values, is_32bit, &out->regs, &out->processor_flags, &out->code_segment);
	if (out->regs.value[registers_machine(is_32bit)->ip] == 0) {
		out->regs = (struct uw_regs){0};
		return;
	}
	out->abi = is_32bit ? RECORD_REGISTERS_32 : RECORD_REGISTERS_64;
	if (out->in_kernel && !is_32bit)
		registers_enter(&out->regs);
	out->stack = (struct uw_stack){
		.base = out->regs.value[registers_machine(is_32bit)->sp],
		.bytes = sample->stack,
		.size = (size_t)sample->stack_copied,
		.requested = (size_t)sample->stack_size,
	};
}

/* User code without a copy of its stack: the callchain, or the address of the hit alone. */
static void take_chain(struct recording_feed *feed, const struct chain_parts *parts,
		       struct record_sample *out)
{
	const struct registers_machine *machine = registers_machine(false);
	if (feed->user_count == 0 && !out->in_kernel)
		feed->user[feed->user_count++] = out->ip;
	if (feed->user_count == 0)
		return;
	out->chain = parts->user;
	out->chain.is_whole = parts->is_ours && !parts->user.is_cut;
	out->chain.addresses = feed->user;
	out->chain.count = feed->user_count;
	out->abi = RECORD_REGISTERS_64;
	out->regs.value[machine->ip] = feed->user[0];
	out->code_segment = machine->selector;
}

static bool is_in_kernel(uint16_t misc, uint64_t ip)
{
	uint16_t mode = misc & PERF_RECORD_MISC_CPUMODE_MASK;
	return mode == PERF_RECORD_MISC_CPUMODE_UNKNOWN ? ip >> 63 != 0
							: mode != PERF_RECORD_MISC_USER;
}

static uint64_t weigh(const struct recording_sample *sample)
{
	const struct recording_event *event = sample->event;
	if (sample->has_period)
		return sample->period;
	if (!event->is_frequency)
		return event->period;
	return event->period > 0 && recording_event_is_time(event)
		       ? UINT64_C(1000000000) / event->period
		       : 1;
}

/* Time of a thread in no sample, in a file that tbconvert exported. */
static void become_rest(struct record *record, uint64_t weight)
{
	record->kind = RECORD_COUNT;
	memset(&record->sample, 0, sizeof(record->sample));
	record->count = weight;
}

static void fill_sample(struct recording_feed *feed, const struct recording_sample *sample,
			uint16_t misc, struct record *record)
{
	struct record_sample *out = &record->sample;
	struct chain_parts parts = {.is_ours = feed->file->symbols.has_specials};
	out->ip = sample->ip;
	out->period = weigh(sample);
	out->in_kernel = is_in_kernel(misc, sample->ip);
	out->choice = RECORD_KEPT;
	feed->kernel_count = feed->user_count = 0;
	split_chain(feed, sample, out->in_kernel, &parts);
	if (parts.special == RECORDING_SPECIAL_NO_SAMPLE) {
		become_rest(record, out->period);
		return;
	}
	/* The leaf is one of ours without an address. */
	if (parts.is_ours && feed->kernel_count == 0 && parts.special != RECORDING_SPECIAL_KERNEL)
		out->in_kernel = false;
	if (out->in_kernel && feed->kernel_count == 0 && !parts.is_ours)
		add_kernel(feed, &parts, sample->ip);
	if (sample->registers && sample->stack && feed->has_unwindable)
		take_registers(sample, out);
	else
		take_chain(feed, &parts, out);
	out->callchain = (const uint8_t *)feed->kernel;
	out->callchain_length = feed->kernel_count;
}

static bool has_room(struct recording_feed *feed, uint64_t weight)
{
	if (weight > WEIGHT_MAX - feed->weight) {
		feed->too_large++;
		return false;
	}
	feed->weight += weight;
	return true;
}

/* The time waited is a number of ns that ends with the sample. */
static void apply_wait(struct recording_feed *feed, const struct recording_record *from,
		       const struct recording_sample *sample)
{
	struct record record = {.kind = RECORD_WAIT,
				.time_ns = sample->time_ns ? sample->time_ns : feed->now_ns,
				.pid = sample->pid,
				.tid = sample->tid};
	struct record_wait *wait = &record.wait;
	uint64_t blocked_ns = sample->has_period ? sample->period : 0;
	wait->blocked_ns = blocked_ns < record.time_ns ? blocked_ns : record.time_ns;
	wait->woken_ns = record.time_ns;
	wait->call.begin_ns = record.time_ns - wait->blocked_ns;
	wait->blocks = 1;
	wait->is_of_any_call = true;
	fill_sample(feed, sample, from->misc, &record);
	if (record.kind == RECORD_WAIT)
		analyzer_apply(feed->analyzer, &record);
}

/* The process of a live thread; NO_TASK: the thread is not known. */
static uint32_t find_process(const struct recording_feed *feed,
			     const struct recording_sample *sample, uint32_t tid)
{
	if (tid == sample->tid)
		return sample->pid;
	const struct thread *thread = tracker_find_live(feed->tracker, tid);
	return thread ? thread->pid : NO_TASK;
}

static void apply_half(struct recording_feed *feed, const struct recording_sample *sample,
		       uint32_t tid, bool is_out, bool is_preempted)
{
	struct record record = {.kind = RECORD_SWITCH,
				.time_ns = sample->time_ns,
				.pid = find_process(feed, sample, tid),
				.tid = tid,
				.cpu = sample->cpu};
	record.switched.out = is_out;
	record.switched.preempted = is_preempted;
	if (tid == 0 || tid == NO_TASK || record.pid == NO_TASK)
		return;
	if (!sample->has_cpu)
		record.cpu = recording_cpus_place(&feed->cpus, &record);
	analyzer_apply(feed->analyzer, &record);
}

/* A thread that ended has left its CPU by its end. */
static void apply_switch(struct recording_feed *feed, const struct recording_sample *sample)
{
	struct sched_trace_switch at;
	if (!sample->raw ||
	    !sched_trace_read_switch(&feed->file->sched, sample->raw, sample->raw_size, &at)) {
		feed->damaged++;
		return;
	}
	if (at.leaving != SCHED_TRACE_ENDED)
		apply_half(feed, sample, at.prev_tid, true, at.leaving == SCHED_TRACE_PREEMPTED);
	apply_half(feed, sample, at.next_tid, false, false);
}

static void apply_wake(struct recording_feed *feed, const struct recording_sample *sample)
{
	uint32_t tid;
	if (sample->raw &&
	    sched_trace_read_wake(&feed->file->sched, sample->raw, sample->raw_size, &tid))
		analyzer_note_wake(feed->analyzer, tid, sample->time_ns);
	else
		feed->damaged++;
}

static void apply_weighed(struct recording_feed *feed, const struct recording_record *from,
			  const struct recording_sample *sample)
{
	struct record record = {.kind = RECORD_SAMPLE};
	if (!has_room(feed, weigh(sample)))
		return;
	record.pid = sample->pid;
	record.tid = sample->tid;
	record.cpu = sample->has_cpu ? sample->cpu : recording_cpus_place(&feed->cpus, &record);
	record.time_ns = sample->time_ns ? sample->time_ns : feed->now_ns;
	fill_sample(feed, sample, from->misc, &record);
	feed->samples += record.kind == RECORD_SAMPLE;
	analyzer_apply(feed->analyzer, &record);
}

/* What the wanted event counted since the group's last sample. */
static void apply_counts(struct recording_feed *feed, const struct recording_record *from,
			 struct recording_sample *sample)
{
	struct recording_event *event;
	uint64_t since;
	sample->has_period = true;
	for (uint64_t i = 0; i < sample->counts_read; i++) {
		if (!recording_counts_take(&feed->counts, &feed->file->events, sample, i, &event,
					   &since) ||
		    event != feed->event)
			continue;
		sample->period = since;
		apply_weighed(feed, from, sample);
	}
}

static void apply_sample(struct recording_feed *feed, const struct recording_record *from)
{
	struct recording_sample sample;
	if (!recording_sample_read(&feed->file->events, from->bytes, from->size, &sample))
		return; /* was whole when it was put */
	feed->nameless += sample.nameless;
	if (sample.event == feed->switches)
		apply_switch(feed, &sample);
	else if (sample.event == feed->wakes)
		apply_wake(feed, &sample);
	else if (sample.event == feed->waits)
		apply_wait(feed, from, &sample);
	else if (sample.counts_read > 0)
		apply_counts(feed, from, &sample);
	else
		apply_weighed(feed, from, &sample);
}

/* Whether the wanted event has a part in the sample. */
static bool is_of_event(const struct recording_feed *feed, const struct recording_sample *sample)
{
	if (sample->event == feed->waits || sample->event == feed->switches ||
	    sample->event == feed->wakes)
		return true;
	if (sample->counts_read == 0 || !feed->event)
		return sample->event == feed->event;
	for (uint64_t i = 0; i < sample->counts_read; i++)
		if (recording_events_find(&feed->file->events,
					  recording_sample_count(sample, i).id) == feed->event)
			return true;
	return false;
}

/* Whether a mapping is one of user code. */
static bool is_code(const struct recording_record *from, const struct record *record)
{
	uint16_t mode = from->misc & PERF_RECORD_MISC_CPUMODE_MASK;
	return !(from->misc & PERF_RECORD_MISC_MMAP_DATA) &&
	       (mode == PERF_RECORD_MISC_USER || mode == PERF_RECORD_MISC_CPUMODE_UNKNOWN) &&
	       record->pid != NO_TASK;
}

static bool complete_mapping(struct recording_feed *feed, const struct recording_record *from,
			     struct record *record)
{
	struct record_mmap *map = &record->mmap;
	_Static_assert(sizeof(map->build_id) == RECORDING_BUILD_ID_MAX, "both are the kernel's");
	if (!is_code(from, record))
		return false;
	if (map->build_id_size == 0)
		map->build_id_size =
			recording_facts_build_id(&feed->file->facts, map->path, map->build_id);
	return true;
}

/* Which of the lost records were switches, nobody knows: as many as of the others. */
static void estimate_switches(const struct recording_feed *feed, struct record *record)
{
	uint64_t switches =
		feed->types[PERF_RECORD_SWITCH] + feed->types[PERF_RECORD_SWITCH_CPU_WIDE];
	uint64_t samples = feed->types[PERF_RECORD_SAMPLE];
	record->has_lost_switches = feed->has_states;
	if (feed->switches)
		record->lost_switches = record->lost;
	else if (feed->has_states && switches > 0)
		record->lost_switches = (uint64_t)((double)record->lost * (double)switches /
							   ((double)switches + (double)samples) +
						   0.5);
}

static bool count_lost(struct recording_feed *feed, const struct recording_record *from,
		       struct record *record)
{
	if (from->type == PERF_RECORD_LOST) {
		feed->lost += record->lost;
		estimate_switches(feed, record);
		return true;
	}
	if (!(from->misc & MISC_LOST_BY_FILTER))
		feed->lost_in_all += record->lost;
	return false;
}

/* Whether the record is one for the chain. */
static bool is_wanted(struct recording_feed *feed, const struct recording_record *from,
		      struct record *record)
{
	switch (record->kind) {
	case RECORD_MMAP:
		return complete_mapping(feed, from, record);
	case RECORD_FORK:
		/* The mappings of a task from before the recording are given. */
		if (from->misc & PERF_RECORD_MISC_FORK_EXEC &&
		    record->pid != record->fork.parent_pid)
			record->fork.parent_pid = record->fork.parent_tid = NO_TASK;
		return record->pid != NO_TASK;
	case RECORD_COMM:
	case RECORD_EXIT:
		return record->pid != NO_TASK;
	case RECORD_LOST:
		return count_lost(feed, from, record);
	case RECORD_SWITCH:
		/* Of an ending thread, the ids are gone; 0 is the idle task. */
		return record->tid != 0 && record->tid != NO_TASK && record->pid != NO_TASK;
	case RECORD_THROTTLE:
	case RECORD_UNTHROTTLE:
		return true;
	default:
		return false;
	}
}

/* The header of a copy that record_decode_event understands: the one kind of switch also says which
 * task is next or was before, whose own record says so too. */
static void set_header(uint8_t *bytes, const struct recording_record *from, uint16_t size)
{
	struct perf_event_header header = {.type = from->type, .misc = from->misc, .size = size};
	if (from->type == PERF_RECORD_SWITCH_CPU_WIDE)
		header.type = PERF_RECORD_SWITCH;
	memcpy(bytes, &header, sizeof(header));
}

static void apply_event(struct recording_feed *feed, const struct recording_record *from)
{
	struct record record;
	struct recording_trailer trailer;
	if (!recording_trailer_read(&feed->file->events, from->bytes, from->size, &trailer))
		return; /* was whole when it was put */
	uint8_t bytes[UINT16_MAX + 1];
	uint16_t size = (uint16_t)(from->size - trailer.size);
	memcpy(bytes, from->bytes, size);
	set_header(bytes, from, size);
	if (!record_decode_event(bytes, size, &record)) {
		feed->damaged++;
		return;
	}
	record.time_ns = trailer.has_time ? trailer.time_ns : feed->now_ns;
	record.cpu = trailer.cpu;
	if (trailer.has_task && (record.kind == RECORD_SWITCH || record.kind == RECORD_THROTTLE ||
				 record.kind == RECORD_UNTHROTTLE)) {
		record.pid = trailer.pid;
		record.tid = trailer.tid;
	}
	if (!trailer.has_cpu)
		record.cpu = recording_cpus_place(&feed->cpus, &record);
	if (is_wanted(feed, from, &record))
		analyzer_apply(feed->analyzer, &record);
}

static void apply(const uint8_t *bytes, size_t size, uint64_t time_ns, struct recording_feed *feed)
{
	struct perf_event_header header;
	memcpy(&header, bytes, sizeof(header));
	const struct recording_record record = {header.type, header.misc, bytes, size};
	if (time_ns > feed->now_ns)
		feed->now_ns = time_ns;
	if (feed->start_ns == 0)
		feed->start_ns = time_ns;
	if (record.type == PERF_RECORD_SAMPLE)
		apply_sample(feed, &record);
	else
		apply_event(feed, &record);
}

static void take_ordered(const uint8_t *bytes, size_t size, uint64_t time_ns, void *user)
{
	apply(bytes, size, time_ns, user);
}

/* A record's time. false: it is not for the chain, or not whole. */
static bool find_time(struct recording_feed *feed, const struct recording_record *record,
		      uint64_t *time_ns)
{
	struct recording_sample sample;
	struct recording_trailer trailer;
	*time_ns = 0;
	bool is_whole;
	if (record->type == PERF_RECORD_SAMPLE) {
		is_whole = recording_sample_read(&feed->file->events, record->bytes, record->size,
						 &sample);
		if (is_whole && !is_of_event(feed, &sample))
			return false;
		*time_ns = sample.time_ns;
	} else {
		is_whole = recording_trailer_read(&feed->file->events, record->bytes, record->size,
						  &trailer);
		*time_ns = trailer.has_time ? trailer.time_ns : 0;
	}
	feed->damaged += !is_whole;
	return is_whole;
}

/* A record on a processor's trace says whether parts of that are missing. */
static bool is_cut_trace(const struct recording_record *record)
{
	struct recording_cursor cursor = recording_cursor_of(record->bytes, record->size);
	recording_take(&cursor, sizeof(struct perf_event_header) + 2 * sizeof(uint64_t));
	uint64_t flags = recording_take_u64(&cursor);
	return (flags &
		(PERF_AUX_FLAG_TRUNCATED | PERF_AUX_FLAG_PARTIAL | PERF_AUX_FLAG_COLLISION)) != 0;
}

static bool is_applied(uint32_t type)
{
	switch (type) {
	case PERF_RECORD_SAMPLE:
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
	case PERF_RECORD_COMM:
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE:
	case PERF_RECORD_THROTTLE:
	case PERF_RECORD_UNTHROTTLE:
		return true;
	default:
		return false;
	}
}

void recording_feed_put(struct recording_feed *feed, const struct recording_record *record)
{
	uint64_t time_ns;
	size_t type = record->type < RECORDING_TYPES_MAX ? record->type : RECORDING_TYPES_MAX - 1;
	feed->order.take = take_ordered;
	feed->order.user = feed;
	feed->types[type]++;
	if (record->type == RECORDING_FINISHED_ROUND)
		recording_order_end_round(&feed->order);
	if (record->type == PERF_RECORD_AUX)
		feed->cut_traces += is_cut_trace(record);
	if (!is_applied(record->type) || !find_time(feed, record, &time_ns))
		return;
	/* perf applies what has no time at once: it described what was there before. */
	if (time_ns == 0)
		apply(record->bytes, record->size, 0, feed);
	else if (!recording_order_add(&feed->order, time_ns, record->bytes, record->size))
		feed->is_out_of_memory = true;
}

void recording_feed_end(struct recording_feed *feed)
{
	recording_order_end(&feed->order);
}

void recording_feed_finish(struct recording_feed *feed)
{
	recording_order_finish(&feed->order);
	recording_counts_finish(&feed->counts);
}
