#include "tools/convert/recover.h"

#include "tools/convert/recover_system.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

/* Stands for the interval if the collector was killed before its first note. */
#define DEFAULT_INTERVAL_NS 10000000u

/* added: room for the names of PROFILE_EVENTS_MAX events, and NULL. */
static struct profile_run describe_run(const struct profile_reader *reader, const char **added)
{
	/* Without a sync point the reader gives times unchanged, and so does this map. */
	struct profile_run run = {
		.clock = {.tsc = 1, .raw_ns = 1, .tsc_per_ns_q32 = UINT64_C(1) << 32},
		.interval_ns = DEFAULT_INTERVAL_NS,
		.event_name = "CPU Time",
	};
	if (profile_reader_clock_count(reader) > 0)
		run.clock = *profile_reader_clock(reader, 0);
	if (profile_reader_interval_ns(reader) > 0)
		run.interval_ns = profile_reader_interval_ns(reader);
	for (uint32_t i = 1; i <= profile_reader_event_count(reader); i++)
		added[i - 1] = profile_reader_event_name(reader, i);
	run.added_events = added;
	return run;
}

static const char *command_of(const struct profile_reader *reader)
{
	const char *command = "";
	for (uint32_t i = 0; i < profile_reader_note_count(reader); i++) {
		const struct profile_note *note = profile_reader_note(reader, i);
		if (note->kind == PROFILE_NOTE_COMMAND)
			command = profile_reader_text(reader, note->text);
	}
	return command;
}

/* The recovered file is complete, what it was made of was not: a note says so. */
static TBRW_U32 add_warning(const struct profile_copy *copy)
{
	if (profile_reader_complete(copy->reader))
		return VT_SUCCESS;
	return profile_writer_add_note(copy->writer, PROFILE_NOTE_WARNING, PROFILE_TIME_BEFORE, 0,
				       0, 0,
				       "recovered from a file that was damaged or never completed; "
				       "what came last is missing");
}

/* The first sync point comes from the creation, the last from the end. */
static TBRW_U32 add_clocks(const struct profile_copy *copy)
{
	uint32_t clocks = profile_reader_clock_count(copy->reader);
	TBRW_U32 code = VT_SUCCESS;
	for (uint32_t i = 1; i + 1 < clocks && code == VT_SUCCESS; i++)
		code = profile_writer_add_clock(copy->writer,
						profile_reader_clock(copy->reader, i));
	return code;
}

static TBRW_U32 finish(const struct profile_copy *copy)
{
	const struct profile_reader *reader = copy->reader;
	uint32_t clocks = profile_reader_clock_count(reader);
	bool is_recovered = !profile_reader_complete(reader);
	struct profile_run_end end = {.command_line = command_of(reader),
				      .comment = is_recovered ? "recovered" : ""};
	if (clocks > 0)
		end.clock = *profile_reader_clock(reader, clocks - 1);
	return profile_writer_finish(copy->writer, &end);
}

static void show_progress(uint64_t count, void *user)
{
	progress_update(user, count);
}

TBRW_U32 recover_copy(struct profile_copy *copy, const char *source, const char *path,
		      struct progress *progress)
{
	const char *added[PROFILE_EVENTS_MAX + 1] = {NULL};
	struct profile_run run = describe_run(copy->reader, added);
	copy->on_sample = show_progress;
	copy->user = progress;
	TBRW_U32 code = profile_writer_create(path, &run, &copy->writer);
	if (code != VT_SUCCESS)
		return code;
	code = recover_system(source, copy->writer);
	if (code == VT_SUCCESS)
		code = profile_copy_all(copy);
	if (code == VT_SUCCESS)
		code = add_warning(copy);
	if (code == VT_SUCCESS)
		code = add_clocks(copy);
	if (code == VT_SUCCESS)
		code = finish(copy);
	else
		profile_writer_abandon(copy->writer);
	if (code == VT_SUCCESS)
		code = profile_copy_symbols(copy, path);
	if (code == VT_SUCCESS)
		code = profile_copy_external(copy, path);
	profile_copy_finish(copy);
	return code;
}

TBRW_U32 recover_write(struct profile_reader *reader, const char *source, const char *path,
		       struct progress *progress)
{
	struct profile_copy copy = {.reader = reader};
	return recover_copy(&copy, source, path, progress);
}

int recover_move(const char *temporary, const char *output)
{
	/* Content reaches the disk before the name changes. */
	int fd = open(temporary, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	int error = fd < 0 || fsync(fd) != 0 ? errno : 0;
	if (fd >= 0)
		close(fd);
	if (!error && rename(temporary, output) != 0)
		error = errno;
	return error;
}
