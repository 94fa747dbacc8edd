/*
 * CPU time and samples under labels: the rows of a report.
 */
#ifndef TOOLS_GROUPS_GROUPS_H
#define TOOLS_GROUPS_GROUPS_H

#include "tools/memory/index_map.h"
#include "tools/samples/draws.h"
#include <stddef.h>
#include <stdint.h>

/* Of enum concurrency_class (tools/states/concurrency.h). */
#define GROUPS_CLASS_COUNT 5u

struct group {
	const char *label; /* borrowed */
	uint64_t id;       /* tells groups of one label apart; also shown as PID, TID */
	struct draws_part sum;
	uint64_t total_ns; /* of all stacks or samples with the group, each once */
	size_t seen;       /* number of the last of these */
	uint32_t added;    /* number of additions to the sum; 0: a total alone */
	uint32_t index;    /* the caller's, of the first addition */
	/* Parts of the sum by enum concurrency_class; the last one: of no known moment. */
	uint64_t class_ns[GROUPS_CLASS_COUNT + 1];
};

struct groups { /* all zero: empty */
	struct group *groups;
	size_t count;
	struct index_map map;
	/* By groups_sum_classes: of all groups, the times of known moments. */
	uint64_t class_ns[GROUPS_CLASS_COUNT];
	uint64_t known_ns;
};

/* Adds to the group, or makes it. Returns it until the next addition; its class_ns is the caller's
 * to add to. */
struct group *groups_add(struct groups *groups, const char *label, uint64_t id, uint32_t index,
			 const struct draws_part *part);

/* The place of a group, which is made without a sum if there is none. Places stay until groups are
 * summed by label or sorted. */
uint32_t groups_find(struct groups *groups, const char *label, uint64_t id, uint32_t index);

/* As groups_add, of a place. */
struct group *groups_add_at(struct groups *groups, uint32_t at, const struct draws_part *part);

/* Adds to the total, unless the stack or sample with this number, from 1 on, was the last to. */
void groups_add_total(struct groups *groups, uint32_t at, uint64_t cpu_ns, size_t number);

/* Makes groups of one label one; their id is the id of the first. */
void groups_sum_by_label(struct groups *groups);

/* By CPU time, samples (most first), label, id. Nothing can be added after this. */
void groups_sort(struct groups *groups);

void groups_sum_classes(struct groups *groups);

/* A group's part of a class. Time of no known moment is divided as all other time is, so the parts
 * are the group's time; 0 if no moment is known. */
uint64_t groups_of_class(const struct groups *groups, const struct group *group, size_t use);

void groups_finish(struct groups *groups);

#endif
