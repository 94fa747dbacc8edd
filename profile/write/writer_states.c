/* Objects, slices and waits: the records of what threads did over time. */
#include "profile/base/tsc.h"
#include "profile/write/writer_private.h"

TBRW_U32 profile_writer_add_object(struct profile_writer *writer,
				   const struct profile_object *object, const char *name,
				   uint32_t *index)
{
	return profile_writer_add(writer, PROFILE_STREAM_OBJECTS, object, &name, index);
}

TBRW_U32 profile_writer_add_slice(struct profile_writer *writer, const struct profile_slice *slice,
				  uint64_t start_ns)
{
	struct profile_slice record = *slice;

	record.start_tsc = profile_tsc_from_raw(&writer->first, start_ns);
	return profile_writer_add(writer, PROFILE_STREAM_SLICES, &record, NULL, NULL);
}

TBRW_U32 profile_writer_add_wait(struct profile_writer *writer, const struct profile_wait *wait,
				 uint64_t start_ns)
{
	struct profile_wait record = *wait;

	record.start_tsc = profile_tsc_from_raw(&writer->first, start_ns);
	return profile_writer_add(writer, PROFILE_STREAM_WAITS, &record, NULL, NULL);
}
