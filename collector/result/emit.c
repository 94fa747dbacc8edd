#include "collector/result/emit.h"

#include "collector/machine/host.h"
#include "collector/machine/registers.h"
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

static void keep(struct emit *emit, TBRW_U32 code)
{
	if (code == VT_SUCCESS || emit->code != VT_SUCCESS)
		return;
	emit->code = code;
	emit->error = errno;
}

/* The library's words for a code, as a multibyte string. */
static void describe(TBRW_U32 code, int error, char *text, size_t size)
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
		uint64_t interval_ns, struct emit **result, struct failure *failure)
{
	struct profile_run run = {.clock = *clock,
				  .interval_ns = interval_ns,
				  .event_name = "CPU Time"};
	struct emit *emit = calloc(1, sizeof(*emit));
	if (!emit)
		return failure_set(failure, FAILURE_EXIT, "out of memory");
	snprintf(emit->name, sizeof(emit->name), "%s", name);
	errno = 0;
	TBRW_U32 code = profile_writer_create(path, &run, &emit->writer);
	if (code != VT_SUCCESS) {
		int error = errno;
		char text[256];
		describe(code, error, text, sizeof(text));
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

void emit_host(struct emit *emit, struct host *host)
{
	if (emit->code != VT_SUCCESS)
		return;
	keep(emit, profile_writer_set_system(emit->writer, host_system(host)));
	keep(emit, profile_writer_set_software(emit->writer, host_host(host), host_os(host),
					       host_application(host)));
}

uint32_t emit_image(struct emit *emit, const struct profile_image *image, const char *path)
{
	uint32_t index = 0;
	if (emit->code == VT_SUCCESS)
		keep(emit, profile_writer_add_image(emit->writer, image, path, &index));
	return index;
}

void emit_frame(struct emit *emit, const struct profile_frame *frame)
{
	if (emit->code == VT_SUCCESS)
		keep(emit, profile_writer_add_frame(emit->writer, frame));
}

void emit_node(struct emit *emit, const struct profile_node *node)
{
	if (emit->code == VT_SUCCESS)
		keep(emit, profile_writer_add_node(emit->writer, node));
}

void emit_sample(struct emit *emit, const struct emit_sample *sample)
{
	if (emit->code != VT_SUCCESS)
		return;
	struct profile_sample out = {
		.time_ns = sample->time_ns,
		.ip = sample->ip,
		.flags = sample->processor_flags,
		.pid = sample->pid,
		.tid = sample->tid,
		.cpu = (uint16_t)(sample->cpu & 0xfff), /* the guide's field has 12 bits */
		.cs = sample->code_segment,
		.is_32bit = sample->is_32bit,
		.stack = sample->stack,
	};
	keep(emit, profile_writer_add_sample(emit->writer, &out));
}

static struct profile_module make_module(uint32_t pid, const struct mapping *mapping,
					 const char *path)
{
	return (struct profile_module){
		.pid = pid,
		.image = mapping->image,
		.start = mapping->start,
		.length = mapping->end - mapping->start,
		.pgoff = mapping->pgoff,
		.load_ns = mapping->load_ns,
		.unload_ns = PROFILE_TIME_NEVER,
		.path = path,
		.cs = registers_machine(mapping->is_32bit)->selector,
		.is_32bit = mapping->is_32bit,
		.is_executable = mapping->is_main,
	};
}

void emit_module_load(struct emit *emit, uint32_t pid, const struct mapping *mapping,
		      const char *path, bool is_first)
{
	struct profile_module module = make_module(pid, mapping, path);
	module.is_first = is_first;
	if (emit->code == VT_SUCCESS)
		keep(emit, profile_writer_add_module(emit->writer, &module));
}

void emit_module_unload(struct emit *emit, uint32_t pid, const struct mapping *mapping,
			const char *path, uint64_t time_ns)
{
	struct profile_module module = make_module(pid, mapping, path);
	module.unload_ns = time_ns;
	if (emit->code == VT_SUCCESS)
		keep(emit, profile_writer_end_module(emit->writer, &module));
}

void emit_process(struct emit *emit, uint32_t pid, const char *name, const char *path,
		  uint64_t start_ns, uint64_t end_ns)
{
	struct profile_process process = {pid, start_ns, end_ns, path, name};
	if (emit->code == VT_SUCCESS)
		keep(emit, profile_writer_add_process(emit->writer, &process));
}

void emit_thread(struct emit *emit, const struct emit_thread *thread)
{
	struct profile_thread_life life = {
		.pid = thread->pid,
		.tid = thread->tid,
		.start_ns = thread->start_ns,
		.end_ns = thread->end_ns,
		.cpu_ns = thread->cpu_ns,
		.rest_ns = thread->rest_ns,
		.sampled_ns = thread->sampled_ns,
		.kernel_ns = thread->kernel_ns,
		.unseen_ns = thread->unseen_ns,
		.samples = thread->samples,
		.flags = thread->by_clock ? PROFILE_THREAD_CPU_BY_CLOCK : 0,
		.name = thread->name,
		.unwinding = thread->unwinding,
	};
	if (emit->code == VT_SUCCESS)
		keep(emit, profile_writer_add_thread(emit->writer, &life));
}

void emit_image_unwinding(struct emit *emit, uint32_t image,
			  const struct profile_unwinding *unwinding)
{
	if (emit->code == VT_SUCCESS)
		keep(emit, profile_writer_add_image_unwinding(emit->writer, image, unwinding));
}

void emit_clock(struct emit *emit, const struct profile_clock *clock)
{
	if (emit->code == VT_SUCCESS)
		keep(emit, profile_writer_add_clock(emit->writer, clock));
}

void emit_note(struct emit *emit, enum profile_note_kind kind, uint64_t time_ns, uint64_t value,
	       uint32_t pid, uint32_t tid, const char *text)
{
	if (emit->code == VT_SUCCESS)
		keep(emit,
		     profile_writer_add_note(emit->writer, kind, time_ns, value, pid, tid, text));
}

static int fail(const struct emit *emit, TBRW_U32 code, int error, struct failure *failure)
{
	char text[256];
	describe(code, error, text, sizeof(text));
	return failure_set(failure, FAILURE_EXIT,
			   "cannot write the result %s: %s; what was written before is readable, "
			   "make room or choose another place with -r",
			   emit->name, text);
}

int emit_failed(const struct emit *emit, struct failure *failure)
{
	return emit->code == VT_SUCCESS ? 0 : fail(emit, emit->code, emit->error, failure);
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
		result = fail(emit, code, errno, failure);
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
