#include "collector/stream/priority.h"

#include <sched.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SLICE_NS = 100000 }; /* the shortest that the kernel grants */

/* struct sched_attr of sched_setattr(2), which the C library does not declare. */
struct attributes {
	uint32_t size;
	uint32_t policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime;
	uint64_t deadline;
	uint64_t period;
};

#define RESET_ON_FORK 1u /* SCHED_FLAG_RESET_ON_FORK, linux/sched.h */

void priority_raise(void)
{
	struct attributes attributes = {
		.size = sizeof(attributes),
		.policy = SCHED_OTHER,
		.flags = RESET_ON_FORK,
		.nice = -20,
		.runtime = SLICE_NS,
	};
	if (syscall(SYS_sched_setattr, 0, &attributes, 0) == 0)
		return;
	attributes.nice = getpriority(PRIO_PROCESS, 0);
	syscall(SYS_sched_setattr, 0, &attributes, 0); /* not granted: we go on as we are */
}
