#include "tools/symbols/perf_map_symbols.h"

#include "program/regular_file.h"
#include "tools/memory/xalloc.h"
#include "tools/symbols/resolve.h"
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The state of a reading, and its cost. */
struct reading {
	struct symbol_address *addresses;
	size_t count;
	size_t work;
	size_t names; /* well-formed lines */
};

/* Stricter than strtoull: no sign, no leading white space, no overflow. */
static const char *parse_hex(const char *text, uint64_t *value)
{
	if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
		text += 2;
	size_t digits = strspn(text, "0123456789abcdefABCDEF");
	if (digits == 0 || digits > 16)
		return NULL;
	char *end;
	*value = strtoull(text, &end, 16);
	return end;
}

static void take_line(struct reading *reading, char *line, size_t length)
{
	uint64_t start;
	uint64_t size;
	uint64_t end;
	line[length] = '\0';
	if (length > 0 && line[length - 1] == '\r')
		line[length - 1] = '\0';
	const char *at = parse_hex(line, &start);
	if (!at || *at != ' ')
		return;
	at = parse_hex(at + 1, &size);
	if (!at || *at != ' ' || at[1] == '\0' || size == 0 ||
	    __builtin_add_overflow(start, size - 1, &end))
		return;
	reading->names++;
	for (size_t i = symbol_addresses_from(reading->addresses, reading->count, start);
	     i < reading->count && reading->addresses[i].rva <= end; i++) {
		if (reading->work++ >= PERF_MAP_WORK_MAX)
			return;
		struct symbol_entry *function = &reading->addresses[i].function;
		free(function->name);
		function->name = xalloc_text(at + 1);
		function->start = start;
		function->size = size;
	}
}

size_t perf_map_symbols_read(FILE *stream, struct symbol_address *addresses, size_t count)
{
	assert(symbol_addresses_are_sorted(addresses, count));
	struct reading reading = {.addresses = addresses, .count = count};
	char line[PERF_MAP_LINE_MAX];
	size_t length = 0;
	int byte = 0;
	for (size_t i = 0;
	     i < PERF_MAP_BYTES_MAX && byte != EOF && reading.work < PERF_MAP_WORK_MAX; i++) {
		byte = getc_unlocked(stream);
		if (byte != '\n' && byte != EOF) {
			if (length < sizeof(line) - 1)
				line[length++] = (char)byte;
			continue;
		}
		reading.work++;
		take_line(&reading, line, length);
		length = 0;
	}
	return reading.names;
}

/* Precision of the dates of processes: the kernel's ticks. */
#define TICK_SLACK_NS 20000000

static enum perf_map_status check_file(const struct stat *status,
				       const struct perf_map_process *process)
{
	int64_t oldest = process->started_ns - TICK_SLACK_NS;
	const struct timespec *written = &status->st_mtim;
	if (process->owner_uid == PERF_MAP_NO_OWNER)
		return PERF_MAP_UNKNOWN_OWNER;
	if (status->st_uid != process->owner_uid)
		return PERF_MAP_OTHER_OWNER;
	if (process->started_ns > 0 &&
	    (written->tv_sec < oldest / 1000000000 ||
	     (written->tv_sec == oldest / 1000000000 && written->tv_nsec < oldest % 1000000000)))
		return PERF_MAP_OLDER;
	return PERF_MAP_READ;
}

enum perf_map_status resolve_generated(const char *path, const struct perf_map_process *process,
				       struct symbol_address *addresses, size_t count)
{
	struct stat status;
	if (path_leads_up(path))
		return PERF_MAP_MISSING;
	int fd = regular_file_open(path, O_NOFOLLOW, &status);
	if (fd < 0)
		return errno == ENOENT ? PERF_MAP_MISSING : PERF_MAP_NO_NAMES;
	enum perf_map_status result = check_file(&status, process);
	/* Not mapped: the owner may truncate the file meanwhile. */
	FILE *stream = result == PERF_MAP_READ ? fdopen(fd, "r") : NULL;
	if (stream && perf_map_symbols_read(stream, addresses, count) == 0)
		result = PERF_MAP_NO_NAMES;
	if (stream)
		fclose(stream);
	else
		close(fd);
	return result;
}
