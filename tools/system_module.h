/*
 * Which modules count as system code for call stack modes.
 */
#ifndef TOOLS_SYSTEM_MODULE_H
#define TOOLS_SYSTEM_MODULE_H

#include <stdbool.h>

/*
 * True for a file
 *   - in a directory that the dynamic loader searches by itself: /lib, /lib32, /lib64, /libx32, the
 *     same under /usr, and their multiarch subdirectories (/usr/lib/x86_64-linux-gnu); not deeper,
 *     where programs keep plugins and private libraries of their own;
 *   - or anywhere, with the name of the C and C++ runtimes: ld-*, libc, libm, libpthread, libdl,
 *     librt, libresolv, libutil, libstdc++, libgcc_s, libc++, libc++abi (.so...), as in containers
 *     and package stores.
 */
bool system_module_is(const char *path);

#endif
