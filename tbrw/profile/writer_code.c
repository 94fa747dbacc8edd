/* What code is where: images, frames, calling contexts, modules. */
#include "tbrw/profile/tsc.h"
#include "tbrw/profile/writer_private.h"

TBRW_U32 profile_writer_add_image(struct profile_writer *writer, const struct profile_image *image,
				  const char *path, uint32_t *index)
{
	struct profile_image record = *image;

	if (record.build_id_size > sizeof(record.build_id) || writer->image_count == PROFILE_NONE)
		return VT_BAD_PARAMETER;
	TBRW_U32 code = profile_writer_text(writer, path, &record.path);
	if (code == VT_SUCCESS)
		code = profile_writer_append(writer, PROFILE_STREAM_ID_IMAGES, &record,
					     sizeof(record));
	if (code == VT_SUCCESS)
		*index = writer->image_count++;
	return code;
}

TBRW_U32 profile_writer_add_frame(struct profile_writer *writer, const struct profile_frame *frame)
{
	if (frame->image >= writer->image_count || writer->frame_count == PROFILE_NONE)
		return VT_BAD_PARAMETER;
	TBRW_U32 code =
		profile_writer_append(writer, PROFILE_STREAM_ID_FRAMES, frame, sizeof(*frame));
	writer->frame_count += code == VT_SUCCESS;
	return code;
}

TBRW_U32 profile_writer_add_node(struct profile_writer *writer, const struct profile_node *node)
{
	if (node->parent >= writer->node_count || node->frame >= writer->frame_count ||
	    writer->node_count == PROFILE_NONE)
		return VT_BAD_PARAMETER;
	TBRW_U32 code = profile_writer_append(writer, PROFILE_STREAM_ID_NODES, node, sizeof(*node));
	writer->node_count += code == VT_SUCCESS;
	return code;
}

static TBRW_U32 module_flags(const struct profile_module *module, bool is_loaded)
{
	TBRW_U32 flags = TBRW_MODULE_TSC_USED;

	flags |= is_loaded ? TBRW_MODULE_LOADED : TBRW_MODULE_UNLOADED;
	if (module->is_executable)
		flags |= TBRW_MODULE_IS_EXE;
	if (module->is_global)
		flags |= TBRW_MODULE_GLOBAL_LOAD;
	if (module->is_first && is_loaded)
		flags |= TBRW_MODULE_1ST_MODULE_REC_IN_PROCESS;
	return flags;
}

static TBRW_U32 write_module(struct profile_writer *writer, const struct profile_module *module,
			     bool is_loaded)
{
	if (writer->error != VT_SUCCESS)
		return writer->error;
	if (module->image >= writer->image_count || writer->module_record_count == PROFILE_NONE)
		return VT_BAD_PARAMETER;
	if (!profile_wide_set(&writer->path, module->path) ||
	    !profile_wide_set(&writer->name, profile_path_name(module->path)))
		return profile_writer_keep(writer, VT_NO_MEMORY);
	uint64_t unload_ns = is_loaded ? PROFILE_TIME_NEVER : module->unload_ns;
	TBRW_MODULE record = {
		.module_size = sizeof(record),
		.module_associated_pid = module->pid,
		.module_flags = module_flags(module, is_loaded),
		.module_event_when = profile_tsc_from_raw(&writer->first, module->load_ns),
		.module_segment_type = module->is_32bit ? TBRW_MODE_32BIT : TBRW_MODE_64BIT,
		.module_code_selector = module->cs,
		.module_length = module->length,
		.module_load_address = module->start,
		.module_unload_tsc = profile_tsc_from_raw(&writer->first, unload_ns),
		.module_path.soi_ptr = writer->path.text,
		.module_name.soi_ptr = writer->name.text,
	};
	TBRW_U32 code = TBRW_add_module(writer->file, &record);
	if (code != VT_SUCCESS)
		return profile_writer_keep(writer, code);
	writer->bytes += sizeof(record);
	writer->module_record_count++;
	return VT_SUCCESS;
}

TBRW_U32 profile_writer_add_module(struct profile_writer *writer,
				   const struct profile_module *module)
{
	struct profile_mapping mapping = {
		.module_index = writer->module_record_count,
		.image = module->image,
		.pgoff = module->pgoff,
		.pid = module->pid,
	};
	TBRW_U32 code = write_module(writer, module, true);

	if (code == VT_SUCCESS)
		code = profile_writer_append(writer, PROFILE_STREAM_ID_MAPPINGS, &mapping,
					     sizeof(mapping));
	return code;
}

TBRW_U32 profile_writer_end_module(struct profile_writer *writer,
				   const struct profile_module *module)
{
	return write_module(writer, module, false);
}
