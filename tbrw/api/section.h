/* Which sections and streams are open for what. */
#ifndef TBRW_SECTION_H
#define TBRW_SECTION_H

#include "tbrw/file/file.h"

/* The file, if its global section may be written now, or read. */
TBRW_U32 tb5_global_begin_write(TBRW_PTR ptr, TBRW_SECTION_IDENTIFIER section,
				struct tb5_file **file);
TBRW_U32 tb5_global_begin_read(TBRW_PTR ptr, TBRW_SECTION_IDENTIFIER section,
			       struct tb5_file **file);

/* The file and the stream, if that section of the stream may be written now, or read. */
TBRW_U32 tb5_stream_begin_write(TBRW_PTR ptr, TBRW_U32 number,
				TBRW_STREAM_SECTION_IDENTIFIER section, struct tb5_file **file,
				struct tb5_stream **stream);
TBRW_U32 tb5_stream_begin_read(TBRW_PTR ptr, TBRW_U32 number,
			       TBRW_STREAM_SECTION_IDENTIFIER section, struct tb5_file **file,
			       struct tb5_stream **stream);

#endif
