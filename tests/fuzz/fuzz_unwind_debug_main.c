/*
 * Runs the fuzz target of debug files without libFuzzer, over a fixed sequence of damaged inputs:
 * pairs of a program's file and its debug file, and .debug_frame sections of each kind.
 *
 * Usage: fuzz_unwind_debug_main [PROGRAM DEBUG_FILE]...; or one file, which is an input.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { INPUT_MAX = 1024 * 1024, ROUNDS = 300, KINDS = 16 };

static uint8_t input[INPUT_MAX], damaged[INPUT_MAX];
static size_t input_size;

static uint32_t put_file(const char *path)
{
	FILE *file = fopen(path, "re");

	if (!file)
		exit(2);
	size_t got = fread(input + input_size, 1, sizeof(input) - input_size, file);
	fclose(file);
	input_size += got;
	return (uint32_t)got;
}

/* Most damage is done to headers, which are at both ends of files. */
static void run_damaged(void)
{
	for (int round = 0; round < ROUNDS; round++) {
		size_t cut = round % 3 ? 0 : (size_t)rand() % (input_size < 64 ? input_size : 64);

		memcpy(damaged, input, input_size);
		for (int i = round % 8; i > 0; i--)
			damaged[1 + (size_t)rand() % (input_size - 1)] = (uint8_t)rand();
		LLVMFuzzerTestOneInput(damaged, input_size - cut);
	}
}

static void run_pair(const char *program, const char *debug)
{
	memset(input, 0, 5);
	input_size = 5;
	uint32_t size = put_file(program);
	memcpy(input + 1, &size, sizeof(size));
	put_file(debug);
	run_damaged();
}

/* A CIE and an FDE for the code that the target makes; the damage finds its way from there. */
static void run_section(uint8_t kind)
{
	static const uint8_t cie[] = {20, 0,    0, 0, 0xff, 0xff, 0xff, 0xff, 3, 0, 1, 0x78,
				      16, 0x0c, 7, 8, 0x90, 1,    0x0e, 16,   0, 0, 0, 0};
	static const uint8_t fde[] = {28, 0, 0, 0, 0, 0, 0, 0, 0,    1,    0,  0,    0, 0, 0, 0,
				      0,  4, 0, 0, 0, 0, 0, 0, 0x41, 0x0e, 16, 0x86, 2, 0, 0, 0};

	input[0] = kind;
	memcpy(input + 1, cie, sizeof(cie));
	memcpy(input + 1 + sizeof(cie), fde, sizeof(fde));
	input_size = 1 + sizeof(cie) + sizeof(fde);
	run_damaged();
}

int main(int argc, char **argv)
{
	if (argc == 2) {
		put_file(argv[1]);
		return LLVMFuzzerTestOneInput(input, input_size);
	}
	srand(1);
	for (int i = 1; i + 1 < argc; i += 2)
		run_pair(argv[i], argv[i + 1]);
	for (int kind = 0; kind < KINDS; kind++)
		run_section((uint8_t)kind);
	return 0;
}
