/* The places of all chunks of kind 1 of a file, found by a look at each: for sequences with damaged
 * lists. The file is searched once for all such sequences. */
#ifndef TBRW_RESCAN_H
#define TBRW_RESCAN_H

#include "tbrw/store/extents.h"
#include <stdint.h>

/* Adds the chunks of a sequence. The first call for a store searches it. VT_NO_MEMORY, errors of
 * reading. */
TBRW_U32 tb5_rescan_add(struct tb5_store *store, uint16_t content, uint32_t stream,
			struct tb5_extents *extents);

#endif
