#include "tests/collector/fake_emit.h"

#include <check.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN_MAX = 3000 };

struct emit {
	char *lines;
	size_t size;
	size_t capacity;
	uint32_t images;
	uint32_t frames;
	uint32_t nodes;
	uint32_t objects; /* 0 is the unknown one */
	struct profile_wait last_wait;
	struct profile_node *node_items; /* by id */
	size_t node_capacity;
	struct profile_sample last_sample;
	struct profile_thread_life last_thread;
	struct profile_image last_image;
	struct profile_unwinding unwindings[PROFILE_UNWINDING_DEEP + 1];
	uint64_t last_end_ns; /* of slices */
	struct fake_emit_sums sums;
};

static void add_line(struct emit *emit, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void add_line(struct emit *emit, const char *format, ...)
{
	char line[1024];
	va_list args;
	va_start(args, format);
	int length = vsnprintf(line, sizeof(line) - 1, format, args);
	va_end(args);
	ck_assert_int_ge(length, 0);
	ck_assert_uint_lt((size_t)length, sizeof(line) - 1);
	line[length++] = '\n';
	if (emit->size + (size_t)length + 1 > emit->capacity) {
		emit->capacity = 2 * emit->capacity + sizeof(line);
		emit->lines = realloc(emit->lines, emit->capacity);
		ck_assert_ptr_nonnull(emit->lines);
	}
	memcpy(emit->lines + emit->size, line, (size_t)length);
	emit->size += (size_t)length;
	emit->lines[emit->size] = '\0';
}

struct emit *fake_emit_create(void)
{
	struct emit *emit = calloc(1, sizeof(*emit));
	ck_assert_ptr_nonnull(emit);
	emit->images = emit->nodes = 1; /* 0 is the unknown image, and the root */
	return emit;
}

void fake_emit_destroy(struct emit *emit)
{
	free(emit->lines);
	free(emit->node_items);
	free(emit);
}

const char *fake_emit_lines(const struct emit *emit)
{
	return emit->size > 0 ? emit->lines : "";
}

void fake_emit_clear(struct emit *emit)
{
	emit->size = 0;
}

size_t fake_emit_count(const struct emit *emit, const char *prefix)
{
	size_t count = 0;
	size_t length = strlen(prefix);
	for (const char *line = fake_emit_lines(emit); *line != '\0'; line = strchr(line, '\n') + 1)
		count += strncmp(line, prefix, length) == 0;
	return count;
}

void fake_emit_assert(const struct emit *emit, const char *line, size_t times)
{
	size_t count = 0;
	size_t length = strlen(line);
	for (const char *at = fake_emit_lines(emit); *at != '\0'; at = strchr(at, '\n') + 1)
		count += strncmp(at, line, length) == 0 && at[length] == '\n';
	/* check has no room for many lines. */
	const char *last = fake_emit_lines(emit);
	if (emit->size > SHOWN_MAX)
		last += emit->size - SHOWN_MAX;
	ck_assert_msg(count == times, "'%s' is there %zu times, not %zu, in:\n%s", line, count,
		      times, last);
}

struct profile_sample fake_emit_last_sample(const struct emit *emit)
{
	return emit->last_sample;
}

struct profile_wait fake_emit_last_wait(const struct emit *emit)
{
	return emit->last_wait;
}

struct profile_node fake_emit_node(const struct emit *emit, uint32_t node)
{
	if (node == 0 || node >= emit->nodes)
		ck_abort_msg("no node %u", node);
	return emit->node_items[node];
}

struct profile_image fake_emit_last_image(const struct emit *emit)
{
	return emit->last_image;
}

struct profile_unwinding fake_emit_unwinding(const struct emit *emit,
					     enum profile_unwinding_kind kind)
{
	return emit->unwindings[kind];
}

struct profile_thread_life fake_emit_last_thread(const struct emit *emit)
{
	return emit->last_thread;
}

struct fake_emit_sums fake_emit_sums(const struct emit *emit)
{
	return emit->sums;
}

struct time_text {
	char text[24];
};

static struct time_text time_text(uint64_t time_ns)
{
	struct time_text out = {"before"};
	if (time_ns == PROFILE_TIME_NEVER)
		strcpy(out.text, "never");
	else if (time_ns != PROFILE_TIME_BEFORE)
		snprintf(out.text, sizeof(out.text), "%" PRIu64, time_ns);
	return out;
}

uint32_t emit_image(struct emit *emit, const struct profile_image *image, const char *path)
{
	emit->last_image = *image;
	add_line(emit, "image %u kind %u flags %u %s", emit->images, image->kind, image->flags,
		 path);
	return emit->images++;
}

void emit_frame(struct emit *emit, const struct profile_frame *frame)
{
	add_line(emit, "frame %u %u+%" PRIx64 " flags %u", emit->frames++, frame->image, frame->rva,
		 frame->flags);
}

void emit_node(struct emit *emit, const struct profile_node *node)
{
	/* What the stream's readers rely on. */
	ck_assert_uint_lt(node->parent, emit->nodes);
	ck_assert_uint_lt(node->frame, emit->frames);
	if (emit->nodes >= emit->node_capacity) {
		emit->node_capacity = 2 * emit->node_capacity + 64;
		emit->node_items = reallocarray(emit->node_items, emit->node_capacity,
						sizeof(*emit->node_items));
		ck_assert_ptr_nonnull(emit->node_items);
	}
	emit->node_items[emit->nodes] = *node;
	add_line(emit, "node %u parent %u frame %u", emit->nodes++, node->parent, node->frame);
}

void emit_sample(struct emit *emit, const struct profile_sample *sample)
{
	ck_assert_uint_lt(sample->stack.node, emit->nodes);
	add_line(emit, "sample %u/%u at %" PRIu64 " weight %" PRIu64 " node %u state %u reason %u",
		 sample->pid, sample->tid, sample->time_ns, sample->stack.cpu_ns,
		 sample->stack.node, sample->stack.state, sample->stack.reason);
	emit->last_sample = *sample;
	emit->sums.samples++;
	emit->sums.weight_ns += sample->stack.cpu_ns;
}

void emit_module_load(struct emit *emit, const struct profile_module *module)
{
	add_line(emit, "load %u %" PRIx64 "-%" PRIx64 " %s at %s%s%s", module->pid, module->start,
		 module->start + module->length, module->path, time_text(module->load_ns).text,
		 module->is_executable ? " main" : "", module->is_first ? " first" : "");
}

void emit_module_unload(struct emit *emit, const struct profile_module *module)
{
	add_line(emit, "unload %u %" PRIx64 "-%" PRIx64 " %s at %s", module->pid, module->start,
		 module->start + module->length, module->path, time_text(module->unload_ns).text);
}

void emit_process(struct emit *emit, const struct profile_process *process)
{
	add_line(emit, "process %u %s (%s) %s-%s", process->pid, process->name, process->path,
		 time_text(process->start_ns).text, time_text(process->end_ns).text);
}

static void add_unwinding(struct emit *emit, const char *kind, uint32_t subject,
			  const struct profile_unwinding *sum)
{
	add_line(emit,
		 "unwinding %s %u walks %" PRIu64 " frames %" PRIu64 " info %" PRIu64
		 " pointer %" PRIu64 " reused %" PRIu64 " lookups %" PRIu64 " timed %" PRIu64
		 "/%" PRIu64 " guesses %" PRIu64 "/%" PRIu64 "/%" PRIu64,
		 kind, subject, sum->walks, sum->frames, sum->frames_by_info,
		 sum->frames_by_pointer, sum->frames_reused, sum->lookups, sum->timed_walks,
		 sum->timed_frames, sum->guesses_tested, sum->guesses_covered, sum->guesses_wrong);
}

void emit_slice(struct emit *emit, const struct profile_slice *slice, uint64_t start_ns)
{
	static const char *const states[] = {"unknown", "running", "ready", "blocked", "stopped"};
	ck_assert_uint_lt(slice->before, sizeof(states) / sizeof(states[0]));
	ck_assert_uint_le(slice->run_ns, PROFILE_SLICE_NS_MAX);
	ck_assert_uint_ge(start_ns + slice->run_ns, emit->last_end_ns);
	emit->last_end_ns = start_ns + slice->run_ns;
	add_line(emit, "slice %u %" PRIu64 "+%u cpu %u %s%s%s ready %u", slice->tid, start_ns,
		 slice->run_ns, slice->cpu, states[slice->before],
		 slice->flags & PROFILE_SLICE_AFTER_LOSS ? " after-loss" : "",
		 slice->flags & PROFILE_SLICE_CUT ? " cut" : "", slice->ready_ns);
}

void emit_record(struct emit *emit, enum profile_stream stream, const void *record,
		 const char *const *texts)
{
	const struct profile_unwinding *unwinding = record;
	ck_assert_uint_eq(stream, PROFILE_STREAM_UNWINDING);
	ck_assert_ptr_null(texts);
	static const char *const kinds[] = {[PROFILE_UNWINDING_IMAGE] = "image",
					    [PROFILE_UNWINDING_RUN] = "run",
					    [PROFILE_UNWINDING_DEEP] = "deep"};
	ck_assert_uint_ge(unwinding->kind, PROFILE_UNWINDING_IMAGE);
	ck_assert_uint_le(unwinding->kind, PROFILE_UNWINDING_DEEP);
	add_unwinding(emit, kinds[unwinding->kind], unwinding->subject, unwinding);
	emit->unwindings[unwinding->kind] = *unwinding;
}

void emit_thread(struct emit *emit, const struct profile_thread_life *thread)
{
	add_line(emit, "thread %u/%u %s %s-%s cpu %" PRIu64 " rest %" PRIu64 " samples %u%s",
		 thread->pid, thread->tid, thread->name, time_text(thread->start_ns).text,
		 time_text(thread->end_ns).text, thread->cpu_ns, thread->rest_ns, thread->samples,
		 thread->flags & PROFILE_THREAD_CPU_BY_CLOCK ? " by clock" : "");
	if (thread->unwinding)
		add_unwinding(emit, "thread", thread->tid, thread->unwinding);
	emit->last_thread = *thread;
	emit->sums.cpu_ns += thread->cpu_ns;
	emit->sums.rest_ns += thread->rest_ns;
	emit->sums.thread_samples += thread->samples;
}

void emit_add_note(struct emit *emit, enum profile_note_kind kind, uint64_t time_ns,
		   const struct emit_note *note)
{
	add_line(emit, "note %u at %" PRIu64 " value %" PRIu64 " %u/%u%s%s", (unsigned)kind,
		 time_ns, note->value, note->pid, note->tid, note->text ? " " : "",
		 note->text ? note->text : "");
}

uint32_t emit_object(struct emit *emit, const struct profile_object *object, const char *name)
{
	add_line(emit,
		 "object %u kind %u pid %u address %#" PRIx64 " number %u variable %u created %u "
		 "type %u%s%s",
		 ++emit->objects, object->kind, object->pid, object->address, object->number,
		 object->variable, object->created, object->type, name ? " " : "",
		 name ? name : "");
	return emit->objects;
}

void emit_wait(struct emit *emit, const struct profile_wait *wait, uint64_t start_ns)
{
	add_line(emit,
		 "wait %u start %" PRIu64 " wait %" PRIu64 " ready %" PRIu64
		 " object %u syscall %u blocks %u flags %u source %u",
		 wait->tid, start_ns, wait->wait_ns, wait->ready_ns, wait->object, wait->syscall,
		 wait->blocks, wait->flags, wait->source);
	emit->last_wait = *wait;
}
