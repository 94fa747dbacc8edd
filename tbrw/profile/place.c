#include "tbrw/profile/place.h"

#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_trusted(const struct stat *status)
{
	return status->st_uid == geteuid() || status->st_uid == 0;
}

enum profile_place profile_place_of(const char *path)
{
	struct stat status;
	if (lstat(path, &status) < 0)
		return PROFILE_PLACE_MISSING;
	if (S_ISLNK(status.st_mode)) {
		if (!is_trusted(&status))
			return PROFILE_PLACE_LINK;
		if (stat(path, &status) < 0)
			return PROFILE_PLACE_MISSING;
	}
	return is_trusted(&status) ? PROFILE_PLACE_OURS : PROFILE_PLACE_OTHERS;
}
