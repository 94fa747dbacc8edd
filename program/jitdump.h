/*
 * Reads the records of a jitdump: what a just-in-time compiler writes down of its code while it
 * runs (Linux tools/perf/Documentation/jitdump-specification.txt, version 1). The file is the
 * target's: every number in it is checked, and it may grow or shrink while it is read. Code is
 * passed over, not read.
 *
 * A dump is read up to the size that it had when it was opened, to the last whole record. Numbers
 * are in the byte order of their writer; a dump of the other order is no dump for us.
 */
#ifndef PROGRAM_JITDUMP_H
#define PROGRAM_JITDUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	JITDUMP_NAME_MAX = 4096,        /* bytes of a text with its end; the rest is left out */
	JITDUMP_RECORDS_MAX = 20000000, /* those behind are not read */
	JITDUMP_LINES_MAX = 20000000,   /* entries of lines, in all questions together */
	JITDUMP_WINDOW = 65536          /* bytes read at once */
};

struct jitdump {
	int fd;         /* borrowed */
	uint64_t size;  /* when opened */
	uint64_t at;    /* of the next record */
	uint64_t count; /* records read */
	uint64_t lines; /* entries of lines read */
	/* The times are of the machine's own counter, not of CLOCK_MONOTONIC. */
	bool has_counter;
	/* Addresses of lines lie behind the code's by so much: V8 adds the size of an ELF header,
	 * to meet what perf inject once did (V8, src/diagnostics/perf-jit.cc). */
	uint64_t line_shift;
	uint64_t window_at;
	size_t window_size;
	uint8_t window[JITDUMP_WINDOW];
};

enum jitdump_kind {
	JITDUMP_LOAD = 0,
	JITDUMP_MOVE = 1,
	JITDUMP_LINES = 2, /* JIT_CODE_DEBUG_INFO: of the load of this address that follows */
	JITDUMP_CLOSE = 3,
	JITDUMP_UNWINDING = 4
};

struct jitdump_record {
	uint32_t kind;    /* enum jitdump_kind, or one of a later version */
	uint64_t time;    /* ns of CLOCK_MONOTONIC, or a counter's value */
	uint64_t address; /* of the code; moved: the new one */
	uint64_t size;    /* bytes of code, not 0; address + size - 1 does not wrap */
	uint64_t index;   /* of the code, the same when it is moved */
	uint64_t at;      /* place in the file of a load's name, of the first line */
	uint64_t end;     /* ... and of the record's end */
	uint64_t count;   /* of lines */
};

/* Begins to read; false: not a jitdump of version 1 in this machine's byte order. */
bool jitdump_open(struct jitdump *dump, int fd);

/* The next record; those of loads, moves and lines that contradict themselves are left out. false:
 * there is no other whole one. */
bool jitdump_next(struct jitdump *dump, struct jitdump_record *record);

/* A load's name, "" if it cannot be read any more. Ends the validity of nothing: records may be
 * asked in any order. */
void jitdump_name(struct jitdump *dump, const struct jitdump_record *load,
		  char name[JITDUMP_NAME_MAX]);

/* The source line of the code at an address: that of the last entry not behind it. The size of the
 * code is the caller's to set in lines. false: none, or some entry that is read lies outside of the
 * code, or has no possible name. */
bool jitdump_line(struct jitdump *dump, const struct jitdump_record *lines, uint64_t address,
		  char file[JITDUMP_NAME_MAX], uint32_t *line);

#endif
