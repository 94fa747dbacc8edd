/* Code and its places: images, frames, calling contexts, modules. */
#include "profile/base/tsc.h"
#include "profile/write/writer_private.h"
#include <string.h>

TBRW_U32 profile_writer_add_image(struct profile_writer *writer, const struct profile_image *image,
				  const char *path, uint32_t *index)
{
	if (image->build_id_size > sizeof(image->build_id))
		return VT_BAD_PARAMETER;
	return profile_writer_add(writer, PROFILE_STREAM_IMAGES, image, &path, index);
}

TBRW_U32 profile_writer_add_frame(struct profile_writer *writer, const struct profile_frame *frame)
{
	return profile_writer_add(writer, PROFILE_STREAM_FRAMES, frame, NULL, NULL);
}

TBRW_U32 profile_writer_add_node(struct profile_writer *writer, const struct profile_node *node)
{
	return profile_writer_add(writer, PROFILE_STREAM_NODES, node, NULL, NULL);
}

/* The last component of a path, for names. */
static const char *path_name(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash && slash[1] ? slash + 1 : path;
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
	if (module->image >= writer->counts[PROFILE_STREAM_IMAGES] ||
	    writer->module_record_count == PROFILE_NONE)
		return VT_BAD_PARAMETER;
	if (!profile_wide_set(&writer->path, module->path) ||
	    !profile_wide_set(&writer->name, path_name(module->path)))
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
		.rva = module->rva,
	};
	TBRW_U32 code = write_module(writer, module, true);

	if (code == VT_SUCCESS)
		code = profile_writer_add(writer, PROFILE_STREAM_MAPPINGS, &mapping, NULL, NULL);
	return code;
}

TBRW_U32 profile_writer_end_module(struct profile_writer *writer,
				   const struct profile_module *module)
{
	return write_module(writer, module, false);
}
