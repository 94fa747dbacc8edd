#include "tests/profile/fixture.h"

#include "profile/read/states.h"
#include "tbrw/utf8.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static char directory[64];
static char path[96];

void fixture_setup(void)
{
	snprintf(directory, sizeof(directory), "/tmp/profile-test-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/r000hs.tb5", directory);
}

void fixture_teardown(void)
{
	unlink(path);
	rmdir(directory);
}

TCase *fixture_case(Suite *suite)
{
	TCase *tcase = tcase_create("all");

	tcase_add_checked_fixture(tcase, fixture_setup, fixture_teardown);
	tcase_set_timeout(tcase, 300);
	suite_add_tcase(suite, tcase);
	return tcase;
}

const char *fixture_path(void)
{
	return path;
}

uint64_t fixture_ms(uint64_t ms)
{
	return FIXTURE_RAW_NS + ms * 1000000;
}

uint64_t fixture_tsc(uint64_t ms)
{
	return FIXTURE_TSC + ms * 3000000;
}

static struct profile_clock clock_at(uint64_t ms)
{
	return (struct profile_clock){
		.tsc = fixture_tsc(ms),
		.raw_ns = fixture_ms(ms),
		.real_ns = FIXTURE_REAL_NS + ms * 1000000,
		.tsc_per_ns_q32 = FIXTURE_RATE_Q32,
	};
}

struct profile_writer *fixture_create(void)
{
	struct profile_run run = {
		.clock = clock_at(0),
		.interval_ns = 10000000,
		.event_name = "CPU Time",
	};
	struct profile_writer *writer;

	assert_success(profile_writer_create(path, &run, &writer));
	return writer;
}

void fixture_finish(struct profile_writer *writer)
{
	struct profile_run_end end = {
		.command_line = "tbcollect -- app",
		.comment = "hotspots",
		.clock = clock_at(10000),
	};

	assert_success(profile_writer_finish(writer, &end));
}

/* The chunk header of tbrw/FORMAT.md, 1.2. */
struct chunk {
	uint32_t magic;
	uint16_t kind;
	uint16_t content;
	uint32_t stream;
	uint32_t payload_size;
	uint64_t start;
	uint32_t crcs[2];
};
enum {
	FILE_HEADER_SIZE = 64,
	CHUNK_STREAM_OPEN = 3,
	STREAMS_OF_WRITER = 1 + PROFILE_STREAM_COLLECTED
};

void fixture_kill(struct profile_writer *writer)
{
	struct chunk chunk;
	off_t offset = FILE_HEADER_SIZE;

	fixture_finish(writer);
	FILE *file = fopen(path, "r");
	ck_assert_ptr_nonnull(file);
	for (;;) {
		ck_assert_int_eq(fseeko(file, offset, SEEK_SET), 0);
		ck_assert_uint_eq(fread(&chunk, sizeof(chunk), 1, file), 1);
		/* Without samples there is no bind, only the index. */
		if ((chunk.kind == CHUNK_STREAM_OPEN && chunk.stream == STREAMS_OF_WRITER) ||
		    chunk.kind > 5)
			break;
		offset += (off_t)(sizeof(chunk) + ((chunk.payload_size + 7u) & ~7u));
	}
	fclose(file);
	ck_assert_int_eq(truncate(path, offset), 0);
}

struct profile_reader *fixture_open(void)
{
	struct profile_reader *reader;

	assert_success(profile_reader_open(path, &reader));
	return reader;
}

void fixture_add_sample(struct profile_writer *writer, uint64_t ms, uint32_t pid, uint32_t tid,
			uint64_t ip)
{
	struct profile_sample sample = {
		.time_ns = fixture_ms(ms),
		.ip = ip,
		.pid = pid,
		.tid = tid,
		.cpu = 1,
		.cs = 0x33,
		.stack = {.cpu_ns = 10000000, .state = PROFILE_STACK_NONE},
	};

	assert_success(profile_writer_add_sample(writer, &sample));
}

void fixture_add_module(struct profile_writer *writer, uint32_t pid, uint64_t start,
			uint64_t length, uint64_t load_ns, const char *module_path,
			bool is_executable)
{
	struct profile_module module = {
		.pid = pid,
		.start = start,
		.length = length,
		.load_ns = load_ns,
		.path = module_path,
		.cs = 0x33,
		.is_executable = is_executable,
		.is_first = is_executable,
	};

	assert_success(profile_writer_add_module(writer, &module));
}

void fixture_add_process(struct profile_writer *writer, uint32_t pid, uint64_t start_ns,
			 uint64_t end_ns, const char *process_path)
{
	const char *slash = strrchr(process_path, '/');
	struct profile_process process = {
		.pid = pid,
		.start_ns = start_ns,
		.end_ns = end_ns,
		.path = process_path,
		.name = slash ? slash + 1 : process_path,
	};

	assert_success(profile_writer_add_process(writer, &process));
}

void fixture_add_thread(struct profile_writer *writer, uint32_t pid, uint32_t tid,
			uint64_t start_ns, uint64_t end_ns, uint32_t samples, const char *name)
{
	struct profile_thread_life thread = {
		.pid = pid,
		.tid = tid,
		.start_ns = start_ns,
		.end_ns = end_ns,
		.cpu_ns = samples * UINT64_C(10000000) + 5,
		.rest_ns = 5,
		.samples = samples,
		.name = name,
	};

	assert_success(profile_writer_add_thread(writer, &thread));
}

void fixture_fill(struct profile_writer *writer, uint32_t samples)
{
	struct profile_image image = {.kind = PROFILE_IMAGE_FILE};
	uint32_t index;

	assert_success(profile_writer_add_image(writer, &image, "/opt/app", &index));
	for (uint32_t i = 0; i < 3; i++) {
		struct profile_frame frame = {.image = index, .rva = 0x1000 + i};
		struct profile_node node = {.parent = i, .frame = i};
		assert_success(profile_writer_add_frame(writer, &frame));
		assert_success(profile_writer_add_node(writer, &node));
	}
	struct profile_module module = {
		.pid = 100,
		.image = index,
		.start = 0x400000,
		.length = 0x10000,
		.pgoff = 0x1000,
		.rva = 0x2000,
		.load_ns = fixture_ms(0),
		.path = "/opt/app",
		.cs = 0x33,
		.is_executable = true,
		.is_first = true,
	};
	assert_success(profile_writer_add_module(writer, &module));
	assert_success(profile_writer_add_note(writer, PROFILE_NOTE_COMMAND, fixture_ms(0), 0, 100,
					       0, "app --fast"));
	for (uint32_t i = 0; i < samples; i++) {
		struct profile_sample sample = {
			.time_ns = fixture_ms(1 + i),
			.ip = 0x400100 + i % 256,
			.pid = 100,
			.tid = 100 + i % 2,
			.cpu = (uint16_t)(i % 64),
			.cs = 0x33,
			.stack = {.cpu_ns = 1000000, .node = 3},
		};
		assert_success(profile_writer_add_sample(writer, &sample));
	}
	uint32_t odd = samples / 2;
	fixture_add_process(writer, 100, fixture_ms(0), PROFILE_TIME_NEVER, "/opt/app");
	fixture_add_thread(writer, 100, 100, fixture_ms(0), PROFILE_TIME_NEVER, samples - odd,
			   "app");
	fixture_add_thread(writer, 100, 101, fixture_ms(0), fixture_ms(9000000), odd, "worker");
}

const TBRW_SAMPREC_DESC_ENTRY fixture_plain_fields[2] = {
	{.desc_type = ST_LEGACY_SAMPLE_RECORD, .desc_data_size = sizeof(TBRW_SampleRecordPC)},
	{.desc_offset = sizeof(TBRW_SampleRecordPC),
	 .desc_type = ST_TIME_STAMP,
	 .desc_subtype = SST_TSC,
	 .desc_data_size = sizeof(TBRW_SampleRecordTSC)},
};

static void write_plain_modules(TBRW_PTR file, const struct fixture_plain *plain)
{
	assert_success(TBRW_writing_section(file, TBRW_MODULE_SECTION));
	for (uint32_t i = 0; i < plain->module_count; i++) {
		TBRW_MODULE module = plain->modules[i];
		module.module_size = sizeof(module);
		assert_success(TBRW_add_module(file, &module));
	}
	assert_success(TBRW_done_section(file, TBRW_MODULE_SECTION));
}

static void write_plain_processes(TBRW_PTR file, const struct fixture_plain *plain)
{
	if (plain->process_count == 0)
		return;
	assert_success(TBRW_writing_section(file, TBRW_PROCESS_THREAD_SECTION));
	for (uint32_t i = 0; i < plain->process_count; i++) {
		TBRW_PID process = plain->processes[i];
		process.pid_size = sizeof(process);
		assert_success(TBRW_add_process(file, &process));
	}
	assert_success(TBRW_done_section(file, TBRW_PROCESS_THREAD_SECTION));
}

static void write_plain_events(TBRW_PTR file, const struct fixture_plain *plain)
{
	if (plain->event_count == 0)
		return;
	assert_success(TBRW_writing_stream_section(file, 0, TBRW_EVENT_DESCRIPTION_SECTION));
	for (uint32_t i = 0; i < plain->event_count; i++) {
		TBRW_EVENT event = plain->events[i];
		event.event_size = sizeof(event);
		assert_success(TBRW_add_event(file, 0, &event));
	}
	assert_success(TBRW_done_stream_section(file, 0, TBRW_EVENT_DESCRIPTION_SECTION));
}

static void write_plain_info(TBRW_PTR file, const struct fixture_plain *plain)
{
	union {
		const wchar_t *given;
		wchar_t *taken;
	} command = {.given = plain->command};
	TBRW_STREAM_INFO info = {
		.stream_info_size = sizeof(info),
		.stream_type = TBRW_SAMPLING_STREAM,
		.sampling_duration = 1500,
		.sampling_interval = plain->interval_us,
		.command_line.soi_ptr = command.taken,
	};

	assert_success(TBRW_writing_stream_section(file, 0, TBRW_STREAM_INFO_SECTION));
	assert_success(TBRW_set_stream_info(file, 0, &info));
	assert_success(TBRW_done_stream_section(file, 0, TBRW_STREAM_INFO_SECTION));
}

void fixture_write_plain(const struct fixture_plain *plain)
{
	union {
		const void *given;
		void *taken;
	} samples = {.given = plain->samples};
	TBRW_PTR file;

	unlink(path);
	assert_success(tb5_utf8_open(&file, path, TBRW_FILE_WRITE | TBRW_FILE_CREATE_ALWAYS));
	write_plain_modules(file, plain);
	write_plain_processes(file, plain);
	assert_success(TBRW_writing_stream(file, 0));
	write_plain_info(file, plain);
	write_plain_events(file, plain);
	assert_success(TBRW_writing_stream_section(file, 0, TBRW_DATA_DESCRIPTION_SECTION));
	for (uint32_t i = 0; i < plain->field_count; i++) {
		TBRW_SAMPREC_DESC_ENTRY entry = plain->fields[i];
		entry.desc_size = sizeof(entry);
		assert_success(TBRW_add_data_descriptor_entry(file, 0, &entry));
	}
	assert_success(TBRW_done_stream_section(file, 0, TBRW_DATA_DESCRIPTION_SECTION));
	assert_success(TBRW_writing_stream_section(file, 0, TBRW_DATA_SECTION));
	assert_success(TBRW_add_data(file, 0, (TBRW_U32)plain->size, samples.taken));
	assert_success(TBRW_done_stream_section(file, 0, TBRW_DATA_SECTION));
	assert_success(TBRW_done_stream(file, 0));
	assert_success(TBRW_close(file));
}

struct collected {
	struct profile_sample_info *samples;
	uint64_t count;
	uint64_t capacity;
};

static bool collect(const struct profile_sample_info *sample, void *user)
{
	struct collected *collected = user;

	if (collected->count < collected->capacity)
		collected->samples[collected->count] = *sample;
	collected->count++;
	return true;
}

struct profile_sample_info *fixture_samples(struct profile_reader *reader, uint64_t *count)
{
	struct collected collected = {.capacity = profile_reader_sample_count(reader)};

	collected.samples = calloc(collected.capacity + 1, sizeof(*collected.samples));
	ck_assert_ptr_nonnull(collected.samples);
	assert_success(profile_reader_each_sample(reader, collect, &collected));
	ck_assert_uint_eq(collected.count, collected.capacity);
	*count = collected.count;
	return collected.samples;
}

static void check_text(const char *text)
{
	ck_assert_ptr_nonnull(text);
	/* Well-formed UTF-8 decodes without complaint. */
	TBRW_U32 size = 0;
	ck_assert_uint_eq(TBRW_convert_utf8_to_wcs(text, NULL, &size), VT_BUFFER_TOO_SMALL);
}

static void check_records(struct profile_reader *reader)
{
	uint32_t frames = profile_reader_frame_count(reader);

	ck_assert_uint_ge(profile_reader_image_count(reader), 1);
	for (uint32_t i = 0; i < profile_reader_image_count(reader); i++) {
		const struct profile_image *image = profile_reader_image(reader, i);
		ck_assert_uint_le(image->build_id_size, sizeof(image->build_id));
		check_text(profile_reader_text(reader, image->path));
	}
	for (uint32_t i = 0; i < frames; i++) {
		uint32_t count;
		const struct profile_symbol *symbols = profile_reader_symbols(reader, i, &count);
		ck_assert_uint_lt(profile_reader_frame(reader, i)->image,
				  profile_reader_image_count(reader));
		for (uint32_t s = 0; s < count; s++) {
			ck_assert_uint_eq(symbols[s].frame, i);
			check_text(profile_reader_symtext(reader, symbols[s].name));
			check_text(profile_reader_symtext(reader, symbols[s].full));
			check_text(profile_reader_symtext(reader, symbols[s].file));
		}
	}
	ck_assert_uint_ge(profile_reader_node_count(reader), 1);
	ck_assert_uint_eq(profile_reader_node(reader, 0)->parent, PROFILE_NONE);
	ck_assert_uint_eq(profile_reader_node(reader, 0)->frame, PROFILE_NONE);
	for (uint32_t i = 1; i < profile_reader_node_count(reader); i++) {
		ck_assert_uint_lt(profile_reader_node(reader, i)->parent, i);
		ck_assert_uint_lt(profile_reader_node(reader, i)->frame, frames);
	}
	for (uint32_t i = 0; i < profile_reader_note_count(reader); i++)
		check_text(profile_reader_text(reader, profile_reader_note(reader, i)->text));
	for (uint32_t i = 0; i < profile_reader_unwinding_count(reader); i++) {
		const struct profile_unwinding *unwinding = profile_reader_unwinding(reader, i);
		bool is_thread = unwinding->kind == PROFILE_UNWINDING_THREAD;
		ck_assert_uint_ge(unwinding->kind, PROFILE_UNWINDING_THREAD);
		ck_assert_uint_le(unwinding->kind, PROFILE_UNWINDING_DEEP);
		ck_assert_uint_lt(unwinding->subject, is_thread
							      ? profile_reader_thread_count(reader)
							      : profile_reader_image_count(reader));
	}
}

static void check_lives(struct profile_reader *reader)
{
	uint32_t processes = profile_reader_process_count(reader);

	for (uint32_t i = 0; i < processes; i++) {
		const struct profile_process_info *info = profile_reader_process(reader, i);
		ck_assert_uint_le(info->start_tsc, info->end_tsc);
		check_text(info->name);
		check_text(info->path);
	}
	for (uint32_t i = 0; i < profile_reader_thread_count(reader); i++) {
		const struct profile_thread_info *info = profile_reader_thread(reader, i);
		ck_assert_uint_le(info->start_tsc, info->end_tsc);
		ck_assert(info->process < processes || info->process == PROFILE_NONE);
		check_text(info->name);
	}
	for (uint32_t i = 0; i < profile_reader_module_count(reader); i++) {
		const struct profile_module_info *info = profile_reader_module(reader, i);
		ck_assert(info->image < profile_reader_image_count(reader) ||
			  info->image == PROFILE_NONE);
		check_text(info->path);
	}
}

struct check {
	const struct profile_reader *reader;
	uint64_t broken;
};

static bool is_index(uint32_t index, uint32_t count)
{
	return index < count || index == PROFILE_NONE;
}

/* A guess is a guessed stack's, of a level that is known. */
static bool is_sound_guess(const struct profile_stack *stack)
{
	if (stack->state != PROFILE_STACK_GUESSED)
		return stack->verified == 0 && stack->guess_level == 0 && stack->guess_hits == 0;
	return stack->guess_level < PROFILE_GUESS_LEVEL_COUNT;
}

/* Counts instead of asserting: an assertion costs more than the sample. */
static bool check_sample(const struct profile_sample_info *sample, void *user)
{
	struct check *check = user;
	const struct profile_reader *reader = check->reader;

	check->broken += sample->stack.node >= profile_reader_node_count(reader) ||
			 sample->stack.state > PROFILE_STACK_NONE ||
			 sample->stack.reason >= PROFILE_SKIP_REASON_COUNT ||
			 !is_sound_guess(&sample->stack) ||
			 !is_index(sample->process, profile_reader_process_count(reader)) ||
			 !is_index(sample->thread, profile_reader_thread_count(reader)) ||
			 !is_index(sample->module, profile_reader_module_count(reader));
	return true;
}

static bool check_interval(const struct profile_interval *interval, void *user)
{
	const struct profile_reader *reader = user;

	ck_assert_uint_lt(interval->series, profile_reader_series_count(reader));
	ck_assert_uint_le(profile_reader_series(reader, interval->series)->kind,
			  PROFILE_SERIES_TASK);
	ck_assert_uint_le(interval->start_tsc, interval->end_tsc);
	return true;
}

static bool check_counter(const struct profile_counter *counter, void *user)
{
	const struct profile_reader *reader = user;

	ck_assert_uint_lt(counter->series, profile_reader_series_count(reader));
	ck_assert_uint_ge(profile_reader_series(reader, counter->series)->kind,
			  PROFILE_SERIES_COUNT);
	(void)profile_counter_value(counter);
	return true;
}

static void check_external(struct profile_reader *reader)
{
	for (uint32_t i = 0; i < profile_reader_source_count(reader); i++) {
		check_text(profile_reader_source_name(reader, i));
		check_text(profile_reader_source_host(reader, i));
		ck_assert_str_ne(profile_reader_source_name(reader, i), "");
		for (uint32_t other = 0; other < i && i < 100; other++)
			ck_assert_str_ne(profile_reader_source_name(reader, i),
					 profile_reader_source_name(reader, other));
	}
	for (uint32_t i = 0; i < profile_reader_series_count(reader); i++) {
		const struct profile_series *series = profile_reader_series(reader, i);
		check_text(profile_reader_series_name(reader, i));
		ck_assert_str_ne(profile_reader_series_name(reader, i), "");
		ck_assert_uint_lt(series->source, profile_reader_source_count(reader));
		ck_assert_uint_ge(series->kind, PROFILE_SERIES_FRAME);
		ck_assert_uint_le(series->kind, PROFILE_SERIES_INST);
	}
	TBRW_U32 intervals = profile_reader_each_interval(reader, check_interval, reader);
	TBRW_U32 counters = profile_reader_each_counter(reader, check_counter, reader);
	if (!profile_reader_complete(reader)) {
		assert_success(intervals);
		assert_success(counters);
	}
}

static bool check_slice(const struct profile_slice_info *slice, void *user)
{
	const struct profile_reader *reader = user;

	ck_assert_uint_le(slice->start_ns, slice->end_ns);
	ck_assert_uint_le(slice->before, PROFILE_STATE_STOPPED);
	ck_assert(slice->thread == PROFILE_NONE ||
		  slice->thread < profile_reader_thread_count(reader));
	return true;
}

static bool check_wait(const struct profile_wait_info *info, void *user)
{
	const struct profile_reader *reader = user;
	const struct profile_wait *wait = &info->wait;

	ck_assert_uint_lt(wait->object, profile_reader_object_count(reader));
	ck_assert_uint_lt(wait->node, profile_reader_node_count(reader));
	ck_assert_uint_lt(wait->waker_node, profile_reader_node_count(reader));
	ck_assert_uint_le(wait->state, PROFILE_STACK_NONE);
	ck_assert_uint_lt(wait->reason, PROFILE_SKIP_REASON_COUNT);
	ck_assert(info->thread == PROFILE_NONE ||
		  info->thread < profile_reader_thread_count(reader));
	ck_assert(info->waker_thread == PROFILE_NONE ||
		  info->waker_thread < profile_reader_thread_count(reader));
	return true;
}

/* As of samples, damage may show only in reading them. */
static void check_states(struct profile_reader *reader)
{
	ck_assert_uint_ge(profile_reader_object_count(reader), 1);
	for (uint32_t i = 0; i < profile_reader_object_count(reader); i++) {
		const struct profile_object *object = profile_reader_object(reader, i);
		ck_assert_uint_lt(object->variable, profile_reader_node_count(reader));
		ck_assert_uint_lt(object->created, profile_reader_node_count(reader));
		check_text(profile_reader_text(reader, object->name));
	}
	TBRW_U32 slices = profile_reader_each_slice(reader, check_slice, reader);
	TBRW_U32 waits = profile_reader_each_wait(reader, check_wait, reader);
	if (!profile_reader_complete(reader)) {
		assert_success(slices);
		assert_success(waits);
	}
}

void fixture_check_promises(struct profile_reader *reader)
{
	struct profile_host_info host;

	check_records(reader);
	check_lives(reader);
	check_external(reader);
	check_states(reader);
	profile_reader_host(reader, &host);
	check_text(host.name);
	check_text(host.os);
	check_text(host.cpu);
	/* Damage that only reading the samples shows is an error, never a wrong sample. */
	struct check check = {.reader = reader};
	TBRW_U32 code = profile_reader_each_sample(reader, check_sample, &check);
	ck_assert_uint_eq(check.broken, 0);
	if (!profile_reader_complete(reader))
		assert_success(code);
}
