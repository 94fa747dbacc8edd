#include "tests/collector/image_fixture.h"

#include "tests/collector/fake_emit.h"
#include "tests/collector/folder_fixture.h"
#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

const char *directory;
struct emit *emit;
struct image_table *table;

void image_fixture_setup(void)
{
	directory = folder_fixture_make();
	emit = fake_emit_create();
	table = image_table_create(emit, NULL);
	ck_assert_ptr_nonnull(table);
}

void image_fixture_teardown(void)
{
	image_table_destroy(table);
	fake_emit_destroy(emit);
	folder_fixture_remove();
}

struct image_source image_fixture_make_source(uint32_t pid, const char *path)
{
	return (struct image_source){.pid = pid,
				     .start = 0x400000,
				     .end = 0x401000,
				     .path = path,
				     .build_id = (const uint8_t *)""};
}

/* A copy of this program's first bytes, under the directory. */
const char *image_fixture_copy_program(const char *name, size_t most)
{
	static char path[64];
	char buffer[65536];
	snprintf(path, sizeof(path), "%s/%s", directory, name);
	int in = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	int out = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
	ck_assert_int_ge(in, 0);
	ck_assert_int_ge(out, 0);
	while (most > 0) {
		ssize_t count = read(in, buffer, most < sizeof(buffer) ? most : sizeof(buffer));
		if (count <= 0)
			break;
		ck_assert_int_eq(write(out, buffer, (size_t)count), count);
		most -= (size_t)count;
	}
	close(in);
	close(out);
	return path;
}

struct stat image_fixture_status_of(const char *path)
{
	struct stat status;
	ck_assert_int_eq(stat(path, &status), 0);
	return status;
}

uint32_t image_fixture_open_through(uint32_t image, uint32_t pid)
{
	struct image_place place = {pid, 0x400000, 0x401000, 0};
	return image_table_open(table, image, &place);
}
