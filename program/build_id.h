/* GNU build-ids: which build of a program an ELF file is. */
#ifndef PROGRAM_BUILD_ID_H
#define PROGRAM_BUILD_ID_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { BUILD_ID_MAX = 64 /* bytes, as in libdwfl; the kernel tells 20 at most */ };

/* Reads the file's first GNU build-id: a note of a segment or, where the segments have none as in
 * debug files, of a section (gABI, "Note Section"). Returns the id's length; 0: none, or a longer
 * one than BUILD_ID_MAX; -1: no ELF file of this machine's byte order. Reads some KB with pread(2),
 * whatever the file says: 64 entries of each table, 4 KB of a note. */
ssize_t build_id_read(int fd, uint8_t id[static BUILD_ID_MAX]);

/* Where folders of files by build-id have one of 1 to BUILD_ID_MAX bytes: "12/3456...", the first
 * byte as a folder. */
enum { BUILD_ID_PLACE_SIZE = 2 * BUILD_ID_MAX + sizeof("/") };
void build_id_place(const uint8_t *id, size_t size, char place[static BUILD_ID_PLACE_SIZE]);

#endif
