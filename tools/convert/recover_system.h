/*
 * The machine that a result was collected on, for recovery.
 */
#ifndef TOOLS_CONVERT_RECOVER_SYSTEM_H
#define TOOLS_CONVERT_RECOVER_SYSTEM_H

#include "profile/write/writer.h"

/* Copies the hardware and software sections of the result at path as far as it has them: what is
 * missing or damaged there is no error. Returns the writer's code. */
TBRW_U32 recover_system(const char *path, struct profile_writer *writer);

#endif
