#include "tools/csv_export/csv_table.h"

#include "tools/csv/csv_field.h"
#include "tools/csv_export/output_folder.h"
#include "tools/memory/xalloc.h"
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define CLOCK "CLOCK_MONOTONIC_RAW"

/* NAME_MAX of file systems, less what stands around the parts. */
enum { NAME_PART_MAX = 100, HOST_PART_MAX = 120 };

/* What no file system and no shell stumbles over. */
static char *fit_part(const char *text, size_t most)
{
	char *part = xalloc_text_of(text, strnlen(text, most));
	for (char *c = part; *c; c++)
		if (!isalnum((unsigned char)*c) && !strchr("-_.", *c))
			*c = '_';
	if (part[0] == '.')
		part[0] = '_';
	return part;
}

static char *make_file_name(const char *name, const char *host)
{
	char *name_part = fit_part(name, NAME_PART_MAX);
	char *host_part = fit_part(host, HOST_PART_MAX);
	char *file = xalloc_printf("%s%s%s.csv", name_part, host[0] ? "-hostname-" : "", host_part);
	free(name_part);
	free(host_part);
	return file;
}

FILE *csv_table_begin(struct output_folder *folder, const char *name, const char *host)
{
	char *file = make_file_name(name, host);
	for (unsigned number = 2; output_folder_has(folder, file); number++) {
		char *numbered = xalloc_printf("%u-%s", number, name);
		free(file);
		file = make_file_name(numbered, host);
		free(numbered);
	}
	output_folder_begin(folder, file);
	free(file);
	return folder->stream;
}

/* Some readers drop blanks at the ends. */
static void write_field(FILE *stream, const char *text)
{
	size_t length = strlen(text);
	bool has_blanks = text[0] == ' ' || (length > 0 && text[length - 1] == ' ');
	csv_field_write(text, has_blanks, stream);
}

void csv_table_ids(FILE *stream, uint32_t pid, uint32_t tid)
{
	putc(',', stream);
	if (pid)
		fprintf(stream, "%" PRIu32, pid);
	putc(',', stream);
	if (tid)
		fprintf(stream, "%" PRIu32, tid);
	putc('\n', stream);
}

void csv_table_intervals(FILE *stream)
{
	fputs("name,start_tsc." CLOCK ",end_tsc,pid,tid\n", stream);
}

void csv_table_interval(FILE *stream, const char *name, uint64_t start_ns, uint64_t end_ns,
			uint32_t pid, uint32_t tid)
{
	write_field(stream, name);
	fprintf(stream, ",%" PRIu64 ",%" PRIu64, start_ns, end_ns);
	csv_table_ids(stream, pid, tid);
}

void csv_table_counters(FILE *stream)
{
	fputs("tsc." CLOCK, stream);
}

void csv_table_counter(FILE *stream, const char *name, const char *kind)
{
	char *whole = xalloc_printf("%s.%s", name, kind);
	putc(',', stream);
	write_field(stream, whole);
	free(whole);
}

void csv_table_counters_end(FILE *stream)
{
	fputs(",pid,tid\n", stream);
}
