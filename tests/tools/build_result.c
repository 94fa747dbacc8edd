#include "tests/tools/build_result.h"

#include "profile/write/writer.h"
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FRAMES_MAX 256
#define NODES_MAX  1024
#define START_NS   1000000000u
#define STEP_NS    10000000u

enum { IMAGE_UNKNOWN, IMAGE_APP, IMAGE_LIB, IMAGE_LIBC, IMAGE_VDSO, IMAGE_JIT, IMAGE_COUNT };

static const char *const image_names[IMAGE_COUNT] = {"?", "app", "lib", "libc", "vdso", "jit"};

struct built_frame {
	char name[64]; /* "outer>inner" */
	unsigned image;
	uint64_t rva;
};

struct builder {
	struct profile_writer *writer;
	const struct build_result *result;
	struct built_frame frames[FRAMES_MAX];
	uint32_t frame_count;
	struct profile_node nodes[NODES_MAX];
	uint32_t node_count;
	unsigned functions[IMAGE_COUNT];
	unsigned samples[4]; /* by thread */
	bool lives[4];       /* written */
	uint64_t cpu_ns[4];
	uint64_t time_ns;
};

static uint32_t pid_of(unsigned thread)
{
	return thread < 2 ? BUILD_PID : BUILD_PID + 1;
}

static uint64_t time_of(uint64_t us)
{
	return START_NS + us * 1000;
}

static void add_images(struct builder *builder)
{
	const char *app = builder->result->app_path ? builder->result->app_path : "/opt/app/app";
	const struct {
		const char *path;
		enum profile_image_kind kind;
	} images[] = {
		{app, PROFILE_IMAGE_FILE},
		{"/opt/app/lib.so", PROFILE_IMAGE_FILE},
		{"/usr/lib/x86_64-linux-gnu/libc.so.6", PROFILE_IMAGE_FILE},
		{"[vdso]", PROFILE_IMAGE_VDSO},
		{"/nonexistent/perf-100.map", PROFILE_IMAGE_JIT},
	};
	for (size_t i = 0; i < sizeof(images) / sizeof(images[0]); i++) {
		bool is_unreadable = builder->result->is_unreadable && i + 1 == IMAGE_LIB;
		struct profile_image image = {.kind = images[i].kind,
					      .flags = is_unreadable ? PROFILE_IMAGE_NOT_OPEN : 0};
		if (is_unreadable)
			image.flags |= builder->result->unread;
		struct profile_module module = {
			.pid = BUILD_PID,
			.start = 0x10000 * (i + 1),
			.length = 0x10000,
			.rva = builder->result->lacks_rvas ? 0 : 0x1000,
			.path = images[i].path,
			.cs = 0x33,
			.is_executable = i == 0,
			.is_first = i == 0,
		};
		uint32_t index;
		ck_assert_uint_eq(profile_writer_add_image(builder->writer, &image, images[i].path,
							   &index),
				  VT_SUCCESS);
		ck_assert_uint_eq(index, i + 1);
		module.image = index;
		ck_assert_uint_eq(profile_writer_add_module(builder->writer, &module), VT_SUCCESS);
	}
	struct profile_image kernel = {.kind = PROFILE_IMAGE_KERNEL};
	uint32_t index;
	if (builder->result->has_kernel)
		ck_assert_uint_eq(profile_writer_add_image(builder->writer, &kernel, "[kernel]",
							   &index),
				  VT_SUCCESS);
}

static void add_machine(struct builder *builder)
{
	wchar_t name[] = L"box";
	wchar_t os_name[] = L"Testix";
	TBRW_HOST host = {.host_size = sizeof(host), .host_name.soi_ptr = name};
	TBRW_OS os = {
		.os_size = sizeof(os),
		.os_platform = TBRW_OSFAMILY_LINUX64,
		.os_name.soi_ptr = os_name,
	};
	TBRW_CPU cpus[4] = {0};
	TBRW_NODE node = {.node_size = sizeof(node), .node_num_available = 4, .cpu_array = cpus};
	TBRW_SYSTEM system = {sizeof(system), 1, &node};
	for (TBRW_U32 i = 0; i < 4; i++)
		cpus[i] = (TBRW_CPU){.cpu_size = sizeof(cpus[i]), .cpu_number = i};
	ck_assert_uint_eq(profile_writer_set_software(builder->writer, &host, &os, NULL),
			  VT_SUCCESS);
	ck_assert_uint_eq(profile_writer_set_system(builder->writer, &system), VT_SUCCESS);
}

static uint32_t add_frame(struct builder *builder, const char *text)
{
	char image_name[16] = "?";
	char name[64] = "";
	unsigned image = 0;
	ck_assert_int_ge(sscanf(text, "%15[^:]:%63s", image_name, name), 1);
	while (image < IMAGE_COUNT && strcmp(image_names[image], image_name) != 0)
		image++;
	ck_assert_uint_lt(image, IMAGE_COUNT);
	for (uint32_t i = 0; i < builder->frame_count; i++) {
		if (builder->frames[i].image == image && strcmp(builder->frames[i].name, name) == 0)
			return i;
	}
	struct built_frame *built = &builder->frames[builder->frame_count];
	snprintf(built->name, sizeof(built->name), "%s", name);
	built->image = image;
	built->rva = 0x1004 + ++builder->functions[image] * BUILD_STEP;
	struct profile_frame frame = {
		.image = image,
		.flags = (strchr(name, '^') ? PROFILE_FRAME_POINTER : 0) |
			 (strchr(name, '~') ? PROFILE_FRAME_GUESSED : 0) |
			 (strchr(name, '=') ? PROFILE_FRAME_DATA : 0),
		.rva = built->rva,
	};
	ck_assert_uint_eq(profile_writer_add_frame(builder->writer, &frame), VT_SUCCESS);
	return builder->frame_count++;
}

static uint32_t add_node(struct builder *builder, uint32_t parent, uint32_t frame)
{
	for (uint32_t i = 1; i < builder->node_count; i++) {
		if (builder->nodes[i].parent == parent && builder->nodes[i].frame == frame)
			return i;
	}
	struct profile_node *node = &builder->nodes[builder->node_count];
	*node = (struct profile_node){parent, frame};
	ck_assert_uint_eq(profile_writer_add_node(builder->writer, node), VT_SUCCESS);
	return builder->node_count++;
}

/* Returns the leaf's node, 0 for no stack. */
static uint32_t add_stack(struct builder *builder, const char *text, uint16_t *verified)
{
	char stack[512];
	char *rest = NULL;
	uint32_t node = 0;
	*verified = 0;
	snprintf(stack, sizeof(stack), "%s", text ? text : "");
	for (char *at = strtok_r(stack, " ", &rest); at; at = strtok_r(NULL, " ", &rest)) {
		*verified = (uint16_t)(*verified + (!strchr(at, '~')));
		node = add_node(builder, node, add_frame(builder, at));
	}
	return node;
}

static void add_sample(struct builder *builder, const struct build_sample *sample)
{
	uint16_t verified;
	uint32_t node = add_stack(builder, sample->stack, &verified);
	struct profile_sample record = {
		.ip = 0x11004,
		.pid = pid_of(sample->thread),
		.tid = BUILD_TID + sample->thread,
		.cs = 0x33,
		.stack =
			{
				.cpu_ns = sample->cpu_ms * UINT64_C(1000000),
				.node = node,
				.state = (uint8_t)sample->state,
				.reason = (uint8_t)sample->reason,
				.collapsed = (uint16_t)sample->collapsed,
			},
	};
	record.stack.kernel_us =
		sample->is_kernel_only ? PROFILE_KERNEL_ALL : sample->kernel_ms * 1000;
	if (sample->guess_hits > 0) {
		record.stack.verified = verified;
		record.stack.guess_level = PROFILE_GUESS_AGREED;
		record.stack.guess_hits = (uint8_t)sample->guess_hits;
	}
	if (sample->is_late) {
		record.stack.verified = verified;
		record.stack.guess_level = PROFILE_GUESS_LATE;
	}
	for (unsigned i = 0; i < (sample->count ? sample->count : 1); i++) {
		builder->time_ns += STEP_NS;
		record.time_ns = builder->time_ns;
		ck_assert_uint_eq(profile_writer_add_sample(builder->writer, &record), VT_SUCCESS);
		builder->samples[sample->thread]++;
		builder->cpu_ns[sample->thread] += record.stack.cpu_ns;
	}
}

static const struct profile_unwinding thread_unwinding = {.walks = 60,
							  .frames = 600,
							  .frames_by_info = 400,
							  .frames_by_pointer = 140,
							  .frames_reused = 300,
							  .lookups = 15,
							  .timed_walks = 2,
							  .timed_frames = 30,
							  .timed_ns = 600,
							  .guesses_tested = 20,
							  .guesses_covered = 10,
							  .guesses_wrong = 1,
							  .late_tested = 12,
							  .late_covered = 11};
static const struct profile_unwinding image_unwinding = {.kind = PROFILE_UNWINDING_IMAGE,
							 .subject = IMAGE_APP,
							 .walks = 30,
							 .frames = 300,
							 .frames_by_info = 270,
							 .frames_by_pointer = 0,
							 .frames_reused = 60,
							 .lookups = 24,
							 .guesses_tested = 15,
							 .guesses_covered = 10};

static void add_note(struct builder *builder, enum profile_note_kind kind, uint64_t value,
		     uint32_t tid)
{
	if (value > 0)
		ck_assert_uint_eq(profile_writer_add_note(builder->writer, kind, START_NS, value, 0,
							  tid, NULL),
				  VT_SUCCESS);
}

static void add_objects(struct builder *builder)
{
	for (size_t i = 0; i < builder->result->object_count; i++) {
		const struct build_object *object = &builder->result->objects[i];
		char variable[80] = "";
		uint16_t verified;
		uint32_t index;
		if (object->variable)
			snprintf(variable, sizeof(variable), "%s=", object->variable);
		const struct profile_object record = {
			.address = object->address,
			.kind = object->kind,
			.pid = BUILD_PID,
			.variable = add_stack(builder, variable, &verified),
			.created = add_stack(builder, object->created, &verified),
			.number = object->number,
			.type = object->type,
		};
		ck_assert_uint_eq(profile_writer_add_object(builder->writer, &record, object->name,
							    &index),
				  VT_SUCCESS);
		ck_assert_uint_eq(index, i + 1);
	}
}

static void add_wait(struct builder *builder, const struct build_wait *wait)
{
	uint16_t verified;
	struct profile_wait record = {
		.wait_ns = wait->wait_us * UINT64_C(1000),
		.ready_ns = wait->ready_us * UINT64_C(1000),
		.tid = BUILD_TID + wait->thread,
		.object = wait->object,
		.node = add_stack(builder, wait->stack, &verified),
		.waker_tid = wait->waker > 0 ? BUILD_TID + wait->waker - 1 : 0,
		.waker_node = add_stack(builder, wait->waker_stack, &verified),
		.spin_ns = wait->spin_us * 1000,
		.syscall = wait->syscall ? (uint16_t)wait->syscall : PROFILE_NO_SYSCALL,
		.blocks = wait->blocks ? (uint16_t)wait->blocks : wait->wait_us > 0,
		.state = (uint8_t)(wait->stack ? wait->state : PROFILE_STACK_NONE),
		.reason = (uint8_t)wait->reason,
		.source = (uint8_t)wait->source,
		.flags = (uint8_t)wait->flags,
		.waker_state = wait->waker_stack ? PROFILE_STACK_COMPLETE : PROFILE_STACK_NONE,
	};
	ck_assert_uint_eq(profile_writer_add_wait(builder->writer, &record,
						  time_of(wait->start_us)),
			  VT_SUCCESS);
}

static void add_states(struct builder *builder)
{
	const struct build_result *result = builder->result;
	add_note(builder, PROFILE_NOTE_STATES, result->states, 0);
	add_note(builder, PROFILE_NOTE_TARGET_CPUS, result->target_cpus, 0);
	if (result->paused_us[1] > 0)
		ck_assert_uint_eq(profile_writer_add_note(builder->writer, PROFILE_NOTE_PAUSED,
							  time_of(result->paused_us[1]),
							  1000 * (result->paused_us[1] -
								  result->paused_us[0]),
							  0, 0, NULL),
				  VT_SUCCESS);
	for (uint32_t i = 0; i < 32; i++) {
		if (result->wait_sources & 1u << i)
			ck_assert_uint_eq(profile_writer_add_note(builder->writer,
								  PROFILE_NOTE_WAITS, START_NS,
								  result->wait_threshold *
									  UINT64_C(1000),
								  0, i, NULL),
					  VT_SUCCESS);
	}
	add_note(builder, PROFILE_NOTE_WAITS_LOST, result->waits_lost, PROFILE_WAIT_BY_OBSERVER);
	for (size_t i = 0; i < result->slice_count; i++) {
		const struct build_slice *slice = &result->slices[i];
		const struct profile_slice record = {.run_ns = slice->run_us * 1000,
						     .ready_ns = slice->ready_us * 1000,
						     .tid = BUILD_TID + slice->thread,
						     .cpu = (uint16_t)slice->cpu,
						     .before = (uint8_t)slice->before,
						     .flags = (uint8_t)slice->flags};
		ck_assert_uint_eq(profile_writer_add_slice(builder->writer, &record,
							   time_of(slice->start_us)),
				  VT_SUCCESS);
	}
	add_objects(builder);
	for (size_t i = 0; i < result->wait_count; i++)
		add_wait(builder, &result->waits[i]);
}

/* NULL: of the thread's samples. */
static const struct build_life *find_life(const struct build_result *result, unsigned thread)
{
	for (size_t i = 0; i < result->life_count; i++) {
		if (result->lives[i].thread == thread)
			return &result->lives[i];
	}
	return NULL;
}

static void add_lives(struct builder *builder)
{
	static const char *const names[] = {"app", "worker", "helper", "helper-2"};
	for (unsigned i = 0; i < 4; i++) {
		uint64_t rest_ns = i == 0 ? builder->result->rest_ms * UINT64_C(1000000) : 0;
		const struct build_life *own = find_life(builder->result, i);
		struct profile_thread_life life = {
			.pid = pid_of(i),
			.tid = BUILD_TID + i,
			.start_ns = own && own->start_us > 0 ? time_of(own->start_us) : 0,
			.end_ns =
				own && own->end_us > 0 ? time_of(own->end_us) : PROFILE_TIME_NEVER,
			.cpu_ns = builder->cpu_ns[i] + rest_ns,
			.rest_ns = rest_ns,
			.samples = builder->samples[i],
			.name = names[i],
			.unwinding =
				i == 0 && builder->result->has_unwinding ? &thread_unwinding : NULL,
		};
		builder->lives[i] = own || builder->samples[i] > 0 || rest_ns > 0;
		if (builder->lives[i])
			ck_assert_uint_eq(profile_writer_add_thread(builder->writer, &life),
					  VT_SUCCESS);
	}
	for (unsigned i = 0; i < 2; i++) {
		struct profile_process process = {
			.pid = BUILD_PID + i,
			.end_ns = PROFILE_TIME_NEVER,
			.path = i ? "/opt/app/helper" : "/opt/app/app",
			.name = i && !builder->result->has_twins ? "helper" : "app",
		};
		if (i == 0 || builder->lives[2] || builder->lives[3])
			ck_assert_uint_eq(profile_writer_add_process(builder->writer, &process),
					  VT_SUCCESS);
	}
}

static void add_notes(struct builder *builder)
{
	const struct {
		enum profile_note_kind kind;
		uint64_t value;
		const char *text;
	} notes[] = {
		{PROFILE_NOTE_COMMAND, 0, "app --fast \"a b\""},
		{PROFILE_NOTE_INTERVAL, 10000000, NULL},
		{PROFILE_NOTE_SAMPLES_LOST, 2, NULL},
		{PROFILE_NOTE_SAMPLES_LOST, 1, NULL},
		{PROFILE_NOTE_PAUSED, 500000000, NULL},
		{PROFILE_NOTE_EXIT_STATUS, 3, NULL},
		{PROFILE_NOTE_ELAPSED, 2000000000, NULL},
		{PROFILE_NOTE_COLLECTOR_CPU, 12345000, NULL},
		{PROFILE_NOTE_COLLECTOR_RSS, 4096000, NULL},
		{PROFILE_NOTE_STACK_COPY, 65536, NULL},
	};
	for (size_t i = 0; i < sizeof(notes) / sizeof(notes[0]); i++) {
		if (notes[i].kind == PROFILE_NOTE_SAMPLES_LOST && builder->result->is_lossless)
			continue;
		ck_assert_uint_eq(profile_writer_add_note(builder->writer, notes[i].kind, START_NS,
							  notes[i].value, BUILD_PID, 0,
							  notes[i].text),
				  VT_SUCCESS);
	}
}

static void add_process_notes(struct builder *builder)
{
	static const struct {
		enum profile_note_kind kind;
		uint32_t pid;
		const char *text;
		uint64_t value;
	} notes[] = {{PROFILE_NOTE_PROCESS_COMMAND, BUILD_PID, "app: starting", 0},
		     {PROFILE_NOTE_PROCESS_COMMAND, BUILD_PID + 1, "app: second", 0},
		     {PROFILE_NOTE_JIT_STARTED, BUILD_PID, BUILD_JIT_PATH, BUILD_JIT_STARTED},
		     {PROFILE_NOTE_PROCESS_COMMAND, BUILD_PID, "app: first of 'a b'", 0}};
	for (size_t i = 0; builder->result->has_twins && i < sizeof(notes) / sizeof(notes[0]); i++)
		ck_assert_uint_eq(profile_writer_add_note(builder->writer, notes[i].kind,
							  START_NS + i, notes[i].value,
							  notes[i].pid, 0, notes[i].text),
				  VT_SUCCESS);
}

static void add_account_notes(struct builder *builder)
{
	const struct build_result *result = builder->result;
	const struct {
		enum profile_note_kind kind;
		uint64_t value;
	} notes[] = {{PROFILE_NOTE_THROTTLED, result->throttled},
		     {PROFILE_NOTE_UNATTRIBUTED, result->unattributed_ms * UINT64_C(1000000)},
		     {PROFILE_NOTE_STOLEN, result->stolen_ms * UINT64_C(1000000)},
		     {PROFILE_NOTE_RUSAGE_CPU, result->rusage_ms * UINT64_C(1000000)},
		     {PROFILE_NOTE_NOT_FOLLOWED, result->is_not_followed},
		     {PROFILE_NOTE_KERNEL_TIME, result->kernel_time}};
	for (unsigned i = 0; i < sizeof(notes) / sizeof(notes[0]); i++) {
		if (notes[i].value > 0)
			ck_assert_uint_eq(profile_writer_add_note(builder->writer, notes[i].kind,
								  START_NS, notes[i].value, 0, 0,
								  NULL),
					  VT_SUCCESS);
	}
}

static void add_event_note(struct builder *builder)
{
	ck_assert_uint_eq(profile_writer_add_note(builder->writer, PROFILE_NOTE_EVENT, START_NS, 1,
						  0, 0, builder->result->event),
			  VT_SUCCESS);
}

static void add_loss_notes(struct builder *builder)
{
	static const struct {
		enum profile_note_kind kind;
		uint64_t value;
	} losses[] = {{PROFILE_NOTE_RECORDS_LOST, 5},
		      {PROFILE_NOTE_BYTES_LOST, 640},
		      {PROFILE_NOTE_OUT_OF_ORDER, 7}};
	for (unsigned i = 0; i < sizeof(losses) / sizeof(losses[0]); i++)
		ck_assert_uint_eq(profile_writer_add_note(builder->writer, losses[i].kind, START_NS,
							  losses[i].value, 0, 0, NULL),
				  VT_SUCCESS);
}

static void add_unwinding_notes(struct builder *builder)
{
	static const uint64_t values[] = {90, 1000, 700, 210, 500, 25, 2,
					  40, 800,  20,  10,  1,   6,  48};
	ck_assert_uint_eq(profile_writer_add(builder->writer, PROFILE_STREAM_UNWINDING,
					     &image_unwinding, NULL, NULL),
			  VT_SUCCESS);
	static const uint64_t no_tries[] = {0, 0, 0};
	const uint64_t *late = builder->result->late_tries ? builder->result->late_tries : no_tries;
	const struct profile_unwinding records[] = {
		{PROFILE_UNWINDING_RUN, 0, values[0], values[1], values[2], values[3], values[4],
		 values[5], values[6], values[7], values[8], values[9], values[10], values[11],
		 late[0], late[1], late[2]},
		{.kind = PROFILE_UNWINDING_DEEP, .walks = values[12], .frames = values[13]},
	};
	for (unsigned i = 0; i < 2 && builder->result->has_run_record; i++)
		ck_assert_uint_eq(profile_writer_add(builder->writer, PROFILE_STREAM_UNWINDING,
						     &records[i], NULL, NULL),
				  VT_SUCCESS);
	for (unsigned i = 0;
	     i < sizeof(values) / sizeof(values[0]) && !builder->result->has_run_record; i++)
		ck_assert_uint_eq(profile_writer_add_note(builder->writer,
							  (enum profile_note_kind)(
								  PROFILE_NOTE_UNWIND_WALKS + i),
							  START_NS, values[i], 0, 0, NULL),
				  VT_SUCCESS);
}

static void add_symbol(struct profile_writer *writer, uint32_t frame, uint16_t depth,
		       const char *name, uint64_t start, bool is_inlined)
{
	char full[80];
	struct profile_symbol symbol = {
		.frame = frame,
		.depth = depth,
		.flags = is_inlined ? PROFILE_SYMBOL_INLINED : 0,
		.line = 10 * (frame + 1) + depth,
		.start = start,
		.size = BUILD_STEP,
	};
	snprintf(full, sizeof(full), "%s(int)", name);
	ck_assert_uint_eq(profile_symbol_writer_add(writer, &symbol,
						    &(struct profile_symbol_text){name, full,
										  "/src/app.c"}),
			  VT_SUCCESS);
}

/* The cold part of a function that has a frame: its symbol starts where that does. */
static void add_cold_part(struct profile_writer *writer, const struct builder *builder,
			  uint32_t frame, const char *owner)
{
	char full[96];
	struct profile_symbol symbol = {.frame = frame};
	snprintf(full, sizeof(full), "%s(int) [clone .cold]", owner);
	for (uint32_t i = 0; i < builder->frame_count; i++) {
		if (builder->frames[i].image == builder->frames[frame].image &&
		    strcmp(builder->frames[i].name, owner) == 0)
			symbol.start = builder->frames[i].rva - 4;
	}
	ck_assert_uint_eq(profile_symbol_writer_add(writer, &symbol,
						    &(struct profile_symbol_text){owner, full,
										  "/src/app.c"}),
			  VT_SUCCESS);
}

static void write_symbols(const char *path, const struct builder *builder)
{
	struct profile_writer *writer;
	ck_assert_uint_eq(profile_symbol_writer_begin(path, &writer), VT_SUCCESS);
	for (uint32_t i = 0; i < builder->frame_count; i++) {
		const struct built_frame *frame = &builder->frames[i];
		char outer[64];
		snprintf(outer, sizeof(outer), "%s", frame->name);
		char *inner = strchr(outer, '>');
		char *cold = strstr(outer, ".cold");
		outer[strcspn(outer, "=")] = '\0';
		if (outer[0] == '\0')
			continue;
		if (cold) {
			*cold = '\0';
			add_cold_part(writer, builder, i, outer);
			continue;
		}
		if (inner) {
			*inner = '\0';
			add_symbol(writer, i, 0, inner + 1, frame->rva - 2, true);
		}
		add_symbol(writer, i, inner ? 1 : 0, outer, frame->rva - 4, false);
	}
	ck_assert_uint_eq(profile_symbol_writer_finish(writer), VT_SUCCESS);
}

void build_result_write(const char *path, const struct build_result *result)
{
	struct builder *builder = calloc(1, sizeof(*builder));
	struct profile_run run = {
		.clock = {.tsc = 5000,
			  .raw_ns = START_NS,
			  .real_ns = 1700000000000000000,
			  .tsc_per_ns_q32 = UINT64_C(2) << 32},
		.interval_ns = 10000000,
		.event_name = "CPU Time",
	};
	struct profile_run_end end = {.command_line = "app", .comment = "", .clock = run.clock};
	ck_assert_ptr_nonnull(builder);
	builder->result = result;
	builder->node_count = 1;
	builder->time_ns = START_NS;
	ck_assert_uint_eq(profile_writer_create(path, &run, &builder->writer), VT_SUCCESS);
	add_machine(builder);
	add_images(builder);
	for (size_t i = 0; i < result->count; i++)
		add_sample(builder, &result->samples[i]);
	add_states(builder);
	if (result->is_abandoned) {
		/* What is older than a second goes to the file with the next call. */
		usleep(1100000);
		ck_assert_uint_eq(profile_writer_add_note(builder->writer, PROFILE_NOTE_INTERVAL,
							  START_NS, 10000000, 0, 0, NULL),
				  VT_SUCCESS);
		profile_writer_abandon(builder->writer);
		free(builder);
		return;
	}
	add_lives(builder);
	add_notes(builder);
	add_process_notes(builder);
	add_account_notes(builder);
	if (result->event)
		add_event_note(builder);
	if (result->has_unwinding)
		add_unwinding_notes(builder);
	for (unsigned i = 0; result->guess_tries && i < 3; i++)
		ck_assert_uint_eq(profile_writer_add_note(builder->writer,
							  (enum profile_note_kind)(
								  PROFILE_NOTE_GUESSES_TESTED + i),
							  START_NS, result->guess_tries[i], 0, 0,
							  NULL),
				  VT_SUCCESS);
	if (result->has_losses)
		add_loss_notes(builder);
	if (result->interval_ns > 0)
		ck_assert_uint_eq(profile_writer_add_note(builder->writer, PROFILE_NOTE_INTERVAL,
							  START_NS, result->interval_ns, 0, 0,
							  NULL),
				  VT_SUCCESS);
	if (result->is_bpf)
		ck_assert_uint_eq(profile_writer_add_note(builder->writer,
							  PROFILE_NOTE_STACK_SOURCE, START_NS,
							  PROFILE_STACKS_BY_BPF, 0, 0, NULL),
				  VT_SUCCESS);
	if (result->stack_size > 0)
		ck_assert_uint_eq(profile_writer_add_note(builder->writer, PROFILE_NOTE_STACK_SIZE,
							  START_NS, result->stack_size, 0, 0, NULL),
				  VT_SUCCESS);
	end.clock.raw_ns += 2000000000;
	end.clock.real_ns += 2000000000;
	end.clock.tsc += 4000000000;
	ck_assert_uint_eq(profile_writer_finish(builder->writer, &end), VT_SUCCESS);
	if (result->is_finalized)
		write_symbols(path, builder);
	free(builder);
}

void build_directory(char directory[32])
{
	strcpy(directory, "/tmp/test-tools-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(directory));
}

void build_directory_remove(const char *directory)
{
	char command[64];
	snprintf(command, sizeof(command), "rm -r '%s'", directory);
	ck_assert_int_eq(system(command), 0);
}

char build_folder[32];
char build_path[64];

void build_set_up(void)
{
	build_directory(build_folder);
	snprintf(build_path, sizeof(build_path), "%s/r.tb5", build_folder);
}

void build_tear_down(void)
{
	build_directory_remove(build_folder);
}
