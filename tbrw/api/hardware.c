/* The hardware section: the tree of nodes, CPUs, architectures and CPUID leaves (FORMAT.md 3.1). */
#include "tbrw/api/access.h"
#include "tbrw/file/content.h"
#include "tbrw/file/file.h"
#include <string.h>

/* A kind of record; those of the next kind, its children, hang on it as an array. */
static const struct level {
	uint8_t size;
	uint8_t array; /* offset of the pointer to the children, in whose place the file has their
			  number, 0 if there was no array */
	uint8_t count; /* offset of their number, a uint32_t, or for `archs` a uint16_t */
	uint8_t gap;   /* offset of four bytes of no member; 0: none */
} levels[] = {
	{sizeof(TBRW_SYSTEM), offsetof(TBRW_SYSTEM, node_array),
	 offsetof(TBRW_SYSTEM, system_num_nodes), 0},
	{sizeof(TBRW_NODE), offsetof(TBRW_NODE, cpu_array), offsetof(TBRW_NODE, node_num_available),
	 offsetof(TBRW_NODE, node_num_used) + 4},
	{sizeof(TBRW_CPU), offsetof(TBRW_CPU, cpu_arch_array),
	 offsetof(TBRW_CPU, num_cpu_arch_array), offsetof(TBRW_CPU, num_cpu_arch_array) + 4},
	{sizeof(TBRW_CPU_ARCH), offsetof(TBRW_CPU_ARCH, cpuid_ia32_array),
	 offsetof(TBRW_CPU_ARCH, arch_num_cpuid), 0},
};
enum { LEVELS = sizeof(levels) / sizeof(levels[0]), ARCHS = LEVELS - 1, LEAVES = LEVELS };

union record {
	char bytes[sizeof(TBRW_CPU)]; /* the largest */
	TBRW_CPU_ARCH arch;
	TBRW_U32 size;
};
_Static_assert(sizeof(union record) == sizeof(TBRW_CPU) && sizeof(TBRW_CPU) >= sizeof(TBRW_NODE) &&
		       sizeof(TBRW_CPU) >= sizeof(TBRW_SYSTEM),
	       "the largest");

static uint64_t children_of(unsigned level, const union record *record)
{
	uint32_t count;

	if (level == ARCHS)
		return record->arch.arch_num_cpuid;
	memcpy(&count, record->bytes + levels[level].count, sizeof(count));
	return count;
}

static size_t child_size(unsigned level, const union record *record)
{
	if (level != ARCHS)
		return levels[level + 1].size;
	return record->arch.arch_type == TBRW_GST_ITANIUM ? sizeof(TBRW_CPUID_IA64)
							  : sizeof(TBRW_CPUID_IA32);
}

/* ---- Writing ---- */

/* A caller's record, and its children: NULL for none. */
static const char *take(unsigned level, const char *given, union record *record, uint64_t *count)
{
	const char *children;

	memcpy(record->bytes, given, levels[level].size);
	memcpy(&children, given + levels[level].array, sizeof(children));
	*count = children ? children_of(level, record) : 0;
	return children;
}

/* The sizes of all records are right: a tree is written whole or not at all. */
static bool is_valid(unsigned level, const char *given)
{
	union record record;
	uint64_t count;
	TBRW_U32 size;

	memcpy(&size, given, sizeof(size));
	if (size != levels[level].size)
		return false;
	const char *children = take(level, given, &record, &count);
	for (uint64_t i = 0; level != ARCHS && i < count; i++)
		if (!is_valid(level + 1, children + i * levels[level + 1].size))
			return false;
	return true;
}

static TBRW_U32 write_record(struct tb5_file *file, struct tb5_seq *seq, unsigned level,
			     const char *given)
{
	union record record;
	uint64_t count;
	const char *children = take(level, given, &record, &count);
	size_t size = child_size(level, &record);

	memcpy(record.bytes + levels[level].array, &count, sizeof(count));
	if (levels[level].gap)
		memset(record.bytes + levels[level].gap, 0, 4);
	TBRW_U32 code = tb5_file_append(file, seq, record.bytes, levels[level].size);
	if (level == ARCHS && code == VT_SUCCESS && count)
		return tb5_file_append(file, seq, children, count * size);
	for (uint64_t i = 0; code == VT_SUCCESS && i < count && level != ARCHS; i++)
		code = write_record(file, seq, level + 1, children + i * size);
	return code;
}

TBRW_U32 TBRW_set_system(TBRW_PTR ptr, TBRW_SYSTEM *system)
{
	struct tb5_access access;
	struct tb5_seq *seq;
	TBRW_U32 code = tb5_access_write(ptr, TB5_NO_STREAM, TB5_HARDWARE, &access, &seq);

	if (code != VT_SUCCESS)
		return code;
	if (!system)
		return VT_UNEXPECTED_NULL_PTR;
	if (!is_valid(0, (const char *)system))
		return VT_UNSUPPORTED_DATA_SIZE;
	if (tb5_seq_size(seq))
		return VT_SECTION_ALREADY_IN_USE;
	return write_record(access.file, seq, 0, (const char *)system);
}

/* ---- Reading ---- */

/* The tree's records in the order they are stored; the records of a level are one run in the
 * caller's buffer, and the leaves behind them another. */
struct tree_reader {
	struct tb5_file *file;
	struct tb5_seq *seq;
	uint64_t at;
	uint64_t used[LEVELS + 1]; /* bytes, of each level and of the leaves */
	char *out[LEVELS + 1];     /* their targets; NULL: they are only counted */
};

/* Reads `size` bytes of a level to their target. */
static TBRW_U32 read_leaves(struct tree_reader *r, uint64_t size)
{
	TBRW_U32 code = VT_SUCCESS;

	if (size > tb5_seq_size(r->seq) - r->at)
		return VT_INVALID_SAMPLE_FILE;
	if (r->out[LEAVES] && size)
		code = tb5_seq_read(r->seq, &r->file->cache, r->at,
				    r->out[LEAVES] + r->used[LEAVES], (size_t)size);
	r->used[LEAVES] += size;
	r->at += size;
	return code;
}

static TBRW_U32 read_record(struct tree_reader *r, unsigned level)
{
	const struct level *l = &levels[level];
	union record record;
	uint64_t count;
	TBRW_U32 code = tb5_seq_read(r->seq, &r->file->cache, r->at, record.bytes, l->size);

	if (code != VT_SUCCESS)
		return code;
	r->at += l->size;
	memcpy(&count, record.bytes + l->array, sizeof(count));
	if (record.size != l->size)
		return VT_INVALID_SAMPLE_FILE;
	if (count && count != children_of(level, &record))
		return level == ARCHS ? VT_UNEXPECTED_NUM_CPUIDS : VT_INVALID_SAMPLE_FILE;
	if (r->out[level]) {
		const char *children = count ? r->out[level + 1] + r->used[level + 1] : NULL;
		memcpy(record.bytes + l->array, &children, sizeof(children));
		memcpy(r->out[level] + r->used[level], record.bytes, l->size);
	}
	r->used[level] += l->size;
	if (level == ARCHS)
		return read_leaves(r, count * child_size(level, &record));
	for (uint64_t i = 0; code == VT_SUCCESS && i < count; i++)
		code = read_record(r, level + 1);
	return code;
}

TBRW_U32 TBRW_get_system(TBRW_PTR ptr, TBRW_U32 size_of_buffer, TBRW_SYSTEM *buf_ptr,
			 TBRW_U32 *size_buffer_used)
{
	struct tree_reader counted = {0};
	struct tb5_access access;
	uint64_t needed = 0;
	TBRW_U32 code = tb5_access_read(ptr, TB5_NO_STREAM, TB5_HARDWARE, &access, &counted.seq);

	if (code == VT_SUCCESS && !tb5_seq_size(counted.seq))
		code = VT_ENTRY_NOT_FOUND;
	counted.file = access.file;
	struct tree_reader r = counted;
	if (code == VT_SUCCESS)
		code = read_record(&counted, 0);
	if (code != VT_SUCCESS)
		return code;
	for (unsigned level = 0; level <= LEAVES; level++)
		needed += counted.used[level];
	code = tb5_buffer_check(needed, size_of_buffer, buf_ptr, size_buffer_used);
	if (code != VT_SUCCESS)
		return code;
	r.out[0] = (char *)buf_ptr;
	for (unsigned level = 0; level < LEAVES; level++)
		r.out[level + 1] = r.out[level] + counted.used[level];
	return read_record(&r, 0);
}
