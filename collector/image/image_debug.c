#include "collector/image/image_debug.h"

#include "program/build_id.h"
#include "program/debug_file.h"

enum {
	LINK_MAX = 256,
	CHECKED_MAX = 64 * 1024 * 1024 /* of a debug file without a build-id: 0.1 s */
};

static int take_debug(void *user, int fd, const struct stat *status, const char *path)
{
	(void)status;
	(void)path;
	return uw_module_add_debug(user, fd);
}

void image_debug_add(struct uw_module *module, const char *path, uint32_t owner)
{
	uint8_t build_id[BUILD_ID_MAX];
	char link[LINK_MAX];
	if (!uw_module_lacks_info(module))
		return;
	struct debug_file_search search = {.directories = DEBUG_FILE_DIRECTORIES,
					   .file = path,
					   .owner = owner,
					   .id = build_id,
					   .checked_max = CHECKED_MAX};
	search.id_size = uw_module_build_id(module, build_id, sizeof(build_id));
	if (uw_module_debug_link(module, link, sizeof(link), &search.crc) > 0) {
		search.name = link;
		search.has_crc = true;
	}
	debug_file_open(&search, take_debug, module);
}
