/* Results of generated code whose compiler left a jitdump: each sample has the function that lay at
 * its addresses when it was taken. */
#include "profile/read/states.h"
#include "profile/write/writer.h"
#include "tests/program/jitdump_fixture.h"
#include "tests/support/suite.h"
#include "tests/tools/build_result.h"
#include "tools/convert/recover.h"
#include "tools/generated/code_lives.h"
#include "tools/generated/split_frames.h"
#include "tools/memory/xalloc.h"
#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SECOND UINT64_C(1000000000)
/* The result's clock at its start, and CLOCK_MONOTONIC then. */
#define RAW       (100 * SECOND)
#define MONOTONIC (50 * SECOND)

enum { PID = 77 };

static char directory[32];
static char result_path[64], split_path[64], dump_path[64];
static uint32_t owner;
static uint64_t inode;
static bool has_monotonic;

static void setup(void)
{
	build_directory(directory);
	snprintf(result_path, sizeof(result_path), "%s/r.tb5", directory);
	snprintf(split_path, sizeof(split_path), "%s/s.tb5", directory);
	snprintf(dump_path, sizeof(dump_path), "%s/jit-%d.dump", directory, PID);
	owner = geteuid();
	inode = 0;
	has_monotonic = true;
}

static void teardown(void)
{
	build_directory_remove(directory);
}

static struct profile_clock clock_at(uint64_t seconds)
{
	return (struct profile_clock){
		.tsc = RAW + seconds * SECOND,
		.raw_ns = RAW + seconds * SECOND,
		.tsc_per_ns_q32 = UINT64_C(1) << 32,
		.monotonic_ns = has_monotonic ? MONOTONIC + seconds * SECOND : 0,
	};
}

/* At 0x1000 lie "early", from second 3 on "late"; at 0x2000 always "caller". */
static void write_dump(void)
{
	int fd = open(dump_path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	ck_assert_int_ge(fd, 0);
	fixture_begin(fd, 0, 0);
	fixture_load(fd, MONOTONIC + SECOND / 2, 0x1000, 0x100, 1, "early");
	fixture_load(fd, MONOTONIC + SECOND / 2, 0x2000, 0x100, 2, "caller");
	fixture_load(fd, MONOTONIC + 3 * SECOND, 0x1000, 0x100, 3, "late");
	close(fd);
}

static struct profile_writer *begin_result(void)
{
	struct profile_writer *writer;
	struct profile_run run = {.clock = clock_at(0),
				  .interval_ns = 10000000,
				  .event_name = "CPU Time"};
	struct profile_image jit = {.kind = PROFILE_IMAGE_JIT, .owner_uid = owner, .pid = PID};
	struct profile_image dump = {.kind = PROFILE_IMAGE_FILE,
				     .flags = PROFILE_IMAGE_NOT_OPEN,
				     .pid = PID,
				     .inode = inode};
	struct profile_module module = {.pid = PID,
					.image = 2,
					.start = 0x9000,
					.length = 0x1000,
					.path = dump_path,
					.cs = 0x33,
					.is_first = true};
	ck_assert_uint_eq(profile_writer_create(result_path, &run, &writer), VT_SUCCESS);
	ck_assert_uint_eq(profile_writer_add_image(writer, &jit, "/tmp/perf-77.map", NULL),
			  VT_SUCCESS);
	ck_assert_uint_eq(profile_writer_add_image(writer, &dump, dump_path, NULL), VT_SUCCESS);
	ck_assert_uint_eq(profile_writer_add_module(writer, &module), VT_SUCCESS);
	return writer;
}

static void add_node(struct profile_writer *writer, uint32_t parent, uint64_t rva)
{
	static uint32_t frame;
	if (parent == 0)
		frame = 0;
	struct profile_frame code = {.image = 1, .rva = rva};
	struct profile_node node = {.parent = parent, .frame = frame++};
	ck_assert_uint_eq(profile_writer_add_frame(writer, &code), VT_SUCCESS);
	ck_assert_uint_eq(profile_writer_add_node(writer, &node), VT_SUCCESS);
}

static void add_sample(struct profile_writer *writer, uint64_t seconds, uint32_t node)
{
	struct profile_sample sample = {.time_ns = RAW + seconds * SECOND,
					.ip = 0x1010,
					.pid = PID,
					.tid = PID,
					.cs = 0x33,
					.stack = {.cpu_ns = 10000000, .node = node}};
	ck_assert_uint_eq(profile_writer_add_sample(writer, &sample), VT_SUCCESS);
}

static void end_result(struct profile_writer *writer)
{
	struct profile_run_end end = {.command_line = "", .comment = "", .clock = clock_at(10)};
	ck_assert_uint_eq(profile_writer_finish(writer, &end), VT_SUCCESS);
}

/* caller (node 1) calls what lies at 0x1010 (2), which calls the caller again (3). */
static void write_result(const uint64_t *seconds, size_t count)
{
	struct profile_writer *writer = begin_result();
	add_node(writer, 0, 0x2010);
	add_node(writer, 1, 0x1010);
	add_node(writer, 2, 0x2020);
	for (size_t i = 0; i < count; i++)
		add_sample(writer, seconds[i], 2 + (i == count - 1));
	struct profile_wait wait = {.node = 2, .waker_node = 2, .wait_ns = 2 * SECOND};
	ck_assert_uint_eq(profile_writer_add_note(writer, PROFILE_NOTE_WAITS, RAW, 0, 0,
						  PROFILE_WAIT_BY_BPF, NULL),
			  VT_SUCCESS);
	/* It blocks while the early function is there, and is woken when the late one is. */
	ck_assert_uint_eq(profile_writer_add_wait(writer, &wait, RAW + 2 * SECOND), VT_SUCCESS);
	end_result(writer);
}

static struct profile_reader *open_reader(const char *path)
{
	struct profile_reader *reader;
	ck_assert_uint_eq(profile_reader_open(path, &reader), VT_SUCCESS);
	return reader;
}

/* The names from a node to the root, "leaf<caller"; "-" where no dump tells. */
static void name_stack(const struct profile_reader *reader, struct code_lives *lives, uint32_t node,
		       char names[128])
{
	names[0] = '\0';
	while (node != 0) {
		const struct profile_node *at = profile_reader_node(reader, node);
		struct symbol_address address =
			{.rva = profile_reader_frame(reader, at->frame)->rva, .frame = at->frame};
		bool is_named = code_lives_resolve(lives, &address);
		size_t length = strlen(names);
		snprintf(names + length, 128 - length, "%s%s", length > 0 ? "<" : "",
			 is_named ? address.function.name : "-");
		symbol_address_finish(&address);
		node = at->parent;
	}
}

struct naming {
	const struct profile_reader *reader;
	struct code_lives *lives;
	char text[1024];
};

static void add_name(struct naming *naming, uint32_t node)
{
	char names[128];
	size_t length = strlen(naming->text);
	name_stack(naming->reader, naming->lives, node, names);
	snprintf(naming->text + length, sizeof(naming->text) - length, "%s ", names);
}

static bool name_sample(const struct profile_sample_info *sample, void *user)
{
	add_name(user, sample->stack.node);
	return true;
}

static bool name_wait(const struct profile_wait_info *info, void *user)
{
	add_name(user, info->wait.node);
	add_name(user, info->wait.waker_node);
	return true;
}

/* The stacks of all samples, then of the wait and of its waker. */
static void assert_stacks(struct profile_reader *reader, struct code_lives *lives,
			  const char *expected)
{
	struct naming naming = {.reader = reader, .lives = lives};
	ck_assert_uint_eq(profile_reader_each_sample(reader, name_sample, &naming), VT_SUCCESS);
	ck_assert_uint_eq(profile_reader_each_wait(reader, name_wait, &naming), VT_SUCCESS);
	ck_assert_str_eq(naming.text, expected);
}

START_TEST(splits_by_time)
{
	static const uint64_t seconds[] = {1, 4, 2, 5, 6};
	static const char expected[] =
		"early<caller late<caller early<caller late<caller caller<late<caller "
		"early<caller late<caller ";
	struct progress progress = {0};
	write_dump();
	write_result(seconds, 5);
	struct profile_reader *reader = open_reader(result_path);
	struct code_lives *lives = code_lives_read(reader);
	ck_assert_uint_eq(code_lives_mixed_count(lives), 1);
	struct split_frames split;
	split_frames_begin(&split, reader, lives);
	ck_assert_uint_eq(recover_copy(&split.copy, result_path, split_path, &progress),
			  VT_SUCCESS);
	split_frames_finish(&split);
	code_lives_destroy(lives);
	profile_reader_close(reader);

	reader = open_reader(split_path);
	ck_assert(profile_reader_complete(reader));
	lives = code_lives_read(reader);
	/* One frame more; two nodes, one of them below it. */
	ck_assert_uint_eq(code_lives_mixed_count(lives), 0);
	ck_assert_uint_eq(profile_reader_frame_count(reader), 4);
	ck_assert_uint_eq(profile_reader_node_count(reader), 6);
	assert_stacks(reader, lives, expected);
	code_lives_destroy(lives);
	profile_reader_close(reader);
}
END_TEST

/* Where all that was sampled is of one function, nothing is split, whichever it is. */
START_TEST(one_function_seen)
{
	struct profile_writer *writer;
	write_dump();
	writer = begin_result();
	add_node(writer, 0, 0x1010);
	add_sample(writer, _i == 0 ? 1 : 4, 1);
	end_result(writer);
	struct profile_reader *reader = open_reader(result_path);
	struct code_lives *lives = code_lives_read(reader);
	ck_assert_uint_eq(code_lives_mixed_count(lives), 0);
	assert_stacks(reader, lives, _i == 0 ? "early " : "late ");
	code_lives_destroy(lives);
	profile_reader_close(reader);
}
END_TEST

/* A result that does not know the dump's clock: the last function counts. */
START_TEST(unknown_clock)
{
	static const uint64_t seconds[] = {1, 4};
	has_monotonic = false;
	write_dump();
	write_result(seconds, 2);
	struct profile_reader *reader = open_reader(result_path);
	struct code_lives *lives = code_lives_read(reader);
	ck_assert_uint_eq(code_lives_mixed_count(lives), 0);
	assert_stacks(reader, lives, "late<caller caller<late<caller late<caller late<caller ");
	code_lives_destroy(lives);
	profile_reader_close(reader);
}
END_TEST

static void assert_status(enum perf_map_status expected)
{
	static const uint64_t seconds[] = {1};
	size_t count;
	write_result(seconds, 1);
	struct profile_reader *reader = open_reader(result_path);
	struct code_lives *lives = code_lives_read(reader);
	const struct code_dump_file *files = code_lives_files(lives, &count);
	ck_assert_uint_eq(count, 1);
	ck_assert_str_eq(files->path, dump_path);
	ck_assert_uint_eq(files->image, 1);
	ck_assert_int_eq(files->status, expected);
	code_lives_destroy(lives);
	profile_reader_close(reader);
	ck_assert_int_eq(unlink(result_path), 0);
}

START_TEST(files_of_others)
{
	struct stat status;
	char elsewhere[80];
	assert_status(PERF_MAP_MISSING);
	write_dump();
	ck_assert_int_eq(stat(dump_path, &status), 0);
	assert_status(PERF_MAP_READ);
	inode = status.st_ino;
	assert_status(PERF_MAP_READ);
	inode++;
	assert_status(PERF_MAP_REPLACED);
	inode--;
	owner++;
	assert_status(PERF_MAP_OTHER_OWNER);
	owner = PERF_MAP_NO_OWNER;
	assert_status(PERF_MAP_UNKNOWN_OWNER);
	owner = geteuid();
	ck_assert_int_eq(truncate(dump_path, 40), 0);
	assert_status(PERF_MAP_NO_NAMES);
	ck_assert_int_eq(truncate(dump_path, 39), 0);
	assert_status(PERF_MAP_NO_NAMES);
	/* A link, wherever it leads. */
	ck_assert_int_eq(unlink(dump_path), 0);
	write_dump();
	snprintf(elsewhere, sizeof(elsewhere), "%s/other", directory);
	ck_assert_int_eq(rename(dump_path, elsewhere), 0);
	ck_assert_int_eq(symlink(elsewhere, dump_path), 0);
	inode = 0;
	assert_status(PERF_MAP_NO_NAMES);
	ck_assert_int_eq(unlink(dump_path), 0);
	ck_assert_int_eq(mkfifo(dump_path, 0600), 0);
	assert_status(PERF_MAP_NO_NAMES);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("code lives");
	TCase *tcase = tcase_create("lives");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, splits_by_time);
	tcase_add_loop_test(tcase, one_function_seen, 0, 2);
	tcase_add_test(tcase, unknown_clock);
	tcase_add_test(tcase, files_of_others);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
