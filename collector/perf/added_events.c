#include "collector/perf/added_events.h"

#include "collector/perf/event_ids.h"
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static void close_fds(int *fds, size_t count)
{
	int error = errno;
	for (size_t i = 0; i < count; i++)
		close(fds[i]);
	free(fds);
	errno = error;
}

/* Opens an event, and learns its id. -1 with errno. */
static int open_one(const struct event_config *config, uint32_t index, pid_t tid, int cpu)
{
	uint64_t id;
	struct event_id event = {index + 1, event_hides_period(config, index)};
	int fd = event_open_added(config, index, tid, cpu);
	if (fd < 0)
		return -1;
	int error = event_read_id(fd, &id) < 0 ? errno : 0;
	if (error == 0 && event_ids_add(config->ids, id, &event))
		return fd;
	close(fd);
	errno = error ? error : ENOMEM;
	return -1;
}

int *added_events_open(const struct event_config *config, const struct cpus *cpus, pid_t tid)
{
	size_t count = config->added_count * cpus->count;
	int *fds = calloc(count, sizeof(*fds));
	for (size_t i = 0; fds && i < count; i++) {
		fds[i] = open_one(config, (uint32_t)(i / cpus->count), tid,
				  (int)cpus->numbers[i % cpus->count]);
		if (fds[i] < 0) {
			close_fds(fds, i);
			return NULL;
		}
	}
	return fds;
}
