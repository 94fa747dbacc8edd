/* Unwind information in separate debug files: found, refused, damaged. Arguments of the build:
 * WHOLE, a program with nothing but .debug_frame; SPLIT, the same with that split off to
 * SPLIT.debug; and UNNAMED, as SPLIT without build-ids; STARTED, as SPLIT with a C library's start
 * files. */
#include "tests/support/suite.h"
#include "unwind/cfi/row.h"
#include "unwind/module/module.h"
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

static int open_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	ck_assert_msg(fd >= 0, "%s: %s", path, strerror(errno));
	return fd;
}

static struct uw_module *open_module(const char *path)
{
	struct uw_module *module = NULL;
	int fd = open_file(path);

	ck_assert_int_eq(uw_module_open(fd, &module), 0);
	close(fd);
	return module;
}

/* Returns 0 or the error. */
static int add(struct uw_module *module, const char *path)
{
	int fd = open_file(path);
	int error = uw_module_add_debug(module, fd) == 0 ? 0 : errno;

	close(fd);
	return error;
}

/* What both modules say of each address of the code. Returns how many have a row. */
static size_t compare(struct uw_module *one, struct uw_module *other)
{
	size_t rows = 0;

	uw_module_load(one);
	uw_module_load(other);
	for (size_t i = 0; i < one->elf.segment_count; i++) {
		const struct uw_segment *segment = &one->elf.segments[i];

		for (uint64_t at = 0; segment->executable && at < segment->file_size; at++) {
			struct uw_cfi_gap gaps[2];
			struct uw_fde fdes[2];
			struct uw_row row[2];
			enum uw_cfi_result result =
				uw_module_find(one, segment->rva + at, &fdes[0], &gaps[0]);

			ck_assert_int_eq(uw_module_find(other, segment->rva + at, &fdes[1],
							&gaps[1]),
					 result);
			if (result != UW_CFI_OK)
				continue;
			rows++;
			ck_assert_uint_eq(fdes[0].start, fdes[1].start);
			ck_assert_uint_eq(fdes[0].end, fdes[1].end);
			ck_assert_int_eq(uw_cfi_row(&fdes[0], segment->rva + at, &row[0],
						    &(uint32_t){0}),
					 UW_CFI_OK);
			ck_assert_int_eq(uw_cfi_row(&fdes[1], segment->rva + at, &row[1],
						    &(uint32_t){0}),
					 UW_CFI_OK);
			ck_assert_mem_eq(&row[0], &row[1], sizeof(row[0]));
		}
	}
	return rows;
}

START_TEST(own_information)
{
	struct uw_module *module = open_module(WHOLE);
	uint32_t crc = 0;
	char name[64];

	ck_assert(!uw_module_lacks_info(module));
	ck_assert_uint_eq(uw_module_debug_link(module, name, sizeof(name), &crc), 0);
	ck_assert_int_eq(add(module, SPLIT ".debug"), EEXIST);
	uw_module_unref(module);
}
END_TEST

struct image {
	uint8_t *bytes;
	size_t size;
};

static struct image image_read(const char *path)
{
	struct stat status;
	struct image image;
	int fd = open_file(path);

	ck_assert_int_eq(fstat(fd, &status), 0);
	image.size = (size_t)status.st_size;
	image.bytes = malloc(image.size);
	ck_assert_int_eq(read(fd, image.bytes, image.size), (ssize_t)image.size);
	close(fd);
	return image;
}

static uint32_t file_crc(const char *path)
{
	struct image image = image_read(path);
	uint32_t crc = (uint32_t)crc32(0, image.bytes, (unsigned)image.size);
	free(image.bytes);
	return crc;
}

/* Loop: found by build-id, and by the debug link's CRC. */
START_TEST(separate_file)
{
	static const char *const paths[][2] = {{SPLIT, SPLIT ".debug"},
					       {UNNAMED, UNNAMED ".debug"}};
	struct uw_module *whole = open_module(WHOLE), *module = open_module(paths[_i][0]);
	uint32_t crc = 0;
	char name[64];
	uint8_t id[32];

	ck_assert_int_eq(uw_module_build_id(module, id, sizeof(id)) > 0, _i == 0);
	ck_assert(uw_module_lacks_info(module));
	ck_assert_uint_gt(uw_module_debug_link(module, name, sizeof(name), &crc), 0);
	ck_assert_str_eq(name, strrchr(paths[_i][1], '/') + 1);
	ck_assert_uint_eq(uw_module_debug_link(module, name, strlen(name), &crc), 0);
	ck_assert_uint_eq(crc, file_crc(paths[_i][1]));
	ck_assert_int_eq(add(module, paths[_i][1]), 0);
	ck_assert(!uw_module_lacks_info(module));
	ck_assert_uint_gt(compare(whole, module), 100);
	ck_assert_int_eq(add(module, paths[_i][1]), EEXIST);
	uw_module_unref(module);
	uw_module_unref(whole);
}
END_TEST

/* .zdebug_frame, as older GNU tools made it. */
START_TEST(compressed_the_old_way)
{
	struct uw_module *whole = open_module(WHOLE), *module = open_module(SPLIT);

	ck_assert_int_eq(add(module, SPLIT ".zdebug"), 0);
	ck_assert(!uw_module_has_refused(module));
	ck_assert_uint_gt(compare(whole, module), 100);
	uw_module_unref(module);
	uw_module_unref(whole);
}
END_TEST

/* Zstandard: read where libelf can, and told where it cannot. */
START_TEST(compressed_the_new_way)
{
	struct uw_module *whole = open_module(WHOLE), *module = open_module(SPLIT);

	if (access(SPLIT ".zstd", R_OK) == 0) {
		int error = add(module, SPLIT ".zstd");

		ck_assert_int_eq(uw_module_has_refused(module), error == ENOENT);
		if (error == 0)
			ck_assert_uint_gt(compare(whole, module), 100);
	}
	ck_assert(!uw_module_has_refused(whole));
	uw_module_unref(module);
	uw_module_unref(whole);
}
END_TEST

START_TEST(file_of_no_use)
{
	struct uw_module *module = open_module(SPLIT);

	ck_assert_int_eq(add(module, SPLIT), ENOENT); /* itself, which has nothing */
	ck_assert_int_eq(add(module, __FILE__), ENOEXEC);
	ck_assert(uw_module_lacks_info(module));
	ck_assert_int_eq(add(module, SPLIT ".debug"), 0);
	uw_module_unref(module);
}
END_TEST

static int image_add(struct uw_module *module, const struct image *image)
{
	int fd = memfd_create("debug", MFD_CLOEXEC), error;

	ck_assert_int_eq(write(fd, image->bytes, image->size), (ssize_t)image->size);
	error = uw_module_add_debug(module, fd) == 0 ? 0 : errno;
	close(fd);
	return error;
}

/* Loop: plain and compressed. A build-id is quickly forged: whatever the rest is, it is read within
 * its bounds. */
START_TEST(damaged_file)
{
	struct image image = image_read(_i ? SPLIT ".zdebug" : SPLIT ".debug");
	size_t taken = 0;

	srand(1);
	for (int round = 0; round < 300; round++) {
		struct uw_module *module = open_module(SPLIT);
		uint8_t *sound = malloc(image.size);

		memcpy(sound, image.bytes, image.size);
		for (int i = 0; i < round % 40; i++)
			image.bytes[64 + (size_t)rand() % (image.size - 64)] = (uint8_t)rand();
		if (image_add(module, &image) == 0) {
			for (size_t i = 0; i < module->elf.segment_count; i++)
				for (uint64_t at = 0; at < module->elf.segments[i].file_size;
				     at++) {
					struct uw_cfi_gap gap;
					struct uw_fde fde;
					struct uw_row row;
					uint64_t rva = module->elf.segments[i].rva + at;

					if (uw_module_find(module, rva, &fde, &gap) == UW_CFI_OK)
						uw_cfi_row(&fde, rva, &row, &(uint32_t){0});
				}
			taken++;
		}
		memcpy(image.bytes, sound, image.size);
		free(sound);
		uw_module_unref(module);
	}
	ck_assert_uint_gt(taken, 20);
	free(image.bytes);
}
END_TEST

/* The name leads nowhere but into the folders that the caller chooses. */
START_TEST(hostile_links)
{
	const char *file = strrchr(SPLIT, '/') + 1;
	struct image image = image_read(SPLIT);
	size_t length = strlen(file) + strlen(".debug");
	uint8_t *link = NULL;

	for (size_t at = 0; at + length < image.size; at++)
		if (memcmp(image.bytes + at, file, strlen(file)) == 0 &&
		    strcmp((const char *)image.bytes + at + strlen(file), ".debug") == 0)
			link = image.bytes + at;
	ck_assert_ptr_nonnull(link);
	for (int i = 0; i < 5; i++) {
		static const char *const dots[] = {"", ".", ".."};
		uint8_t saved[64];
		uint32_t crc;
		char name[64] = "untouched";
		struct uw_module *module = NULL;

		memcpy(saved, link, length + 8);
		if (i == 0)
			link[2] = '/';
		else if (i == 1)
			memset(link, 'x', length + 8); /* no end, and no room for a CRC */
		else
			strcpy((char *)link, dots[i - 2]);
		ck_assert_int_eq(uw_module_from_memory(image.bytes, image.size, &module), 0);
		ck_assert_uint_eq(uw_module_debug_link(module, name, sizeof(name), &crc), 0);
		ck_assert_str_eq(name, "untouched");
		memcpy(link, saved, length + 8);
		uw_module_unref(module);
	}
	free(image.bytes);
}
END_TEST

/* The start files have .eh_frame, the program has .debug_frame: both count. */
START_TEST(beside_start_files)
{
	struct uw_module *module = open_module(STARTED);
	struct uw_cfi_gap gap;
	struct uw_fde fde;

	ck_assert(uw_module_lacks_info(module));
	size_t before = uw_cfi_count(&module->cfi);
	ck_assert_uint_gt(before, 0);
	ck_assert_int_eq(add(module, STARTED ".debug"), 0);
	ck_assert_uint_eq(uw_cfi_count(&module->cfi), before);
	ck_assert_uint_gt(uw_cfi_count(&module->debug), 2);
	ck_assert_int_eq(uw_module_find(module, module->elf.entry, &fde, &gap), UW_CFI_OK);
	ck_assert_ptr_eq(fde.cfi, &module->cfi);
	ck_assert_int_eq(uw_module_find(module, module->debug.index[0].start, &fde, &gap),
			 UW_CFI_OK);
	ck_assert_ptr_eq(fde.cfi, &module->debug);
	uw_module_unref(module);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("unwind module_debug");
	TCase *tcase = tcase_create("module_debug");

	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, own_information);
	tcase_add_loop_test(tcase, separate_file, 0, 2);
	tcase_add_test(tcase, compressed_the_old_way);
	tcase_add_test(tcase, compressed_the_new_way);
	tcase_add_test(tcase, file_of_no_use);
	tcase_add_loop_test(tcase, damaged_file, 0, 2);
	tcase_add_test(tcase, hostile_links);
	tcase_add_test(tcase, beside_start_files);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
