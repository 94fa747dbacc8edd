/*
 * Joins the parts of stack copies to whole samples. The parts of a sample follow each other in one
 * ring; a part is missing when the ring had no room for it.
 */
#ifndef COLLECTOR_STREAM_ASSEMBLY_H
#define COLLECTOR_STREAM_ASSEMBLY_H

#include "collector/perf/record.h"
#include <stdbool.h>
#include <stddef.h>

/* Fills bytes that could not be read: no program has such an address. */
#define ASSEMBLY_ABSENT_BYTE 0xdf

struct assembly;

/* NULL: out of memory. */
struct assembly *assembly_create(size_t rings);
void assembly_destroy(struct assembly *assembly); /* accepts NULL */

/*
 * To be called before assembly_add with every record, in order: whether the record ends the ring's
 * unfinished sample. *unfinished is then the sample, with the received part of its stack, valid
 * until the next assembly_add of the ring. record NULL: nothing more comes.
 */
bool assembly_cut(struct assembly *assembly, size_t ring, const struct record *record,
		  struct record *unfinished);

/*
 * Takes the next record of a ring. true: *record is a whole one; a sample from parts has its whole
 * stack, valid until the next call for the ring, and the time of its last part. false: the record
 * was a part with more to follow, or an invalid one, which is dropped.
 */
bool assembly_add(struct assembly *assembly, struct record *record);

#endif
