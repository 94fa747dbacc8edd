/* A disk that is full or fails, for tests linked with --wrap of the calls in disk.c. */
#ifndef TESTS_TBRW_DISK_H
#define TESTS_TBRW_DISK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is to happen to one call, chosen by its number. */
enum fault { NO_FAULT, FAIL_WRITE, TEAR_WRITE, FAIL_SYNC, FAIL_READ, SHORT_READ };

struct disk {
	size_t room;         /* bytes that can still be written or reserved */
	bool reserves;       /* can do so; else writes find out */
	size_t reserved;     /* bytes that can be written besides */
	int error;           /* what the write that finds no room gets */
	unsigned interrupts; /* calls that fail with EINTR first */
	bool dribble;        /* write at most 5 bytes per call */
	uint32_t until_fault;
	bool faulted;
	enum fault fault;
	bool no_truncation;
};
extern struct disk disk;

/* The fault happens to a call after so many others; errno of the failing call. */
void fault_after(enum fault fault, uint32_t calls, int error);
/* Whether it came. */
bool fault_end(void);

/* A disk that has so much room, and does or does not tell beforehand. */
void disk_begin(size_t room, bool reserves);
void disk_end(void);

#endif
