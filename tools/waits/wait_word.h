/*
 * Where in an object of the C library's lies the word that its waiting threads hand to futex(2). By
 * the layout of glibc that this was compiled with: bits/thread-shared-types.h and
 * bits/struct_rwlock.h, and for barriers, whose layout is not in a header, what glibc has had since
 * 2.23 (sysdeps/nptl/internaltypes.h, later nptl/pthreadP.h).
 */
#ifndef TOOLS_WAITS_WAIT_WORD_H
#define TOOLS_WAITS_WAIT_WORD_H

#include "tools/waits/wait_type.h"
#include <stdint.h>

/* Bytes from the start of an object of that type to the word at `address`, of a 64-bit program; 0
 * for types whose word is their start, and for those whose place nobody knows: pthread_join waits
 * for a word within the thread's own block. */
uint64_t wait_word_distance(enum wait_type type, uint64_t address);

#endif
