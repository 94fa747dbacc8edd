/*
 * Which file a process mapped, and whether a file is this one.
 *
 * A file is the mapped one if all that is known of the mapped one agrees:
 * - the build-id, whole, if there is one. Nothing else counts then: whichever copy of a build it is
 *   makes no difference. A file that is no ELF file, or has none, is another file.
 * - else the inode's number. Device numbers are not compared: maps and stat(2) differ on overlay
 * and subvolume file systems.
 * - and that it was not changed since it was mapped. The time of the last change cannot be set, as
 *   that of modification can; but deleting a file is a change too, so a deleted file's time of
 *   modification stands in for it. A time to come has been set, and says nothing.
 * What is not known is not compared: a result of another program may name its files by path alone.
 */
#ifndef PROGRAM_MAPPED_FILE_H
#define PROGRAM_MAPPED_FILE_H

#include "program/regular_file.h"
#include <stddef.h>
#include <stdint.h>

struct mapped_file {
	const char *path; /* as the process saw it; one that leads upwards (..) names no file */
	const uint8_t *build_id;
	size_t build_id_size; /* 0: not known */
	uint64_t inode;       /* 0: not known */
	int64_t mapped_ns;    /* ns since 1970 (CLOCK_REALTIME), not before it was mapped: who knows
				 the date less exactly adds the error; 0: not known */
	uint32_t pid;         /* of a process that maps it; 0: none */
	uint64_t start;       /* where that one has it mapped now */
	uint64_t end;         /* 0: not known; nor then whether the id is still that process's */
};

/*
 * Opens the mapped file and hands it to `take`, which may find that it is of no use (ENOEXEC).
 * Of a mapping that is there the process's own places come first: /proc/PID/map_files (exactly the
 * mapping; needs privileges), the path below the process's root, its executable, then the path
 * here. A process that may be gone says less than the file here: the path here comes first, then
 * the path below the process's root, then the links in /proc/PID of a deleted file of that path,
 * where anything is known to tell that it is the one.
 *
 * Returns 0 once a file was taken, or the most telling error: ENOEXEC the mapped file is of no use,
 * ESTALE it was changed after it was mapped (*changed_ns: when), EMFILE for lack of descriptors,
 * EEXIST another file lies in its place, EACCES lack of rights, ENXIO no regular file lies there,
 * what else opening and taking say, ENOENT it is nowhere.
 */
int mapped_file_open(const struct mapped_file *file, regular_file_take *take, void *user,
		     int64_t *changed_ns);

#endif
