#include "tools/symbols/sigreturn.h"

#include "tools/memory/xalloc.h"
#include <string.h>

#define CODE_MAX 9u

struct trampoline {
	const char *name;
	GElf_Half machine;
	uint8_t size;
	uint8_t last; /* offset of its last instruction, the system call */
	uint8_t code[CODE_MAX];
};

static const struct trampoline trampolines[] = {
	/* mov $15, %rax; syscall */
	{"__restore_rt", EM_X86_64, 9, 7, {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05}},
	/* mov $173, %eax; int $0x80 */
	{"__restore_rt", EM_386, 7, 5, {0xb8, 0xad, 0, 0, 0, 0xcd, 0x80}},
	/* pop %eax; mov $119, %eax; int $0x80 */
	{"__restore", EM_386, 8, 6, {0x58, 0xb8, 0x77, 0, 0, 0, 0xcd, 0x80}},
};

static bool is_at(const struct symbol_file *file, const struct trampoline *trampoline,
		  uint64_t start)
{
	size_t available = 0;
	const uint8_t *code = symbol_file_bytes(file, start, &available);
	return code && available >= trampoline->size &&
	       memcmp(code, trampoline->code, trampoline->size) == 0;
}

static void name_function(const struct symbol_file *file, GElf_Half machine, uint64_t rva,
			  struct symbol_entry *function)
{
	for (size_t i = 0; i < sizeof(trampolines) / sizeof(trampolines[0]); i++) {
		const struct trampoline *trampoline = &trampolines[i];
		if (trampoline->machine != machine)
			continue;
		/* Handlers return to the first instruction; a sample may hit the last one. */
		uint64_t start = rva;
		if (!is_at(file, trampoline, start))
			start = rva - trampoline->last;
		if (!is_at(file, trampoline, start))
			continue;
		function->name = xalloc_text(trampoline->name);
		function->start = start;
		function->size = trampoline->size;
		return;
	}
}

void sigreturn_resolve(struct symbol_file *file, struct symbol_address *addresses, size_t count)
{
	GElf_Ehdr header;
	if (!gelf_getehdr(file->elf, &header))
		return;
	for (size_t i = 0; i < count; i++) {
		if (!addresses[i].function.name)
			name_function(file, header.e_machine, addresses[i].rva,
				      &addresses[i].function);
	}
}
