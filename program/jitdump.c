#include "program/jitdump.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The header of the file, and those of its records; fixed parts follow (the specification's
 * sections II to VI). */
enum {
	HEADER_SIZE = 40,
	RECORD_SIZE = 16,
	LOAD_SIZE = RECORD_SIZE + 40,
	MOVE_SIZE = RECORD_SIZE + 48,
	LINES_SIZE = RECORD_SIZE + 16,
	LINE_SIZE = 16, /* in front of its file's name */
	FIXED_MAX = MOVE_SIZE,
	VERSION = 1,
	FLAG_COUNTER = 1,
	ELF_HEADER_SIZE = 64
};

#define MAGIC UINT32_C(0x4a695444)
/* In the field that the specification calls padding, by V8 alone. */
#define V8_MARK UINT32_C(0xdeadbeef)

static uint32_t u32_at(const uint8_t *bytes, size_t offset)
{
	uint32_t value;
	memcpy(&value, bytes + offset, sizeof(value));
	return value;
}

static uint64_t u64_at(const uint8_t *bytes, size_t offset)
{
	uint64_t value;
	memcpy(&value, bytes + offset, sizeof(value));
	return value;
}

/* The bytes at a place of the file, *size of them at most; NULL: none. Valid until the next call.
 */
static const uint8_t *look(struct jitdump *dump, uint64_t at, size_t wanted, size_t *size)
{
	uint64_t ahead = at - dump->window_at;
	if (at < dump->window_at || ahead > dump->window_size ||
	    wanted > dump->window_size - ahead) {
		ssize_t got = at <= INT64_MAX ? pread(dump->fd, dump->window, sizeof(dump->window),
						      (off_t)at)
					      : -1;
		dump->window_at = at;
		dump->window_size = got > 0 ? (size_t)got : 0;
		ahead = 0;
	}
	size_t there = dump->window_size - (size_t)ahead;
	*size = there < wanted ? there : wanted;
	return *size > 0 ? dump->window + ahead : NULL;
}

/* As look, all of the bytes or none. */
static const uint8_t *take(struct jitdump *dump, uint64_t at, size_t size)
{
	size_t there;
	const uint8_t *bytes = look(dump, at, size, &there);
	return bytes && there == size ? bytes : NULL;
}

bool jitdump_open(struct jitdump *dump, int fd)
{
	struct stat status;
	dump->fd = fd;
	dump->count = dump->lines = 0;
	dump->window_at = dump->window_size = 0;
	if (fstat(fd, &status) < 0 || status.st_size < HEADER_SIZE)
		return false;
	dump->size = (uint64_t)status.st_size;
	const uint8_t *header = take(dump, 0, HEADER_SIZE);
	if (!header || u32_at(header, 0) != MAGIC || u32_at(header, 4) != VERSION)
		return false;
	dump->at = u32_at(header, 8);
	dump->line_shift = u32_at(header, 16) == V8_MARK ? ELF_HEADER_SIZE : 0;
	dump->has_counter = u64_at(header, 32) & FLAG_COUNTER;
	return dump->at >= HEADER_SIZE && dump->at <= dump->size;
}

static bool is_range(const struct jitdump_record *record)
{
	return record->size > 0 && record->size - 1 <= UINT64_MAX - record->address;
}

/* The parts of a record that only its kind has; false: they contradict each other. */
static bool read_parts(const uint8_t *bytes, uint64_t place, struct jitdump_record *record)
{
	uint64_t length = record->end - place;
	switch (record->kind) {
	case JITDUMP_LOAD: /* pid, tid, vma, code_addr, code_size, code_index; name; code */
		if (length < LOAD_SIZE)
			return false;
		record->address = u64_at(bytes, 32);
		record->size = u64_at(bytes, 40);
		record->index = u64_at(bytes, 48);
		record->at = place + LOAD_SIZE;
		return is_range(record);
	case JITDUMP_MOVE: /* pid, tid, vma, old address, new one, code_size, code_index */
		if (length < MOVE_SIZE)
			return false;
		record->address = u64_at(bytes, 40);
		record->size = u64_at(bytes, 48);
		record->index = u64_at(bytes, 56);
		return is_range(record);
	case JITDUMP_LINES: /* code_addr, number of entries */
		if (length < LINES_SIZE)
			return false;
		record->address = u64_at(bytes, 16);
		record->count = u64_at(bytes, 24);
		record->at = place + LINES_SIZE;
		return true;
	default:
		return true;
	}
}

bool jitdump_next(struct jitdump *dump, struct jitdump_record *record)
{
	while (dump->count < JITDUMP_RECORDS_MAX) {
		uint64_t place = dump->at, left = dump->size - place;
		size_t size;
		const uint8_t *bytes =
			left >= RECORD_SIZE
				? look(dump, place, left < FIXED_MAX ? (size_t)left : FIXED_MAX,
				       &size)
				: NULL;
		if (!bytes || size < RECORD_SIZE)
			return false;
		uint32_t length = u32_at(bytes, 4);
		if (length < RECORD_SIZE || length > left)
			return false;
		dump->at += length;
		dump->count++;
		*record = (struct jitdump_record){.kind = u32_at(bytes, 0),
						  .time = u64_at(bytes, 8),
						  .end = place + length};
		/* A file that shrinks may end inside the fixed part. */
		if (size < FIXED_MAX && length > size)
			return false;
		if (read_parts(bytes, place, record))
			return true;
	}
	return false;
}

/* A text at a place before end, without its end; *length: all of it, with the end. false: it has
 * no end there. */
static bool read_text(struct jitdump *dump, uint64_t at, uint64_t end, char text[JITDUMP_NAME_MAX],
		      uint64_t *length)
{
	size_t kept = 0;
	*length = 0;
	while (at < end) {
		size_t wanted = end - at < JITDUMP_NAME_MAX ? (size_t)(end - at) : JITDUMP_NAME_MAX;
		size_t size;
		const uint8_t *bytes = look(dump, at, wanted, &size);
		if (!bytes)
			break;
		const uint8_t *stop = memchr(bytes, '\0', size);
		size_t part = stop ? (size_t)(stop - bytes) : size;
		size_t room = JITDUMP_NAME_MAX - 1 - kept;
		memcpy(text + kept, bytes, part < room ? part : room);
		kept += part < room ? part : room;
		*length += part + (stop != NULL);
		at += part;
		if (stop) {
			text[kept] = '\0';
			return true;
		}
	}
	text[0] = '\0';
	return false;
}

void jitdump_name(struct jitdump *dump, const struct jitdump_record *load,
		  char name[JITDUMP_NAME_MAX])
{
	uint64_t length;
	/* The code follows; where it takes all of the record, no name is left. */
	uint64_t room = load->end - load->at;
	uint64_t end = load->size < room ? load->end - load->size : load->at;
	read_text(dump, load->at, end, name, &length);
}

/* V8 may write memory that it has given back in place of a file's name (11.3). */
static bool is_file_name(const char *name)
{
	for (; *name; name++)
		if ((unsigned char)*name < ' ' || *name == 0x7f)
			return false;
	return true;
}

bool jitdump_line(struct jitdump *dump, const struct jitdump_record *lines, uint64_t address,
		  char file[JITDUMP_NAME_MAX], uint32_t *line)
{
	/* In place of a name: that of the entry before (the specification, section V). */
	static const char as_before[] = "\xff";
	char name[JITDUMP_NAME_MAX], last[JITDUMP_NAME_MAX] = "";
	uint64_t at = lines->at, best = 0;
	bool is_found = false;
	for (uint64_t i = 0; i < lines->count && dump->lines < JITDUMP_LINES_MAX; i++) {
		const uint8_t *bytes =
			lines->end - at >= LINE_SIZE ? take(dump, at, LINE_SIZE) : NULL;
		uint64_t length;
		if (!bytes)
			break;
		uint64_t start = u64_at(bytes, 0) - dump->line_shift;
		uint32_t number = u32_at(bytes, 8);
		if (!read_text(dump, at + LINE_SIZE, lines->end, name, &length))
			break;
		at += LINE_SIZE + length;
		dump->lines++;
		if (strcmp(name, as_before) != 0)
			strcpy(last, name); /* NOLINT: both have the same size */
		if (start - lines->address > lines->size || !is_file_name(last))
			return false;
		if (start > address || (is_found && start < best))
			continue;
		best = start;
		*line = number;
		strcpy(file, last); /* NOLINT: likewise */
		is_found = true;
	}
	return is_found && file[0] != '\0';
}
