#include "tools/modules/image_identity.h"

#include "tools/memory/xalloc.h"
#include <stdlib.h>

/* Per image: when a process first mapped it, CLOCK_MONOTONIC_RAW; UINT64_MAX: not known. */
static uint64_t *find_mapped_ns(const struct profile_reader *reader)
{
	uint32_t count = profile_reader_image_count(reader);
	uint64_t *mapped_ns = xalloc_zeroed(count, sizeof(*mapped_ns));
	for (uint32_t i = 0; i < count; i++)
		mapped_ns[i] = UINT64_MAX;
	for (uint32_t i = 0; i < profile_reader_module_count(reader); i++) {
		const struct profile_module_info *module = profile_reader_module(reader, i);
		uint64_t load_ns = profile_reader_raw_ns(reader, module->load_tsc);
		if (module->image < count && load_ns < mapped_ns[module->image])
			mapped_ns[module->image] = load_ns;
	}
	return mapped_ns;
}

/* A time of the collection as CLOCK_REALTIME, by the last sync point before; the sync points are in
 * order, and there is one. */
static int64_t date_of(const struct profile_reader *reader, uint64_t raw_ns)
{
	uint32_t first = 0;
	uint32_t end = profile_reader_clock_count(reader);
	while (end - first > 1) {
		uint32_t middle = first + (end - first) / 2;
		if (profile_reader_clock(reader, middle)->raw_ns <= raw_ns)
			first = middle;
		else
			end = middle;
	}
	const struct profile_clock *clock = profile_reader_clock(reader, first);
	return (int64_t)(clock->real_ns + (raw_ns - clock->raw_ns));
}

int64_t *image_identity_dates(const struct profile_reader *reader)
{
	uint32_t count = profile_reader_image_count(reader);
	int64_t *dates = xalloc_zeroed(count, sizeof(*dates));
	if (profile_reader_clock_count(reader) == 0)
		return dates;
	uint64_t start = profile_reader_clock(reader, 0)->raw_ns;
	uint64_t *mapped_ns = find_mapped_ns(reader);
	for (uint32_t i = 0; i < count; i++)
		if (mapped_ns[i] != UINT64_MAX)
			dates[i] = date_of(reader, mapped_ns[i] > start ? mapped_ns[i] : start);
	free(mapped_ns);
	return dates;
}

bool image_identity_make(const struct profile_reader *reader, const int64_t *dates, uint32_t image,
			 struct mapped_file *identity)
{
	const struct profile_image *of = profile_reader_image(reader, image);
	*identity = (struct mapped_file){
		.path = profile_reader_text(reader, of->path),
		.build_id = of->build_id,
		.build_id_size = of->build_id_size <= sizeof(of->build_id) ? of->build_id_size
									   : sizeof(of->build_id),
		.inode = of->inode,
		.pid = of->pid,
	};
	if (identity->build_id_size > 0)
		return true;
	identity->mapped_ns = dates[image];
	/* The collector saw the change at the time: no date is better. */
	return !(of->flags & PROFILE_IMAGE_CHANGED);
}
