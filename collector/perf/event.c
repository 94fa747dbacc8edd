#include "collector/perf/event.h"

#include "collector/machine/registers.h"
#include <assert.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int open_event(struct perf_event_attr *attr, pid_t tid, int cpu)
{
	return (int)syscall(SYS_perf_event_open, attr, tid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static void fill_attr(const struct event_config *config, int cpu, struct perf_event_attr *attr)
{
	memset(attr, 0, sizeof(*attr));
	attr->size = sizeof(*attr);
	attr->type = PERF_TYPE_SOFTWARE;
	attr->config = PERF_COUNT_SW_TASK_CLOCK;
	attr->sample_period = sampling_tick_ns(&config->sampling, (uint32_t)cpu, 0);
	attr->sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |
			    PERF_SAMPLE_PERIOD;
	if (config->has_count)
		attr->sample_type |= PERF_SAMPLE_READ;
	if (config->has_lost)
		attr->read_format = PERF_FORMAT_LOST;
	if (config->kernel)
		attr->sample_type |= PERF_SAMPLE_CALLCHAIN;
	if (config->raw)
		attr->sample_type |= PERF_SAMPLE_RAW;
	if (config->added_count > 0)
		attr->sample_type |= PERF_SAMPLE_IDENTIFIER;
	attr->sample_type |= PERF_SAMPLE_REGS_USER;
	attr->sample_regs_user = registers_mask();
	assert(config->stack_size % 8 == 0); /* the kernel refuses other sizes */
	if (config->stack_size > 0) {
		attr->sample_type |= PERF_SAMPLE_STACK_USER;
		attr->sample_stack_user = config->stack_size;
	}
	attr->disabled = config->on_exec;
	attr->enable_on_exec = config->on_exec;
	attr->inherit = config->inherit;
	attr->inherit_thread = config->inherit && config->same_process;
	/* A thread's last count comes as PERF_RECORD_READ when it ends. */
	attr->inherit_stat = config->inherit && config->has_count && config->final_counts;
	attr->exclude_kernel = !config->has_kernel;
	attr->exclude_hv = 1;
	attr->exclude_callchain_user = 1;
	attr->mmap = 1;
	attr->mmap2 = 1;
	attr->build_id = config->has_build_id;
	attr->comm = 1;
	attr->comm_exec = 1;
	attr->task = 1;
	attr->context_switch = config->switches;
	attr->sample_id_all = 1;
	attr->watermark = 1;
	attr->wakeup_watermark = config->wakeup_bytes;
	attr->use_clockid = 1;
	attr->clockid = CLOCK_MONOTONIC_RAW;
}

/* Opens an event that never counts. 0, or the error. */
static int try_event(struct event_config trial)
{
	struct perf_event_attr attr;
	trial.on_exec = true;
	trial.stack_size = trial.stack_size > 0 ? 8 : 0;
	fill_attr(&trial, 0, &attr);
	int fd = open_event(&attr, 0, -1);
	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

static int try_added(const struct event_config *config, struct failure *failure)
{
	struct event_config trial = *config;
	trial.on_exec = true;
	trial.stack_size = trial.stack_size > 0 ? 8 : 0;
	for (uint32_t i = 0; i < config->added_count; i++) {
		int fd = event_open_added(&trial, i, 0, -1);
		if (fd < 0)
			return event_explain_added(failure, errno, &config->added[i]);
		close(fd);
		/* It would never happen. */
		if (config->added[i].is_in_kernel &&
		    (!config->has_kernel || config->added[i].user_only))
			return event_explain_added(failure, EACCES, &config->added[i]);
	}
	return 0;
}

int event_probe(struct event_config *config, struct failure *failure)
{
	/* The newest features are dropped one after the other. */
	bool *features[] = {&config->has_count, &config->has_lost, &config->has_build_id};
	size_t dropped = 0;
	int error;
	config->has_build_id = config->has_count = config->has_lost = true;
	config->has_kernel = true;
	while ((error = try_event(*config)) != 0) {
		bool is_forbidden = error == EACCES || error == EPERM;
		if (is_forbidden && config->has_kernel && !config->kernel)
			config->has_kernel = false;
		else if (error == EINVAL && dropped < sizeof(features) / sizeof(features[0]))
			*features[dropped++] = false;
		else
			return event_explain(failure, error, 0);
	}
	return try_added(config, failure);
}

enum profile_kernel_time event_kernel_time(const struct event_config *config)
{
	return config->kernel       ? PROFILE_KERNEL_TIME_FRAMES
	       : config->has_kernel ? PROFILE_KERNEL_TIME_AT_CALLS
				    : PROFILE_KERNEL_TIME_APART;
}

struct record_format event_format(const struct event_config *config)
{
	return (struct record_format){
		.count = config->has_count,
		.lost = config->has_lost,
		.callchain = config->kernel,
		.deep_period_ns = config->deep_interval_ns,
		.raw = config->raw,
		.ids = config->added_count > 0 ? config->ids : NULL,
		.registers = true,
		.stack = config->stack_size > 0,
	};
}

/* No samples, and of other records the trailer alone. */
static void drop_samples(struct perf_event_attr *attr)
{
	attr->sample_period = 0;
	attr->sample_type &=
		PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER;
	attr->sample_regs_user = 0;
	attr->sample_stack_user = 0;
	attr->inherit_stat = 0;
}

int event_open(const struct event_config *config, pid_t tid, int cpu)
{
	struct perf_event_attr attr;
	fill_attr(config, cpu, &attr);
	if (config->sampling.kind == PROFILE_SAMPLING_CPUS || config->no_samples)
		drop_samples(&attr);
	return open_event(&attr, tid, cpu);
}

/* What a process maps, runs and creates, and its threads' switches, are told once, by the sampling
 * event. */
static void drop_side_band(struct perf_event_attr *attr)
{
	attr->inherit_stat = 0;
	attr->mmap = attr->mmap2 = attr->build_id = 0;
	attr->comm = attr->comm_exec = attr->task = attr->context_switch = 0;
}

/* Of the whole CPU's, nobody asked for anything else. */
static int open_of_cpu(struct perf_event_attr *attr, int cpu)
{
	attr->enable_on_exec = 0;
	attr->inherit = attr->inherit_thread = 0;
	drop_side_band(attr);
	return open_event(attr, -1, cpu);
}

int event_open_clock(const struct event_config *config, int cpu, uint64_t tick_ns)
{
	struct perf_event_attr attr;
	fill_attr(config, cpu, &attr);
	attr.config = PERF_COUNT_SW_CPU_CLOCK;
	attr.sample_period = tick_ns;
	attr.exclude_idle = 1;
	attr.disabled = 1;
	return open_of_cpu(&attr, cpu);
}

int event_set_period(int fd, uint64_t period_ns)
{
	return ioctl(fd, PERF_EVENT_IOC_PERIOD, &period_ns);
}

int event_open_deep(const struct event_config *config, pid_t tid, int cpu)
{
	struct perf_event_attr attr;
	/* The period tells deep copies from samples. */
	assert(config->deep_interval_ns > config->sampling.interval_ns);
	fill_attr(config, cpu, &attr);
	drop_side_band(&attr);
	attr.sample_period = config->deep_interval_ns;
	attr.sample_stack_user = config->deep_size;
	return open_event(&attr, tid, cpu);
}

enum { ADDED_STACK_MAX = 16384 };

/* Their copies are the kernel's, which take their whole size in the ring. */
static uint32_t added_stack_size(const struct event_config *config)
{
	return config->stack_size < ADDED_STACK_MAX ? config->stack_size : ADDED_STACK_MAX;
}

/* The kernel would take a sample of each software event or tracepoint, whatever their period, if
 * samples told it (kernel/events/core.c, perf_swevent_event). */
uint64_t event_hides_period(const struct event_config *config, uint32_t index)
{
	const struct event_choice *choice = &config->added[index];
	bool is_software =
		choice->type == PERF_TYPE_SOFTWARE || choice->type == PERF_TYPE_TRACEPOINT;
	return is_software && choice->frequency == 0 ? choice->period : 0;
}

int event_open_added(const struct event_config *config, uint32_t index, pid_t tid, int cpu)
{
	const struct event_choice *choice = &config->added[index];
	struct perf_event_attr attr;
	fill_attr(config, 0, &attr);
	drop_side_band(&attr);
	attr.type = choice->type;
	attr.config = choice->config;
	attr.freq = choice->frequency > 0;
	attr.sample_period = choice->frequency > 0 ? choice->frequency : choice->period;
	if (event_hides_period(config, index) > 0)
		attr.sample_type &= ~(uint64_t)PERF_SAMPLE_PERIOD;
	attr.sample_stack_user = added_stack_size(config);
	attr.exclude_kernel = !config->has_kernel || choice->user_only;
	attr.exclude_user = choice->kernel_only;
	return open_event(&attr, tid, cpu);
}

int event_read_id(int fd, uint64_t *id)
{
	return ioctl(fd, PERF_EVENT_IOC_ID, id);
}

int event_open_idle(const struct event_config *config, int cpu)
{
	struct perf_event_attr attr;
	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_DUMMY;
	attr.disabled = 1;
	attr.exclude_kernel = 1;
	attr.exclude_hv = 1;
	/* The ring's share of its event's attributes; events of one ring have one clock. */
	attr.watermark = 1;
	attr.wakeup_watermark = config->wakeup_bytes;
	attr.use_clockid = 1;
	attr.clockid = CLOCK_MONOTONIC_RAW;
	return open_event(&attr, 0, cpu);
}

int event_open_output(const struct event_config *config, int cpu)
{
	struct perf_event_attr attr;
	fill_attr(config, cpu, &attr);
	attr.config = PERF_COUNT_SW_BPF_OUTPUT;
	attr.sample_period = 1;
	/* Without user stacks, not with ones of 0 bytes: for these the kernel writes 8 bytes beyond
	 * the record's room (kernel/events/core.c, perf_output_sample_ustack), over the start of a
	 * record put behind it by an interrupt meanwhile. */
	attr.sample_type &= ~(uint64_t)PERF_SAMPLE_STACK_USER;
	attr.sample_stack_user = 0;
	attr.disabled = 0;
	return open_of_cpu(&attr, cpu);
}

int event_attach_program(int fd, int program_fd)
{
	return ioctl(fd, PERF_EVENT_IOC_SET_BPF, program_fd);
}

int event_redirect(int fd, int ring_fd)
{
	return ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring_fd);
}

int event_enable(int fd)
{
	return ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
}

int event_disable(int fd)
{
	return ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
}

int event_read(const struct event_config *config, int fd, struct event_reading *reading)
{
	uint64_t values[2] = {0, 0};
	size_t size = config->has_lost ? sizeof(values) : sizeof(values[0]);
	if (read(fd, values, sizeof(values)) != (ssize_t)size)
		return -1;
	*reading = (struct event_reading){values[0], values[1]};
	return 0;
}
