/* What the parts of tbrw_writer share. */
#ifndef TOOLS_TB5_TBRW_WRITER_H
#define TOOLS_TB5_TBRW_WRITER_H

#include "tbrw/tbrw.h"
#include "tools/tb5/tbrw_dat.h"

struct writer {
	TBRW_PTR file;
	const char *folder; /* of the data files */
};

/* Makes the call that an item stands for. `payload` is item->size bytes, aligned for any structure,
 * and is changed. VT_BAD_PARAMETER: not what the item's kind has. */
TBRW_U32 writer_put(struct writer *w, const struct dat_item *item, unsigned char *payload);

#endif
