/*
 * Records of threads, parted by thread. A result has the samples of all threads in the order of
 * time; other tools' files have each thread's samples together. Memory is bounded: records beyond
 * the bound go to a temporary file without a name, in TMPDIR or else in /var/tmp.
 *
 * If the temporary file cannot be written or read, a message is printed and the program ends with
 * status 1, as it does without memory (tools/memory/xalloc.h).
 */
#ifndef TOOLS_SPOOL_THREAD_SPOOL_H
#define TOOLS_SPOOL_THREAD_SPOOL_H

#include <stddef.h>
#include <stdint.h>

struct thread_spool;

#define THREAD_SPOOL_BYTES (UINT32_C(16) << 20) /* in memory: the usual bound */

/* record_size: bytes of a record; bytes: of records to hold in memory, at least one record's. */
struct thread_spool *thread_spool_create(size_t record_size, uint32_t bytes);
void thread_spool_destroy(struct thread_spool *spool); /* accepts NULL */

/* Copies the record. thread: any number; numbers are best dense, from 0. */
void thread_spool_add(struct thread_spool *spool, uint32_t thread, const void *record);

/* Goes before the first record of a thread. Records must not be added between this and the last
 * thread_spool_next. */
void thread_spool_rewind(struct thread_spool *spool, uint32_t thread);

/* The next record of the thread, in the order of adding; it lives until the next call. NULL: no
 * more. */
const void *thread_spool_next(struct thread_spool *spool);

#endif
