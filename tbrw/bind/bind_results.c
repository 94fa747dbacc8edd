/* The streams of bind's results in a file. */
#include "tbrw/bind/bind.h"
#include "tbrw/file/content.h"
#include "tbrw/file/file.h"

static uint64_t stream_entries(struct tb5_stream *stream, size_t size)
{
	return tb5_seq_size(tb5_stream_seq(stream, TB5_DATA)) / size;
}

static struct tb5_stream **bind_slot(struct tb5_bind_set *set, uint32_t type)
{
	switch (type) {
	case TBRW_BIND_DATA_INFORMATION_STREAM:
		return &set->data;
	case TBRW_BIND_MODULE_INFORMATION_STREAM:
		return &set->module;
	case TBRW_BIND_PID_INFORMATION_STREAM:
		return &set->pid;
	case TBRW_BIND_TID_INFORMATION_STREAM:
		return &set->tid;
	default:
		return NULL;
	}
}

/* The type of a stream, done and not dropped; *found false: the stream is not, or has no type. */
static TBRW_U32 stream_type(struct tb5_file *file, struct tb5_stream *stream, TBRW_U32 *type,
			    bool *found)
{
	TBRW_STREAM_INFO info;

	*found = false;
	if (stream->dropped || stream->whole.state != TB5_DONE)
		return VT_SUCCESS;
	TBRW_U32 code = tb5_record_read(file, tb5_stream_seq(stream, TB5_STREAM_INFO), 0, &info,
					sizeof(info));
	if (code == VT_ENTRY_NOT_FOUND)
		return VT_SUCCESS;
	*found = code == VT_SUCCESS;
	*type = info.stream_type;
	return code;
}

/* Calls `see` with each stream of a bind's results, and the stream's place in *set. */
static TBRW_U32 each_bind_stream(struct tb5_file *file, struct tb5_bind_set *set,
				 TBRW_U32 (*see)(struct tb5_file *file, struct tb5_stream *stream,
						 struct tb5_stream **slot))
{
	for (uint32_t n = 0; n < file->stream_count; n++) {
		TBRW_U32 type;
		bool found;
		TBRW_U32 code = stream_type(file, file->streams[n], &type, &found);
		struct tb5_stream **slot = found ? bind_slot(set, type) : NULL;
		if (code == VT_SUCCESS && slot)
			code = see(file, file->streams[n], slot);
		if (code != VT_SUCCESS)
			return code;
	}
	return VT_SUCCESS;
}

static TBRW_U32 take_stream(struct tb5_file *file, struct tb5_stream *stream,
			    struct tb5_stream **slot)
{
	(void)file;
	*slot = stream;
	return VT_SUCCESS;
}

static bool bind_fits(struct tb5_file *file, const struct tb5_bind_set *set)
{
	uint64_t modules = tb5_seq_size(tb5_file_seq(file, TB5_MODULES)) / sizeof(TBRW_MODULE);
	struct tb5_layout layout;

	return tb5_layout_read(file, file->streams[0], &layout) == VT_SUCCESS &&
	       stream_entries(set->data, sizeof(DATA_BIND_STRUCT)) ==
		       stream_entries(file->streams[0], layout.entry_size) &&
	       stream_entries(set->module, sizeof(MODULE_BIND_STRUCT)) == modules &&
	       stream_entries(set->tid, sizeof(struct tb5_bind_tid)) >= tb5_threads_written(file);
}

TBRW_U32 tb5_bind_find(struct tb5_file *file)
{
	struct tb5_bind_set set = {NULL, NULL, NULL, NULL};

	if (file->bind_known)
		return VT_SUCCESS;
	file->bound = false;
	TBRW_U32 code = each_bind_stream(file, &set, take_stream);
	if (code != VT_SUCCESS)
		return code;
	if (set.data && set.module && set.pid && set.tid) {
		if (!bind_fits(file, &set))
			return VT_UNEXPECTED_BIND_MISMATCH;
		file->bind = set;
		file->bound = true;
	}
	file->bind_known = true;
	return VT_SUCCESS;
}

TBRW_U32 tb5_bind_require(struct tb5_file *file, bool has_callback, TBRW_U32 unbound)
{
	TBRW_U32 code = tb5_bind_find(file);

	if (code != VT_SUCCESS)
		return code;
	if (!has_callback)
		return VT_UNEXPECTED_NULL_PTR;
	return file->bound ? VT_SUCCESS : unbound;
}

static TBRW_U32 check_unused(struct tb5_file *file, struct tb5_stream *stream,
			     struct tb5_stream **slot)
{
	(void)file;
	(void)slot;
	return stream->whole.reading ? VT_STREAM_ALREADY_IN_USE : VT_SUCCESS;
}

static TBRW_U32 drop_stream(struct tb5_file *file, struct tb5_stream *stream,
			    struct tb5_stream **slot)
{
	uint32_t number = tb5_stream_seq(stream, TB5_DATA)->stream;
	TBRW_U32 code = VT_SUCCESS;

	(void)slot;
	if (file->writable)
		code = tb5_file_mark(file, &file->store, TB5_KIND_STREAM_DROPPED, 0, number);
	if (code == VT_SUCCESS)
		stream->dropped = true;
	return code;
}

TBRW_U32 tb5_bind_drop(struct tb5_file *file)
{
	struct tb5_bind_set any = {NULL, NULL, NULL, NULL};
	TBRW_U32 code = each_bind_stream(file, &any, check_unused);

	if (code == VT_SUCCESS)
		code = each_bind_stream(file, &any, drop_stream);
	file->bind_known = false;
	return code;
}
