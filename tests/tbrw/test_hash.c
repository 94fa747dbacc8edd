/* SipHash-1-3 by its definition: key 00..0f, input 00, 01, 02 ... The first value is the one that
 * other implementations publish; the others were computed with one written from the paper in
 * another language. */
#include "tbrw/file/hash.h"
#include "tests/tbrw/support.h"

static struct tb5_hash_key counting_key(void)
{
	return (struct tb5_hash_key){{0x0706050403020100u, 0x0f0e0d0c0b0a0908u}};
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
	const struct tb5_hash_key key = counting_key();
	unsigned char input[64];

	for (size_t i = 0; i < sizeof(input); i++)
		input[i] = (unsigned char)i;
	for (size_t i = 0; i < sizeof(expected) / sizeof(*expected); i++)
		ck_assert_uint_eq(tb5_hash(&key, input, expected[i].size), expected[i].hash);
}
END_TEST

START_TEST(every_bit_counts)
{
	struct tb5_hash_key key = counting_key();
	unsigned char input[17] = {0};
	uint64_t plain = tb5_hash(&key, input, sizeof(input));

	for (size_t i = 0; i < sizeof(input) * 8; i++) {
		input[i / 8] ^= (unsigned char)(1u << i % 8);
		ck_assert_uint_ne(tb5_hash(&key, input, sizeof(input)), plain);
		input[i / 8] ^= (unsigned char)(1u << i % 8);
	}
	for (size_t i = 0; i < 128; i++) {
		key.words[i / 64] ^= UINT64_C(1) << i % 64;
		ck_assert_uint_ne(tb5_hash(&key, input, sizeof(input)), plain);
		key.words[i / 64] ^= UINT64_C(1) << i % 64;
	}
}
END_TEST

START_TEST(keys_differ)
{
	struct tb5_hash_key first = tb5_hash_key(), second = tb5_hash_key();

	ck_assert(first.words[0] != second.words[0] || first.words[1] != second.words[1]);
	ck_assert(first.words[0] != 0 && first.words[1] != 0);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {vectors, every_bit_counts, keys_differ};

	return run_suite(suite_of("hash", tests, sizeof(tests) / sizeof(*tests)));
}
