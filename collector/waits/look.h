/* Reads what one blocked thread waits for (proc(5), process_vm_readv(2)). */
#ifndef COLLECTOR_WAITS_LOOK_H
#define COLLECTOR_WAITS_LOOK_H

#include "collector/perf/record.h"
#include "collector/proc/asker.h"
#include "profile/profile.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	LOOK_STACK_MAX = 64 * 1024, /* bytes copied at most */
	LOOK_NAME_MAX = 4096        /* of a file, with its NUL */
};

/* A thread's call and pointers. */
struct look_pointers {
	struct record_call call; /* without begin_ns */
	uint64_t sp;
	uint64_t pc;
	bool is_32bit;
};

/* Parses the text of /proc/PID/task/TID/syscall. false: the thread runs, or it is no such text. */
bool look_parse(const char *text, struct look_pointers *pointers);

/* The state in the text of /proc/PID/task/TID/stat; 0: it is no such text. */
char look_parse_state(const char *text);

struct look {
	struct look_pointers pointers;
	uint64_t begin_ns;
	bool is_blocked; /* false: the thread runs or is gone, and the rest says nothing */
	bool is_stopped;
	int error;         /* not 0: nobody may look (errno) */
	size_t name_size;  /* with its NUL; 0: no file, or its name is not known */
	size_t stack_size; /* bytes copied from the stack pointer up; less than LOOK_STACK_MAX:
			      memory ends there */
};

/* What is kept of a thread from one look to the next. Opening a file in /proc takes longer than
 * reading it; an open one is the one thread's, whoever gets its id later. */
struct look_files {
	int syscall_fd; /* -1: not open; likewise: */
	int stat_fd;
	uint64_t stack_low;  /* the mapping that the stack pointer was in at the last look; */
	uint64_t stack_high; /* both 0: there was none */
};
void look_files_init(struct look_files *files);
void look_files_close(struct look_files *files); /* as after init */

/* name and stack have room for LOOK_NAME_MAX and LOOK_STACK_MAX bytes. files are of this tid, or of
 * an earlier thread of this id, or not open; NULL: none are kept. Of a process that may keep us
 * waiting only in the asker's thread: look_ask. */
void look_read(uint32_t pid, uint32_t tid, struct look_files *files, char *name, uint8_t *stack,
	       struct look *look);

/* A thread to read, with room for what is found; too much for a stack. */
struct look_question {
	struct asker_question base;
	uint32_t pid;
	uint32_t tid;
	struct look_files *files; /* NULL: none are kept; else with is_own only */
	struct look look;
	char name[LOOK_NAME_MAX];
	uint8_t stack[LOOK_STACK_MAX];
};

/* NULL: out of memory. free() it. */
struct look_question *look_question_create(void);

/* look_read, through the asker unless the process is our own user's; is_own: it surely is. false:
 * the kernel did not answer, and the question is gone. */
bool look_ask(struct asker *asker, bool is_own, struct look_question *question);

/* What a descriptor leads to (proc_pid_fd(5)), in name, of LOOK_NAME_MAX bytes. Returns its bytes
 * with the NUL; 0: it leads to nothing, or nobody may know. */
size_t look_file(uint32_t pid, uint32_t number, char *name);

#endif
