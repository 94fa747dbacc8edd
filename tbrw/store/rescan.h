/* The places of all chunks of kind 1 of a file, found by a look at each: for sequences with damaged
 * lists. The file is searched once for all such sequences. */
#ifndef TBRW_RESCAN_H
#define TBRW_RESCAN_H

#include "tbrw/store/extents.h"
#include <stdint.h>

struct tb5_rescan;

/* Adds the chunks of a sequence. */
TBRW_U32 tb5_rescan_add(struct tb5_store *store, uint16_t content, uint32_t stream,
			struct tb5_extents *extents);

void tb5_rescan_destroy(struct tb5_rescan *rescan); /* accepts NULL */

#endif
