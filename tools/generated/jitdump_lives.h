/*
 * Generated code at addresses over time, by a jitdump (program/jitdump.h). Memory is used again: at
 * one address lives one function after the other.
 */
#ifndef TOOLS_GENERATED_JITDUMP_LIVES_H
#define TOOLS_GENERATED_JITDUMP_LIVES_H

#include "program/jitdump.h"
#include "tools/symbols/address.h"

#define JITDUMP_LIVES_MAX (1000u * 1000u) /* lives, and searches for those */

/* A function's stay at an address, until the next one's begins. */
struct jitdump_life {
	size_t address; /* index among those asked for */
	uint64_t time;  /* when it began, by the dump's clock */
	uint64_t start; /* of the function */
	uint64_t size;
	uint64_t order; /* grows with the file */
	uint64_t moved; /* bytes that it lay lower when it was written, modulo 2^64 */
	struct jitdump_record load;
	struct jitdump_record lines; /* count 0: none */
};

struct jitdump_lives {
	struct jitdump_life *items; /* in the order of addresses, of these in the order of time */
	size_t count;
	size_t loads; /* well-formed ones of the dump, whatever their addresses */
};

/* Reads an opened dump. Addresses sorted by rva. */
void jitdump_lives_read(struct jitdump *dump, const struct symbol_address *addresses, size_t count,
			struct jitdump_lives *lives);
void jitdump_lives_finish(struct jitdump_lives *lives);

/* Sets the function of the life's address: name, extent and line. false: it has no name. */
bool jitdump_life_resolve(struct jitdump *dump, const struct jitdump_life *life,
			  struct symbol_address *address);

#endif
