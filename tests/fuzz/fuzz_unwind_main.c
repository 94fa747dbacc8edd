/*
 * Runs the unwinder's fuzz target without libFuzzer: over the files given, or over a fixed sequence
 * of damaged inputs that is the same in every run.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	INPUT_MAX = 1024 * 1024,
	ROUNDS = 4000,
	STACK_WORDS = 64,
	COMMON_SIZE = 9,
	CODE_RVA = 192,
	FRAME_RVA = 4288,
	MODE_I386 = 0x40
};

static uint8_t input[INPUT_MAX];
static size_t input_size;

static void put(const void *bytes, size_t size)
{
	memcpy(input + input_size, bytes, size);
	input_size += size;
}

static void put_u8(uint8_t value)
{
	put(&value, sizeof(value));
}

static void put_u64(uint64_t value)
{
	put(&value, sizeof(value));
}

/* A word of the machine that the mode says. */
static void put_word(uint8_t mode, uint64_t value)
{
	put(&value, mode & MODE_I386 ? 4 : 8);
}

/* Registers that point into the code and the stack, and a stack full of return addresses. */
static void put_sample(uint8_t mode)
{
	static const uint64_t sp = 0x7ffe0000, code = 0x400000 + CODE_RVA;
	const unsigned sp_number = mode & MODE_I386 ? 4 : 7, ip_number = mode & MODE_I386 ? 8 : 16;
	const uint64_t step = mode & MODE_I386 ? 8 : 16;
	uint16_t size = (uint16_t)(STACK_WORDS * step);

	input_size = 0;
	put_u8(mode);
	for (unsigned reg = 0; reg < 17; reg++)
		put_u64(reg == ip_number ? code + 20 : sp + (reg == sp_number ? 0 : reg * step));
	put(&size, sizeof(size));
	for (uint64_t i = 0; i < STACK_WORDS; i++) {
		bool root = i >= STACK_WORDS * 3 / 4;

		put_word(mode, root ? 0 : sp + 64 + i * step);
		put_word(mode, root ? 0 : code + 203 + i * 7);
	}
}

/* A CIE and an FDE for all of the code, with a few instructions of every kind, or only those of a
 * frame pointer. */
static void put_frame(uint8_t mode, bool common)
{
	static const uint8_t cie[] = {20, 0,    0,  0, 0,    0,    0, 0, 1,    'z', 'R', 0,
				      1,  0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1,   0,   0};
	static const uint8_t code[] = {0,    0x41, 0x0e, 16,   0x86, 2,    0x41, 0x0d, 6,    0x44,
				       0x0a, 0x0f, 3,    0x76, 0x78, 0x06, 0x42, 0x0b, 0x10, 3,
				       2,    0x77, 8,    0x16, 12,   2,    0x31, 0x12};
	/* The same for i386: data alignment -4, return address column 8, esp 4, ebp 5. */
	static const uint8_t cie_32[] = {20, 0,    0, 0, 0,    0,    0, 0, 1,    'z', 'R', 0,
					 1,  0x7c, 8, 1, 0x1b, 0x0c, 4, 4, 0x88, 1,   0,   0};
	static const uint8_t code_32[] = {0,    0x41, 0x0e, 8,    0x85, 2,    0x41,
					  0x0d, 5,    0x44, 0x0a, 0x0f, 3,    0x75,
					  0x78, 0x06, 0x42, 0x0b, 0x10, 3,    2,
					  0x74, 8,    0x16, 7,    2,    0x31, 0x12};
	uint32_t size = common ? COMMON_SIZE : sizeof(code);
	uint32_t words[4] = {12 + size, sizeof(cie) + 4, 0, 4096};

	words[2] = (uint32_t)(CODE_RVA - (FRAME_RVA + (int)sizeof(cie) + 8));
	put(mode & MODE_I386 ? cie_32 : cie, sizeof(cie));
	put(words, sizeof(words));
	put(mode & MODE_I386 ? code_32 : code, size);
}

static void put_file(const char *path)
{
	FILE *file = fopen(path, "re");

	if (!file)
		exit(2);
	input_size += fread(input + input_size, 1, sizeof(input) - input_size, file);
	fclose(file);
}

/* Changes up to count bytes after the registers. */
static void damage(size_t start, size_t range, int count)
{
	while (count-- > 0)
		input[start + (size_t)rand() % range] = (uint8_t)rand();
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		input_size = 0;
		put_file(argv[i]);
		LLVMFuzzerTestOneInput(input, input_size);
	}
	if (argc > 1)
		return 0;
	srand(1);
	for (int round = 0; round < ROUNDS; round++) {
		uint8_t mode = round % 3 == 0 ? MODE_I386 | 1 : 1;

		put_sample(mode);
		size_t start = input_size;
		put_frame(mode, round % 2 == 0);
		damage(start, input_size - start, round % 8);
		LLVMFuzzerTestOneInput(input, input_size);
		damage(1, input_size - 1, round % 8);
		LLVMFuzzerTestOneInput(input, input_size - (size_t)round % 64);
	}
	for (int round = 0; round < ROUNDS / 20; round++) {
		put_sample(0);
		size_t start = input_size;
		put_file("/proc/self/exe");
		damage(start, 1024, round % 16);
		LLVMFuzzerTestOneInput(input, input_size);
	}
	return 0;
}
