/*
 * Go's own table of functions, .gopclntab: for each address of Go code the function, how much of
 * the stack it uses there, its file, line and the calls inlined there. Every Go program has one,
 * stripped or not: the runtime walks stacks by it.
 *
 * Source of facts: "Go 1.2 Runtime Symbol Table" (golang.org/s/go12symtab), and for the later forms
 * the runtime's pcHeader, _func and pcvalue (Go, src/runtime/symtab.go, runtime2.go).
 *
 * All functions but open and finish are pure readers of struct uw_go, safe on any bytes. The bytes
 * are read as needed, by uw_lazy_section.
 */
#ifndef UNWIND_GO_TABLE_H
#define UNWIND_GO_TABLE_H

#include "unwind/elf/elf.h"

/* The forms of the table, named after the first release with each. */
enum uw_go_version { UW_GO_1_2, UW_GO_1_16, UW_GO_1_18, UW_GO_1_20 };

enum {
	UW_GO_HEADER_MAX = 8 + 8 * 8, /* bytes at the start of a table that tell its form */
	UW_GO_STEPS_MAX = 64 * 1024   /* pairs of one list of values that are read at most */
};

/* Offsets count from the start of the table. */
struct uw_go {
	struct uw_span span;            /* the table; size 0: there is none */
	struct uw_lazy_section section; /* owned */
	enum uw_go_version version;
	uint8_t word;       /* bytes of an address */
	uint64_t count;     /* functions */
	uint64_t text;      /* rva from which functions count, since UW_GO_1_18 */
	uint64_t index;     /* offset of the sorted starts of functions */
	uint64_t functions; /* offset from which the index names functions */
	uint64_t names;     /* offset from which functions name their names */
	uint64_t units;     /* offset of the file numbers of compilation units, since UW_GO_1_16 */
	uint64_t files;  /* offset of the names of files, or before UW_GO_1_16 of their offsets */
	uint64_t values; /* offset from which functions name their lists of values */
	uint64_t start, end; /* rvas of the code that the index spans */
};

/* One function's record. Lists and names: as uw_go_value and uw_go_name take them. */
struct uw_go_function {
	uint64_t start, end; /* rvas; with the padding up to the next function */
	uint32_t name;
	uint32_t sizes;        /* list: bytes of the stack in use, without the return address */
	uint32_t files, lines; /* lists: file numbers and lines */
	uint32_t unit;         /* first of its file numbers, since UW_GO_1_16 */
	uint32_t lists;        /* number of its other lists */
	uint64_t lists_at;     /* offset in the table of their numbers; their data follow */
	uint8_t data;          /* number of its data, since UW_GO_1_16 */
	uint8_t id;            /* not 0: known to the runtime by a number */
	bool has_flags;        /* the next two are known: since UW_GO_1_18 */
	bool is_top;           /* the outermost of a stack, so Go's runtime ends walks there */
	bool writes_sp;        /* loads or aligns the stack pointer */
};

/*
 * Opens the table at the start of a piece of elf, up to its end at most. elf must outlive go. text:
 * the rva from which functions count; 0: as the table says.
 * Returns 0, also where the piece holds no table that is sound as far as its header and its first
 * function go: then the span is empty; or -1: out of memory. uw_go_finish go in any case.
 */
int uw_go_open(struct uw_go *go, const struct uw_elf *elf, const struct uw_piece *piece,
	       uint64_t text);
void uw_go_finish(struct uw_go *go);

/*
 * Opens the table that a section is named after: no more is read than its start. elf has its
 * sections, and must outlive go. Results as uw_go_open.
 */
int uw_go_open_named(struct uw_go *go, const struct uw_elf *elf);

/*
 * As uw_go_open_named, of a file whose sections do not tell, for they have other names or headers
 * no more: looks for the table's first bytes in what the program does not change. Only where a note
 * says that the file is Go's, or where there are no section headers: some hundred MB are read.
 */
int uw_go_open_searched(struct uw_go *go, const struct uw_elf *elf);

/* Opens the table by its name, else by search: for readers that are in no hurry. */
int uw_go_open_any(struct uw_go *go, const struct uw_elf *elf);

/* Whether a table in a file of words of this size may start with these bytes. */
bool uw_go_starts(const uint8_t bytes[static 8], uint8_t word);

/* Finds the function of rva; false: there is none, or it is malformed. */
bool uw_go_find(const struct uw_go *go, uint64_t rva, struct uw_go_function *function);

/* The value of a function's list at rva, an address in it; 0 is no list. false: the list does not
 * tell, as for padding. *effort grows by the pairs read. */
bool uw_go_value(const struct uw_go *go, const struct uw_go_function *function, uint32_t list,
		 uint64_t rva, uint32_t *effort, int32_t *value);

/* The end of the code around rva for which the list has the same value. false: as above. */
bool uw_go_value_end(const struct uw_go *go, const struct uw_go_function *function, uint32_t list,
		     uint64_t rva, uint32_t *effort, uint64_t *end);

/* Another list of the function: its number for uw_go_value; 0: it has none. */
uint32_t uw_go_list(const struct uw_go *go, const struct uw_go_function *function, uint32_t which);

/* The text at an offset in the table; lives as long as go. NULL: it does not end in time. */
const char *uw_go_text(const struct uw_go *go, uint64_t offset);

/* The function's name; NULL: malformed. */
const char *uw_go_name(const struct uw_go *go, const struct uw_go_function *function);

/* A little-endian number of 4 or 8 bytes at an offset in the table; false: beyond its end. */
bool uw_go_number(const struct uw_go *go, uint64_t offset, uint8_t size, uint64_t *number);

#endif
