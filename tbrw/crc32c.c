#include "tbrw/crc32c.h"

#include <string.h>

#include "tbrw/crc32c_table.h"

uint32_t tb5_crc32c_portable(uint32_t crc, const void *data, size_t size)
{
	const unsigned char *p = data;

	crc = ~crc;
	while (size--)
		crc = crc32c_table[(crc ^ *p++) & 0xff] ^ (crc >> 8);
	return ~crc;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) static uint32_t crc32c_sse42(uint32_t crc, const void *data,
							       size_t size)
{
	const unsigned char *p = data;
	uint64_t wide = (uint32_t)~crc;

	for (; size >= 8; size -= 8, p += 8) {
		uint64_t word;

		memcpy(&word, p, 8);
		wide = __builtin_ia32_crc32di(wide, word);
	}
	crc = (uint32_t)wide;
	while (size--)
		crc = __builtin_ia32_crc32qi(crc, *p++);
	return ~crc;
}
#endif

uint32_t tb5_crc32c(uint32_t crc, const void *data, size_t size)
{
#if defined(__x86_64__)
	if (__builtin_cpu_supports("sse4.2"))
		return crc32c_sse42(crc, data, size);
#endif
	return tb5_crc32c_portable(crc, data, size);
}
