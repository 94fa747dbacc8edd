#include "tests/program/jitdump_fixture.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void append(int fd, const void *bytes, size_t size)
{
	ck_assert_int_eq(write(fd, bytes, size), (ssize_t)size);
}

void fixture_begin(int fd, uint64_t flags, uint32_t padding)
{
	const uint32_t head[] = {0x4a695444, 1, 40, 62, padding, 1234};
	const uint64_t tail[] = {1, flags};
	append(fd, head, sizeof(head));
	append(fd, tail, sizeof(tail));
}

void fixture_record(int fd, uint32_t kind, uint64_t time, uint32_t length, const void *bytes,
		    size_t size)
{
	append(fd, &kind, sizeof(kind));
	append(fd, &length, sizeof(length));
	append(fd, &time, sizeof(time));
	append(fd, bytes, size);
}

void fixture_load(int fd, uint64_t time, uint64_t address, uint64_t size, uint64_t index,
		  const char *name)
{
	const uint64_t numbers[] = {(uint64_t)1234 << 32 | 1234, address, address, size, index};
	size_t length = sizeof(numbers) + strlen(name) + 1 + size;
	uint8_t *bytes = calloc(1, length);
	ck_assert_ptr_nonnull(bytes);
	memcpy(bytes, numbers, sizeof(numbers));
	memcpy(bytes + sizeof(numbers), name, strlen(name));
	memset(bytes + length - size, 0x90, size);
	fixture_record(fd, 0, time, (uint32_t)(16 + length), bytes, length);
	free(bytes);
}

void fixture_move(int fd, uint64_t time, uint64_t from, uint64_t to, uint64_t size, uint64_t index)
{
	const uint64_t numbers[] = {(uint64_t)1234 << 32 | 1234, to, from, to, size, index};
	fixture_record(fd, 1, time, 16 + sizeof(numbers), numbers, sizeof(numbers));
}

void fixture_lines(int fd, uint64_t time, uint64_t address, const struct fixture_line *lines,
		   size_t count)
{
	uint8_t bytes[65536];
	const uint64_t numbers[] = {address, count};
	size_t size = sizeof(numbers);
	memcpy(bytes, numbers, sizeof(numbers));
	for (size_t i = 0; i < count; i++) {
		const uint32_t place[] = {lines[i].line, 0};
		size_t length = strlen(lines[i].file) + 1;
		ck_assert_uint_lt(size + 16 + length, sizeof(bytes));
		memcpy(bytes + size, &lines[i].address, 8);
		memcpy(bytes + size + 8, place, 8);
		memcpy(bytes + size + 16, lines[i].file, length);
		size += 16 + length;
	}
	fixture_record(fd, 2, time, (uint32_t)(16 + size), bytes, size);
}
