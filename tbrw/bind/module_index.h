/* Finds the module at an address of a process at a moment. Built once from all module records;
 * afterwards a lookup takes O(log^2 of the modules), in any order of time. */
#ifndef TBRW_MODULE_INDEX_H
#define TBRW_MODULE_INDEX_H

#include "tbrw/tbrw_types.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A module record, reduced to the needs of binding. */
struct tb5_bind_module {
	uint64_t record; /* index of the record */
	uint64_t address;
	uint64_t end; /* behind the last byte */
	uint64_t load;
	uint64_t unload; /* UINT64_MAX: never */
	uint64_t name;   /* id of the path, of the name without a path */
	uint32_t pid;    /* 0 for a global module */
	bool joined;     /* an UNLOADED record: its time went to a LOADED one, or it has none */
	bool global;
	bool tsc; /* load and unload are TSCs, else sample numbers */
	bool exe;
};

/* Gives UNLOADED records' times to the LOADED records they belong to (FORMAT.md section 4), and
 * fills a module for each record. False: no memory. */
bool tb5_modules_resolve(const TBRW_MODULE *records, size_t count, struct tb5_bind_module *modules);

struct module_group;

struct tb5_module_index {
	struct tb5_bind_module *modules; /* sorted by group, then load time; owned */
	size_t count;
	struct module_group *groups; /* sorted by key */
	size_t group_count;
	size_t memo;   /* the group found last */
	unsigned ways; /* a bit for each way of searching groups: module_index.c */
};

/* Takes over `modules` (from malloc). False: no memory; finish is still to be called. */
bool tb5_module_index_build(struct tb5_module_index *index, struct tb5_bind_module *modules,
			    size_t count);
void tb5_module_index_finish(struct tb5_module_index *index);

/* The module, or NULL. `sample` is the sample's number, for modules timed by sample numbers. */
const struct tb5_bind_module *tb5_module_index_find(struct tb5_module_index *index, uint32_t pid,
						    uint64_t address, uint64_t tsc,
						    uint64_t sample);

#endif
