/* The error codes that only files of a special make provoke; the others are in the tests of what
 * returns them, VT_NO_MEMORY and VT_SAMPLE_FILE_MAPPING_ERROR in test_memory.c and test_fault.c. */
#include "tbrw/store/crc32c.h"
#include "tbrw/store/format.h"
#include "tests/tbrw/support.h"
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Files of our own making ---- */

static int begin_file(const char *name, uint16_t version)
{
	struct tb5_file_header h = {.version = version, .header_size = sizeof(h)};
	int fd = open(path_of(name), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	memcpy(h.magic, TB5_FILE_MAGIC, sizeof(h.magic));
	h.crc = tb5_crc32c(0, &h, offsetof(struct tb5_file_header, crc));
	ck_assert_int_eq(write(fd, &h, sizeof(h)), sizeof(h));
	return fd;
}

static void put_chunk(int fd, enum tb5_kind kind, uint16_t content, const void *payload,
		      uint32_t length)
{
	struct tb5_chunk_header h = {.magic = TB5_CHUNK_MAGIC,
				     .kind = (uint16_t)kind,
				     .content = content,
				     .stream = TB5_NO_STREAM,
				     .length = length,
				     .payload_crc = tb5_crc32c(0, payload, length)};

	ck_assert_uint_eq(length % 8, 0);
	h.header_crc = tb5_crc32c(0, &h, offsetof(struct tb5_chunk_header, header_crc));
	ck_assert_int_eq(write(fd, &h, sizeof(h)), sizeof(h));
	ck_assert_int_eq(write(fd, payload, length), length);
}

START_TEST(incompatible_version)
{
	TBRW_PTR ptr = NULL;

	close(begin_file("a.tb5", TB5_FORMAT_VERSION + 1));
	FAILS(TBRW_open(&ptr, wide_path_of("a.tb5"), READ), VT_INCOMPATIBLE_VERSION);
	ck_assert_ptr_null(ptr);
}
END_TEST

/* More than 4 GB of user-defined data in a file with holes. */
START_TEST(buffer_overflow)
{
	enum { PIECES = 257 };
	struct tb5_list_record records[PIECES];
	struct tb5_index_entry entry = {.kind = TB5_KIND_LISTS,
					.content = TB5_USER_GLOBAL,
					.stream = TB5_NO_STREAM,
					.end = (uint64_t)PIECES * TB5_PAYLOAD_MAX,
					.size = sizeof(records)};
	int fd = begin_file("a.tb5", TB5_FORMAT_VERSION);
	struct tb5_end end = {.index_size = sizeof(entry)};
	TBRW_U32 size = 17;

	for (size_t i = 0; i < PIECES; i++)
		records[i] = (struct tb5_list_record){(uint64_t)lseek(fd, TB5_PAYLOAD_MAX + 64,
								      SEEK_CUR),
						      TB5_PAYLOAD_MAX, 0};
	entry.offset = (uint64_t)lseek(fd, 0, SEEK_CUR) + sizeof(struct tb5_chunk_header);
	entry.crc = tb5_crc32c(0, records, sizeof(records));
	put_chunk(fd, TB5_KIND_LISTS, 0, records, sizeof(records));
	end.index_offset = (uint64_t)lseek(fd, 0, SEEK_CUR);
	put_chunk(fd, TB5_KIND_INDEX, 0, &entry, sizeof(entry));
	end.file_size = (uint64_t)lseek(fd, 0, SEEK_CUR) + tb5_chunk_space(sizeof(end));
	put_chunk(fd, TB5_KIND_END, 0, &end, sizeof(end));
	close(fd);
	TBRW_PTR ptr = open_file("a.tb5", READ);
	OK(TBRW_reading_section(ptr, TBRW_USER_DEFINED_GLOBAL_SECTION));
	FAILS(TBRW_get_user_defined_global(ptr, 0, NULL, &size), VT_BUFFER_OVERFLOW);
	ck_assert_uint_eq(size, 17);
	OK(TBRW_abort_cleanup_and_close(ptr));
}
END_TEST

/* The numbers of CPUID entries in a record and in its array differ. */
START_TEST(unexpected_num_cpuids)
{
	struct {
		TBRW_SYSTEM system;
		TBRW_NODE node;
		TBRW_CPU cpu;
		TBRW_CPU_ARCH arch;
		TBRW_CPUID_IA32 leaf;
	} tree;
	const uint64_t one = 1;
	int fd = begin_file("a.tb5", TB5_FORMAT_VERSION);

	memset(&tree, 0, sizeof(tree));
	tree.system.system_size = sizeof(tree.system);
	tree.system.system_num_nodes = 1;
	memcpy(&tree.system.node_array, &one, sizeof(one));
	tree.node.node_size = sizeof(tree.node);
	tree.node.node_num_available = 1;
	memcpy(&tree.node.cpu_array, &one, sizeof(one));
	tree.cpu.cpu_size = sizeof(tree.cpu);
	tree.cpu.num_cpu_arch_array = 1;
	memcpy(&tree.cpu.cpu_arch_array, &one, sizeof(one));
	tree.arch.arch_size = sizeof(tree.arch);
	tree.arch.arch_num_cpuid = 2;
	memcpy(&tree.arch.cpuid_ia32_array, &one, sizeof(one));
	put_chunk(fd, TB5_KIND_BYTES, TB5_HARDWARE, &tree, sizeof(tree));
	close(fd);
	TBRW_PTR ptr = open_file("a.tb5", READ);
	OK(TBRW_reading_section(ptr, TBRW_HARDWARE_SECTION));
	FAILS(TBRW_get_system(ptr, 0, NULL, NULL), VT_UNEXPECTED_NUM_CPUIDS);
	OK(TBRW_abort_cleanup_and_close(ptr));
}
END_TEST

START_TEST(no_write_permission)
{
	TBRW_PTR ptr = NULL;

	OK(TBRW_close(open_file("a.tb5", CREATE)));
	if (geteuid() == 0) {
		/* Root may write anything, but replaces only its own files. */
		ck_assert_int_eq(chown(path_of("a.tb5"), 1, 1), 0);
		FAILS(TBRW_open(&ptr, wide_path_of("a.tb5"), CREATE), VT_NO_WRITE_PERMISSION);
	} else {
		ck_assert_int_eq(chmod(path_of("a.tb5"), 0400), 0);
		FAILS(TBRW_open(&ptr, wide_path_of("a.tb5"), READ_WRITE), VT_NO_WRITE_PERMISSION);
	}
	ck_assert_ptr_null(ptr);
}
END_TEST

/* Every code has a text, in English, and no number has two. */
START_TEST(text_of_each_code)
{
	const TBRW_CHAR *texts[256] = {NULL};
	unsigned count = 0;

	for (TBRW_U32 code = 0; code < 256; code++)
		if (TBRW_error_string(code, &texts[code]) == VT_SUCCESS)
			count++;
	ck_assert_uint_ge(count, 50);
	for (unsigned a = 0; a < 256; a++)
		for (unsigned b = 0; texts[a] && b < a; b++)
			ck_assert(!texts[b] || wcscmp(texts[a], texts[b]) != 0);
}
END_TEST

/* The fast CRC goes through large buffers in pieces. */
START_TEST(crc_of_every_size)
{
	unsigned char data[9000];

	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (unsigned char)(i * 131 >> 3);
	ck_assert_uint_eq(tb5_crc32c(0, "123456789", 9), 0xe3069283);
	for (size_t size = 0; size <= sizeof(data); size += size < 4200 ? 1 : 37)
		ck_assert_uint_eq(tb5_crc32c(0, data + sizeof(data) - size, size),
				  tb5_crc32c_portable(0, data + sizeof(data) - size, size));
	ck_assert_uint_eq(tb5_crc32c(tb5_crc32c(0, data, 5000), data + 5000, 4000),
			  tb5_crc32c_portable(0, data, 9000));
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {incompatible_version,  buffer_overflow,
				      unexpected_num_cpuids, no_write_permission,
				      text_of_each_code,     crc_of_every_size};

	return run_suite(suite_of("errors", tests, sizeof(tests) / sizeof(*tests)));
}
