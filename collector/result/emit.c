#include "collector/result/emit.h"

#include "collector/host/host.h"
#include "profile/write/writer.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct emit {
	struct profile_writer *writer;
	TBRW_U32 code;   /* first failure */
	int error;       /* errno at that moment */
	char name[4352]; /* of the result, for messages */
};

static void keep_failure(struct emit *emit, TBRW_U32 code)
{
	if (code == VT_SUCCESS || emit->code != VT_SUCCESS)
		return;
	emit->code = code;
	emit->error = errno;
}

/* The library's words for a code, as a multibyte string. */
static void describe_code(TBRW_U32 code, int error, char *text, size_t size)
{
	const TBRW_CHAR *wide = NULL;
	TBRW_U32 length = (TBRW_U32)size;
	if (code == VT_NO_SPACE)
		snprintf(text, size, "no space left on the device");
	else if (code == VT_WRITE_ERROR && error != 0)
		snprintf(text, size, "%s", strerror(error));
	else if (TBRW_error_string(code, &wide) != VT_SUCCESS ||
		 TBRW_convert_wcs_to_utf8(wide, text, &length) != VT_SUCCESS)
		snprintf(text, size, "error %u", code);
}

int emit_create(const char *path, const char *name, const struct profile_clock *clock,
		uint64_t interval_ns, const char *const *events, struct emit **result,
		struct failure *failure)
{
	struct profile_run run = {.clock = *clock,
				  .interval_ns = interval_ns,
				  .event_name = "CPU Time",
				  .added_events = events};
	struct emit *emit = calloc(1, sizeof(*emit));
	if (!emit)
		return failure_set(failure, FAILURE_EXIT, "out of memory");
	snprintf(emit->name, sizeof(emit->name), "%s", name);
	errno = 0;
	TBRW_U32 code = profile_writer_create(path, &run, &emit->writer);
	if (code != VT_SUCCESS) {
		int error = errno;
		char text[256];
		describe_code(code, error, text, sizeof(text));
		if (error == EMFILE || error == ENFILE || error == ENOMEM)
			failure_set_error(failure, error, "cannot create the result %s", name);
		failure_set(failure, FAILURE_EXIT,
			    "cannot create the result %s: %s; choose another place with -r", name,
			    error != 0 ? strerror(error) : text);
		free(emit);
		return -1;
	}
	*result = emit;
	return 0;
}

void emit_host(struct emit *emit)
{
	struct host *host = host_create();
	emit_other_host(emit, host);
	host_destroy(host);
}

void emit_other_host(struct emit *emit, struct host *host)
{
	if (!host)
		return;
	keep_failure(emit, profile_writer_set_system(emit->writer, &host->system));
	keep_failure(emit, profile_writer_set_software(emit->writer, &host->host, &host->os,
						       &host->application));
}

uint32_t emit_image(struct emit *emit, const struct profile_image *image, const char *path)
{
	uint32_t index = 0;
	keep_failure(emit, profile_writer_add_image(emit->writer, image, path, &index));
	return index;
}

void emit_frame(struct emit *emit, const struct profile_frame *frame)
{
	keep_failure(emit, profile_writer_add_frame(emit->writer, frame));
}

void emit_node(struct emit *emit, const struct profile_node *node)
{
	keep_failure(emit, profile_writer_add_node(emit->writer, node));
}

void emit_sample(struct emit *emit, const struct profile_sample *sample)
{
	keep_failure(emit, profile_writer_add_sample(emit->writer, sample));
}

void emit_module_load(struct emit *emit, const struct profile_module *module)
{
	keep_failure(emit, profile_writer_add_module(emit->writer, module));
}

void emit_module_unload(struct emit *emit, const struct profile_module *module)
{
	keep_failure(emit, profile_writer_end_module(emit->writer, module));
}

void emit_process(struct emit *emit, const struct profile_process *process)
{
	keep_failure(emit, profile_writer_add_process(emit->writer, process));
}

void emit_thread(struct emit *emit, const struct profile_thread_life *thread)
{
	keep_failure(emit, profile_writer_add_thread(emit->writer, thread));
}

uint32_t emit_object(struct emit *emit, const struct profile_object *object, const char *name)
{
	uint32_t index = 0;
	keep_failure(emit, profile_writer_add_object(emit->writer, object, name, &index));
	return index;
}

void emit_slice(struct emit *emit, const struct profile_slice *slice, uint64_t start_ns)
{
	keep_failure(emit, profile_writer_add_slice(emit->writer, slice, start_ns));
}

void emit_wait(struct emit *emit, const struct profile_wait *wait, uint64_t start_ns)
{
	keep_failure(emit, profile_writer_add_wait(emit->writer, wait, start_ns));
}

void emit_record(struct emit *emit, enum profile_stream stream, const void *record,
		 const char *const *texts)
{
	keep_failure(emit, profile_writer_add(emit->writer, stream, record, texts, NULL));
}

void emit_clock(struct emit *emit, const struct profile_clock *clock)
{
	keep_failure(emit, profile_writer_add_clock(emit->writer, clock));
}

void emit_add_note(struct emit *emit, enum profile_note_kind kind, uint64_t time_ns,
		   const struct emit_note *note)
{
	keep_failure(emit, profile_writer_add_note(emit->writer, kind, time_ns, note->value,
						   note->pid, note->tid, note->text));
}

static int fail_to_write(const struct emit *emit, TBRW_U32 code, int error, struct failure *failure)
{
	char text[256];
	describe_code(code, error, text, sizeof(text));
	return failure_set(failure, FAILURE_EXIT,
			   "cannot write the result %s: %s; what was written before is readable, "
			   "make room or choose another place with -r",
			   emit->name, text);
}

int emit_failed(const struct emit *emit, struct failure *failure)
{
	return emit->code == VT_SUCCESS ? 0 : fail_to_write(emit, emit->code, emit->error, failure);
}

int emit_finish(struct emit *emit, const char *analysis, const char *command_line,
		const struct profile_clock *clock, struct failure *failure)
{
	char tool[64];
	snprintf(tool, sizeof(tool), "tbcollect %s", analysis);
	struct profile_run_end end = {command_line, tool, *clock};
	int result = emit_failed(emit, failure);
	if (result < 0) {
		emit_abandon(emit);
		return -1;
	}
	errno = 0;
	TBRW_U32 code = profile_writer_finish(emit->writer, &end);
	if (code != VT_SUCCESS)
		result = fail_to_write(emit, code, errno, failure);
	free(emit);
	return result;
}

void emit_abandon(struct emit *emit)
{
	if (!emit)
		return;
	profile_writer_abandon(emit->writer);
	free(emit);
}
