#include "tools/code/hot_source.h"

#include "containers/compare.h"
#include "tools/code/place_costs.h"
#include "tools/code/report_code.h"
#include "tools/code/source_text.h"
#include "tools/memory/xalloc.h"
#include "tools/report/report.h"
#include <stdio.h>
#include <stdlib.h>

/* Lines around those with time. */
#define CONTEXT 4u

/* A function, and its lines with time. */
struct hot_function {
	uint32_t function;
	uint64_t self_ns;
	uint32_t first, last, hottest;
	uint64_t hottest_ns;
};

/* Places are lines, groups functions. */
static bool find_line(void *user, const struct call_path *path, size_t at, struct place_cost *cost)
{
	const struct functions *functions = user;
	if (path->lines[at] == 0 || !functions_at(functions, path->functions[at])->file[0])
		return false;
	cost->group = path->functions[at];
	cost->place = path->lines[at];
	return true;
}

static void add_line(struct hot_function *hot, const struct place_cost *cost)
{
	uint32_t line = (uint32_t)cost->place;
	hot->self_ns += cost->self.cpu_ns;
	hot->last = line;
	if (hot->hottest == 0 || cost->self.cpu_ns > hot->hottest_ns) {
		hot->hottest = line;
		hot->hottest_ns = cost->self.cpu_ns;
	}
}

static int compare_hot(const void *a, const void *b)
{
	const struct hot_function *left = a;
	const struct hot_function *right = b;
	int order = compare_numbers(right->self_ns, left->self_ns);
	return order ? order : compare_numbers(left->function, right->function);
}

/* The functions, the hottest first, for the caller to free. */
static struct hot_function *find_hot(const struct place_costs *costs, size_t *count)
{
	uint32_t cost_count = place_costs_count(costs);
	struct hot_function *hot = xalloc_zeroed(cost_count, sizeof(*hot));
	*count = 0;
	for (uint32_t i = 0; i < cost_count; i++) {
		const struct place_cost *cost = &costs->costs[i];
		if (i == 0 || cost->group != costs->costs[i - 1].group)
			hot[(*count)++] = (struct hot_function){.function = cost->group,
								.first = (uint32_t)cost->place};
		add_line(&hot[*count - 1], cost);
	}
	if (*count > 1)
		qsort(hot, *count, sizeof(*hot), compare_hot);
	if (*count > HOT_SOURCE_TRIED)
		*count = HOT_SOURCE_TRIED;
	return hot;
}

/* Lines that are shown: from first to last. */
static void choose_lines(const struct hot_function *hot, uint32_t *first, uint32_t *last)
{
	*first = hot->first > CONTEXT ? hot->first - CONTEXT : 1;
	*last = hot->last < UINT32_MAX - CONTEXT ? hot->last + CONTEXT : hot->last;
	if (*last - *first < HOT_SOURCE_LINES)
		return;
	if (hot->hottest > *first + HOT_SOURCE_LINES / 2)
		*first = hot->hottest - HOT_SOURCE_LINES / 2;
	*last = *first + HOT_SOURCE_LINES - 1;
}

/* The lines as one text for the caller to free. */
static char *join_lines(const struct source_text *text, uint32_t first, uint32_t last, size_t *size)
{
	char *joined = NULL;
	FILE *stream = open_memstream(&joined, size);
	if (!stream)
		xalloc_fail();
	for (uint32_t line = first; line <= last && line <= text->count; line++) {
		char *one = source_text_line(text, line);
		fprintf(stream, "%s\n", one);
		free(one);
	}
	if (fclose(stream) != 0)
		xalloc_fail();
	return joined;
}

/* left: bytes that may still be taken. Returns whether the function's lines were. */
static bool take_lines(const struct report_input *input, const struct hot_function *hot,
		       size_t *left, hot_source_take *take, void *user)
{
	const char *file = functions_at(input->functions, hot->function)->file;
	struct source_text text = {0};
	size_t size = 0;
	bool is_taken = false;
	uint32_t first, last;
	choose_lines(hot, &first, &last);
	if (source_text_read(&text, file, input->options->source_dirs) == 0 &&
	    first <= text.count) {
		char *lines = join_lines(&text, first, last, &size);
		if (size <= *left) {
			take(&(struct hot_source){file, first, lines,
						  report_code_is_changed(input, &text)},
			     user);
			*left -= size;
			is_taken = true;
		}
		free(lines);
	}
	source_text_finish(&text);
	return is_taken;
}

void hot_source_each(const struct report_input *input, hot_source_take *take, void *user)
{
	struct weighted_stacks at = report_stacks(input, true);
	struct place_costs costs;
	size_t count;
	size_t left = HOT_SOURCE_BYTES;
	place_costs_collect(&costs, &at, find_line, (void *)(uintptr_t)input->functions);
	struct hot_function *hot = find_hot(&costs, &count);
	for (size_t i = 0, taken = 0; i < count && taken < HOT_SOURCE_FUNCTIONS; i++)
		taken += take_lines(input, &hot[i], &left, take, user);
	free(hot);
	place_costs_finish(&costs);
}
