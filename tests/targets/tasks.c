/*
 * tasks DIR [MS]: two threads with tasks of their own, written to DIR as tables of external data:
 * the same tasks by CLOCK_MONOTONIC_RAW, by UTC and by the processor's counter, and two counters.
 *
 * Each thread does 10 requests of MS ms in burn_request, with a nested task of as much in
 * burn_inner, and burns as much in burn_between after each one.
 */
#include "tests/targets/work.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <x86intrin.h>
#define COUNTER __rdtsc()
#else
#define COUNTER UINT64_C(0)
#endif

WORK_FUNCTION(burn_request)
WORK_FUNCTION(burn_inner)
WORK_FUNCTION(burn_between)

enum { REQUESTS = 10, THREADS = 2 };

/* One moment by each clock. */
struct moment {
	uint64_t raw_ns;
	uint64_t counter;
	struct timespec date;
};

static uint64_t read_raw(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC_RAW, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Again where something came in between. */
static struct moment now(void)
{
	struct moment moment;
	do {
		moment.raw_ns = read_raw();
		moment.counter = COUNTER;
		clock_gettime(CLOCK_REALTIME, &moment.date);
	} while (read_raw() - moment.raw_ns > 50000);
	return moment;
}

static FILE *files[4]; /* raw, utc, tsc, counters */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int done;

static void print_date(FILE *file, const struct moment *moment)
{
	char text[32];
	struct tm parts;
	gmtime_r(&moment->date.tv_sec, &parts);
	strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &parts);
	fprintf(file, ",%s.%09ld", text, moment->date.tv_nsec);
}

static void write_task(const char *name, const struct moment *start, const struct moment *end)
{
	long tid = syscall(SYS_gettid);
	int pid = getpid();
	pthread_mutex_lock(&lock);
	fprintf(files[0], "%s,%llu,%llu,%d,%ld\n", name, (unsigned long long)start->raw_ns,
		(unsigned long long)end->raw_ns, pid, tid);
	fprintf(files[1], "\"%s, utc\"", name);
	print_date(files[1], start);
	print_date(files[1], end);
	fprintf(files[1], ",%d,%ld\n", pid, tid);
	fprintf(files[2], "\"%s, tsc\",%llu,%llu,%d,%ld\n", name,
		(unsigned long long)start->counter, (unsigned long long)end->counter, pid, tid);
	done++;
	fprintf(files[3], "%llu,%d,%d.5,%d,%ld\n", (unsigned long long)end->raw_ns, done, done % 4,
		pid, tid);
	pthread_mutex_unlock(&lock);
}

static void *serve(void *user)
{
	uint64_t ns = *(const uint64_t *)user;
	for (int i = 0; i < REQUESTS; i++) {
		struct moment start = now();
		burn_request(ns);
		struct moment inner = now();
		burn_inner(ns);
		struct moment inner_end = now();
		struct moment end = now();
		write_task("inner", &inner, &inner_end);
		write_task("request", &start, &end);
		burn_between(ns);
	}
	return NULL;
}

static void open_files(const char *folder)
{
	static const struct {
		const char *name;
		const char *header;
	} tables[] = {
		{"raw", "name,start_tsc.CLOCK_MONOTONIC_RAW,end_tsc,pid,tid"},
		{"utc", "name,start_tsc.UTC,end_tsc,pid,tid"},
		{"tsc", "name,start_tsc.RDTSC,end_tsc,pid,tid"},
		{"counters", "tsc.CLOCK_MONOTONIC_RAW,done.COUNT,level.INST,pid,tid"},
	};
	char host[256] = "", path[4096];
	gethostname(host, sizeof(host) - 1);
	for (int i = 0; i < 4; i++) {
		snprintf(path, sizeof(path), "%s/%s-hostname-%s.csv", folder, tables[i].name, host);
		files[i] = fopen(path, "w");
		if (!files[i])
			exit(2);
		fprintf(files[i], "%s\n", tables[i].header);
	}
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];
	if (argc < 2)
		return 2;
	uint64_t ns = work_argument(argc, argv, 2, 20) * WORK_MS;
	open_files(argv[1]);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, serve, &ns);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < 4; i++)
		fclose(files[i]);
	work_print("requests", REQUESTS * THREADS);
	return 0;
}
