#include "collector/waits/look.h"

#include "collector/machine/clock.h"
#include "collector/waits/wait_call.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum { TEXT_MAX = 512 };

/* Takes a number from the text, which a space or a newline ends. */
static bool take_number(const char **text, int base, uint64_t *value)
{
	char *end;
	if (**text == '\0' || **text == ' ' || **text == '\n')
		return false;
	errno = 0;
	*value = strtoull(*text, &end, base);
	bool is_good = errno == 0 && end != *text && (*end == ' ' || *end == '\n');
	*text = *end == ' ' ? end + 1 : end;
	return is_good;
}

bool look_parse(const char *text, struct look_pointers *pointers)
{
	uint64_t number;
	*pointers = (struct look_pointers){.call.number = PROFILE_NO_SYSCALL};
	if (!(*text >= '0' && *text <= '9') && *text != '-')
		return false; /* "running" */
	if (!take_number(&text, 10, &number))
		return false;
	bool is_call = number < PROFILE_NO_SYSCALL;
	if (!is_call && number != (uint64_t)-1)
		return false;
	for (size_t i = 0; is_call && i < 6; i++)
		if (!take_number(&text, 16, &pointers->call.arguments[i]))
			return false;
	if (is_call)
		pointers->call.number = (uint16_t)number;
	if (!take_number(&text, 16, &pointers->sp) || !take_number(&text, 16, &pointers->pc) ||
	    *text != '\n')
		return false;
	/* Code of 64 bits has its stacks higher. */
	pointers->is_32bit = pointers->sp <= UINT32_MAX && pointers->pc <= UINT32_MAX;
	return true;
}

char look_parse_state(const char *text)
{
	/* A thread's name may hold parentheses and spaces. */
	const char *end = strrchr(text, ')');
	return end && end[1] == ' ' ? end[2] : '\0';
}

/* Reads a task's small file. Returns its size, or -1 with errno. */
static ssize_t read_text(uint32_t pid, uint32_t tid, const char *file, char text[TEXT_MAX])
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/%u/task/%u/%s", pid, tid, file);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	ssize_t size = read(fd, text, TEXT_MAX - 1);
	int error = errno;
	close(fd);
	errno = error;
	if (size >= 0)
		text[size] = '\0';
	return size;
}

static bool is_stopped(uint32_t pid, uint32_t tid)
{
	char text[TEXT_MAX];
	if (read_text(pid, tid, "stat", text) < 0)
		return false;
	char state = look_parse_state(text);
	return state == 'T' || state == 't';
}

size_t look_file(uint32_t pid, uint32_t number, char *name)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/%u/fd/%u", pid, number);
	ssize_t length = readlink(path, name, LOOK_NAME_MAX - 1);
	if (length <= 0)
		return 0;
	name[length] = '\0';
	return (size_t)length + 1;
}

static size_t read_stack(uint32_t tid, uint64_t sp, uint8_t *stack)
{
	struct iovec local = {stack, LOOK_STACK_MAX};
	struct iovec remote = {(void *)(uintptr_t)sp, LOOK_STACK_MAX};
	/* Stops at the first page that is not there: a thread's own stack ends at a guard page. */
	ssize_t size = process_vm_readv((pid_t)tid, &local, 1, &remote, 1, 0);
	return size > 0 ? (size_t)size : 0;
}

void look_read(uint32_t pid, uint32_t tid, char *name, uint8_t *stack, struct look *look)
{
	char text[TEXT_MAX];
	*look = (struct look){.begin_ns = clock_now()};
	if (read_text(pid, tid, "syscall", text) < 0) {
		bool is_forbidden = errno == EACCES || errno == EPERM;
		look->error = is_forbidden ? errno : 0;
		return;
	}
	look->is_blocked = look_parse(text, &look->pointers);
	if (!look->is_blocked)
		return;
	struct wait_target target = wait_call_target(&look->pointers.call, look->pointers.is_32bit);
	look->stack_size = read_stack(tid, look->pointers.sp, stack);
	if (target.kind == PROFILE_OBJECT_FILE)
		look->name_size = look_file(pid, target.number, name);
	look->is_stopped = is_stopped(pid, tid);
}

static void answer(struct asker_question *base)
{
	struct look_question *question = (struct look_question *)base;
	look_read(question->pid, question->tid, question->name, question->stack, &question->look);
}

static void discard(struct asker_question *base)
{
	free(base);
}

struct look_question *look_question_create(void)
{
	struct look_question *question = malloc(sizeof(*question));
	if (question)
		question->base = (struct asker_question){answer, discard};
	return question;
}

bool look_ask(struct asker *asker, bool is_own, struct look_question *question)
{
	return asker_ask(is_own ? NULL : asker, question->pid, &question->base);
}
