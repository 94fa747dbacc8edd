/* Finds the functions of hostile ELF files: symbol tables, import stubs, unwind tables, DWARF. The
 * input is the file. */
#include "tools/symbols/resolve.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Where the files of one run of the fuzzer are put, one after the other. */
static const char *put_file(const uint8_t *data, size_t size)
{
	static char path[64];
	snprintf(path, sizeof(path), "/dev/shm/fuzz_symbols.%d", (int)getpid());
	unlink(path);
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	close(fd);
	return path;
}

/* What resolve.h promises of an address. */
static void check_function(const struct symbol_address *address)
{
	const struct symbol_entry *function = &address->function;
	if (!function->name && !function->is_pseudo)
		abort();
	if (function->size > 0 &&
	    (address->rva < function->start || address->rva - function->start >= function->size))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* Those of the seeds' code, and where tables begin and end. */
	enum { COUNT = 64, STEP = 0x44 };
	struct symbol_address addresses[COUNT] = {0};
	for (size_t i = 0; i + 3 < COUNT; i++)
		addresses[i].rva = 0x1000 + i * STEP;
	addresses[COUNT - 3].rva = 0x401000;
	addresses[COUNT - 2].rva = 0x7fffffff;
	addresses[COUNT - 1].rva = UINT64_MAX;
	struct mapped_file identity = {.path = put_file(data, size)};
	if (resolve_file(&identity, "/nowhere", addresses, COUNT) == SYMBOL_FILE_OPEN)
		for (size_t i = 0; i < COUNT; i++)
			check_function(&addresses[i]);
	for (size_t i = 0; i < COUNT; i++)
		symbol_address_finish(&addresses[i]);
	unlink(identity.path);
	return 0;
}
