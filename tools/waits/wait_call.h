/*
 * System calls in which threads wait, by x86-64's numbers.
 */
#ifndef TOOLS_WAITS_WAIT_CALL_H
#define TOOLS_WAITS_WAIT_CALL_H

#include "tools/waits/wait_type.h"
#include <stdint.h>

/* NULL: none that is known to wait. */
const char *wait_call_name(uint32_t number);

/* What a thread waits for in it; WAIT_TYPE_CALL: it says no more. */
enum wait_type wait_call_type(uint32_t number);

#endif
