#include "tools/watch/watch.h"

#include "tools/cli/arguments.h"
#include "tools/memory/xalloc.h"
#include "tools/terminal/terminal.h"
#include "tools/watch/screen.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define SECOND_NS UINT64_C(1000000000)
#define SILENT_NS (10 * SECOND_NS)
#define REST      4 /* for each part of time that a report takes */

/* Of the file; a change is a sign of life. */
struct sign {
	struct timespec changed;
	off_t size;
	uint64_t seen_ns; /* the first time, CLOCK_MONOTONIC */
};

static uint64_t now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

static bool is_silent(struct sign *sign, const char *path)
{
	struct stat status;
	uint64_t now = now_ns();
	if (stat(path, &status) != 0)
		status = (struct stat){0};
	bool is_new = sign->seen_ns == 0 || status.st_size != sign->size ||
		      status.st_mtim.tv_sec != sign->changed.tv_sec ||
		      status.st_mtim.tv_nsec != sign->changed.tv_nsec;
	if (is_new)
		*sign = (struct sign){status.st_mtim, status.st_size, now};
	return now - sign->seen_ns > SILENT_NS;
}

static char *make_heading(const char *path, const struct watch_moment *moment, uint64_t took_ns)
{
	char took[64] = "";
	if (took_ns > SECOND_NS)
		snprintf(took, sizeof(took), "; this took %.1f s, the next comes in %.0f s",
			 (double)took_ns / 1e9, (double)took_ns * REST / 1e9);
	char *name = terminal_text(path);
	char *heading =
		xalloc_printf("%s: %.0f s, %" PRIu64 " samples so far%s; Ctrl-C ends\n", name,
			      (double)moment->since_start_ns / 1e9, moment->samples, took);
	free(name);
	return heading;
}

/* Takes the report out of the output. Messages on standard error come first. */
static void show(struct screen *screen, struct output *output, const char *heading)
{
	size_t size;
	char *errors = screen_take_errors(screen);
	char *report = output_take(output, &size);
	char *text = xalloc_printf("%s%s\n", heading, errors);
	size_t before = strlen(text);
	text = xalloc_resize(text, before + size, 1);
	memcpy(text + before, report, size);
	screen_draw(screen, text, before + size);
	free(text);
	free(report);
	free(errors);
}

static void rest(uint64_t took_ns)
{
	uint64_t ns = took_ns * REST;
	if (ns + took_ns < SECOND_NS)
		ns = SECOND_NS - took_ns;
	struct timespec left = {(time_t)(ns / SECOND_NS), (long)(ns % SECOND_NS)};
	/* A signal that does not end the program is a reason to draw. */
	nanosleep(&left, NULL);
}

static int show_all(struct screen *screen, struct output *output, const char *path,
		    watch_report *report, void *user)
{
	struct sign sign = {0};
	for (;;) {
		struct watch_moment moment = {0};
		uint64_t start_ns = now_ns();
		/* Two lines are the heading's. */
		unsigned rows = screen_rows() > 4 ? screen_rows() - 2 : 2;
		int status = report(output, rows, output_width(output), &moment, user);
		if (status != 0 || moment.is_complete || is_silent(&sign, path))
			return status;
		uint64_t took_ns = now_ns() - start_ns;
		char *heading = make_heading(path, &moment, took_ns);
		show(screen, output, heading);
		free(heading);
		rest(took_ns);
	}
}

char *watch_refuse(void)
{
	return screen_is_there()
		       ? NULL
		       : xalloc_text("--watch: draws on a terminal, and standard output is none; "
				     "leave out --watch to see what is there by now");
}

int watch_run(const char *path, watch_report *report, void *user)
{
	struct screen screen;
	struct output output;
	size_t size;
	int status = arguments_open_output(&output, NULL);
	if (status != 0)
		return status;
	output_keep(&output);
	screen_begin(&screen);
	status = show_all(&screen, &output, path, report, user);
	if (status == 0)
		free(screen_take_errors(&screen)); /* the last report's are said again */
	screen_end(&screen);
	free(output_take(&output, &size));
	output_abandon(&output);
	return status;
}
