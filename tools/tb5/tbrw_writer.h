/* Shared by the parts of tbrw_writer. */
#ifndef TOOLS_TB5_TBRW_WRITER_H
#define TOOLS_TB5_TBRW_WRITER_H

#include "tbrw/tbrw.h"
#include "tools/tb5/tbrw_dat.h"

struct writer {
	TBRW_PTR file;
	const char *folder; /* of the data files */
};

/* Makes the API call of an item and changes `payload`: item->size bytes, aligned for any structure.
 * VT_BAD_PARAMETER: the payload has not the form of the item's kind. */
TBRW_U32 writer_put(struct writer *w, const struct dat_item *item, unsigned char *payload);

#endif
