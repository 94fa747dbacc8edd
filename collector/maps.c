#include "collector/maps.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* Takes a number and the character that must follow it; false when the line is not like that. */
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

int maps_read(pid_t pid, maps_callback *callback, void *user)
{
	char name[64];
	char *line = NULL;
	size_t capacity = 0;
	bool go_on = true;
	snprintf(name, sizeof(name), "/proc/%d/maps", (int)pid);
	FILE *file = fopen(name, "re");
	if (file == NULL)
		return -1;
	while (go_on && getline(&line, &capacity, file) >= 0) {
		struct maps_entry entry;
		if (maps_parse(line, &entry))
			go_on = callback(&entry, user);
	}
	int result = ferror(file) ? -1 : 0;
	free(line);
	fclose(file);
	return result;
}
