/*
 * Addresses of one image and the functions found at them. Resolvers take the addresses sorted by
 * rva, pass over each table of a file only once, and fill in the functions they find.
 */
#ifndef TOOLS_SYMBOLS_ADDRESS_H
#define TOOLS_SYMBOLS_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symbol_entry {
	char *name;    /* linkage (mangled) name, owned; NULL: none found */
	char *file;    /* source file of the code at the address in this function, owned, or NULL */
	uint32_t line; /* in file; 0: not known */
	uint64_t start; /* rva of the function's first byte */
	uint64_t size;  /* bytes; 0: not known */
	bool is_plt;    /* name is the imported function's */
	bool is_pseudo; /* no symbol; start (and size) come from unwind information, or are the
			   address itself */
};

struct symbol_address {
	uint64_t rva;
	uint32_t frame;               /* the caller's; no resolver looks at it */
	struct symbol_entry function; /* has machine code of its own */
	struct symbol_entry *inlined; /* functions inlined there, outermost first; owned */
	size_t inlined_count;
};

/* Sorts by rva. */
void symbol_addresses_sort(struct symbol_address *addresses, size_t count);

/* Whether they are sorted by rva, as every resolver takes them. */
bool symbol_addresses_are_sorted(const struct symbol_address *addresses, size_t count);

/* Index of the first address >= rva; count: none. */
size_t symbol_addresses_from(const struct symbol_address *addresses, size_t count, uint64_t rva);

void symbol_entry_finish(struct symbol_entry *entry);
void symbol_address_finish(struct symbol_address *address);

/* Takes the entry and its memory as the innermost inlined function. */
void symbol_address_add_inlined(struct symbol_address *address, struct symbol_entry *entry);

/* The innermost function at the address: its file and line are the address's own. */
struct symbol_entry *symbol_address_innermost(struct symbol_address *address);

#endif
