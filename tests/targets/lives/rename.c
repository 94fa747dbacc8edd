/* rename [MS]: the thread changes its name half-way; says both and its thread id. */
#include "tests/targets/work.h"
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

WORK_FUNCTION(rename_before)
WORK_FUNCTION(rename_after)

int main(int argc, char **argv)
{
	uint64_t ns = work_argument(argc, argv, 1, 600) * WORK_MS;

	pthread_setname_np(pthread_self(), "first-name");
	work_print("rename_before", rename_before(ns / 2));
	pthread_setname_np(pthread_self(), "second-name");
	work_print("rename_after", rename_after(ns / 2));
	work_print("tid", (uint64_t)gettid());
	return 0;
}
