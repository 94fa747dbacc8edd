#include "profile/base/build_id.h"

void profile_build_id_print(const uint8_t *bytes, uint32_t size,
			    char text[PROFILE_BUILD_ID_TEXT_SIZE])
{
	static const char digits[] = "0123456789abcdef";
	for (uint32_t i = 0; i < size && i < PROFILE_BUILD_ID_MAX; i++) {
		*text++ = digits[bytes[i] >> 4];
		*text++ = digits[bytes[i] & 15];
	}
	*text = '\0';
}
