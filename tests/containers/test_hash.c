/* SipHash-1-3 by its definition: key 00..0f, input 00, 01, 02 ... The first value is the one that
 * other implementations publish; the others were computed with one written from the paper in
 * another language. */
#include "containers/hash.h"
#include "tests/support/suite.h"

static struct hash_key counting_key(void)
{
	return (struct hash_key){{0x0706050403020100u, 0x0f0e0d0c0b0a0908u}};
}

START_TEST(vectors)
{
	static const struct {
		size_t size;
		uint64_t hash;
	} expected[] = {
		{0, 0xabac0158050fc4dcu},  {1, 0xc9f49bf37d57ca93u},  {7, 0xd3927d989bb11140u},
		{8, 0x369095118d299a8eu},  {15, 0xd320d86d2a519956u}, {16, 0xcc4fdd1a7d908b66u},
		{63, 0x9d199062b7bbb3a8u},
	};
	const struct hash_key key = counting_key();
	unsigned char input[64];

	for (size_t i = 0; i < sizeof(input); i++)
		input[i] = (unsigned char)i;
	for (size_t i = 0; i < sizeof(expected) / sizeof(*expected); i++)
		ck_assert_uint_eq(hash_bytes(&key, input, expected[i].size), expected[i].hash);
}
END_TEST

START_TEST(every_bit_counts)
{
	struct hash_key key = counting_key();
	unsigned char input[17] = {0};
	uint64_t plain = hash_bytes(&key, input, sizeof(input));

	for (size_t i = 0; i < sizeof(input) * 8; i++) {
		input[i / 8] ^= (unsigned char)(1u << i % 8);
		ck_assert_uint_ne(hash_bytes(&key, input, sizeof(input)), plain);
		input[i / 8] ^= (unsigned char)(1u << i % 8);
	}
	for (size_t i = 0; i < 128; i++) {
		key.words[i / 64] ^= UINT64_C(1) << i % 64;
		ck_assert_uint_ne(hash_bytes(&key, input, sizeof(input)), plain);
		key.words[i / 64] ^= UINT64_C(1) << i % 64;
	}
}
END_TEST

START_TEST(keys_differ)
{
	struct hash_key first = hash_key_draw(), second = hash_key_draw();

	ck_assert(first.words[0] != second.words[0] || first.words[1] != second.words[1]);
	ck_assert(first.words[0] != 0 && first.words[1] != 0);
}
END_TEST

START_TEST(numbers_have_hashes_of_their_own)
{
	const struct hash_key key = counting_key(), other = {{1, 2}};
	enum { COUNT = 1 << 16, SLOTS = 1 << 17 };
	static unsigned char taken[SLOTS];

	/* Steps whose low bits say nothing, or whose high ones do not; a random function of 2^16
	 * keys hits 2^17 slots 51,573 times (1 - e^-1/2). */
	for (unsigned shift = 0; shift < 48; shift++) {
		uint32_t met = 0;
		memset(taken, 0, sizeof(taken));
		for (uint64_t i = 0; i < COUNT; i++) {
			unsigned char *slot = &taken[hash_number(&key, i << shift) % SLOTS];
			met += !*slot;
			*slot = 1;
		}
		ck_assert_uint_gt(met, 51000);
		ck_assert_uint_ne(hash_number(&key, UINT64_C(1) << shift),
				  hash_number(&other, UINT64_C(1) << shift));
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("hash");
	TCase *tests = tcase_create("hash");
	tcase_add_test(tests, vectors);
	tcase_add_test(tests, every_bit_counts);
	tcase_add_test(tests, keys_differ);
	tcase_add_test(tests, numbers_have_hashes_of_their_own);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
