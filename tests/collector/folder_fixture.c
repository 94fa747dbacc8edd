#include "tests/collector/folder_fixture.h"

#include <check.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[sizeof("/tmp/tbcollect-XXXXXX")];

const char *folder_fixture_make(void)
{
	strcpy(folder, "/tmp/tbcollect-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	ck_assert_int_eq(chdir(folder), 0);
	return folder;
}

static int remove_one(const char *path, const struct stat *status, int flag, struct FTW *place)
{
	(void)status;
	(void)flag;
	(void)place;
	return remove(path);
}

void folder_fixture_remove(void)
{
	ck_assert_int_eq(chdir("/"), 0);
	ck_assert_int_eq(nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
}
