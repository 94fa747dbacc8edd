/*
 * The tables of a pprof profile (tools/pprof/pprof.proto), hostile: what its samples refer to.
 */
#ifndef TOOLS_IMPORT_STACKS_PPROF_TABLES_H
#define TOOLS_IMPORT_STACKS_PPROF_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Larger messages are taken for damage. */
#define PPROF_MESSAGE_MAX ((size_t)1 << 20)

/* Messages of all tables together: more are passed over. A file of some kB in gzip can have many of
 * two bytes each, which take far more memory here. */
#define PPROF_MESSAGES_MAX ((size_t)1 << 23)

struct pprof_bytes {
	uint8_t *bytes;
	size_t size;
};

struct pprof_list {
	struct pprof_bytes *items;
	size_t count;
	size_t capacity;
};

/* An item of a table, by its id. */
struct pprof_item {
	uint64_t id;
	struct pprof_bytes bytes;
};

struct pprof_items {
	struct pprof_item *items; /* by id */
	size_t count;
	size_t capacity;
};

struct pprof_tables {
	struct pprof_list samples;
	struct pprof_list sample_types;
	struct pprof_list texts; /* with a NUL behind each */
	struct pprof_bytes period_type;
	struct pprof_items mappings;
	struct pprof_items locations;
	struct pprof_items functions;
	int64_t *comments; /* texts */
	size_t comment_count;
	size_t comment_capacity;
	int64_t time_ns;
	int64_t duration_ns;
	int64_t period;
	int64_t default_type; /* text; 0: none */
	size_t messages;      /* kept */
	uint64_t bad;         /* messages passed over */
	bool is_damaged;      /* the end could not be read */
};

/* Goes through the bytes, which must outlive the tables, and have room for one more; texts get
 * their NUL in place. */
void pprof_tables_read(struct pprof_tables *tables, uint8_t *bytes, size_t size);
void pprof_tables_finish(struct pprof_tables *tables);

/* "" for an index that leads nowhere. */
const char *pprof_tables_text(const struct pprof_tables *tables, int64_t index);

/* The index of the item with the id; the count: there is none. */
size_t pprof_items_find(const struct pprof_items *items, uint64_t id);

#endif
