#include "collector/waits/look.h"

#include "collector/machine/clock.h"
#include "collector/waits/wait_call.h"
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <unistd.h>

enum { TEXT_MAX = 512 };

/* The mapping of an address, since Linux 6.11: PROCMAP_QUERY of linux/fs.h, which may be older. */
struct map_query {
	uint64_t size;
	uint64_t flags;
	uint64_t address;
	uint64_t start;
	uint64_t end;
	uint64_t others[8];
};
#define MAP_QUERY _IOWR('f', 17, struct map_query)

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

static void close_file(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void look_files_init(struct look_files *files)
{
	*files = (struct look_files){.syscall_fd = -1, .stat_fd = -1};
}

void look_files_close(struct look_files *files)
{
	close_file(&files->syscall_fd);
	close_file(&files->stat_fd);
	look_files_init(files);
}

static int open_file(uint32_t pid, uint32_t tid, const char *file)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/%u/task/%u/%s", pid, tid, file);
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* Reads a task's small file, and leaves it open in *kept. Returns its size, or -1 with errno. */
static ssize_t read_text(uint32_t pid, uint32_t tid, const char *file, int *kept,
			 char text[TEXT_MAX])
{
	/* A file of another thread, that is gone, has nothing any more: proc_single_show,
	 * fs/proc/base.c. */
	ssize_t size = *kept >= 0 ? pread(*kept, text, TEXT_MAX - 1, 0) : -1;
	if (size <= 0) {
		close_file(kept);
		*kept = open_file(pid, tid, file);
		if (*kept < 0)
			return -1;
		size = pread(*kept, text, TEXT_MAX - 1, 0);
	}
	if (size >= 0)
		text[size] = '\0';
	return size;
}

static bool is_stopped(uint32_t pid, uint32_t tid, struct look_files *files)
{
	char text[TEXT_MAX];
	if (read_text(pid, tid, "stat", &files->stat_fd, text) < 0)
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

/* Finds the mapping of the stack pointer; where the kernel does not tell, it is all memory. */
static void find_stack(uint32_t pid, uint64_t sp, struct look_files *files)
{
	struct map_query query = {.size = sizeof(query), .address = sp};
	char path[64];
	snprintf(path, sizeof(path), "/proc/%u/maps", pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	files->stack_low = 0;
	files->stack_high = UINT64_MAX;
	if (fd >= 0 && ioctl(fd, MAP_QUERY, &query) == 0 && query.start <= sp && sp < query.end) {
		files->stack_low = query.start;
		files->stack_high = query.end;
	}
	close_file(&fd);
}

/* What lies behind the stack's mapping says nothing, and takes as long to copy. */
static size_t read_stack(uint32_t pid, uint32_t tid, uint64_t sp, struct look_files *files,
			 uint8_t *stack)
{
	if (sp < files->stack_low || sp >= files->stack_high)
		find_stack(pid, sp, files);
	uint64_t above = files->stack_high - sp;
	size_t wanted = above < LOOK_STACK_MAX ? (size_t)above : LOOK_STACK_MAX;
	struct iovec local = {stack, wanted};
	struct iovec remote = {(void *)(uintptr_t)sp, wanted};
	/* Stops at the first page that is not there: a thread's own stack ends at a guard page. */
	ssize_t size = process_vm_readv((pid_t)tid, &local, 1, &remote, 1, 0);
	return size > 0 ? (size_t)size : 0;
}

static void read_with(uint32_t pid, uint32_t tid, struct look_files *files, char *name,
		      uint8_t *stack, struct look *look)
{
	char text[TEXT_MAX];
	*look = (struct look){.begin_ns = clock_now()};
	if (read_text(pid, tid, "syscall", &files->syscall_fd, text) < 0) {
		bool is_forbidden = errno == EACCES || errno == EPERM;
		look->error = is_forbidden ? errno : 0;
		return;
	}
	look->is_blocked = look_parse(text, &look->pointers);
	if (!look->is_blocked)
		return;
	struct wait_target target = wait_call_target(&look->pointers.call, look->pointers.is_32bit);
	look->stack_size = read_stack(pid, tid, look->pointers.sp, files, stack);
	if (target.kind == PROFILE_OBJECT_FILE)
		look->name_size = look_file(pid, target.number, name);
	look->is_stopped = is_stopped(pid, tid, files);
}

void look_read(uint32_t pid, uint32_t tid, struct look_files *files, char *name, uint8_t *stack,
	       struct look *look)
{
	struct look_files own;
	look_files_init(&own);
	read_with(pid, tid, files ? files : &own, name, stack, look);
	look_files_close(&own);
}

static void answer(struct asker_question *base)
{
	struct look_question *question = (struct look_question *)base;
	look_read(question->pid, question->tid, question->files, question->name, question->stack,
		  &question->look);
}

static void discard(struct asker_question *base)
{
	free(base);
}

struct look_question *look_question_create(void)
{
	struct look_question *question = malloc(sizeof(*question));
	if (!question)
		return NULL;
	question->base = (struct asker_question){answer, discard};
	question->files = NULL;
	return question;
}

bool look_ask(struct asker *asker, bool is_own, struct look_question *question)
{
	assert(is_own || !question->files); /* the asker's thread may go on when we do */
	return asker_ask(is_own ? NULL : asker, question->pid, &question->base);
}
