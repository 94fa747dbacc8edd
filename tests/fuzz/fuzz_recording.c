/*
 * Imports any bytes as a recording (collector/recording): header, events, compressed records, order
 * of time, mappings and stacks, up to a result on a file system in memory. What was written must
 * open with the profile reader. The files that the input names are opened as those of a real one
 * are.
 */
#include "collector/recording/recording.h"
#include "profile/read/reader.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool holds)
{
	if (!holds)
		abort();
}

static void check_result(const char *path, const struct recording_summary *summary)
{
	struct profile_reader *reader;
	expect(profile_reader_open(path, &reader) == VT_SUCCESS);
	expect(profile_reader_sample_count(reader) == summary->samples);
	profile_reader_close(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[64];
	struct failure failure = {0};
	struct recording_summary summary;
	int fd = memfd_create("recording", MFD_CLOEXEC);
	expect(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	snprintf(path, sizeof(path), "/dev/shm/fuzz_recording-%d.tb5", (int)getpid());
	unlink(path);
	const struct recording_request request = {.fd = fd,
						  .name = "input",
						  .path = path,
						  .result = "result",
						  .version = "0",
						  .collapse = size % 2 == 0};
	if (recording_import(&request, &summary, &failure) == 0)
		check_result(path, &summary);
	else
		expect(failure.exit_status != 0 && failure.text[0]);
	recording_summary_finish(&summary);
	close(fd);
	unlink(path);
	return 0;
}
