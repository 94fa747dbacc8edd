/* A function between its callers and its callees, as gprof and pprof's peek show it. */
#include "containers/compare.h"
#include "tools/memory/index_map.h"
#include "tools/memory/xalloc.h"
#include "tools/report/report.h"
#include <stdlib.h>
#include <string.h>

enum role { ROLE_CALLER, ROLE_FUNCTION, ROLE_CALLEE };

/* In the place of a function: the stack begins with the one asked for. */
#define NO_CALLER UINT32_MAX

/* A function by what it is to one asked for. */
struct relation {
	uint32_t subject; /* the function asked for */
	uint32_t role;
	uint32_t function; /* or NO_CALLER */
	uint32_t seen;     /* number of the last stack with it: a stack counts once */
	struct draws_part total;
	uint64_t self_ns;
};

struct relations { /* all zero: none */
	struct relation *relations;
	struct index_map map;
	struct draws_part all; /* of all stacks */
};

enum {
	COLUMN_ROLE,
	COLUMN_FUNCTION,
	COLUMN_TOTAL,
	COLUMN_SHARE,
	COLUMN_ERROR,
	COLUMN_SELF,
	COLUMN_SAMPLES,
	COLUMN_MODULE,
	COLUMN_FULL,
	COLUMN_SUBJECT,
	COLUMN_COUNT
};

static const struct table_column columns[COLUMN_COUNT] = {
	[COLUMN_ROLE] = {"Role", "role", TABLE_TEXT, TABLE_ALL},
	[COLUMN_FUNCTION] = {"Function", "function", TABLE_NAME, TABLE_ALL},
	[COLUMN_TOTAL] = {"CPU Time:Total", "cpu_time_total_s", TABLE_SECONDS, TABLE_ALL},
	[COLUMN_SHARE] = {"CPU %", "cpu_share", TABLE_SHARE, TABLE_SHOWN | TABLE_KEYED},
	[COLUMN_ERROR] = REPORT_ERROR_COLUMN,
	[COLUMN_SELF] = {"CPU Time:Self", "cpu_time_self_s", TABLE_SECONDS, TABLE_ALL},
	[COLUMN_SAMPLES] = {"Samples:Total", "samples_total", TABLE_COUNT, TABLE_DATA},
	[COLUMN_MODULE] = {"Module", "module", TABLE_TEXT, TABLE_ALL},
	[COLUMN_FULL] = {"Function (Full)", "function_full", TABLE_NAME, TABLE_DATA},
	[COLUMN_SUBJECT] = {"Of Function", "of_function", TABLE_NAME, TABLE_DATA},
};

static bool is_relation(const void *item, const void *wanted)
{
	const struct relation *relation = item;
	const struct relation *other = wanted;
	return relation->subject == other->subject && relation->role == other->role &&
	       relation->function == other->function;
}

/* is_self: the stack's own time is the function's, in this relation. */
static void add(struct relations *relations, uint32_t subject, enum role role, uint32_t function,
		bool is_self, const struct weighted_stacks *at)
{
	const struct relation wanted = {.subject = subject, .role = role, .function = function};
	const uint32_t identity[] = {subject, role, function};
	uint32_t index =
		index_map_enter(&relations->map, &relations->relations, &wanted, sizeof(wanted),
				index_map_hash(&relations->map, identity, sizeof(identity)),
				is_relation);
	struct relation *relation = &relations->relations[index];
	relation->self_ns += is_self ? at->entry->sum.cpu_ns : 0;
	if (relation->seen != at->next)
		draws_add_part(&relation->total, &at->entry->sum);
	relation->seen = (uint32_t)at->next;
}

static void add_stack(struct relations *relations, const bool *is_subject,
		      const struct weighted_stacks *at)
{
	const struct call_path *path = &at->call_path;
	draws_add_part(&relations->all, &at->entry->sum);
	for (size_t i = 0; i < path->count; i++) {
		uint32_t subject = path->functions[i];
		bool is_leaf = i + 1 == path->count;
		if (!is_subject[subject])
			continue;
		add(relations, subject, ROLE_FUNCTION, subject, is_leaf, at);
		add(relations, subject, ROLE_CALLER, i > 0 ? path->functions[i - 1] : NO_CALLER,
		    is_leaf, at);
		if (!is_leaf)
			add(relations, subject, ROLE_CALLEE, path->functions[i + 1],
			    i + 2 == path->count, at);
	}
}

static void collect(const struct report_input *input, struct relations *relations)
{
	bool *is_subject = report_subject_functions(input);
	struct weighted_stacks at = report_stacks(input, true);
	*relations = (struct relations){0};
	while (weighted_stacks_next(&at))
		add_stack(relations, is_subject, &at);
	free(is_subject);
}

static void finish(struct relations *relations)
{
	free(relations->relations);
	index_map_finish(&relations->map);
}

struct ordering {
	const struct relation *relations;
	const uint32_t *rank;
	const uint64_t *subject_ns; /* by function */
};

/* The functions asked for by their total, each between its callers and callees. */
static int compare_relations(const void *a, const void *b, void *user)
{
	const struct ordering *ordering = user;
	const struct relation *left = &ordering->relations[*(const uint32_t *)a];
	const struct relation *right = &ordering->relations[*(const uint32_t *)b];
	int order = compare_numbers(ordering->subject_ns[right->subject],
				    ordering->subject_ns[left->subject]);
	if (!order)
		order = compare_numbers(ordering->rank[left->subject],
					ordering->rank[right->subject]);
	if (!order)
		order = compare_numbers(left->role, right->role);
	if (!order)
		order = compare_numbers(right->total.cpu_ns, left->total.cpu_ns);
	/* No caller is one of the callers: its rank stands behind the others. */
	if (!order && (left->function == NO_CALLER || right->function == NO_CALLER))
		order = compare_numbers(left->function, right->function);
	else if (!order)
		order = compare_numbers(ordering->rank[left->function],
					ordering->rank[right->function]);
	return order;
}

static uint32_t *sort_relations(const struct report_input *input, const struct relations *relations)
{
	uint32_t count = index_map_count(&relations->map);
	uint32_t *order = xalloc_zeroed(count, sizeof(*order));
	uint64_t *subject_ns =
		xalloc_zeroed(functions_count(input->functions), sizeof(*subject_ns));
	struct ordering ordering = {relations->relations, input->rank, subject_ns};
	for (uint32_t i = 0; i < count; i++) {
		const struct relation *relation = &relations->relations[i];
		order[i] = i;
		if (relation->role == ROLE_FUNCTION)
			subject_ns[relation->subject] = relation->total.cpu_ns;
	}
	if (count > 1)
		qsort_r(order, count, sizeof(*order), compare_relations, &ordering);
	free(subject_ns);
	return order;
}

static void add_row(const struct report_input *input, const struct relations *relations,
		    const struct relation *relation, struct table *table)
{
	static const char *const roles[] = {"caller", "function", "callee"};
	const struct functions *functions = input->functions;
	uint64_t all_ns = relations->all.cpu_ns + input->tally.rest_ns;
	bool has_function = relation->function != NO_CALLER;
	const struct function *function =
		has_function ? functions_at(functions, relation->function) : NULL;
	struct table_cell *row = table_add_row(table);
	row[COLUMN_ROLE].text = roles[relation->role];
	row[COLUMN_FUNCTION].text = function ? function->name : "[No caller]";
	row[COLUMN_TOTAL].number = relation->total.cpu_ns;
	row[COLUMN_SHARE].number = table_share(relation->total.cpu_ns, all_ns);
	report_set_error(&row[COLUMN_ERROR], &relation->total, &relations->all.draws, all_ns);
	row[COLUMN_SELF].number = relation->self_ns;
	row[COLUMN_SAMPLES].number = relation->total.samples;
	row[COLUMN_MODULE].text =
		function ? functions_dso_of(functions, relation->function)->name : "";
	row[COLUMN_FULL].text = function ? function->full : "[No caller]";
	row[COLUMN_SUBJECT].text = functions_at(functions, relation->subject)->name;
}

TBRW_U32 report_callers_print(const struct report_input *input, FILE *stream, unsigned width)
{
	struct relations relations;
	struct table table;
	uint32_t limit = input->options->limit;
	const struct relation *before = NULL;
	uint32_t shown = 0; /* of a function's callers, or callees */
	collect(input, &relations);
	uint32_t *order = sort_relations(input, &relations);
	table_init(&table, columns, COLUMN_COUNT);
	for (uint32_t i = 0; i < index_map_count(&relations.map); i++) {
		const struct relation *relation = &relations.relations[order[i]];
		if (!before || before->subject != relation->subject ||
		    before->role != relation->role)
			shown = 0;
		before = relation;
		if (limit == 0 || shown++ < limit)
			add_row(input, &relations, relation, &table);
	}
	report_print_table(input, &table, 0, stream, width);
	table_finish(&table);
	free(order);
	finish(&relations);
	return VT_SUCCESS;
}

char *report_explain_callers(const struct report_input *input)
{
	struct relations relations;
	char *problem = report_explain_miss(input);
	if (problem)
		return problem;
	collect(input, &relations);
	if (index_map_count(&relations.map) == 0)
		problem = xalloc_printf("%s %s: on no stack as it is shown here; use "
					"--call-stack-mode all, or no filter",
					input->options->report,
					input->options->subject.conditions[0].value);
	finish(&relations);
	return problem;
}
