/* Writes results for fuzz_profile to start from: closed, cut short, with symbols, with external
 * data. */
#include "tests/profile/fixture.h"
#include <stdio.h>
#include <stdlib.h>

static void keep(const char *folder, const char *name)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	if (rename(fixture_path(), path) != 0)
		abort();
}

static struct profile_writer *create(uint32_t samples)
{
	struct profile_writer *writer = fixture_create();

	fixture_fill(writer, samples);
	fixture_add_process(writer, 200, fixture_ms(5), fixture_ms(50), "/bin/sh");
	fixture_add_thread(writer, 200, 201, fixture_ms(6), fixture_ms(40), 3, "worker");
	fixture_add_module(writer, 200, 0x5000, 0x1000, fixture_ms(5), "/bin/sh", true);
	return writer;
}

static void add_symbols(void)
{
	struct profile_symbol symbol = {.frame = 0, .line = 10, .start = 0x1000, .size = 0x40};
	struct profile_symbol_text text = {"work", "work(int)", "app.c"};
	struct profile_writer *symbols;

	assert_success(profile_symbol_writer_begin(fixture_path(), &symbols));
	assert_success(profile_symbol_writer_add(symbols, &symbol, &text));
	assert_success(profile_symbol_writer_finish(symbols));
}

/* Two imports, the second in place of the first. */
static void add_external(uint32_t rows)
{
	const char *const texts[] = {"tasks.csv", "host"};
	const struct profile_source source = {.rows = rows, .clock = PROFILE_CLOCK_RAW};
	struct profile_writer *writer;

	assert_success(profile_external_writer_begin(fixture_path(), &writer));
	for (uint32_t kind = PROFILE_SERIES_FRAME; kind <= PROFILE_SERIES_INST; kind++) {
		const struct profile_series series = {.kind = kind};
		assert_success(
			profile_writer_add(writer, PROFILE_STREAM_SERIES, &series, texts, NULL));
	}
	for (uint32_t i = 0; i < rows; i++) {
		const struct profile_interval interval =
			{fixture_tsc(i), fixture_tsc(i + 1), i % 2, 100, 101, 0};
		const struct profile_counter counter = {fixture_tsc(i), i, 2 + i % 2, 100, 101, 0};
		assert_success(profile_writer_add(writer, PROFILE_STREAM_INTERVALS, &interval, NULL,
						  NULL));
		assert_success(
			profile_writer_add(writer, PROFILE_STREAM_COUNTERS, &counter, NULL, NULL));
	}
	assert_success(profile_writer_add(writer, PROFILE_STREAM_SOURCES, &source, texts, NULL));
	assert_success(profile_external_writer_finish(writer));
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: fuzz_profile_seed FOLDER\n");
		return EXIT_FAILURE;
	}
	fixture_setup();
	fixture_finish(create(3));
	keep(argv[1], "closed");
	fixture_kill(create(20));
	keep(argv[1], "cut");
	fixture_finish(create(1));
	add_symbols();
	keep(argv[1], "symbols");
	fixture_finish(create(1));
	add_external(2);
	add_external(3);
	keep(argv[1], "external");
	fixture_teardown();
	return EXIT_SUCCESS;
}
