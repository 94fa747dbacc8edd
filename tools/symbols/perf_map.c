#include "tools/symbols/perf_map.h"

#include "program/regular_file.h"
#include "tools/cli/xalloc.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void perf_map_begin(struct perf_map_parser *parser, struct symbol_address *addresses, size_t count)
{
	parser->addresses = addresses;
	parser->count = count;
	parser->work = 0;
	parser->length = 0;
}

/* Stricter than strtoull: no sign, no white space before it, no overflow. */
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

static void take_line(struct perf_map_parser *parser)
{
	uint64_t start;
	uint64_t size;
	uint64_t end;
	char *line = parser->line;
	line[parser->length] = '\0';
	if (parser->length > 0 && line[parser->length - 1] == '\r')
		line[parser->length - 1] = '\0';
	parser->length = 0;
	const char *at = parse_hex(line, &start);
	if (!at || *at != ' ')
		return;
	at = parse_hex(at + 1, &size);
	if (!at || *at != ' ' || at[1] == '\0' || size == 0 ||
	    __builtin_add_overflow(start, size - 1, &end))
		return;
	parser->names++;
	for (size_t i = symbol_addresses_from(parser->addresses, parser->count, start);
	     i < parser->count && parser->addresses[i].rva <= end; i++) {
		if (parser->work++ >= PERF_MAP_WORK_MAX)
			return;
		struct symbol_entry *function = &parser->addresses[i].function;
		free(function->name);
		function->name = xalloc_text(at + 1);
		function->start = start;
		function->size = size;
	}
}

void perf_map_feed(struct perf_map_parser *parser, const char *bytes, size_t size)
{
	while (size > 0 && parser->work < PERF_MAP_WORK_MAX) {
		const char *end = memchr(bytes, '\n', size);
		size_t length = end ? (size_t)(end - bytes) : size;
		size_t room = sizeof(parser->line) - 1 - parser->length;
		size_t kept = length < room ? length : room;
		memcpy(parser->line + parser->length, bytes, kept);
		parser->length += kept;
		if (!end)
			return;
		parser->work++;
		take_line(parser);
		bytes += length + 1;
		size -= length + 1;
	}
}

void perf_map_end(struct perf_map_parser *parser)
{
	if (parser->length > 0)
		take_line(parser);
}

/* Dates of processes are known to the kernel's ticks. */
#define TICK_SLACK_NS 20000000

static enum perf_map_status check(const struct stat *status, const struct perf_map_process *process)
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

static enum perf_map_status read_file(int fd, struct symbol_address *addresses, size_t count)
{
	static const size_t buffer_size = 65536;
	struct perf_map_parser *parser = xalloc_zeroed(1, sizeof(*parser));
	char *buffer = xalloc_zeroed(buffer_size, 1);
	perf_map_begin(parser, addresses, count);
	/* read, not mmap: the owner may truncate the file meanwhile */
	size_t total = 0;
	ssize_t got;
	while (total < PERF_MAP_BYTES_MAX && (got = read(fd, buffer, buffer_size)) > 0) {
		perf_map_feed(parser, buffer, (size_t)got);
		total += (size_t)got;
	}
	perf_map_end(parser);
	enum perf_map_status result = parser->names > 0 ? PERF_MAP_READ : PERF_MAP_NO_NAMES;
	free(buffer);
	free(parser);
	return result;
}

enum perf_map_status perf_map_resolve(const char *path, const struct perf_map_process *process,
				      struct symbol_address *addresses, size_t count)
{
	struct stat status;
	if (path_leads_up(path))
		return PERF_MAP_MISSING;
	int fd = regular_file_open(path, O_NOFOLLOW, &status);
	if (fd < 0)
		return errno == ENOENT ? PERF_MAP_MISSING : PERF_MAP_NO_NAMES;
	enum perf_map_status result = check(&status, process);
	if (result == PERF_MAP_READ)
		result = read_file(fd, addresses, count);
	close(fd);
	return result;
}
