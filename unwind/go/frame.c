#include "unwind/go/frame.h"

#include "unwind/elf/elf.h"
#include <string.h>

enum { PROLOGUE_MAX = 16 /* code behind the first change of the stack pointer that is read */ };

/* The first address of the function at which its list of sizes has another value than at its
 * start, and the value. */
static bool find_first_change(const struct uw_go *go, const struct uw_go_function *function,
			      uint32_t *effort, uint64_t *rva, int32_t *size)
{
	return uw_go_value_end(go, function, function->sizes, function->start, effort, rva) &&
	       *rva < function->end &&
	       uw_go_value(go, function, function->sizes, *rva, effort, size);
}

/* mov %rbp, distance(%rsp): its size, and its distance; 0: other code. */
static unsigned read_store(const uint8_t code[static 8], int32_t *distance)
{
	static const uint8_t none[] = {0x48, 0x89, 0x2c, 0x24}, near[] = {0x48, 0x89, 0x6c, 0x24},
			     far[] = {0x48, 0x89, 0xac, 0x24};

	*distance = 0;
	if (memcmp(code, none, sizeof(none)) == 0)
		return 4;
	if (memcmp(code, near, sizeof(near)) == 0) {
		*distance = code[4] < 0x80 ? code[4] : code[4] - 0x100;
		return 5;
	}
	if (memcmp(code, far, sizeof(far)) != 0)
		return 0;
	memcpy(distance, code + 4, sizeof(*distance));
	return 8;
}

/* Whether the frame pointer is saved once rva is reached. Two prologues are known: sub, then the
 * store at the top of the frame; and, since Go 1.21, a push. */
static bool is_saved(const struct uw_go *go, const struct uw_elf *elf,
		     const struct uw_go_function *function, uint64_t rva, uint32_t *effort)
{
	uint8_t code[1 + PROLOGUE_MAX];
	uint64_t change;
	int32_t size, distance;

	if (elf->arch != UW_ARCH_X86_64 ||
	    !find_first_change(go, function, effort, &change, &size) || rva < change ||
	    !uw_elf_read_constant(elf, change - 1, code, sizeof(code)))
		return false;
	/* push %rbp; mov %rsp, %rbp */
	if (size == 8 && code[0] == 0x55)
		return memcmp(code + 1, "\x48\x89\xe5", 3) == 0;
	unsigned store = read_store(code + 1, &distance);
	return store > 0 && distance == size - 8 && rva >= change + store;
}

bool uw_go_frame_find(const struct uw_go *go, const struct uw_elf *elf,
		      const struct uw_go_function *function, uint64_t rva, uint32_t *effort,
		      struct uw_go_frame *frame)
{
	int32_t size;

	if (!uw_go_value(go, function, function->sizes, rva, effort, &size) || size < 0)
		return false;
	frame->size = (uint32_t)size;
	frame->saves_fp = size >= 8 && is_saved(go, elf, function, rva, effort);
	return true;
}

/* The name behind "runtime."; NULL: not one of the runtime's. */
static const char *runtime_name(const struct uw_go *go, const struct uw_go_function *function)
{
	static const char prefix[] = "runtime.";
	const char *name = uw_go_name(go, function);

	if (!name || strncmp(name, prefix, sizeof(prefix) - 1) != 0)
		return NULL;
	return name + sizeof(prefix) - 1;
}

bool uw_go_may_switch(const struct uw_go *go, const struct uw_go_function *function)
{
	/* Go, src/runtime/asm_386.s, asm_amd64.s, sys_linux_386.s and sys_linux_amd64.s. */
	static const char *const names[] = {
		"asmcgocall", "cgocallback", "cgocallback_gofunc", "clone",     "gogo",
		"mcall",      "morestack",   "nanotime",           "nanotime1", "rt0_go",
		"sigtramp",   "systemstack", "walltime",           "walltime1",
	};
	const char *name = function->has_flags ? NULL : runtime_name(go, function);

	for (size_t i = 0; name && i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return function->writes_sp;
}

bool uw_go_is_top(const struct uw_go *go, const struct uw_go_function *function, bool exact)
{
	const char *name = runtime_name(go, function);

	if (!name)
		return function->is_top && function->id != 0;
	/* Threads begin in mstart, but where C made the thread, mstart has a caller. Otherwise it
	 * is called by clone, in the child. The system never returns into clone: only the child
	 * calls from there. */
	if (strcmp(name, "clone") == 0)
		return !exact;
	return strcmp(name, "goexit") == 0 || strcmp(name, "rt0_go") == 0 ||
	       (function->is_top && function->id != 0 && strcmp(name, "mstart") != 0);
}
