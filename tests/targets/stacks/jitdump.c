/*
 * jitdump FILE [ROUNDS [MS [OWN]]]: generated code that comes and goes at one address, written down
 * in a jitdump, FILE. In each round jit_first burns MS there, then jit_second twice as long, and
 * then jit_third, which was written elsewhere and is moved there. Their lines are in first.x,
 * second.x and third.x. OWN 0: the file is not mapped, so nobody can know of it.
 */
#include "tests/targets/stacks/jit_code.h"
#include "tests/targets/work.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { CODE_MAX = 64, LOAD = 0, MOVE = 1, LINES = 2 };

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* As compilers do, a record is buffered: it reaches the file long after it is true. */
static void write_record(FILE *dump, uint32_t kind, const void *fixed, size_t fixed_size,
			 const void *rest, size_t rest_size)
{
	const uint32_t head[] = {kind, (uint32_t)(16 + fixed_size + rest_size)};
	uint64_t time = now();

	fwrite(head, sizeof(head), 1, dump);
	fwrite(&time, sizeof(time), 1, dump);
	fwrite(fixed, 1, fixed_size, dump);
	fwrite(rest, 1, rest_size, dump);
}

static uint64_t ids(void)
{
	return (uint64_t)getpid() << 32 | (uint64_t)getpid();
}

/* One line for all of a function: 10 + index, in FILE.x. */
static void write_lines(FILE *dump, const uint8_t *code, uint64_t index, const char *file)
{
	const uint64_t fixed[] = {(uintptr_t)code, 1};
	uint8_t entry[64] = {0};
	const uint64_t address = (uintptr_t)code;
	const uint32_t line[] = {10 + (uint32_t)index, 0};

	memcpy(entry, &address, 8);
	memcpy(entry + 8, line, 8);
	strcpy((char *)entry + 16, file);
	write_record(dump, LINES, fixed, sizeof(fixed), entry, 16 + strlen(file) + 1);
}

static void load(FILE *dump, uint8_t *code, uint64_t index, const char *name, const char *file)
{
	const uint64_t fixed[] = {ids(), (uintptr_t)code, (uintptr_t)code, sizeof(jit_code), index};
	uint8_t rest[64];
	size_t length = strlen(name) + 1;

	memcpy(code, jit_code, sizeof(jit_code));
	__builtin___clear_cache((char *)code, (char *)code + sizeof(jit_code));
	memcpy(rest, name, length);
	memcpy(rest + length, jit_code, sizeof(jit_code));
	write_lines(dump, code, index, file);
	write_record(dump, LOAD, fixed, sizeof(fixed), rest, length + sizeof(jit_code));
}

static void move(FILE *dump, const uint8_t *from, uint8_t *to, uint64_t index)
{
	const uint64_t fixed[] = {ids(),         (uintptr_t)to,    (uintptr_t)from,
				  (uintptr_t)to, sizeof(jit_code), index};

	memmove(to, from, sizeof(jit_code));
	write_record(dump, MOVE, fixed, sizeof(fixed), NULL, 0);
}

WORK_KEEP uint64_t jit_caller(const uint8_t *code, uint64_t ns);

WORK_KEEP uint64_t jit_caller(const uint8_t *code, uint64_t ns)
{
	jit_function *function;
	uint64_t start = work_thread_ns(), time = start;

	memcpy(&function, &code, sizeof(function));
	while (time - start < ns) {
		function(WORK_TURNS);
		time = work_thread_ns();
	}
	return time - start;
}

/* The mapping by which perf finds the file. */
static FILE *begin_dump(const char *path, int is_mapped)
{
	const uint32_t head[] = {0x4a695444, 1, 40, 62, 0, (uint32_t)getpid()};
	const uint64_t tail[] = {now(), 0};
	FILE *dump = fopen(path, "w+x");

	if (!dump)
		return NULL;
	setvbuf(dump, NULL, _IOFBF, 1 << 20);
	if (is_mapped && mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ | PROT_EXEC,
			      MAP_PRIVATE, fileno(dump), 0) == MAP_FAILED)
		return NULL;
	fwrite(head, sizeof(head), 1, dump);
	fwrite(tail, sizeof(tail), 1, dump);
	return dump;
}

int main(int argc, char **argv)
{
	uint64_t rounds = work_argument(argc, argv, 2, 3);
	uint64_t ns = work_argument(argc, argv, 3, 50) * WORK_MS;
	uint64_t first = 0, second = 0, third = 0;
	uint8_t *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	FILE *dump = argc > 1 ? begin_dump(argv[1], work_argument(argc, argv, 4, 1) != 0) : NULL;

	if (code == MAP_FAILED || !dump)
		return 3;
	for (uint64_t i = 0; i < rounds; i++) {
		load(dump, code, 3 * i + 1, "jit_first", "first.x");
		first += jit_caller(code, ns);
		load(dump, code, 3 * i + 2, "jit_second", "second.x");
		second += jit_caller(code, 2 * ns);
		load(dump, code + 1024, 3 * i + 3, "jit_third", "third.x");
		move(dump, code + 1024, code, 3 * i + 3);
		third += jit_caller(code, ns);
	}
	if (fclose(dump) != 0)
		return 3;
	work_print("jit_first", first);
	work_print("jit_second", second);
	work_print("jit_third", third);
	return 0;
}
