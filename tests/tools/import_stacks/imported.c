#include "tests/tools/import_stacks/imported.h"

#include "tests/tools/known_result.h"
#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

char imported_path[64];

static void see(uint64_t done, uint64_t total, void *user)
{
	ck_assert_ptr_eq(user, &imported_path);
	ck_assert_uint_le(done, total);
}

int imported_read(import_reader *read, const void *bytes, size_t size)
{
	char path[64];
	snprintf(path, sizeof(path), "%s/file", build_folder);
	snprintf(imported_path, sizeof(imported_path), "%s/imported.tb5", build_folder);
	unlink(imported_path);
	FILE *file = fopen(path, "w");
	ck_assert_ptr_nonnull(file);
	ck_assert_uint_eq(fwrite(bytes, 1, size, file), size);
	ck_assert_int_eq(fclose(file), 0);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	const struct import_input input = {.fd = fd,
					   .name = "file",
					   .size = size,
					   .head = bytes,
					   .see = see,
					   .user = &imported_path,
					   .head_size = size < IMPORT_HEAD_SIZE ? size
										: IMPORT_HEAD_SIZE};
	struct import_events events = {0};
	int status = read(&input, imported_path, imported_path, &events);
	ck_assert_uint_eq(events.count, 0);
	close(fd);
	unlink(path);
	return status;
}

void imported_check(import_reader *read, const void *bytes, size_t size)
{
	ck_assert_int_eq(imported_read(read, bytes, size), 0);
}

char *imported_warnings(void)
{
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);
	struct profile_reader *reader = known_reader(imported_path);
	for (uint32_t i = 0; i < profile_reader_note_count(reader); i++) {
		const struct profile_note *note = profile_reader_note(reader, i);
		if (note->kind == PROFILE_NOTE_WARNING)
			fprintf(stream, "%s\n", profile_reader_text(reader, note->text));
	}
	profile_reader_close(reader);
	fclose(stream);
	return text;
}
