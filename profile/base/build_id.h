/*
 * A build-id as readers and folders name it.
 */
#ifndef PROFILE_BASE_BUILD_ID_H
#define PROFILE_BASE_BUILD_ID_H

#include <stdint.h>

#define PROFILE_BUILD_ID_MAX       20u /* bytes */
#define PROFILE_BUILD_ID_TEXT_SIZE (2 * PROFILE_BUILD_ID_MAX + 1)

/* Two small hexadecimal digits for each byte, of which there are at most PROFILE_BUILD_ID_MAX; ""
 * for none. */
void profile_build_id_print(const uint8_t *bytes, uint32_t size,
			    char text[PROFILE_BUILD_ID_TEXT_SIZE]);

#endif
