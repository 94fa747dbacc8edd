#include "tbrw/api/section.h"
#include "tbrw/bind/bind.h"
#include "tbrw/file/record.h"
#include <string.h>

TBRW_U32 TBRW_add_module(TBRW_PTR ptr, TBRW_MODULE *module)
{
	struct tb5_file *file;
	TBRW_U32 code = tb5_global_begin_write(ptr, TBRW_MODULE_SECTION, &file);
	TBRW_MODULE record;

	if (code != VT_SUCCESS)
		return code;
	if (!module)
		return VT_UNEXPECTED_NULL_PTR;
	if (module->module_size != sizeof(*module))
		return VT_UNSUPPORTED_DATA_SIZE;
	memset(&record, 0, sizeof(record));
	record.module_size = module->module_size;
	record.module_reserved = module->module_reserved;
	record.module_associated_pid = module->module_associated_pid;
	record.module_flags = module->module_flags;
	record.module_event_when = module->module_event_when;
	record.module_segment_number = module->module_segment_number;
	record.module_segment_type = module->module_segment_type;
	record.module_code_selector = module->module_code_selector;
	record.module_length = module->module_length;
	record.module_load_address = module->module_load_address;
	record.reserved_for_legacy = module->reserved_for_legacy;
	record.reserved_for_legacy2 = module->reserved_for_legacy2;
	record.reserved_for_legacy_flags = module->reserved_for_legacy_flags;
	record.reserved1 = module->reserved1;
	record.module_unload_tsc = module->module_unload_tsc;
	code = tb5_file_intern(file, module->module_path, &record.module_path);
	if (code == VT_SUCCESS)
		code = tb5_file_intern(file, module->module_name, &record.module_name);
	if (code == VT_SUCCESS)
		code = tb5_file_intern(file, module->module_segment_name,
				       &record.module_segment_name);
	if (code != VT_SUCCESS)
		return code;
	return tb5_file_append(file, tb5_file_seq(file, TB5_MODULES), &record, sizeof(record));
}

TBRW_U32 TBRW_get_one_module(TBRW_PTR ptr, TBRW_U64 module_index, const TBRW_MODULE **p_module)
{
	struct tb5_file *file;
	TBRW_U32 code = tb5_file_get(ptr, &file);
	TBRW_MODULE record;

	if (code != VT_SUCCESS)
		return code;
	if (!p_module)
		return VT_UNEXPECTED_NULL_PTR;
	if (file->sections[TBRW_MODULE_SECTION].state == TB5_WRITING)
		return VT_SECTION_NOT_READABLE;
	code = tb5_record_read(file, tb5_file_seq(file, TB5_MODULES), module_index, &record,
			       sizeof(record));
	if (code != VT_SUCCESS)
		return code;
	file->one_module = record;
	*p_module = &file->one_module;
	return VT_SUCCESS;
}

struct module_emit {
	TBRW_MODULE_CALLBACK *callback;
	void *user;
};

static TBRW_U32 emit_modules(void *records, TBRW_U32 size, TBRW_U32 count, void *context)
{
	struct module_emit *e = context;

	return e->callback(records, size, count, e->user);
}

TBRW_U32 TBRW_enumerate_modules(TBRW_PTR ptr, TBRW_MODULE_CALLBACK *callback_func, void *user_ptr,
				TBRW_U64 start_index)
{
	struct module_emit emit = {callback_func, user_ptr};
	struct tb5_record_source source = {.size = sizeof(TBRW_MODULE)};
	struct tb5_file *file;
	TBRW_U32 code = tb5_global_begin_read(ptr, TBRW_MODULE_SECTION, &file);

	if (code != VT_SUCCESS)
		return code;
	if (!callback_func)
		return VT_UNEXPECTED_NULL_PTR;
	source.seq = tb5_file_seq(file, TB5_MODULES);
	return tb5_enumerate(file, tb5_fetch_records, &source,
			     tb5_seq_size(source.seq) / source.size, source.size, start_index,
			     emit_modules, &emit);
}
