#include "collector/image/maps.h"

#include "collector/proc/asker.h"
#include "containers/array.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { READ_LEAST = 16 << 10, TEXT_MAX = 64 << 20 };

/* The kernel writes newlines in file names as \012 (seq_path); nothing else is escaped. */
static void undo_escapes(char *text)
{
	char *out = text;
	for (const char *in = text; *in != '\0'; in++) {
		if (strncmp(in, "\\012", 4) == 0) {
			*out++ = '\n';
			in += 3;
		} else {
			*out++ = *in;
		}
	}
	*out = '\0';
}

/* Takes a number and the given character after it; false for other lines. */
static bool take_number(const char **at, int base, char follower, uint64_t *value)
{
	char *end;
	errno = 0;
	*value = strtoull(*at, &end, base);
	bool good = end != *at && errno == 0 && *end == follower && **at != '-' && **at != '+';
	*at = good ? end + 1 : end;
	return good;
}

bool maps_parse(char *line, struct maps_entry *entry)
{
	uint64_t device[2];
	const char *at = line;
	*entry = (struct maps_entry){0};
	line[strcspn(line, "\n")] = '\0';
	if (!take_number(&at, 16, '-', &entry->start) || !take_number(&at, 16, ' ', &entry->end) ||
	    entry->start >= entry->end || strlen(at) < 5 || at[4] != ' ')
		return false;
	entry->writable = at[1] == 'w';
	entry->executable = at[2] == 'x';
	at += 5;
	if (!take_number(&at, 16, ' ', &entry->pgoff) || !take_number(&at, 16, ':', &device[0]) ||
	    !take_number(&at, 16, ' ', &device[1]))
		return false;
	entry->device_major = (uint32_t)device[0];
	entry->device_minor = (uint32_t)device[1];
	char *end;
	entry->inode = strtoull(at, &end, 10);
	if (end == at || (*end != ' ' && *end != '\0'))
		return false;
	end += strspn(end, " ");
	undo_escapes(end);
	entry->path = end;
	return true;
}

struct question {
	struct asker_question base;
	pid_t pid;
	char *text; /* with a NUL */
	size_t size;
	int error;
};

static int read_text(struct question *question, int fd)
{
	size_t capacity = 0;
	ssize_t now = 1;
	while (now > 0 && question->size < TEXT_MAX) {
		if (!array_reserve(&question->text, &capacity, question->size + READ_LEAST, 1))
			return ENOMEM;
		now = read(fd, question->text + question->size, capacity - question->size - 1);
		question->size += now > 0 ? (size_t)now : 0;
	}
	question->text[question->size] = '\0';
	return now < 0 ? errno : 0;
}

static void answer(struct asker_question *base)
{
	struct question *question = (struct question *)base;
	char name[64];
	snprintf(name, sizeof(name), "/proc/%d/maps", (int)question->pid);
	int fd = open(name, O_RDONLY | O_CLOEXEC);
	question->error = fd < 0 ? errno : read_text(question, fd);
	if (fd >= 0)
		close(fd);
}

static void discard(struct asker_question *base)
{
	struct question *question = (struct question *)base;
	free(question->text);
	free(question);
}

static void call_each(char *text, maps_callback *callback, void *user)
{
	bool go_on = true;
	for (char *line = strtok_r(text, "\n", &text); go_on && line;
	     line = strtok_r(NULL, "\n", &text)) {
		struct maps_entry entry;
		if (maps_parse(line, &entry))
			go_on = callback(&entry, user);
	}
}

int maps_read(struct asker *asker, pid_t pid, maps_callback *callback, void *user)
{
	struct question *question = malloc(sizeof(*question));
	if (!question)
		return -1;
	*question = (struct question){.base = {answer, discard}, .pid = pid};
	if (!asker_ask(asker, (uint32_t)pid, &question->base)) {
		errno = ETIMEDOUT;
		return -1;
	}
	int error = question->error;
	if (error == 0)
		call_each(question->text, callback, user);
	discard(&question->base);
	errno = error;
	return error == 0 ? 0 : -1;
}
