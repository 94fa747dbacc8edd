/* The module section. */
#include "tbrw/api/access.h"
#include "tbrw/file/content.h"
#include "tbrw/file/file.h"

TBRW_U32 TBRW_add_module(TBRW_PTR ptr, TBRW_MODULE *module)
{
	return tb5_access_add(ptr, TB5_NO_STREAM, TB5_MODULES, module);
}

TBRW_U32 TBRW_get_one_module(TBRW_PTR ptr, TBRW_U64 module_index, const TBRW_MODULE **p_module)
{
	struct tb5_file *file;
	TBRW_MODULE record;
	TBRW_U32 code = tb5_file_get(ptr, &file);

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

TBRW_U32 TBRW_enumerate_modules(TBRW_PTR ptr, TBRW_MODULE_CALLBACK *callback_func, void *user_ptr,
				TBRW_U64 start_index)
{
	struct tb5_callback callback = {TB5_MODULES, user_ptr, {.modules = callback_func}};

	return tb5_access_enumerate(ptr, TB5_NO_STREAM, start_index, callback, NULL, NULL);
}
