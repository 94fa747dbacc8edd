#include "tests/tools/export/hostile_result.h"

#include "profile/write/writer.h"
#include <check.h>
#include <string.h>

#define START_NS UINT64_C(1000000000)
#define CPU_NS   (HOSTILE_CPU_MS * UINT64_C(1000000))

const char *hostile_name(unsigned index)
{
	static char long_name[HOSTILE_LONG + 1], cut_name[2 * HOSTILE_LONG + 1];
	static const char *const names[HOSTILE_NAMES] = {
		"plain",
		"\"quoted\", with a comma",
		"back\\slash\\",
		"line\nend\r\n",
		"\x01\x1b[31m\x7f",
		"\xff\xfe not UTF-8 \xc3",
		"calls=9 0\n0 99 99\nfn=(1) injected",
		"  spaces  ",
		"(3) a number;and=a column",
		"\xe2\x80\xa8 separator, \xf0\x9f\x94\xac",
		"</script><b>&amp;%s%n",
		long_name,
		cut_name,
	};
	memset(long_name, 'x', HOSTILE_LONG);
	for (size_t i = 0; i < HOSTILE_LONG; i++)
		memcpy(cut_name + 2 * i, "\xc3\xa4", 2);
	return names[index];
}

const char *hostile_name_read(unsigned index)
{
	if (index == 5)
		return "\xef\xbf\xbd\xef\xbf\xbd not UTF-8 \xef\xbf\xbd";
	const char *name = hostile_name(index);
	if (strlen(name) <= HOSTILE_KEPT)
		return name;
	/* Characters of two bytes before the mark of three. */
	static char kept[HOSTILE_KEPT];
	memcpy(kept, name, HOSTILE_KEPT - 4);
	memcpy(kept + HOSTILE_KEPT - 4, "...", 4);
	return kept;
}

static void add_module(struct profile_writer *writer, unsigned index)
{
	struct profile_image image = {.kind = PROFILE_IMAGE_FILE, .build_id_size = 1};
	struct profile_module module = {
		.pid = HOSTILE_PID + index,
		.start = 0x10000,
		.length = 0x10000,
		.path = hostile_name(index),
		.cs = 0x33,
		.is_executable = true,
		.is_first = true,
	};
	uint32_t image_index;
	ck_assert_uint_eq(profile_writer_add_image(writer, &image, hostile_name(index),
						   &image_index),
			  VT_SUCCESS);
	ck_assert_uint_eq(image_index, index + 1);
	module.image = image_index;
	ck_assert_uint_eq(profile_writer_add_module(writer, &module), VT_SUCCESS);
	struct profile_frame frame = {.image = image_index, .rva = 0x1004};
	ck_assert_uint_eq(profile_writer_add_frame(writer, &frame), VT_SUCCESS);
}

/* The stack of function `index` and the next one, as nodes 2 index + 1 and 2 index + 2. */
static void add_sample(struct profile_writer *writer, unsigned index)
{
	const struct profile_node caller = {.frame = index};
	const struct profile_node leaf = {.parent = 2 * index + 1,
					  .frame = (index + 1) % HOSTILE_NAMES};
	const struct profile_sample sample = {
		.time_ns = START_NS + index * CPU_NS,
		.ip = 0x11004,
		.pid = HOSTILE_PID + index,
		.tid = HOSTILE_TID + index,
		.cs = 0x33,
		.stack = {.cpu_ns = CPU_NS, .node = 2 * index + 2},
	};
	ck_assert_uint_eq(profile_writer_add_node(writer, &caller), VT_SUCCESS);
	ck_assert_uint_eq(profile_writer_add_node(writer, &leaf), VT_SUCCESS);
	ck_assert_uint_eq(profile_writer_add_sample(writer, &sample), VT_SUCCESS);
}

static void add_lives(struct profile_writer *writer, unsigned index)
{
	const char *name = hostile_name(index);
	const struct profile_process process = {
		.pid = HOSTILE_PID + index,
		.end_ns = PROFILE_TIME_NEVER,
		.path = name,
		.name = name,
	};
	const struct profile_thread_life life = {
		.pid = HOSTILE_PID + index,
		.tid = HOSTILE_TID + index,
		.end_ns = PROFILE_TIME_NEVER,
		.cpu_ns = CPU_NS,
		.sampled_ns = CPU_NS,
		.samples = 1,
		.name = name,
	};
	ck_assert_uint_eq(profile_writer_add_process(writer, &process), VT_SUCCESS);
	ck_assert_uint_eq(profile_writer_add_thread(writer, &life), VT_SUCCESS);
}

static void write_symbols(const char *path)
{
	struct profile_writer *writer;
	ck_assert_uint_eq(profile_symbol_writer_begin(path, &writer), VT_SUCCESS);
	for (unsigned i = 0; i < HOSTILE_NAMES; i++) {
		const char *name = hostile_name(i);
		const struct profile_symbol symbol = {.frame = i,
						      .line = 10 + i,
						      .start = 0x1000,
						      .size = 16};
		const struct profile_symbol_text text = {name, name, name};
		ck_assert_uint_eq(profile_symbol_writer_add(writer, &symbol, &text), VT_SUCCESS);
	}
	ck_assert_uint_eq(profile_symbol_writer_finish(writer), VT_SUCCESS);
}

void hostile_result_write(const char *path)
{
	struct profile_writer *writer;
	const struct profile_run run = {
		.clock = {.tsc = 5000, .raw_ns = START_NS, .tsc_per_ns_q32 = UINT64_C(2) << 32},
		.interval_ns = CPU_NS,
		.event_name = "CPU Time",
	};
	const struct profile_run_end end = {.command_line = "app",
					    .comment = "",
					    .clock = run.clock};
	ck_assert_uint_eq(profile_writer_create(path, &run, &writer), VT_SUCCESS);
	for (unsigned i = 0; i < HOSTILE_NAMES; i++)
		add_module(writer, i);
	for (unsigned i = 0; i < HOSTILE_NAMES; i++)
		add_sample(writer, i);
	for (unsigned i = 0; i < HOSTILE_NAMES; i++)
		add_lives(writer, i);
	ck_assert_uint_eq(profile_writer_add_note(writer, PROFILE_NOTE_COMMAND, START_NS, 0,
						  HOSTILE_PID, 0, hostile_name(6)),
			  VT_SUCCESS);
	ck_assert_uint_eq(profile_writer_finish(writer, &end), VT_SUCCESS);
	write_symbols(path);
}
