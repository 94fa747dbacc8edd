#include "unwind/frame/memory.h"

#include "unwind/elf/elf.h"

bool uw_memory_read_file(struct uw_memory *memory, uint64_t address, size_t size, uint64_t *value)
{
	memory->failed = address;
	*value = 0;
	return memory->elf &&
	       uw_elf_read_constant(memory->elf, address - memory->bias, value, size);
}
