#include "collector/analysis/analyzer.h"

#include "collector/analysis/hotspots.h"
#include "collector/model/tracker.h"
#include <stdlib.h>

struct analyzer {
	struct tracker *tracker;
	struct hotspots *hotspots;
};

struct analyzer *analyzer_create(const struct analysis_config *config, struct tracker *tracker,
				 struct emit *emit)
{
	struct analyzer *analyzer = calloc(1, sizeof(*analyzer));
	if (!analyzer)
		return NULL;
	analyzer->tracker = tracker;
	analyzer->hotspots = hotspots_create(config, tracker, emit);
	if (!analyzer->hotspots) {
		analyzer_destroy(analyzer);
		return NULL;
	}
	return analyzer;
}

void analyzer_destroy(struct analyzer *analyzer)
{
	if (!analyzer)
		return;
	hotspots_destroy(analyzer->hotspots);
	free(analyzer);
}

void analyzer_apply(struct analyzer *analyzer, const struct record *record)
{
	tracker_apply(analyzer->tracker, record);
	hotspots_apply(analyzer->hotspots, record);
}

void analyzer_finish(struct analyzer *analyzer)
{
	tracker_finish(analyzer->tracker);
	hotspots_finish(analyzer->hotspots);
}
