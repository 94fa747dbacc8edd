/*
 * Recovery of the machine's description in a result.
 */
#ifndef TOOLS_CONVERT_RECOVER_SYSTEM_H
#define TOOLS_CONVERT_RECOVER_SYSTEM_H

#include "profile/write/writer.h"

/* Copies the hardware and software sections of the result at path; missing or damaged parts are no
 * error. Returns the writer's code. */
TBRW_U32 recover_system(const char *path, struct profile_writer *writer);

#endif
