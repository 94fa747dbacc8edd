/*
 * The system calls in which threads wait, and what for. Numbers are the kernel's for this machine
 * (asm/unistd.h) and, on x86-64, for 32-bit code (asm/unistd_32.h).
 */
#ifndef COLLECTOR_WAITS_WAIT_CALL_H
#define COLLECTOR_WAITS_WAIT_CALL_H

#include "profile/profile.h"
#include <stdbool.h>
#include <stdint.h>

struct record_call;

/* An object as far as the call alone tells. */
struct wait_target {
	uint64_t address;              /* FUTEX */
	uint32_t number;               /* as in profile_object */
	uint16_t syscall;              /* as in profile_wait */
	enum profile_object_kind kind; /* FUTEX, FILE, CALL, FAULT or CHILD */
};

/* is_32bit: the call is one of 32-bit code. */
struct wait_target wait_call_target(const struct record_call *call, bool is_32bit);

/* Whether the call goes on with one that was interrupted, whatever that was. */
bool wait_call_is_restart(const struct record_call *call, bool is_32bit);

#endif
