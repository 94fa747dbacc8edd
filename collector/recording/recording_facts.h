/*
 * What the header of a recording says of the machine, the command and the files. Source: Linux,
 * tools/perf/Documentation/perf.data-file-format.txt.
 */
#ifndef COLLECTOR_RECORDING_RECORDING_FACTS_H
#define COLLECTOR_RECORDING_RECORDING_FACTS_H

#include "collector/recording/recording_events.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RECORDING_FACT_MAX = 4096, RECORDING_BUILD_ID_MAX = 20 };

/* Numbers of the features (util/header.h). */
enum recording_feature {
	RECORDING_FEATURE_TRACING = 1,
	RECORDING_FEATURE_BUILD_ID = 2,
	RECORDING_FEATURE_HOSTNAME = 3,
	RECORDING_FEATURE_RELEASE = 4,
	RECORDING_FEATURE_VERSION = 5,
	RECORDING_FEATURE_ARCH = 6,
	RECORDING_FEATURE_CPUS = 7,
	RECORDING_FEATURE_CPU = 8,
	RECORDING_FEATURE_MEMORY = 10,
	RECORDING_FEATURE_COMMAND = 11,
	RECORDING_FEATURE_EVENTS = 12,
	RECORDING_FEATURE_TIMES = 21,
	RECORDING_FEATURE_CLOCKS = 29,
	RECORDING_FEATURES = 256
};

/* Texts are "" and numbers 0 where they are not known. */
struct recording_facts {
	char host[256];
	char release[256]; /* of the kernel */
	char version[256]; /* of the recording program */
	char arch[64];
	char cpu[256];
	char command[RECORDING_FACT_MAX];
	uint32_t cpus; /* online */
	uint64_t memory_kb;
	uint64_t first_ns; /* times of samples */
	uint64_t last_ns;
	uint64_t clock_ns; /* one moment by the clock of the records ... */
	uint64_t real_ns;  /* ... and by CLOCK_REALTIME */
	struct recording_build_id *build_ids;
	size_t build_id_count;
	size_t build_id_capacity;
	bool is_sorted;
};

/* Takes a feature; events get their names. What is damaged or unknown is left out. */
void recording_facts_take(struct recording_facts *facts, unsigned feature,
			  struct recording_cursor *cursor, struct recording_events *events);

/* Takes a record RECORDING_BUILD_ID, with its header. */
void recording_facts_take_build_id(struct recording_facts *facts, const uint8_t *bytes,
				   size_t size);

/* The build-id of the file of a mapping. Returns its bytes, 0: none is known. */
uint32_t recording_facts_build_id(struct recording_facts *facts, const char *path,
				  uint8_t id[static RECORDING_BUILD_ID_MAX]);

void recording_facts_finish(struct recording_facts *facts);

#endif
