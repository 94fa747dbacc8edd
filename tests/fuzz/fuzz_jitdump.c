/* The reader of jitdumps, and the lives of code made of them. */
#include "tools/generated/jitdump_lives.h"
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What is named lies inside what names it. */
static void check_life(struct jitdump *dump, const struct jitdump_lives *lives, size_t index,
		       uint64_t rva)
{
	const struct jitdump_life *life = &lives->items[index];
	struct symbol_address address = {.rva = rva};
	if (rva < life->start || rva - life->start >= life->size ||
	    (index > 0 && lives->items[index - 1].address > life->address))
		abort();
	if (jitdump_life_resolve(dump, life, &address) && !address.function.name[0])
		abort();
	symbol_address_finish(&address);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct jitdump dump;
	static const struct symbol_address addresses[] = {
		{.rva = 0},      {.rva = 1},          {.rva = 0x1000},     {.rva = 0x1010},
		{.rva = 0xabcd}, {.rva = 0x7fff0000}, {.rva = UINT64_MAX},
	};
	struct jitdump_lives lives;
	int fd = memfd_create("jitdump", MFD_CLOEXEC);
	if (fd < 0 || (size > 0 && write(fd, data, size) != (ssize_t)size))
		abort();
	if (jitdump_open(&dump, fd)) {
		jitdump_lives_read(&dump, addresses, sizeof(addresses) / sizeof(addresses[0]),
				   &lives);
		/* The file may shrink before names are asked for. */
		if (size % 2 && ftruncate(fd, (off_t)size / 2) < 0)
			abort();
		for (size_t i = 0; i < lives.count; i++)
			check_life(&dump, &lives, i, addresses[lives.items[i].address].rva);
		jitdump_lives_finish(&lives);
	}
	close(fd);
	return 0;
}
