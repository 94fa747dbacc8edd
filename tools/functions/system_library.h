/*
 * System code for the call stack modes.
 */
#ifndef TOOLS_FUNCTIONS_SYSTEM_LIBRARY_H
#define TOOLS_FUNCTIONS_SYSTEM_LIBRARY_H

#include <stdbool.h>

/*
 * True for the C and C++ runtimes and the dynamic loader, by file name in any folder: ld-*, libc,
 * libm, libpthread, libdl, librt, libresolv, libutil, libnss_files, libstdc++, libgcc_s, libc++,
 * libc++abi (.so...). Other libraries of the distribution do a program's own work (liblzma in xz,
 * libpython, BLAS) and their functions must show.
 */
bool system_library_is(const char *path);

#endif
