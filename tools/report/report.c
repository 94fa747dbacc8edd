#include "tools/report/report.h"

#include "containers/compare.h"
#include "tools/memory/xalloc.h"
#include <stdlib.h>
#include <string.h>

void report_print_table(const struct report_input *input, struct table *table,
			uint64_t default_least, FILE *stream, unsigned width)
{
	const struct report_options *options = input->options;
	bool is_text = options->format->id == TABLE_FORMAT_TEXT;
	uint64_t least =
		options->has_least_share ? options->least_share : (is_text ? default_least : 0);
	size_t dropped = table_drop_below(table, least);
	report_print_as(input, table, options->format, stream, width);
	if (is_text && dropped > 0 && !report_has_problem(input))
		fprintf(stream, "%zu %s below %g %% left out; --min-percent 0 shows all\n", dropped,
			dropped == 1 ? "row" : "rows", (double)least / 1e4);
}

/* With many samples in all, the error of one sample's share is nearly the share itself. */
static bool is_above_error(uint64_t share, uint64_t error)
{
	return error < share - share / 10;
}

void report_set_error(struct table_cell *cell, const struct draws_part *part,
		      const struct draws *all, uint64_t total_ns)
{
	uint64_t error = 0;
	cell->is_unknown = !draws_error(&part->draws, all, total_ns, &error);
	cell->number = error;
	if (!is_above_error(table_share(part->cpu_ns, total_ns), error))
		cell->text = "< ";
}

bool report_shows_no_sample(const struct tally *tally)
{
	return tally->rest_ns > (tally->cpu_ns + tally->rest_ns) / 2000;
}

uint64_t report_threadless_ns(const struct report_input *input)
{
	uint64_t known_ns = input->tally.cpu_ns + input->tally.rest_ns;
	uint64_t threadless_ns = tally_threadless_ns(input->reader, &input->options->filter);
	return threadless_ns > known_ns / 2000 ? threadless_ns : 0;
}

unsigned report_tally_by(enum report_group group)
{
	switch (group) {
	case REPORT_GROUP_PROCESS:
	case REPORT_GROUP_PID:
		return TALLY_BY_PROCESS;
	case REPORT_GROUP_THREAD:
	case REPORT_GROUP_TASK: /* its samples are needed one by one */
		return TALLY_BY_THREAD;
	default:
		return 0;
	}
}

struct weighted_stacks report_stacks(const struct report_input *input, bool with_call_path)
{
	return (struct weighted_stacks){
		.reader = input->reader,
		.functions = input->functions,
		.tally = &input->tally,
		.filter = &input->options->filter,
		.mode = input->options->mode,
		.with_call_path = with_call_path,
	};
}

static int compare_functions(const void *a, const void *b, void *user)
{
	const struct functions *functions = user;
	uint32_t left_index = *(const uint32_t *)a;
	uint32_t right_index = *(const uint32_t *)b;
	const struct function *left = functions_at(functions, left_index);
	const struct function *right = functions_at(functions, right_index);
	int order = strcmp(left->name, right->name);
	if (!order)
		order = strcmp(left->full, right->full);
	if (!order)
		order = strcmp(functions_dso(functions, left->dso)->path,
			       functions_dso(functions, right->dso)->path);
	if (!order)
		order = compare_numbers(left->start, right->start);
	return order ? order : compare_numbers(left_index, right_index);
}

uint32_t *report_rank_functions(const struct functions *functions)
{
	uint32_t count = functions_count(functions);
	uint32_t *order = xalloc_zeroed(count, sizeof(*order));
	uint32_t *rank = xalloc_zeroed(count, sizeof(*rank));
	for (uint32_t i = 0; i < count; i++)
		order[i] = i;
	/* qsort_r has no const; the comparison does not change them */
	qsort_r(order, count, sizeof(*order), compare_functions, (void *)(uintptr_t)functions);
	for (uint32_t i = 0; i < count; i++)
		rank[order[i]] = i;
	free(order);
	return rank;
}
