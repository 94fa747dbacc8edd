#include "tools/convert/progress.h"

#include <assert.h>
#include <stdio.h>
#include <unistd.h>

#define BAR_WIDTH 40u

void progress_begin(struct progress *progress, const char *what, uint64_t total)
{
	*progress = (struct progress){.what = what, .total = total};
	progress->is_on = isatty(STDERR_FILENO) && total > 0;
}

void progress_update(struct progress *progress, uint64_t done)
{
	if (!progress->is_on)
		return;
	assert(progress->total > 0);
	if (done > progress->total)
		done = progress->total;
	unsigned percent = (unsigned)((double)done / (double)progress->total * 100);
	if (progress->is_drawn && percent == progress->shown)
		return;
	char bar[BAR_WIDTH + 1];
	for (unsigned i = 0; i < BAR_WIDTH; i++)
		bar[i] = i * 100 < percent * BAR_WIDTH ? '#' : ' ';
	bar[BAR_WIDTH] = '\0';
	fprintf(stderr, "\r%s [%s] %3u %%", progress->what, bar, percent);
	progress->shown = percent;
	progress->is_drawn = true;
}

void progress_hide(struct progress *progress)
{
	if (progress->is_drawn)
		fputs("\r\033[K", stderr);
	progress->is_drawn = false;
}

void progress_end(struct progress *progress)
{
	progress_hide(progress);
	progress->is_on = false;
}
