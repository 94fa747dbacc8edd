#include "tools/external/external_table.h"

#include "tools/memory/xalloc.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

__attribute__((format(printf, 4, 5))) static bool complain(const struct csv *csv,
							   const struct csv_field *field,
							   struct external_problem *problem,
							   const char *format, ...)
{
	va_list arguments;
	problem->line = csv->line + field->line;
	problem->column = field->column;
	va_start(arguments, format);
	vsnprintf(problem->text, sizeof(problem->text), format, arguments);
	va_end(arguments);
	return false;
}

/* A field without the blanks around it, in place. */
static const char *trim_text(struct csv_field *field)
{
	char *text = field->text, *end = text + field->size;
	while (text < end && (*text == ' ' || *text == '\t'))
		text++;
	while (end > text && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	*end = '\0';
	return text;
}

static bool take_clock(struct external_table *table, struct csv_field *field, const char *prefix,
		       struct external_problem *problem)
{
	static const struct {
		const char *name;
		enum external_clock clock;
	} clocks[] = {
		{"CLOCK_MONOTONIC_RAW", EXTERNAL_CLOCK_RAW},
		{"QPC", EXTERNAL_CLOCK_QPC},
		{"RDTSC", EXTERNAL_CLOCK_COUNTER},
		{"TSC", EXTERNAL_CLOCK_COUNTER},
		{"UTC", EXTERNAL_CLOCK_UTC},
	};
	const char *text = trim_text(field);
	size_t length = strlen(prefix);
	const char *name = text + length;
	if (strncasecmp(text, prefix, length) != 0)
		return complain(&table->csv, field, problem, "the column must be %sCLOCK", prefix);
	for (size_t i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++) {
		table->clock = clocks[i].clock;
		if (strcasecmp(name, clocks[i].name) == 0)
			return true;
	}
	return complain(&table->csv, field, problem,
			"%.40s is no clock; use CLOCK_MONOTONIC_RAW, QPC, RDTSC, TSC or UTC", name);
}

static bool has_role(const struct external_table *table, enum external_role role)
{
	for (size_t i = 0; i < table->column_count; i++)
		if (table->columns[i].role == role)
			return true;
	return false;
}

static void add_column(struct external_table *table, enum external_role role, char *name)
{
	xalloc_room(&table->columns, &table->column_capacity, table->column_count + 1,
		    sizeof(*table->columns));
	table->columns[table->column_count++] = (struct external_column){role, name};
}

/* NAME.COUNT or NAME.INST; the name may have dots itself. */
static bool take_counter(struct external_table *table, const char *text)
{
	const char *dot = strrchr(text, '.');
	if (!dot || dot == text)
		return false;
	bool is_count = strcasecmp(dot, ".COUNT") == 0;
	if (!is_count && strcasecmp(dot, ".INST") != 0)
		return false;
	add_column(table, is_count ? EXTERNAL_COUNT : EXTERNAL_INST,
		   xalloc_text_of(text, (size_t)(dot - text)));
	return true;
}

/* A column behind those with a fixed place. */
static bool take_column(struct external_table *table, struct csv_field *field,
			struct external_problem *problem)
{
	const char *text = trim_text(field);
	bool is_pid = strcasecmp(text, "pid") == 0;
	if (is_pid || strcasecmp(text, "tid") == 0) {
		enum external_role role = is_pid ? EXTERNAL_PID : EXTERNAL_TID;
		if (has_role(table, role))
			return complain(&table->csv, field, problem, "a second column %s", text);
		add_column(table, role, NULL);
		return true;
	}
	if (!table->is_intervals && take_counter(table, text))
		return true;
	return complain(&table->csv, field, problem, "%.60s: %s", text,
			table->is_intervals
				? "no such column; behind end_tsc only pid and tid may be"
				: "a counter's column ends in .COUNT or .INST");
}

/* A clock behind it must be that of the start, behind start_tsc. */
static bool is_end(const char *text, const char *start)
{
	size_t length = strlen("end_tsc");
	return strncasecmp(text, "end_tsc", length) == 0 &&
	       (text[length] == '\0' ||
		strcasecmp(text + length, start + strlen("start_tsc")) == 0);
}

static bool take_header(struct external_table *table, struct external_problem *problem)
{
	struct csv *csv = &table->csv;
	struct csv_field *fields = csv->fields;
	size_t fixed = 1;
	table->is_intervals = strcasecmp(trim_text(&fields[0]), "name") == 0;
	if (table->is_intervals) {
		if (csv->count < 3)
			return complain(csv, &fields[0], problem,
					"a table of intervals has at least name, start_tsc.CLOCK, "
					"end_tsc");
		add_column(table, EXTERNAL_NAME, NULL);
		add_column(table, EXTERNAL_START, NULL);
		add_column(table, EXTERNAL_END, NULL);
		if (!take_clock(table, &fields[1], "start_tsc.", problem))
			return false;
		if (!is_end(trim_text(&fields[2]), trim_text(&fields[1])))
			return complain(csv, &fields[2], problem, "the column must be end_tsc");
		fixed = 3;
	} else {
		if (strncasecmp(trim_text(&fields[0]), "tsc.", 4) != 0)
			return complain(csv, &fields[0], problem,
					"no table begins here; its first column is name, or "
					"tsc.CLOCK");
		add_column(table, EXTERNAL_START, NULL);
		if (!take_clock(table, &fields[0], "tsc.", problem))
			return false;
	}
	for (size_t i = fixed; i < csv->count; i++)
		if (!take_column(table, &fields[i], problem))
			return false;
	if (!table->is_intervals && !has_role(table, EXTERNAL_COUNT) &&
	    !has_role(table, EXTERNAL_INST))
		return complain(csv, &fields[0], problem, "no column of a counter");
	return true;
}

bool external_table_open(struct external_table *table, int fd, struct external_problem *problem)
{
	memset(table, 0, sizeof(*table));
	*problem = (struct external_problem){0};
	table->csv.fd = fd;
	switch (csv_next(&table->csv)) {
	case CSV_ROW:
		return take_header(table, problem);
	case CSV_BAD:
		return complain(&table->csv, &table->csv.at, problem, "%s", table->csv.problem);
	case CSV_FAILED:
		return false;
	default:
		return complain(&table->csv, &(struct csv_field){.line = 1, .column = 1}, problem,
				"an empty file; its first line must be a table's header");
	}
}

/* Only digits, and no more than fit. */
static bool parse_whole(const char *text, uint64_t *number)
{
	uint64_t sum = 0;
	if (!*text)
		return false;
	for (; *text; text++) {
		unsigned digit = (unsigned)*text - '0';
		if (digit > 9 || __builtin_mul_overflow(sum, 10, &sum) ||
		    __builtin_add_overflow(sum, digit, &sum))
			return false;
	}
	*number = sum;
	return true;
}

static bool parse_id(const char *text, uint32_t *id)
{
	uint64_t number = 0;
	if (*text && (!parse_whole(text, &number) || number > INT32_MAX))
		return false;
	*id = (uint32_t)number;
	return true;
}

static bool parse_value(const char *text, struct external_value *value)
{
	char *end;
	uint64_t whole;
	bool is_negative = *text == '-';
	value->is_real = !parse_whole(text + is_negative, &whole) || whole > INT64_MAX;
	if (!value->is_real) {
		value->whole = is_negative ? -(int64_t)whole : (int64_t)whole;
		return true;
	}
	/* No nan, inf or hexadecimal numbers. */
	if (strspn(text, "0123456789+-.eE") != strlen(text))
		return false;
	value->real = strtod(text, &end);
	return *end == '\0' && end != text && value->real - value->real == 0;
}

static bool take_time(const struct external_table *table, struct csv_field *field,
		      struct external_problem *problem, uint64_t *time)
{
	const char *text = trim_text(field);
	if (table->clock == EXTERNAL_CLOCK_UTC)
		return external_parse_utc(text, time) ||
		       complain(&table->csv, field, problem,
				"%.40s: no date; use YYYY-MM-DD hh:mm:ss.sss", text);
	return parse_whole(text, time) ||
	       complain(&table->csv, field, problem, "%.40s: no time in whole numbers", text);
}

static bool take_value(struct external_table *table, struct csv_field *field, uint32_t column,
		       struct external_row *row, struct external_problem *problem)
{
	struct external_value value = {.column = column};
	const char *text = trim_text(field);
	if (!*text)
		return true;
	if (!parse_value(text, &value))
		return complain(&table->csv, field, problem, "%.40s: no number", text);
	xalloc_room(&table->values, &table->value_capacity, row->value_count + 1,
		    sizeof(*table->values));
	table->values[row->value_count++] = value;
	return true;
}

static bool take_name(const struct csv *csv, struct csv_field *field, struct external_row *row,
		      struct external_problem *problem)
{
	row->name = field->text;
	if (!*row->name)
		return complain(csv, field, problem, "a row without a name");
	return strlen(row->name) == field->size ||
	       complain(csv, field, problem, "a NUL byte in the name");
}

static bool take_field(struct external_table *table, uint32_t column, struct external_row *row,
		       struct external_problem *problem)
{
	const struct csv *csv = &table->csv;
	struct csv_field *field = &csv->fields[column];
	switch (table->columns[column].role) {
	case EXTERNAL_NAME:
		return take_name(csv, field, row, problem);
	case EXTERNAL_START:
		return take_time(table, field, problem, &row->start);
	case EXTERNAL_END:
		return take_time(table, field, problem, &row->end) &&
		       (row->end >= row->start ||
			complain(csv, field, problem, "the end is before the start"));
	case EXTERNAL_PID:
		return parse_id(trim_text(field), &row->pid) ||
		       complain(csv, field, problem, "%.40s: no process id", field->text);
	case EXTERNAL_TID:
		return parse_id(trim_text(field), &row->tid) ||
		       complain(csv, field, problem, "%.40s: no thread id", field->text);
	default:
		return take_value(table, field, column, row, problem);
	}
}

/* A row may end early where only ids are missing. */
static bool is_optional(const struct external_table *table, size_t column)
{
	for (size_t i = column; i < table->column_count; i++)
		if (table->columns[i].role != EXTERNAL_PID &&
		    table->columns[i].role != EXTERNAL_TID)
			return false;
	return true;
}

static bool take_row(struct external_table *table, struct external_row *row,
		     struct external_problem *problem)
{
	const struct csv *csv = &table->csv;
	size_t count = csv->count;
	if (count > table->column_count)
		return complain(csv, &csv->fields[table->column_count], problem,
				"more fields than the header has (%zu)", table->column_count);
	if (!is_optional(table, count))
		return complain(csv, &csv->fields[count - 1], problem,
				"%zu field%s; the header has %zu", count, count == 1 ? "" : "s",
				table->column_count);
	for (size_t i = 0; i < count; i++)
		if (!take_field(table, (uint32_t)i, row, problem))
			return false;
	row->values = table->values;
	return true;
}

enum csv_status external_table_next(struct external_table *table, struct external_row *row,
				    struct external_problem *problem)
{
	enum csv_status status = csv_next(&table->csv);
	*row = (struct external_row){0};
	if (status == CSV_BAD)
		complain(&table->csv, &table->csv.at, problem, "%s", table->csv.problem);
	if (status == CSV_ROW && !take_row(table, row, problem))
		return CSV_BAD;
	return status;
}

void external_table_finish(struct external_table *table)
{
	for (size_t i = 0; i < table->column_count; i++)
		free(table->columns[i].name);
	free(table->columns);
	free(table->values);
	csv_finish(&table->csv);
}
