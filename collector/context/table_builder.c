#include "collector/context/table_builder.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/resource.h>

enum {
	WAITING_MAX = 64,
	/* Of the helper. Not the lowest: the end of a collection waits for the table in the works.
	 */
	NICE = 10
};

struct tables {
	pthread_t thread;
	bool has_thread;
	pthread_mutex_t mutex; /* of what follows */
	pthread_cond_t changed;
	struct uw_module *waiting[WAITING_MAX]; /* references */
	size_t count;
	bool ends;
};

/* The module to build for; NULL: no more. */
static struct uw_module *take_next(struct tables *tables)
{
	struct uw_module *module = NULL;
	pthread_mutex_lock(&tables->mutex);
	while (tables->count == 0 && !tables->ends)
		pthread_cond_wait(&tables->changed, &tables->mutex);
	if (!tables->ends)
		module = tables->waiting[--tables->count];
	pthread_mutex_unlock(&tables->mutex);
	return module;
}

static void *build_all(void *user)
{
	struct tables *tables = user;
	struct uw_module *module;
	/* Linux: of the calling thread. Where it fails, the thread is as any other. */
	setpriority(PRIO_PROCESS, 0, NICE);
	while ((module = take_next(tables))) {
		/* A module whose table cannot be built goes on without. */
		uw_module_build_table(module);
		uw_module_unref(module);
	}
	return NULL;
}

/* Signals are for the thread that polls for them. */
static bool start_thread(struct tables *tables)
{
	sigset_t all, before;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	bool started = pthread_create(&tables->thread, NULL, build_all, tables) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (started)
		pthread_setname_np(tables->thread, "tbcollect-table");
	return started;
}

struct tables *tables_create(void)
{
	struct tables *tables = calloc(1, sizeof(*tables));
	if (!tables)
		return NULL;
	pthread_mutex_init(&tables->mutex, NULL);
	pthread_cond_init(&tables->changed, NULL);
	return tables;
}

void tables_destroy(struct tables *tables)
{
	if (!tables)
		return;
	pthread_mutex_lock(&tables->mutex);
	tables->ends = true;
	pthread_cond_signal(&tables->changed);
	pthread_mutex_unlock(&tables->mutex);
	if (tables->has_thread)
		pthread_join(tables->thread, NULL);
	while (tables->count > 0)
		uw_module_unref(tables->waiting[--tables->count]);
	pthread_cond_destroy(&tables->changed);
	pthread_mutex_destroy(&tables->mutex);
	free(tables);
}

void tables_build(struct tables *tables, struct uw_module *module)
{
	pthread_mutex_lock(&tables->mutex);
	if (!tables->has_thread)
		tables->has_thread = start_thread(tables);
	bool waits = tables->has_thread && tables->count < WAITING_MAX;
	if (waits) {
		tables->waiting[tables->count++] = module;
		pthread_cond_signal(&tables->changed);
	}
	pthread_mutex_unlock(&tables->mutex);
	if (!waits)
		uw_module_unref(module);
}
