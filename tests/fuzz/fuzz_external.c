/* The reader of CSV files with external data: what its header promises of rows and problems. */
#include "tools/external/external_table.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void check_row(const struct external_table *table, const struct external_row *row)
{
	require((row->name != NULL) == table->is_intervals);
	require(!row->name || (row->name[0] && row->end >= row->start && row->value_count == 0));
	require(row->value_count <= table->column_count);
	for (size_t i = 0; i < row->value_count; i++)
		require(row->values[i].column < table->column_count &&
			table->columns[row->values[i].column].name[0]);
}

static void check_problem(const struct external_problem *problem, size_t size)
{
	require(problem->line >= 1 && problem->line <= size + 1);
	require(problem->column >= 1 && problem->column <= size + 1 && problem->text[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct external_table table;
	struct external_problem problem;
	struct external_row row;
	int fd = memfd_create("csv", MFD_CLOEXEC);
	if (fd < 0 || pwrite(fd, data, size, 0) != (ssize_t)size)
		abort();
	if (external_table_open(&table, fd, &problem)) {
		enum csv_status status;
		while ((status = external_table_next(&table, &row, &problem)) != CSV_END) {
			require(status != CSV_FAILED);
			if (status == CSV_ROW)
				check_row(&table, &row);
			else
				check_problem(&problem, size);
		}
		require(table.csv.size == size);
	} else {
		check_problem(&problem, size);
	}
	external_table_finish(&table);
	close(fd);
	return 0;
}
