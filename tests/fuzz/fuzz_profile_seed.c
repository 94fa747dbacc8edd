/* Writes results for fuzz_profile to start from: closed, cut short, with symbols. */
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
	fixture_teardown();
	return EXIT_SUCCESS;
}
