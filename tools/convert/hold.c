#include "tools/convert/hold.h"

#include "profile/base/place.h"
#include "tools/memory/xalloc.h"
#include "tools/terminal/diagnose.h"
#include "tools/text/path.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

static char *name_through(int directory, const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	size_t size = strlen(name) + 32;
	char *held = xalloc_zeroed(size, 1);
	profile_place_file(directory, name, held, size);
	return held;
}

static int refuse_path(const char *path, enum profile_place place)
{
	switch (place) {
	case PROFILE_PLACE_LINK:
		diagnose("%s: reached through a symbolic link that another user made; run as that "
			 "user, or work on a copy",
			 path);
		break;
	case PROFILE_PLACE_OTHERS:
		diagnose("%s: belongs to another user; run as that user, work on a copy, or use "
			 "finalize --any-owner or recover -o FILE",
			 path);
		break;
	default:
		diagnose("cannot find %s any more: %s; is /proc mounted?", path, strerror(errno));
	}
	return EXIT_FAILURE;
}

int hold_result(const char *path, char **held)
{
	enum profile_place place;
	char *directory = path_directory(path);
	int fd = profile_place_open(directory, &place);
	free(directory);
	if (fd < 0)
		return refuse_path(path, place);
	char *found = name_through(fd, path);
	place = profile_place_of(found);
	if (place == PROFILE_PLACE_OURS) {
		*held = found;
		return 0;
	}
	free(found);
	return refuse_path(path, place);
}

int hold_output(const char *path, char **held)
{
	char *directory = path_directory(path);
	int fd = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
	free(directory);
	if (fd < 0) {
		diagnose("cannot write %s: %s; name another file with -o", path, strerror(errno));
		return EXIT_FAILURE;
	}
	*held = name_through(fd, path);
	return 0;
}
