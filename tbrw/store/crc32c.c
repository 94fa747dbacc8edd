#include "tbrw/store/crc32c.h"

#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "tbrw/store/crc32c_table.h"

uint32_t tb5_crc32c_portable(uint32_t crc, const void *data, size_t size)
{
	const unsigned char *p = data;

	crc = ~crc;
	while (size--)
		crc = crc32c_table[(crc ^ *p++) & 0xff] ^ (crc >> 8);
	return ~crc;
}

#if defined(__x86_64__)
/* The instruction takes three cycles but can begin in each: three neighbouring pieces go through at
 * a time. The bytes before a piece of n bytes count as if n zero bytes followed: their CRC times
 * x^8n, a product with x^(8n - 33) reduced by the instruction itself. */
#define PIECE     1360u
#define SHIFT_ONE 0x3f70cc6f /* x^(8 * PIECE - 33) mod P, reflected */
#define SHIFT_TWO 0x5aa1f3cf /* x^(16 * PIECE - 33) mod P */

#define TARGET __attribute__((target("sse4.2,pclmul")))

TARGET static uint64_t crc_shift(uint64_t crc, long long by)
{
	__v2di product =
		__builtin_ia32_pclmulqdq128((__v2di){(long long)crc, 0}, (__v2di){by, 0}, 0);

	return __builtin_ia32_crc32di(0, (uint64_t)product[0]);
}

static uint64_t word_at(const unsigned char *p)
{
	uint64_t word;

	memcpy(&word, p, sizeof(word));
	return word;
}

TARGET static uint64_t crc_three_pieces(uint64_t crc, const unsigned char *p)
{
	uint64_t second = 0;
	uint64_t third = 0;

	for (size_t i = 0; i < PIECE; i += 8) {
		crc = __builtin_ia32_crc32di(crc, word_at(p + i));
		second = __builtin_ia32_crc32di(second, word_at(p + PIECE + i));
		third = __builtin_ia32_crc32di(third, word_at(p + (size_t)2 * PIECE + i));
	}
	return crc_shift(crc, SHIFT_TWO) ^ crc_shift(second, SHIFT_ONE) ^ third;
}

TARGET static uint32_t crc32c_sse42(uint32_t crc, const void *data, size_t size)
{
	const unsigned char *p = data;
	uint64_t wide = (uint32_t)~crc;

	for (; size >= (size_t)3 * PIECE; size -= (size_t)3 * PIECE, p += (size_t)3 * PIECE)
		wide = crc_three_pieces(wide, p);
	for (; size >= 8; size -= 8, p += 8)
		wide = __builtin_ia32_crc32di(wide, word_at(p));
	crc = (uint32_t)wide;
	while (size--)
		crc = __builtin_ia32_crc32qi(crc, *p++);
	return ~crc;
}
#endif

uint32_t tb5_crc32c(uint32_t crc, const void *data, size_t size)
{
#if defined(__x86_64__)
	if (__builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("pclmul"))
		return crc32c_sse42(crc, data, size);
#endif
	return tb5_crc32c_portable(crc, data, size);
}
