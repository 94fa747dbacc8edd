/*
 * The rows of several results, matched by their names: addresses move from build to build.
 */
#ifndef TOOLS_DIFF_MATCHED_H
#define TOOLS_DIFF_MATCHED_H

#include "tools/memory/index_map.h"
#include "tools/report/report.h"
#include "tools/samples/draws.h"
#include <stddef.h>
#include <stdint.h>

/* Functions of one name (with its parameters) in modules of one name are one, inlined or not. */
struct matched_row {
	uint32_t parent; /* rows by stack: of the caller; MATCHED_NONE: there is none */
	/* Texts, see matched_text. */
	uint32_t full;
	uint32_t module;
	uint32_t name; /* short; not compared */
};

#define MATCHED_NONE UINT32_MAX

struct matched {
	enum report_group by; /* function, module, thread (by name) or stack */
	size_t run_count;
	struct matched_row *rows;
	struct draws_part *parts;  /* of each row and run; none of callers in rows by stack */
	struct draws_part *totals; /* of each run */
	struct index_map map;
	struct index_texts texts;
	size_t capacity; /* of parts */
};

/* No texts of results are kept: they can be closed. */
void matched_init(struct matched *matched, enum report_group by, size_t run_count);
void matched_finish(struct matched *matched);

/* Adds a result, once for each run below run_count. The input's tally is by thread where rows are
 * threads. */
void matched_add_run(struct matched *matched, size_t run, const struct report_input *input);

static inline uint32_t matched_count(const struct matched *matched)
{
	return index_map_count(&matched->map);
}

static inline const struct draws_part *matched_parts(const struct matched *matched, uint32_t row)
{
	return &matched->parts[row * matched->run_count];
}

static inline const char *matched_text(const struct matched *matched, uint32_t text)
{
	return matched->texts.texts[text];
}

/* Of the rows' names. */
struct table_column matched_column(enum report_group by);

/* The row's name; by stack "LEAF < CALLER < ...". The caller frees it. */
char *matched_name(const struct matched *matched, uint32_t row);

#endif
