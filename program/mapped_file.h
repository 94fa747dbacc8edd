/*
 * The file behind a process's mapping: finding and recognizing it.
 *
 * A file is the mapped one if everything known of the mapped one agrees:
 * - the whole build-id, if known. Nothing else counts then: any copy of the build will do. A file
 *   without a build-id, or no ELF file, is another file.
 * - else the inode number. Device numbers are not compared: maps and stat(2) differ on overlay and
 *   subvolume file systems.
 * - and no change since the file was mapped. The time of the last change cannot be set, unlike the
 *   time of modification; but deleting a file is a change too, hence for a deleted file the time of
 *   modification counts. A time in the future has been set, and proves nothing.
 * Unknown properties are not compared: a result of another program may name files by path alone.
 */
#ifndef PROGRAM_MAPPED_FILE_H
#define PROGRAM_MAPPED_FILE_H

#include "program/regular_file.h"
#include <stddef.h>
#include <stdint.h>

/* What dates of mappings in a result may be wrong by. */
#define MAPPED_FILE_SLACK_NS 2000000u

struct mapped_file {
	const char *path; /* as the process saw the file; a path upwards (..) names none */
	const uint8_t *build_id;
	size_t build_id_size; /* 0: not known */
	uint64_t inode;       /* 0: not known */
	int64_t mapped_ns;    /* ns since 1970 (CLOCK_REALTIME), never before the mapping:
			       * callers with an inexact date add its error; 0: not known */
	uint32_t pid;         /* of a process with the mapping; 0: none */
	uint64_t start;       /* where the process has the mapping now */
	uint64_t end;         /* 0: not known, and the pid may be another process's by now */
};

/*
 * Opens the mapped file and hands it to `take`, which may find the file of no use (ENOEXEC). For a
 * present mapping (end > 0) the process's own places come first: /proc/PID/map_files (exactly the
 * mapping; needs privileges), the path below the process's root, its executable, then the path
 * here. Otherwise the process may be gone and says less than the file here: the path here comes
 * first, then the path below the process's root, then the links in /proc/PID of a deleted file of
 * this path, if a build-id or an inode is known to identify the file, and last perf's cache of
 * files below ~/.debug, by the build-id.
 *
 * Returns 0 once a file was taken, or the most telling error: ENOEXEC the mapped file is of no use,
 * ESTALE the file was changed after it was mapped (*changed_ns: when), EMFILE for lack of
 * descriptors, EEXIST another file lies in its place, EACCES lack of rights, ENXIO no regular file
 * lies there, any other error of opening and taking, ENOENT no file is anywhere.
 */
int mapped_file_open(const struct mapped_file *file, regular_file_take *take, void *user,
		     int64_t *changed_ns);

#endif
