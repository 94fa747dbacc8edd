#include "tools/symbols/sigreturn.h"

#include "tools/memory/xalloc.h"
#include <string.h>

#define CODE_MAX         9u
#define INSTRUCTIONS_MAX 3u

struct trampoline {
	const char *name;
	GElf_Half machine;
	uint8_t size;
	uint8_t at[INSTRUCTIONS_MAX]; /* offsets of its instructions */
	uint8_t code[CODE_MAX];
};

static const struct trampoline trampolines[] = {
	/* mov $15, %rax; syscall */
	{"__restore_rt", EM_X86_64, 9, {0, 7}, {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05}},
	/* mov $173, %eax; int $0x80 */
	{"__restore_rt", EM_386, 7, {0, 5}, {0xb8, 0xad, 0, 0, 0, 0xcd, 0x80}},
	/* pop %eax; mov $119, %eax; int $0x80 */
	{"__restore", EM_386, 8, {0, 1, 6}, {0x58, 0xb8, 0x77, 0, 0, 0, 0xcd, 0x80}},
};

static bool is_at(const struct symbol_file *file, const struct trampoline *trampoline,
		  uint64_t start)
{
	size_t available = 0;
	const uint8_t *code = symbol_file_bytes(file, start, &available);
	return code && available >= trampoline->size &&
	       memcmp(code, trampoline->code, trampoline->size) == 0;
}

/* The trampoline around rva, and its start; NULL: none. */
static const struct trampoline *find_trampoline(const struct symbol_file *file, GElf_Half machine,
						uint64_t rva, uint64_t *start)
{
	for (size_t i = 0; i < sizeof(trampolines) / sizeof(trampolines[0]); i++) {
		const struct trampoline *trampoline = &trampolines[i];
		if (trampoline->machine != machine)
			continue;
		/* Handlers return to the first instruction; a sample may hit a later one. */
		for (unsigned k = 0; k < INSTRUCTIONS_MAX; k++) {
			*start = rva - trampoline->at[k];
			if (is_at(file, trampoline, *start))
				return trampoline;
		}
	}
	return NULL;
}

/* A symbol of the trampoline has the library's own name for it. One of a function before it,
 * without a size, only seems to reach it. */
static void name_function(const struct symbol_file *file, GElf_Half machine, uint64_t rva,
			  struct symbol_entry *function)
{
	uint64_t start;
	const struct trampoline *trampoline = find_trampoline(file, machine, rva, &start);
	if (!trampoline || (function->name &&
			    (function->start == start || function->start + function->size > start)))
		return;
	symbol_entry_finish(function);
	function->name = xalloc_text(trampoline->name);
	function->start = start;
	function->size = trampoline->size;
}

void sigreturn_resolve(struct symbol_file *file, struct symbol_address *addresses, size_t count)
{
	GElf_Ehdr header;
	if (!gelf_getehdr(file->elf, &header))
		return;
	for (size_t i = 0; i < count; i++)
		name_function(file, header.e_machine, addresses[i].rva, &addresses[i].function);
}
