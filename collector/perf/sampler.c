#include "collector/perf/sampler.h"

#include "collector/bpf/sources.h"
#include "collector/perf/added_events.h"
#include "collector/perf/copy_size.h"
#include "collector/perf/pid_namespace.h"
#include "containers/array.h"
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { RING_MIN = 64 * 1024, RING_MAX = 8 * 1024 * 1024, RINGS_TOTAL_MAX = 256 * 1024 * 1024 };

/* As many files as the hard limit allows: a thread takes one per CPU. */
static void raise_file_limit(void)
{
	struct rlimit limit;
	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static size_t choose_ring_size(size_t rings)
{
	size_t size = RING_MAX;
	while (size > RING_MIN && size * rings > RINGS_TOTAL_MAX)
		size /= 2;
	return size;
}

static int explain_source(int error, struct failure *failure)
{
	if (error == ENOSYS)
		return failure_set(failure, FAILURE_EXIT,
				   "cannot use --unwind bpf: this tbcollect was built without BPF; "
				   "build it where clang, bpftool and libbpf-dev are installed, or "
				   "use --unwind copy");
	if (error == EPERM || error == EACCES)
		return failure_set(failure, FAILURE_EXIT,
				   "cannot use --unwind bpf: CAP_BPF and CAP_PERFMON are needed; "
				   "run as root, or: sudo setcap cap_bpf,cap_perfmon=ep tbcollect, "
				   "or use --unwind copy");
	return failure_set(failure, FAILURE_EXIT,
			   "cannot use --unwind bpf: %s: it needs Linux 5.17 with BTF "
			   "(CONFIG_DEBUG_INFO_BTF); use --unwind copy",
			   strerror(error));
}

/* Samples by the CPUs' clocks need process ids of the first namespace, and samples of kernel mode:
 * each thread's time there may not be measured apart. */
static bool may_use_clocks(const struct sampler *sampler)
{
	return sampler->config.sampling.kind == PROFILE_SAMPLING_CPUS &&
	       sampler->config.has_kernel && pid_namespace_is_first();
}

/* Random samples of threads' own ticks have no such needs. */
static void give_up_clocks(struct sampler *sampler)
{
	struct sampling *sampling = &sampler->config.sampling;
	if (sampling->kind == PROFILE_SAMPLING_CPUS)
		*sampling = sampling_choose(PROFILE_SAMPLING_THREADS, sampling->interval_ns,
					    sampling->seed);
}

/* The events record switches again. */
static void close_switches(struct sampler *sampler)
{
	sampler->config.switches |= sampler->switches != NULL;
	switches_source_close(sampler->switches);
	sampler->switches = NULL;
}

/* Records of waits already in the rings keep their format. An observer needs the rings' switches.
 */
static void close_waits(struct sampler *sampler, int error)
{
	close_switches(sampler);
	sampler->waits_error = error;
	waits_source_close(sampler->waits);
	sampler->waits = NULL;
	sampler->config.raw = sampler->source != NULL;
}

/* Without the source the kernel copies the stacks, and each thread has its own ticks. */
static void close_source(struct sampler *sampler)
{
	close_switches(sampler);
	cpu_events_close(&sampler->cpu_events);
	stack_source_close(sampler->source);
	sampler->source = NULL;
	sampler->copies = false;
	sampler->config.raw = sampler->waits != NULL;
	give_up_clocks(sampler);
}

/* Files opened later, besides threads' events: the drain's, and those of images the program
 * runs. */
enum { LATER_FILES = 8 };

static bool has_later_files(const struct sampler *sampler)
{
	int fds[LATER_FILES];
	int fd = stack_source_program(sampler->source);
	int count = 0;
	while (count < LATER_FILES && (fds[count] = fcntl(fd, F_DUPFD_CLOEXEC, 0)) >= 0)
		count++;
	for (int i = 0; i < count; i++)
		close(fds[i]);
	return count == LATER_FILES;
}

/* Loads the BPF source if stacks or clocks need one. */
static int open_source(struct sampler *sampler, struct failure *failure)
{
	sampler->copies = sampler->config.stack_size > 0 && sampler->wanted != SAMPLER_COPY;
	if (!may_use_clocks(sampler))
		give_up_clocks(sampler);
	if (!sampler->copies && sampler->config.sampling.kind != PROFILE_SAMPLING_CPUS)
		return 0;
	uint32_t last = sampler->cpus.numbers[sampler->cpus.count - 1];
	int result = stack_source_open(last + 1, &sampler->source);
	int error = errno;
	sampler->config.raw = result == 0;
	if (result < 0 || (sampler->wanted != SAMPLER_BPF && !has_later_files(sampler)))
		close_source(sampler);
	return result < 0 && sampler->wanted == SAMPLER_BPF ? explain_source(error, failure) : 0;
}

int sampler_init(struct sampler *sampler, const struct event_config *config,
		 enum sampler_source wanted, struct failure *failure)
{
	*sampler = (struct sampler){.config = *config,
				    .wanted = wanted,
				    .lock = PTHREAD_MUTEX_INITIALIZER};
	sampler->config.deep_size = COPIES_SIZE_MAX;
	sampler->config.deep_interval_ns = copies_deep_interval_ns(config->sampling.interval_ns);
	sampler->config.sampling =
		sampling_choose(config->sampling.kind, config->sampling.interval_ns,
				config->sampling.seed);
	event_ids_init(&sampler->ids);
	sampler->config.ids = &sampler->ids;
	raise_file_limit();
	if (pid_namespace_check(failure) < 0)
		return -1;
	if (cpus_online(&sampler->cpus) < 0)
		return failure_set_error(failure, errno, "cannot read the list of CPUs");
	sampler->refused = calloc(sampler->cpus.count, sizeof(*sampler->refused));
	if (!sampler->refused)
		return failure_set(failure, FAILURE_EXIT, "out of memory");
	sampler->config.final_counts = sampler->cpus.count == 1;
	if (event_probe(&sampler->config, failure) < 0)
		return -1;
	sampler->ring_size = choose_ring_size(sampler->cpus.count);
	return open_source(sampler, failure);
}

void sampler_open_waits(struct sampler *sampler, uint64_t threshold_ns, bool all_wakers)
{
	struct waits_source_config config = {
		.cpus = sampler->cpus.numbers[sampler->cpus.count - 1] + 1,
		.threshold_ns = threshold_ns,
		.children = !sampler->config.same_process,
		.all_wakers = all_wakers,
	};
	assert(!sampler->rings && !sampler->waits);
	sampler->waits_error = 0;
	/* BPF has the first namespace's ids of processes. */
	if (!pid_namespace_is_first())
		sampler->waits_error = ENOTSUP;
	else if (waits_source_open(&config, &sampler->waits) < 0)
		sampler->waits_error = errno;
	/* No thread is followed yet: if it cannot be, another source must be chosen now. */
	else if (waits_source_start(sampler->waits) < 0)
		close_waits(sampler, errno);
	sampler->config.raw = sampler->source || sampler->waits;
}

void sampler_open_switches(struct sampler *sampler)
{
	uint32_t last = sampler->cpus.numbers[sampler->cpus.count - 1];
	assert(!sampler->rings && !sampler->switches);
	/* BPF has the first namespace's ids of processes. */
	if (!sampler->config.switches || !pid_namespace_is_first() ||
	    switches_source_open(last + 1, &sampler->switches) < 0)
		return;
	sampler->config.switches = false;
	if (switches_source_start(sampler->switches) < 0)
		close_switches(sampler);
}

const char *sampler_waits_words(const struct sampler *sampler)
{
	switch (sampler->waits_error) {
	case ENOSYS:
		return "this tbcollect was built without BPF";
	case EPERM:
	case EACCES:
		return "CAP_BPF and CAP_PERFMON are needed";
	case ENOTSUP:
		return "process ids are those of a namespace";
	default:
		return strerror(sampler->waits_error);
	}
}

static void close_all(int **fds, size_t count)
{
	for (size_t i = 0; *fds && i < count; i++)
		if ((*fds)[i] >= 0)
			close((*fds)[i]);
	free(*fds);
	*fds = NULL;
}

/* Of each thread, over all CPUs. */
static size_t count_added(const struct sampler *sampler)
{
	return sampler->config.added_count * sampler->cpus.count;
}

static void close_events(const struct sampler *sampler, struct sampler_thread *thread)
{
	close_all(&thread->fds, sampler->cpus.count);
	close_all(&thread->deep_fds, sampler->cpus.count);
	close_all(&thread->added_fds, count_added(sampler));
}

static void unmap_rings(struct sampler *sampler)
{
	for (size_t i = 0; sampler->rings && i < sampler->cpus.count; i++) {
		int fd = sampler->rings[i].page ? sampler->rings[i].fd : -1;
		ring_finish(&sampler->rings[i]);
		if (fd >= 0)
			close(fd);
	}
	free(sampler->rings);
	sampler->rings = NULL;
}

void sampler_finish(struct sampler *sampler)
{
	unmap_rings(sampler);
	for (size_t i = 0; i < sampler->thread_count; i++)
		close_events(sampler, &sampler->threads[i]);
	cpu_events_close(&sampler->cpu_events);
	stack_source_close(sampler->source);
	waits_source_close(sampler->waits);
	switches_source_close(sampler->switches);
	event_ids_finish(&sampler->ids);
	free(sampler->refused);
	free(sampler->threads);
	cpus_finish(&sampler->cpus);
	*sampler = (struct sampler){0};
}

typedef int open_call(const struct event_config *config, pid_t tid, int cpu);

/* Opens a thread's events of one kind, one per CPU. NULL with errno: none is open. */
static int *open_all(const struct sampler *sampler, pid_t tid, open_call *open_one)
{
	size_t count = sampler->cpus.count;
	int *fds = calloc(count, sizeof(*fds));
	for (size_t i = 0; fds && i < count; i++)
		fds[i] = -1;
	for (size_t i = 0; fds && i < count; i++) {
		fds[i] = open_one(&sampler->config, tid, (int)sampler->cpus.numbers[i]);
		if (fds[i] < 0) {
			int error = errno;
			close_all(&fds, count);
			errno = error;
		}
	}
	return fds;
}

/* Gives up deep events, which take as many files as the sampling events. */
static void give_up_deep(struct sampler *sampler)
{
	pthread_mutex_lock(&sampler->lock);
	sampler->deep = false;
	for (size_t t = 0; t < sampler->thread_count; t++)
		close_all(&sampler->threads[t].deep_fds, sampler->cpus.count);
	pthread_mutex_unlock(&sampler->lock);
}

static bool is_file_limit(int error)
{
	return error == EMFILE || error == ENFILE;
}

/* Opens a thread's added events, if there are any. 0, or -1 with errno and the thread closed. */
static int open_added(struct sampler *sampler, struct sampler_thread *thread)
{
	if (sampler->config.added_count == 0)
		return 0;
	thread->added_fds = added_events_open(&sampler->config, &sampler->cpus, thread->tid);
	int error = errno;
	if (!thread->added_fds)
		close_events(sampler, thread);
	errno = error;
	return thread->added_fds ? 0 : -1;
}

/* Opens a thread's events. 0, or -1 with errno. */
static int open_events(struct sampler *sampler, struct sampler_thread *thread)
{
	thread->fds = open_all(sampler, thread->tid, event_open);
	if (!thread->fds && is_file_limit(errno) && sampler->deep) {
		give_up_deep(sampler);
		thread->fds = open_all(sampler, thread->tid, event_open);
	}
	if (!thread->fds)
		return -1;
	if (sampler->deep) {
		thread->deep_fds = open_all(sampler, thread->tid, event_open_deep);
		if (!thread->deep_fds && is_file_limit(errno))
			give_up_deep(sampler);
	}
	return open_added(sampler, thread);
}

/* Maps the rings, each on an idle event. 0, or -1 with errno and no ring mapped. */
static int map_rings(struct sampler *sampler)
{
	sampler->rings = calloc(sampler->cpus.count, sizeof(*sampler->rings));
	for (size_t i = 0; sampler->rings && i < sampler->cpus.count; i++) {
		int fd = event_open_idle(&sampler->config, (int)sampler->cpus.numbers[i]);
		if (fd >= 0 && ring_init(&sampler->rings[i], fd, sampler->ring_size) == 0) {
			sampler->rings[i].has_ids = sampler->config.added_count > 0;
			continue;
		}
		int error = errno;
		if (fd >= 0)
			close(fd);
		unmap_rings(sampler);
		errno = error;
	}
	return sampler->rings ? 0 : -1;
}

/* Chooses copies and ticks to fit the rings. BPF draws before it copies, or sends anything of a
 * CPU's tick; its copies need no deep ones. */
static void choose_copies(struct sampler *sampler, bool is_limited)
{
	struct event_config *config = &sampler->config;
	struct sampling *sampling = &config->sampling;
	struct sampling drawn = *sampling;
	*sampling = sampling_choose(sampling->kind, sampling->interval_ns, sampling->seed);
	drawn.tick_ns = drawn.interval_ns;
	struct sampling *copied = sampler->source ? &drawn : sampling;
	if (is_limited) {
		copies_fit(sampler->ring_size, config->stack_size, copied);
		return;
	}
	struct copies copies = copies_choose(sampler->ring_size, copied, config->deep_interval_ns);
	config->stack_size = copies.size;
	sampler->deep = copies.deep && !sampler->copies && !config->no_samples;
}

/* The larger the rings, the larger the stacks; rings shrink to what is allowed. */
static int open_rings(struct sampler *sampler)
{
	sampler->limited = sampler->config.stack_size != UINT32_MAX;
	for (;; sampler->ring_size /= 2) {
		choose_copies(sampler, sampler->limited);
		sampler->config.wakeup_bytes = (uint32_t)(sampler->ring_size / 4);
		if (map_rings(sampler) == 0)
			return 0;
		if ((errno != EPERM && errno != ENOMEM) || sampler->ring_size / 2 < RING_MIN)
			return -1;
	}
}

/* Sends the records of the events to the rings. 0, or -1 with errno. */
static int redirect_all(const struct sampler *sampler, const int *fds, size_t count)
{
	for (size_t i = 0; fds && i < count; i++)
		if (event_redirect(fds[i], sampler->rings[i % sampler->cpus.count].fd) < 0)
			return -1;
	return 0;
}

/* Starts sampling followed processes by each CPU's ticks. */
static int start_clocks(struct sampler *sampler)
{
	struct stack_source_follow follow = {
		.copies = sampler->copies,
		.children = !sampler->config.same_process,
	};
	int result = stack_source_follow(sampler->source, &follow);
	return result < 0 ? result : cpu_events_start(&sampler->cpu_events);
}

/* Lets the sources write to the rings; their size limits larger copies. 0, or -1 with errno. */
static int connect_sources(struct sampler *sampler)
{
	struct stack_source_limit limit = {.always_bytes = sampler->config.stack_size,
					   .refill_bytes = copies_refill_bytes(sampler->ring_size),
					   .gather_bytes =
						   sampler->limited ? 0 : sampler->ring_size / 4};
	if (sampler->source && sampling_is_random(&sampler->config.sampling))
		stack_source_draw(sampler->source, sampler->config.sampling.interval_ns);
	if (sampler->source)
		stack_source_limit(sampler->source, &limit);
	if (sampler->waits)
		waits_source_limit(sampler->waits, &limit);
	sampler->cpu_events = (struct cpu_events){.config = &sampler->config,
						  .cpus = &sampler->cpus,
						  .rings = sampler->rings,
						  .source = sampler->source,
						  .waits = sampler->waits};
	int result = cpu_events_open(&sampler->cpu_events);
	if (result == 0 && sampler->config.sampling.kind == PROFILE_SAMPLING_CPUS)
		result = start_clocks(sampler);
	return result;
}

/* Does with less of BPF: without clocks, without stacks, without waits. */
static void retreat(struct sampler *sampler, int error)
{
	if (sampler->copies && sampler->config.sampling.kind == PROFILE_SAMPLING_CPUS) {
		give_up_clocks(sampler);
	} else if (sampler->source) {
		close_source(sampler);
		sampler->source_error = error;
	} else {
		close_waits(sampler, error);
	}
}

/* See event.h. With the CPUs' clocks BPF sends accounts instead. */
static bool may_have_final_counts(const struct sampler *sampler)
{
	return sampler->cpus.count == 1 && !sampler->config.no_samples &&
	       sampler->config.sampling.kind != PROFILE_SAMPLING_CPUS;
}

/* Maps the rings and connects the sources of records: first as wanted, then with less. 0, or -1
 * with errno. */
static int begin(struct sampler *sampler)
{
	uint32_t wanted_size = sampler->config.stack_size;
	for (;;) {
		sampler->config.stack_size = wanted_size;
		sampler->config.final_counts = may_have_final_counts(sampler);
		if (open_rings(sampler) < 0)
			return -1;
		if ((!sampler->source && !sampler->waits) || connect_sources(sampler) == 0)
			return 0;
		int error = errno;
		cpu_events_close(&sampler->cpu_events);
		unmap_rings(sampler);
		retreat(sampler, error);
	}
}

/* Adds a process to sampling by the CPUs' clocks: a launched one as soon as it has events. */
static int follow(struct sampler *sampler, pid_t pid)
{
	if (sampler->config.sampling.kind != PROFILE_SAMPLING_CPUS || sampler->followed == pid)
		return 0;
	if (!sampler->config.on_exec)
		stack_source_hold(sampler->source, (uint32_t)pid);
	int result = stack_source_add(sampler->source, (uint32_t)pid, sampler->config.on_exec);
	sampler->followed = result == 0 ? pid : 0;
	return result;
}

/* Without room the thread's waits are missing, and counted as such. */
static void follow_waits(const struct sampler *sampler, const struct sampler_thread *thread)
{
	if (sampler->waits)
		waits_source_add(sampler->waits, (uint32_t)thread->pid, (uint32_t)thread->tid,
				 sampler->config.on_exec);
}

/* Opens a thread's events and sends their records to the rings. */
static int connect_thread(struct sampler *sampler, struct sampler_thread *thread)
{
	if (!sampler->rings && begin(sampler) < 0)
		return -1;
	assert(!sampler->deep || !sampler->copies);
	if (follow(sampler, thread->pid) < 0 || open_events(sampler, thread) < 0)
		return -1;
	size_t cpus = sampler->cpus.count;
	if (redirect_all(sampler, thread->fds, cpus) == 0 &&
	    redirect_all(sampler, thread->deep_fds, cpus) == 0 &&
	    redirect_all(sampler, thread->added_fds, count_added(sampler)) == 0) {
		follow_waits(sampler, thread);
		return 0;
	}
	int error = errno;
	close_events(sampler, thread);
	errno = error;
	return -1;
}

/* As before the first thread, but without BPF. */
static void start_over(struct sampler *sampler, struct sampler_thread *thread)
{
	close_events(sampler, thread);
	close_waits(sampler, EMFILE);
	close_source(sampler);
	unmap_rings(sampler);
	sampler->source_error = EMFILE;
	sampler->followed = 0;
	if (!sampler->limited)
		sampler->config.stack_size = UINT32_MAX;
}

/* Opens a thread; 0, or -1 with errno. Gives BPF up when files are too few for it beside the first
 * thread's events. */
static int open_thread(struct sampler *sampler, struct sampler_thread *thread)
{
	bool may_do_less = sampler->thread_count == 0 && sampler->wanted != SAMPLER_BPF;
	int result = connect_thread(sampler, thread);
	if (!may_do_less || !sampler->source)
		return result;
	if (result < 0 ? !is_file_limit(errno) : has_later_files(sampler))
		return result;
	start_over(sampler, thread);
	return connect_thread(sampler, thread);
}

/* Has the thread's stacks copied by the source. 0, or -1 with errno. */
static int use_source(const struct sampler *sampler, const struct sampler_thread *thread)
{
	if (!sampler->source) {
		errno = sampler->source_error;
		return sampler->source_error != 0 ? -1 : 0;
	}
	for (size_t i = 0;
	     sampler->config.sampling.kind != PROFILE_SAMPLING_CPUS && i < sampler->cpus.count; i++)
		if (event_attach_program(thread->fds[i], stack_source_program(sampler->source)) < 0)
			return -1;
	return 0;
}

/* Threads to open: those of the process, and the opened ones of others. No file descriptor is free
 * for reading the directory; its link count is the number of threads and two more
 * (proc_task_getattr, fs/proc/base.c). */
static size_t count_threads(const struct sampler *sampler, pid_t pid)
{
	char path[64];
	struct stat status;
	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	size_t count = stat(path, &status) == 0 && status.st_nlink > 2 ? status.st_nlink - 2 : 1;
	for (size_t i = 0; i < sampler->thread_count; i++)
		count += sampler->threads[i].pid != pid;
	return count;
}

enum {
	OTHER_FILES = 24, /* other open files: the result, files of the target */
	SOURCE_FILES = 17 /* BPF's maps, programs and links */
};

/* Events of the threads, of the rings, and of BPF (outputs and clocks). */
static size_t count_files(const struct sampler *sampler, size_t threads)
{
	size_t events = threads * (1 + sampler->config.added_count) + 1 + (sampler->source ? 2 : 0);
	return events * sampler->cpus.count + OTHER_FILES + (sampler->source ? SOURCE_FILES : 0);
}

static int explain_limit(const struct sampler *sampler, pid_t pid, int error,
			 struct failure *failure)
{
	size_t threads = count_threads(sampler, pid);
	return failure_set_error(failure, error,
				 "cannot open the events of %zu thread%s on %zu CPU%s, which take "
				 "some %zu files",
				 threads, threads == 1 ? "" : "s", sampler->cpus.count,
				 sampler->cpus.count == 1 ? "" : "s",
				 count_files(sampler, threads));
}

static int explain(const struct sampler *sampler, pid_t pid, int error, struct failure *failure)
{
	if (is_file_limit(error))
		return explain_limit(sampler, pid, error, failure);
	if (!sampler->rings && (error == EPERM || error == ENOMEM))
		return failure_set(failure, FAILURE_EXIT,
				   "cannot map the sampling buffers: %s; another profiler may use "
				   "up kernel.perf_event_mlock_kb: sudo sysctl "
				   "kernel.perf_event_mlock_kb=2048, or ulimit -l unlimited",
				   strerror(error));
	return event_explain(failure, error, sampler->config.on_exec ? 0 : pid);
}

static bool append_thread(struct sampler *sampler, const struct sampler_thread *thread)
{
	pthread_mutex_lock(&sampler->lock);
	bool has_room = array_reserve(&sampler->threads, &sampler->thread_capacity,
				      sampler->thread_count + 1, sizeof(*thread));
	if (has_room)
		sampler->threads[sampler->thread_count++] = *thread;
	pthread_mutex_unlock(&sampler->lock);
	return has_room;
}

int sampler_add(struct sampler *sampler, pid_t pid, pid_t tid, struct failure *failure)
{
	struct sampler_thread thread = {.pid = pid, .tid = tid};
	int result = open_thread(sampler, &thread);
	if (result != 0)
		return errno == ESRCH ? 1 : explain(sampler, pid, errno, failure);
	/* Events without the program give the kernel's copies. */
	if (use_source(sampler, &thread) < 0 && sampler->wanted == SAMPLER_BPF) {
		int error = errno;
		close_events(sampler, &thread);
		return explain_source(error, failure);
	}
	if (append_thread(sampler, &thread))
		return 0;
	close_events(sampler, &thread);
	return failure_set(failure, FAILURE_EXIT, "out of memory");
}

void sampler_release(const struct sampler *sampler)
{
	if (sampler->config.sampling.kind != PROFILE_SAMPLING_CPUS)
		return;
	assert(sampler->source); /* without it there are no clocks (close_source) */
	stack_source_hold(sampler->source, 0);
}

void sampler_drop(struct sampler *sampler, size_t index)
{
	assert(index < sampler->thread_count);
	pthread_mutex_lock(&sampler->lock);
	close_events(sampler, &sampler->threads[index]);
	pthread_mutex_unlock(&sampler->lock);
}

void sampler_renew(struct sampler *sampler)
{
	if (sampler->config.sampling.kind == PROFILE_SAMPLING_CPUS)
		cpu_events_renew(&sampler->cpu_events);
}

void sampler_keep_share(const struct sampler *sampler, uint32_t share)
{
	if (sampler->copies)
		stack_source_share(sampler->source, share);
	if (sampler->waits)
		waits_source_share(sampler->waits, share);
}

void sampler_stop(struct sampler *sampler)
{
	cpu_events_stop(&sampler->cpu_events);
	if (sampler->waits)
		waits_source_stop(sampler->waits);
	if (sampler->switches)
		switches_source_stop(sampler->switches);
	for (size_t t = 0; t < sampler->thread_count; t++) {
		const struct sampler_thread *thread = &sampler->threads[t];
		for (size_t i = 0; thread->fds && i < sampler->cpus.count; i++)
			event_disable(thread->fds[i]);
		for (size_t i = 0; thread->deep_fds && i < sampler->cpus.count; i++)
			event_disable(thread->deep_fds[i]);
		for (size_t i = 0; thread->added_fds && i < count_added(sampler); i++)
			event_disable(thread->added_fds[i]);
	}
}

void sampler_read(const struct sampler *sampler, size_t index, struct event_reading *total)
{
	assert(index < sampler->thread_count);
	const struct sampler_thread *thread = &sampler->threads[index];
	*total = (struct event_reading){0};
	for (size_t i = 0; thread->fds && i < sampler->cpus.count; i++) {
		struct event_reading one;
		if (event_read(&sampler->config, thread->fds[i], &one) < 0)
			continue;
		total->count_ns += one.count_ns;
		total->lost += one.lost;
	}
}
