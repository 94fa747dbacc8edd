/*
 * Whole samples out of stack copies that come in parts. The parts of a sample follow each other in
 * one ring; a part is missing when the ring had no room for it.
 */
#ifndef COLLECTOR_STREAM_ASSEMBLY_H
#define COLLECTOR_STREAM_ASSEMBLY_H

#include "collector/perf/record.h"
#include <stdbool.h>
#include <stddef.h>

/* What bytes hold that could not be read: no address that a program can have. */
#define ASSEMBLY_ABSENT_BYTE 0xdf

struct assembly;

/* NULL: out of memory. */
struct assembly *assembly_create(size_t rings);
void assembly_destroy(struct assembly *assembly); /* accepts NULL */

/*
 * To be called before assembly_add with every record, in order: whether the ring's unfinished
 * sample cannot go on with it. *unfinished is that sample then, with as much of its stack as came,
 * valid until the next assembly_add of the ring. record NULL: nothing more comes.
 */
bool assembly_cut(struct assembly *assembly, size_t ring, const struct record *record,
		  struct record *unfinished);

/*
 * Takes the next record of a ring. true: *record is a whole one; a sample that came in parts has
 * its whole stack, valid until the next call for the ring, and the time of its last part. false: it
 * was a part and more parts follow, or one that makes no sense and is dropped.
 */
bool assembly_add(struct assembly *assembly, struct record *record);

#endif
