/* The table of streams keeps the rules that its readers, writers and copies rest on. */
#include "profile/base/streams.h"
#include "tests/support/suite.h"
#include <check.h>
#include <string.h>

/* What any kind of a record refers to with a field, one after the other. */
static enum profile_stream target(const struct profile_stream_field *field, uint32_t kind)
{
	const uint32_t record[PROFILE_RECORD_MAX / sizeof(uint32_t)] = {kind};

	return profile_field_target(field, record);
}

static bool refers_to(enum profile_stream from, enum profile_stream to)
{
	const struct profile_stream_spec *other = profile_stream_spec(from);
	bool is_any = false;

	for (uint32_t i = 0; i < other->field_count; i++)
		for (uint32_t kind = 0; kind < PROFILE_KINDS_MAX; kind++)
			is_any = is_any || target(&other->fields[i], kind) == to;
	return is_any;
}

/* Loop: the streams. */
START_TEST(names)
{
	const struct profile_stream_spec *spec = profile_stream_spec((enum profile_stream)_i);
	ck_assert_int_eq(strncmp(spec->name, "tbcollect.", 10), 0);
	for (int i = 0; i < _i; i++)
		ck_assert_str_ne(profile_stream_spec((enum profile_stream)i)->name, spec->name);
}
END_TEST

START_TEST(fields)
{
	const struct profile_stream_spec *spec = profile_stream_spec((enum profile_stream)_i);
	uint32_t end = 0;

	ck_assert_uint_gt(spec->field_count, 0);
	ck_assert_uint_lt(spec->field_count, 64);
	ck_assert_uint_le(spec->first_count, spec->field_count);
	for (uint32_t i = 0; i < spec->field_count; i++) {
		ck_assert_uint_eq(spec->fields[i].offset, end);
		end += spec->fields[i].size;
	}
	/* Records have no gaps, which would be unset bytes in the file. */
	ck_assert_uint_eq(spec->record_size, end);
	ck_assert_uint_le(spec->record_size, PROFILE_RECORD_MAX);
}
END_TEST

/* A copy in the order of the table finds the new index of each record that it needs. */
START_TEST(references)
{
	const struct profile_stream_spec *spec = profile_stream_spec((enum profile_stream)_i);
	uint32_t texts = 0;

	for (uint32_t i = 0; i < spec->field_count; i++) {
		const struct profile_stream_field *field = &spec->fields[i];
		if (!profile_field_refers(field))
			continue;
		ck_assert_uint_eq(field->size, sizeof(uint32_t));
		for (uint32_t kind = 0; kind < PROFILE_KINDS_MAX; kind++) {
			enum profile_stream to = target(field, kind);
			if (to == PROFILE_STREAM_COUNT)
				ck_assert_ptr_nonnull(field->refers_by_kind);
			else
				ck_assert_uint_le(to, (unsigned)_i);
		}
		ck_assert_uint_eq(target(field, PROFILE_KINDS_MAX),
				  field->refers_by_kind ? PROFILE_STREAM_COUNT : field->refers_to);
		if (field->refers_by_kind)
			ck_assert_str_eq(spec->fields[0].name, "kind");
		if (!profile_stream_is_text(field->refers_to))
			continue;
		const char *name = field[1].name;
		texts++;
		ck_assert_uint_lt(i + 1, spec->field_count);
		ck_assert_str_eq(strrchr(field->name, '.'), ".offset");
		ck_assert_str_eq(strrchr(name, '.'), ".length");
		ck_assert_int_eq(strncmp(field->name, name, (size_t)(strrchr(name, '.') - name)),
				 0);
	}
	ck_assert_uint_le(texts, PROFILE_TEXTS_MAX);
}
END_TEST

/* A record that is dropped changes the indices behind it, and a reference to a record that stands
 * for what is not known needs one. */
START_TEST(losses)
{
	const struct profile_stream_spec *spec = profile_stream_spec((enum profile_stream)_i);
	for (uint32_t i = 0; i < spec->field_count; i++) {
		const struct profile_stream_field *field = &spec->fields[i];
		if (!profile_field_refers(field) || profile_stream_is_text(field->refers_to))
			continue;
		if (field->lost == PROFILE_LOST_TO_UNKNOWN)
			ck_assert_uint_ge(profile_stream_spec(field->refers_to)->preset_count, 1);
		for (unsigned other = 0; other < PROFILE_STREAM_COUNT; other++)
			if (field->lost == PROFILE_LOST_RECORD)
				ck_assert(!refers_to((enum profile_stream)other,
						     (enum profile_stream)_i));
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("profile streams");
	TCase *tcase = tcase_create("table");

	tcase_add_loop_test(tcase, names, 0, PROFILE_STREAM_COUNT);
	tcase_add_loop_test(tcase, fields, 0, PROFILE_STREAM_COUNT);
	tcase_add_loop_test(tcase, references, 0, PROFILE_STREAM_COUNT);
	tcase_add_loop_test(tcase, losses, 0, PROFILE_STREAM_COUNT);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
