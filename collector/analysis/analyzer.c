#include "collector/analysis/analyzer.h"

#include "collector/analysis/hotspots.h"
#include "collector/model/tracker.h"
#include "collector/states/states.h"
#include <stdlib.h>

struct analyzer {
	struct tracker *tracker;
	struct states *states; /* NULL: not wanted */
	struct hotspots *hotspots;
};

struct analyzer *analyzer_create(const struct analysis_config *config, struct tracker *tracker,
				 struct emit *emit)
{
	struct analyzer *analyzer = calloc(1, sizeof(*analyzer));
	if (!analyzer)
		return NULL;
	analyzer->tracker = tracker;
	if (config->switches)
		analyzer->states = states_create(tracker, emit);
	analyzer->hotspots = hotspots_create(config, tracker, emit);
	if (!analyzer->hotspots || (config->switches && !analyzer->states)) {
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
	states_destroy(analyzer->states);
	free(analyzer);
}

void analyzer_begin(struct analyzer *analyzer, uint64_t start_ns)
{
	if (analyzer->states)
		states_begin(analyzer->states, start_ns);
}

void analyzer_apply(struct analyzer *analyzer, const struct record *record)
{
	tracker_apply(analyzer->tracker, record);
	if (analyzer->states)
		states_apply(analyzer->states, record);
	hotspots_apply(analyzer->hotspots, record);
}

void analyzer_finish(struct analyzer *analyzer, uint64_t end_ns)
{
	if (analyzer->states)
		states_finish(analyzer->states, end_ns);
	tracker_finish(analyzer->tracker);
	hotspots_finish(analyzer->hotspots);
}

struct states *analyzer_states(const struct analyzer *analyzer)
{
	return analyzer->states;
}
