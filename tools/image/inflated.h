/*
 * A debug file's copy in memory with its compressed sections inflated. libdw would inflate them
 * too, but with zlib, which was three quarters of what finalization cost, and those it reads for
 * nobody.
 */
#ifndef TOOLS_IMAGE_INFLATED_H
#define TOOLS_IMAGE_INFLATED_H

/*
 * Returns a descriptor of the copy (a memfd, for the caller to close), or -1 where there is nothing
 * to gain: no ELF file, no section compressed in zlib's format, sections that do not inflate to
 * what they say, more than 512 MB (a snapshot has a limit too, expansion.h). fd stays open and as
 * it is. Sections that nobody reads (snapshot.h) are empty in the copy.
 */
int inflated_copy(int fd);

#endif
