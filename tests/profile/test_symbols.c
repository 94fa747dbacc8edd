/* The symbols that finalization appends to a result. */
#include "tests/profile/fixture.h"

static void add_symbol(struct profile_writer *writer, uint32_t frame, uint16_t depth,
		       const char *name)
{
	struct profile_symbol symbol = {
		.frame = frame,
		.depth = depth,
		.flags = depth == 0 ? PROFILE_SYMBOL_INLINED : 0,
		.line = 10u + depth,
		.start = 0x1000,
		.size = 0x40,
	};
	struct profile_symbol_text text = {name, depth ? "full(int)" : NULL, "app.c"};

	assert_success(profile_symbol_writer_add(writer, &symbol, &text));
}

START_TEST(symbols_last_pair_counts)
{
	struct profile_writer *writer = fixture_create();
	struct profile_writer *symbols;
	uint32_t count;

	fixture_fill(writer, 3);
	fixture_finish(writer);
	assert_success(profile_symbol_writer_begin(fixture_path(), &symbols));
	add_symbol(symbols, 0, 0, "first_try");
	assert_success(profile_symbol_writer_finish(symbols));
	assert_success(profile_symbol_writer_begin(fixture_path(), &symbols));
	add_symbol(symbols, 2, 0, "inner");
	add_symbol(symbols, 2, 1, "outer");
	add_symbol(symbols, 0, 0, "leaf");
	add_symbol(symbols, 77, 0, "of no frame");
	assert_success(profile_symbol_writer_finish(symbols));

	struct profile_reader *reader = fixture_open();
	ck_assert(profile_reader_complete(reader));
	ck_assert_uint_eq(profile_reader_symbol_count(reader), 3);
	const struct profile_symbol *read = profile_reader_symbols(reader, 2, &count);
	ck_assert_uint_eq(count, 2);
	ck_assert_str_eq(profile_reader_symtext(reader, read[0].name), "inner");
	ck_assert_str_eq(profile_reader_symtext(reader, read[0].full), "");
	ck_assert_str_eq(profile_reader_symtext(reader, read[1].name), "outer");
	ck_assert_str_eq(profile_reader_symtext(reader, read[1].full), "full(int)");
	ck_assert_str_eq(profile_reader_symtext(reader, read[1].file), "app.c");
	ck_assert_uint_eq(read[1].line, 11);
	ck_assert_uint_eq(read[0].flags, PROFILE_SYMBOL_INLINED);
	read = profile_reader_symbols(reader, 0, &count);
	ck_assert_uint_eq(count, 1);
	ck_assert_str_eq(profile_reader_symtext(reader, read[0].name), "leaf");
	ck_assert_ptr_null(profile_reader_symbols(reader, 1, &count));
	ck_assert_uint_eq(count, 0);
	fixture_check_promises(reader);
	profile_reader_close(reader);
}
END_TEST

START_TEST(two_symbols_out_of_order)
{
	struct profile_writer *writer = fixture_create();
	struct profile_writer *symbols;
	uint32_t count;

	fixture_fill(writer, 3);
	fixture_finish(writer);
	assert_success(profile_symbol_writer_begin(fixture_path(), &symbols));
	add_symbol(symbols, 2, 0, "later");
	add_symbol(symbols, 0, 0, "earlier");
	assert_success(profile_symbol_writer_finish(symbols));

	struct profile_reader *reader = fixture_open();
	for (uint32_t frame = 0; frame <= 2; frame += 2) {
		const struct profile_symbol *read = profile_reader_symbols(reader, frame, &count);
		ck_assert_uint_eq(count, 1);
		ck_assert_str_eq(profile_reader_symtext(reader, read->name),
				 frame == 0 ? "earlier" : "later");
	}
	profile_reader_close(reader);
}
END_TEST

START_TEST(abandoned_symbols_leave_the_result_whole)
{
	struct profile_writer *writer = fixture_create();
	struct profile_writer *symbols;

	fixture_fill(writer, 3);
	fixture_finish(writer);
	assert_success(profile_symbol_writer_begin(fixture_path(), &symbols));
	for (uint32_t i = 0; i < 100000; i++)
		add_symbol(symbols, 0, 0, "never");
	profile_writer_abandon(symbols);
	profile_writer_abandon(NULL);
	struct profile_reader *reader = fixture_open();
	ck_assert(profile_reader_complete(reader));
	ck_assert_uint_eq(profile_reader_symbol_count(reader), 0);
	ck_assert_uint_eq(profile_reader_sample_count(reader), 3);
	profile_reader_close(reader);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("profile symbols");
	TCase *tcase = fixture_case(suite);

	tcase_add_test(tcase, symbols_last_pair_counts);
	tcase_add_test(tcase, two_symbols_out_of_order);
	tcase_add_test(tcase, abandoned_symbols_leave_the_result_whole);
	return run_suite(suite);
}
