#include "unwind/go/table.h"

#include "unwind/elf/elf.h"
#include <string.h>

enum {
	FUNCTIONS_MAX = 1 << 24, /* the largest programs have half a million */
	NAME_MAX_SIZE = 4096,
	PAIR_MAX = 10, /* bytes of a pair: two varints of 32 bits */
	HEAD = 8,      /* of every form: magic, two zeros, quantum, word */
	FLAG_TOP = 1,
	FLAG_WRITES_SP = 2
};

static const uint8_t magics[] = {
	[UW_GO_1_2] = 0xfb,
	[UW_GO_1_16] = 0xfa,
	[UW_GO_1_18] = 0xf0,
	[UW_GO_1_20] = 0xf1,
};

static bool find_version(const uint8_t bytes[static 8], uint8_t word, enum uw_go_version *version)
{
	/* x86 instructions have any length: their quantum is 1. */
	const uint8_t rest[] = {0xff, 0xff, 0xff, 0, 0, 1, word};

	for (unsigned i = 0; i < sizeof(magics); i++) {
		if (bytes[0] != magics[i] || memcmp(bytes + 1, rest, sizeof(rest)) != 0)
			continue;
		*version = (enum uw_go_version)i;
		return true;
	}
	return false;
}

bool uw_go_starts(const uint8_t bytes[static 8], uint8_t word)
{
	enum uw_go_version version;

	return find_version(bytes, word, &version);
}

/* Makes sure that bytes of the table have been read. */
static bool want(const struct uw_go *go, uint64_t offset, uint64_t size)
{
	return offset <= go->span.size && size <= go->span.size - offset &&
	       uw_lazy_section_want(&go->section, offset, size);
}

bool uw_go_number(const struct uw_go *go, uint64_t offset, uint8_t size, uint64_t *number)
{
	if (!want(go, offset, size))
		return false;
	struct uw_cursor cursor = uw_cursor_of(&go->span, offset, size);
	*number = uw_read_number(&cursor, size, false);
	return !cursor.failed;
}

/* Word i of the header, behind its head. */
static bool read_header_word(const struct uw_go *go, unsigned i, uint64_t *number)
{
	return uw_go_number(go, HEAD + (uint64_t)i * go->word, go->word, number);
}

/* Bytes of an address in the index. */
static uint8_t index_word(const struct uw_go *go)
{
	return go->version >= UW_GO_1_18 ? 4 : go->word;
}

/* The start of function i; of number count: the end of the last one. */
static bool read_start(const struct uw_go *go, uint64_t i, uint64_t *start)
{
	uint8_t size = index_word(go);

	if (!uw_go_number(go, go->index + i * 2 * size, size, start))
		return false;
	*start += go->text;
	return true;
}

static bool read_header_1_2(struct uw_go *go)
{
	uint64_t files;

	go->index = HEAD + go->word;
	go->text = go->functions = go->names = go->values = go->units = 0;
	if (!uw_go_number(go, go->index + (go->count * 2 + 1) * go->word, 4, &files))
		return false;
	go->files = files;
	return true;
}

static bool read_header_1_16(struct uw_go *go)
{
	bool has_text = go->version >= UW_GO_1_18;
	unsigned next = 2; /* behind the numbers of functions and files */

	go->text = 0;
	if (has_text && !read_header_word(go, next++, &go->text))
		return false;
	if (!read_header_word(go, next, &go->names) ||
	    !read_header_word(go, next + 1, &go->units) ||
	    !read_header_word(go, next + 2, &go->files) ||
	    !read_header_word(go, next + 3, &go->values) ||
	    !read_header_word(go, next + 4, &go->index))
		return false;
	go->functions = go->index;
	/* Offsets larger than the table could wrap in later sums. */
	return go->names < go->span.size && go->units < go->span.size &&
	       go->files < go->span.size && go->values < go->span.size && go->index < go->span.size;
}

static bool read_header(struct uw_go *go)
{
	if (!read_header_word(go, 0, &go->count) || go->count == 0 || go->count > FUNCTIONS_MAX)
		return false;
	return go->version == UW_GO_1_2 ? read_header_1_2(go) : read_header_1_16(go);
}

static bool is_code(const struct uw_elf *elf, uint64_t rva)
{
	const struct uw_segment *segment = uw_elf_segment(elf, rva);

	return segment && segment->executable;
}

/* Whether the index leads from code to code, and to the record of the first function. */
static bool is_sound(struct uw_go *go, const struct uw_elf *elf)
{
	struct uw_go_function first;

	return read_start(go, 0, &go->start) && read_start(go, go->count, &go->end) &&
	       go->start < go->end && is_code(elf, go->start) && is_code(elf, go->end - 1) &&
	       uw_go_find(go, go->start, &first);
}

int uw_go_open(struct uw_go *go, const struct uw_elf *elf, const struct uw_piece *piece,
	       uint64_t text)
{
	uint8_t head[HEAD];

	*go = (struct uw_go){.word = elf->arch == UW_ARCH_I386 ? 4 : 8};
	if (elf->arch == UW_ARCH_AARCH64 || piece->size < sizeof(head) ||
	    !uw_elf_read(elf, piece->offset, head, sizeof(head)) ||
	    !find_version(head, go->word, &go->version))
		return 0;
	if (uw_lazy_section_open(&go->section, elf, piece, &go->span) < 0)
		return -1;
	bool is_read = read_header(go);
	if (text != 0)
		go->text = text;
	/* No code starts where the file is loaded. */
	if (is_read && (go->version < UW_GO_1_18 || go->text != 0) && is_sound(go, elf))
		return 0;
	uw_go_finish(go);
	return 0;
}

void uw_go_finish(struct uw_go *go)
{
	uw_lazy_section_finish(&go->section);
	*go = (struct uw_go){0};
}

/* Reads a function's record at an offset, past its start. */
static bool read_function(const struct uw_go *go, uint64_t offset, struct uw_go_function *function)
{
	/* 4 bytes each: name, arguments, one more, three lists, the number of lists; since 1.16 the
	 * compilation unit, since 1.20 the first line; then an id, flags, 0 and the number of data.
	 */
	uint64_t tail = 4 * (7 + (uint64_t)(go->version >= UW_GO_1_16) +
			     (uint64_t)(go->version >= UW_GO_1_20));

	if (!want(go, offset, tail + 4))
		return false;
	struct uw_cursor cursor = uw_cursor_of(&go->span, offset, tail + 4);
	function->name = uw_read_u32(&cursor);
	uw_read_skip(&cursor, 8);
	function->sizes = uw_read_u32(&cursor);
	function->files = uw_read_u32(&cursor);
	function->lines = uw_read_u32(&cursor);
	function->lists = uw_read_u32(&cursor);
	function->unit = go->version >= UW_GO_1_16 ? uw_read_u32(&cursor) : 0;
	if (go->version >= UW_GO_1_20)
		uw_read_skip(&cursor, 4);
	uint8_t id = uw_read_u8(&cursor), flags = uw_read_u8(&cursor);
	uw_read_skip(&cursor, 1);
	uint8_t data = uw_read_u8(&cursor);
	function->has_flags = go->version >= UW_GO_1_18;
	/* Before, these bytes had other meanings in some releases. */
	function->id = function->has_flags ? id : 0;
	function->is_top = function->has_flags && (flags & FLAG_TOP);
	function->writes_sp = function->has_flags && (flags & FLAG_WRITES_SP);
	function->data = go->version >= UW_GO_1_16 ? data : 0;
	function->lists_at = offset + tail + 4;
	return !cursor.failed;
}

/* The number of functions that start at or before rva, an address in [start, end). */
static uint64_t functions_until(const struct uw_go *go, uint64_t rva)
{
	uint64_t first = 0, count = go->count;

	while (count > 0) {
		uint64_t half = count / 2, start;

		if (!read_start(go, first + half, &start))
			return 0;
		if (start <= rva) {
			first += half + 1;
			count -= half + 1;
		} else {
			count = half;
		}
	}
	return first;
}

bool uw_go_find(const struct uw_go *go, uint64_t rva, struct uw_go_function *function)
{
	uint8_t size = index_word(go);
	uint64_t offset, start;

	if (go->span.size == 0 || rva < go->start || rva >= go->end)
		return false;
	uint64_t until = functions_until(go, rva);
	if (until == 0 || !read_start(go, until - 1, &function->start) ||
	    !read_start(go, until, &function->end) || function->start > rva ||
	    function->end <= rva ||
	    !uw_go_number(go, go->index + (until - 1) * 2 * size + size, size, &offset) ||
	    offset > go->span.size)
		return false;
	offset += go->functions;
	return uw_go_number(go, offset, size, &start) && start + go->text == function->start &&
	       read_function(go, offset + size, function);
}

/* Reads a pair of a list: how far its value is from the one before, and the bytes of code with it.
 * false: the list ends. */
static bool read_pair(const struct uw_go *go, uint64_t *offset, bool is_first, int32_t *value,
		      uint64_t *size)
{
	uint64_t left = go->span.size - *offset;

	if (!want(go, *offset, left < PAIR_MAX ? left : PAIR_MAX))
		return false;
	struct uw_cursor cursor = uw_cursor_of(&go->span, *offset, PAIR_MAX);
	uint32_t delta = (uint32_t)uw_read_uleb(&cursor);
	if (cursor.failed || (delta == 0 && !is_first))
		return false;
	*size = (uint32_t)uw_read_uleb(&cursor);
	*offset += cursor.rva - go->span.rva - *offset;
	*value = (int32_t)((uint32_t)*value + (delta >> 1 ^ -(delta & 1)));
	return !cursor.failed;
}

/* Reads a list up to the pair for rva: its value, and the end of its code. */
static bool find_pair(const struct uw_go *go, const struct uw_go_function *function, uint32_t list,
		      uint64_t rva, uint32_t *effort, int32_t *value, uint64_t *end)
{
	uint64_t offset = go->values + list, size;

	*value = -1;
	*end = function->start;
	if (list == 0 || offset >= go->span.size)
		return false;
	for (unsigned i = 0; i < UW_GO_STEPS_MAX; i++) {
		++*effort;
		if (!read_pair(go, &offset, i == 0, value, &size))
			return false;
		*end += size;
		if (rva < *end)
			return true;
	}
	return false;
}

bool uw_go_value(const struct uw_go *go, const struct uw_go_function *function, uint32_t list,
		 uint64_t rva, uint32_t *effort, int32_t *value)
{
	uint64_t end;

	return find_pair(go, function, list, rva, effort, value, &end);
}

bool uw_go_value_end(const struct uw_go *go, const struct uw_go_function *function, uint32_t list,
		     uint64_t rva, uint32_t *effort, uint64_t *end)
{
	int32_t value;

	return find_pair(go, function, list, rva, effort, &value, end);
}

uint32_t uw_go_list(const struct uw_go *go, const struct uw_go_function *function, uint32_t which)
{
	uint64_t list;

	if (which >= function->lists ||
	    !uw_go_number(go, function->lists_at + (uint64_t)which * 4, 4, &list))
		return 0;
	return (uint32_t)list;
}

const char *uw_go_text(const struct uw_go *go, uint64_t offset)
{
	if (offset >= go->span.size)
		return NULL;
	uint64_t size = go->span.size - offset;
	if (size > NAME_MAX_SIZE)
		size = NAME_MAX_SIZE;
	if (!want(go, offset, size) || !memchr(go->span.bytes + offset, '\0', size))
		return NULL;
	return (const char *)go->span.bytes + offset;
}

const char *uw_go_name(const struct uw_go *go, const struct uw_go_function *function)
{
	return uw_go_text(go, go->names + function->name);
}
