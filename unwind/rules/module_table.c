#include "unwind/rules/module_table.h"

#include "unwind/cfi/machine.h"
#include "unwind/module/module.h"
#include "unwind/rules/table.h"
#include <errno.h>
#include <stdlib.h>

enum {
	/* To decode a function as it is met takes as long as to decode this much of .eh_frame in
	 * one go: 1.2 us with little of it in the CPU's caches, as beside a program that uses them,
	 * at 200 MB/s. */
	DECODED_BYTES = 240,
	DECODED_MIN = 2000 /* a run that is over soon gets none */
};

bool uw_module_note_decoded(struct uw_module *module)
{
	/* Relaxed: a count, on which nothing else depends. */
	size_t decoded = atomic_fetch_add_explicit(&module->decoded, 1, memory_order_relaxed) + 1;

	return decoded >= DECODED_MIN && decoded >= module->cfi.frame.size / DECODED_BYTES &&
	       !atomic_exchange_explicit(&module->wanted, true, memory_order_relaxed);
}

int uw_module_build_table(struct uw_module *module)
{
	struct uw_table *none = NULL, *table;

	uw_module_load(module);
	if (!uw_machine_pushes(uw_machine_of(module->elf.arch)) || module->cfi.frame.size == 0) {
		errno = ENOTSUP;
		return -1;
	}
	if (atomic_load_explicit(&module->table, memory_order_relaxed))
		return 0;
	if (uw_table_build(&module->cfi, &module->elf, &table) < 0)
		return -1;
	/* Release: who finds the pointer finds the table complete. Another thread may have been
	 * faster; walks may use its table by now. */
	if (!atomic_compare_exchange_strong_explicit(&module->table, &none, table,
						     memory_order_release, memory_order_relaxed))
		free(table);
	return 0;
}

size_t uw_module_table_bytes(const struct uw_module *module)
{
	const struct uw_table *table = atomic_load_explicit(&module->table, memory_order_acquire);

	return table ? uw_table_bytes(table) : 0;
}
