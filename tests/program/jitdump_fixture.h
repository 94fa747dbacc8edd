/* Made-up jitdumps: records appended to a file, whole or not. */
#ifndef TESTS_PROGRAM_JITDUMP_FIXTURE_H
#define TESTS_PROGRAM_JITDUMP_FIXTURE_H

#include <stddef.h>
#include <stdint.h>

struct fixture_line {
	uint64_t address;
	uint32_t line;
	const char *file;
};

/* The header. padding: 0, or the mark of V8. */
void fixture_begin(int fd, uint64_t flags, uint32_t padding);
/* A load with `size` bytes of code. */
void fixture_load(int fd, uint64_t time, uint64_t address, uint64_t size, uint64_t index,
		  const char *name);
void fixture_move(int fd, uint64_t time, uint64_t from, uint64_t to, uint64_t size, uint64_t index);
void fixture_lines(int fd, uint64_t time, uint64_t address, const struct fixture_line *lines,
		   size_t count);
/* A record of a kind with `size` bytes behind its header, which says `length`. */
void fixture_record(int fd, uint32_t kind, uint64_t time, uint32_t length, const void *bytes,
		    size_t size);

#endif
