/*
 * Hostile tb5 files from a fuzzer's input. Random bytes would never get past the checksums, so the
 * input is a script: each step names a chunk's kind, content, stream and size and is followed by
 * its payload; the chunks are written with right checksums and starts. An input that begins with
 * 'R' is the file itself.
 */
#ifndef TESTS_FUZZ_TB5_SCRIPT_H
#define TESTS_FUZZ_TB5_SCRIPT_H

#include <stddef.h>
#include <stdint.h>

/* A file in memory (memfd_create) with what the script says; the caller closes it. Aborts on an
 * error of the system. */
int tb5_script_run(const uint8_t *data, size_t size);

#endif
