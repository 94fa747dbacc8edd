#include "tools/collection/unseen_time.h"

#include "tools/memory/xalloc.h"
#include "tools/report/report.h"
#include <inttypes.h>

#define INTERVAL_LEAST_NS 100000u /* the shortest of tbcollect */

/* Unseen time is no finding below half of all time, nor below so many intervals. */
#define UNSEEN_SHARE_MIN     500000u
#define UNSEEN_INTERVALS_MIN 10u

/* Kernel time apart from samples is a finding from this share on. */
#define APART_SHARE_MIN 100000u

/* CPU time of all threads. The samples' counts include time that others took from the CPUs of a
 * virtual machine; the kernel's account of the launched programs does not. */
static uint64_t used_ns(const struct overview *overview)
{
	uint64_t used = overview->cpu_ns + overview->unattributed_ns;
	const struct overview_number *account = &overview->notes[PROFILE_NOTE_RUSAGE_CPU];
	return account->is_known && account->value < used ? account->value : used;
}

/* Older results have no note of it: images of the kernel tell. */
static bool has_kernel_samples(const struct profile_reader *reader, const struct overview *overview)
{
	if (overview->notes[PROFILE_NOTE_KERNEL_TIME].is_known)
		return overview->notes[PROFILE_NOTE_KERNEL_TIME].value != PROFILE_KERNEL_TIME_APART;
	for (uint32_t i = 0; i < profile_reader_image_count(reader); i++) {
		if (profile_reader_image(reader, i)->kind == PROFILE_IMAGE_KERNEL)
			return true;
	}
	return false;
}

static bool is_random(const struct overview *overview)
{
	return overview->notes[PROFILE_NOTE_SAMPLING].value == PROFILE_SAMPLING_THREADS ||
	       overview->notes[PROFILE_NOTE_SAMPLING].value == PROFILE_SAMPLING_CPUS;
}

/* The kernel's known share of the time; 0 for few intervals, as the time is known to one
 * interval. */
static uint64_t apart_share(const struct report_input *input, const struct overview *overview)
{
	uint64_t share = table_share(input->tally.kernel_ns, overview->cpu_ns);
	return input->tally.kernel_ns / overview->notes[PROFILE_NOTE_INTERVAL].value >=
			       UNSEEN_INTERVALS_MIN
		       ? share
		       : 0;
}

/* A sample stands for an interval. On each CPU a thread may use up to one interval unsampled. */
static uint64_t unseen_ns(const struct report_input *input, const struct overview *overview)
{
	uint64_t used = used_ns(overview);
	uint64_t cpus = overview->host.logical_cpus ? overview->host.logical_cpus : 1;
	uint64_t threads = profile_reader_thread_count(input->reader);
	double seen = ((double)input->tally.samples +
		       (double)overview->notes[PROFILE_NOTE_SAMPLES_LOST].value +
		       (double)threads * (double)cpus) *
		      (double)overview->notes[PROFILE_NOTE_INTERVAL].value;
	return seen < (double)used ? used - (uint64_t)seen : 0;
}

uint64_t unseen_time_share(const struct report_input *input, const struct overview *overview)
{
	uint64_t interval = overview->notes[PROFILE_NOTE_INTERVAL].value;
	if (interval == 0 || overview->is_counted ||
	    overview->notes[PROFILE_NOTE_THROTTLED].value > 0 ||
	    has_kernel_samples(input->reader, overview))
		return 0;
	uint64_t apart = apart_share(input, overview);
	if (apart >= APART_SHARE_MIN)
		return apart;
	/* With samples at random times nothing is missing: there are accounts. */
	if (input->options->filter.count > 0 || is_random(overview))
		return 0;
	uint64_t unseen = unseen_ns(input, overview);
	uint64_t share = table_share(unseen, used_ns(overview));
	return share >= UNSEEN_SHARE_MIN && unseen / interval >= UNSEEN_INTERVALS_MIN ? share : 0;
}

static bool is_sampled(const struct overview *overview)
{
	return overview->notes[PROFILE_NOTE_SAMPLING].value != PROFILE_SAMPLING_NONE;
}

static char *advise_none(const struct report_input *input, const struct overview *overview)
{
	double used_ms = (double)used_ns(overview) / 1e6;
	double interval_ms = (double)overview->notes[PROFILE_NOTE_INTERVAL].value / 1e6;
	if (input->options->filter.count > 0)
		return xalloc_text(
			"there are no samples that meet the filter: use another one, or none");
	if (overview->notes[PROFILE_NOTE_SAMPLES_LOST].value > 0)
		return xalloc_printf("there are no samples, %" PRIu64 " were lost: use a longer "
				     "--interval or a smaller --stack-size",
				     overview->notes[PROFILE_NOTE_SAMPLES_LOST].value);
	if (!overview->notes[PROFILE_NOTE_INTERVAL].is_known || !overview->is_complete)
		return xalloc_text("there are no samples");
	if (overview->notes[PROFILE_NOTE_NOT_FOLLOWED].value > 0)
		return xalloc_text("there are no samples: the kernel did not let the program be "
				   "followed: attach to it as root (tbcollect -p)");
	if (used_ms == 0)
		return xalloc_text("there are no samples, as no CPU time was used: collect while "
				   "the program works");
	return xalloc_printf("there are no samples: %.3f ms of CPU time were used, and a sample is "
			     "taken %s %g ms of a thread's: %s",
			     used_ms,
			     is_random(overview) ? "at random, on average each" : "after each",
			     interval_ms,
			     overview->notes[PROFILE_NOTE_INTERVAL].value > INTERVAL_LEAST_NS
				     ? "use a shorter --interval (0.1ms is the shortest), or "
				       "collect for longer"
				     : "collect for longer");
}

char *unseen_time_advise(const struct report_input *input, const struct overview *overview,
			 uint64_t samples)
{
	uint64_t share = unseen_time_share(input, overview);
	if (share > 0)
		return xalloc_printf("at most %.0f %% of the CPU time was user code's; the rest "
				     "went to system calls and faults, where no samples were "
				     "taken: run tbcollect as root, with CAP_PERFMON, or with "
				     "kernel.perf_event_paranoid=1, which shows the calls "
				     "(--kernel: the kernel's functions too)",
				     100 - (double)share / 1e4);
	return samples == 0 && is_sampled(overview) ? advise_none(input, overview) : NULL;
}
