/*
 * rewritten [MS [PERIOD_MS]]: a just-in-time compiler that replaces a function at one address by
 * another one, with a frame of another size, again and again. The generated functions keep no frame
 * pointer, and the larger one's frame holds words that look like return addresses. Each calls a
 * function of its own: rewritten_small by the small one, rewritten_large by the large one, both
 * below rewritten_run.
 */
#include "tests/targets/work.h"
#include <string.h>
#include <sys/mman.h>

typedef uint64_t burn_function(uint64_t ns);
typedef uint64_t generated_function(uint64_t ns, burn_function *burn);

WORK_FUNCTION(rewritten_small)
WORK_FUNCTION(rewritten_large)

WORK_KEEP uint64_t rewritten_run(generated_function *function, uint64_t ns, burn_function *burn);

/* sub $8, %rsp; call *%rsi; nop...; add $8, %rsp; ret */
static const uint8_t small_code[] = {
	0x48, 0x83, 0xec, 0x08, 0xff, 0xd6, 0x0f, 0x1f, 0x40, 0x00, 0x0f, 0x1f,
	0x40, 0x00, 0x0f, 0x1f, 0x40, 0x00, 0x48, 0x83, 0xc4, 0x08, 0xc3,
};

/* mov (%rsp), %rax; push %rax (nine times); call *%rsi at another place; add $72, %rsp; ret */
static const uint8_t large_code[] = {
	0x48, 0x8b, 0x04, 0x24, 0x50, 0x50, 0x50, 0x50, 0x50, 0x50,
	0x50, 0x50, 0x50, 0xff, 0xd6, 0x48, 0x83, 0xc4, 0x48, 0xc3,
};

WORK_KEEP uint64_t rewritten_run(generated_function *function, uint64_t ns, burn_function *burn)
{
	return function(ns, burn) + 1;
}

static void put(uint8_t *place, const uint8_t *code, size_t size)
{
	memset(place, 0xcc, 64);
	memcpy(place, code, size);
	__builtin___clear_cache((char *)place, (char *)place + 64);
}

int main(int argc, char **argv)
{
	uint64_t ns = work_argument(argc, argv, 1, 1000) * WORK_MS, spent = 0;
	uint64_t period = work_argument(argc, argv, 2, 100) * WORK_MS;
	uint8_t *place = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	generated_function *function;

	if (place == MAP_FAILED)
		return 3;
	memcpy(&function, &place, sizeof(function));
	for (unsigned turn = 0; spent < ns; turn++, spent += period) {
		if (turn % 2 == 0) {
			put(place, small_code, sizeof(small_code));
			rewritten_run(function, period, rewritten_small);
		} else {
			put(place, large_code, sizeof(large_code));
			rewritten_run(function, period, rewritten_large);
		}
	}
	work_print("process_ns", work_process_ns());
	return 0;
}
