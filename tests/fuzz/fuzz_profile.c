/* Feeds the profile reader with hostile files (tb5_script.h): what reader.h promises of any file
 * holds. */
#include "tests/fuzz/tb5_script.h"
#include "tests/profile/fixture.h"
#include <stdio.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct profile_reader *reader = NULL;
	int fd = tb5_script_run(data, size);
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (profile_reader_open(path, &reader) == VT_SUCCESS)
		fixture_check_promises(reader);
	profile_reader_close(reader);
	close(fd);
	return 0;
}
