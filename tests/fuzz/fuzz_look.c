/* Feeds the parsers of /proc/PID/task/TID/syscall and stat with any text, and what they find to the
 * table of calls. */
#include "collector/waits/look.h"
#include "collector/waits/wait_call.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct look_pointers pointers;
	char *text = malloc(size + 1);
	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	look_parse_state(text);
	if (look_parse(text, &pointers)) {
		struct wait_target target = wait_call_target(&pointers.call, pointers.is_32bit);
		bool is_call = pointers.call.number != PROFILE_NO_SYSCALL;
		if (target.kind > PROFILE_OBJECT_CHILD ||
		    is_call != (target.kind != PROFILE_OBJECT_FAULT) ||
		    (pointers.is_32bit && (pointers.sp | pointers.pc) > UINT32_MAX))
			abort();
	}
	free(text);
	return 0;
}
