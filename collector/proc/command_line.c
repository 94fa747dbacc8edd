#include "collector/proc/command_line.h"

#include "collector/proc/asker.h"
#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Returns the bytes used so far. */
static size_t append(char *text, size_t size, size_t used, const char *argument)
{
	assert(used < size);
	const char *quote = argument[0] == '\0' || strpbrk(argument, " \t\n\"'$`") ? "'" : "";
	int more = snprintf(text + used, size - used, "%s%s%s%s", used > 0 ? " " : "", quote,
			    argument, quote);
	used += more > 0 ? (size_t)more : 0;
	return used < size ? used : size - 1;
}

void command_line_join(char *text, size_t size, const char *const *argv)
{
	size_t used = 0;
	text[0] = '\0';
	for (size_t i = 0; argv[i] && used < size - 1; i++)
		used = append(text, size, used, argv[i]);
}

/* At most size - 1 bytes of a file of /proc/PID, and a NUL. Returns the bytes, 0 if there are none.
 */
static size_t read_file(uint32_t pid, const char *file, char *bytes, size_t size)
{
	char path[64];
	size_t used = 0;
	ssize_t now = 0;
	snprintf(path, sizeof(path), "/proc/%u/%s", pid, file);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bytes[0] = '\0';
	if (fd < 0)
		return 0;
	while (used < size - 1 && (now = read(fd, bytes + used, size - 1 - used)) > 0)
		used += (size_t)now;
	close(fd);
	bytes[used] = '\0';
	return used;
}

static bool is_named(uint32_t pid, const char *name)
{
	char comm[64];
	if (read_file(pid, "comm", comm, sizeof(comm)) == 0)
		return false;
	comm[strcspn(comm, "\n")] = '\0';
	return strcmp(comm, name) == 0;
}

struct question {
	struct asker_question base;
	uint32_t pid;
	size_t size;
	char bytes[COMMAND_LINE_MAX];
};

static void answer(struct asker_question *base)
{
	struct question *question = (struct question *)base;
	question->size =
		read_file(question->pid, "cmdline", question->bytes, sizeof(question->bytes));
}

static void discard(struct asker_question *base)
{
	free(base);
}

/* The line is in the process's memory. As read_file. */
static size_t ask(struct asker *asker, uint32_t pid, char bytes[COMMAND_LINE_MAX])
{
	struct question *question = malloc(sizeof(*question));
	if (!question)
		return 0;
	question->base = (struct asker_question){answer, discard};
	question->pid = pid;
	if (!asker_ask(asker, pid, &question->base))
		return 0;
	size_t size = question->size;
	assert(size < COMMAND_LINE_MAX); /* and a NUL */
	memcpy(bytes, question->bytes, size + 1);
	free(question);
	return size;
}

bool command_line_read(struct asker *asker, uint32_t pid, const char *name,
		       char text[COMMAND_LINE_MAX])
{
	char bytes[COMMAND_LINE_MAX] = "";
	size_t size = ask(asker, pid, bytes);
	size_t used = 0;
	/* A title leaves NULs or blanks where arguments were. */
	while (size > 0 && (bytes[size - 1] == '\0' || bytes[size - 1] == ' '))
		bytes[--size] = '\0';
	if (size == 0 || !is_named(pid, name))
		return false;
	if (strlen(bytes) == size) {
		memcpy(text, bytes, size + 1);
		return true;
	}
	for (size_t at = 0; at < size; at += strlen(bytes + at) + 1)
		used = append(text, COMMAND_LINE_MAX, used, bytes + at);
	return true;
}
