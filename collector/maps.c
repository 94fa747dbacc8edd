#include "collector/maps.h"

#include <inttypes.h>
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

bool maps_parse(char *line, struct maps_entry *entry)
{
	char permissions[5];
	int path = 0;
	*entry = (struct maps_entry){0};
	line[strcspn(line, "\n")] = '\0';
	int fields = sscanf(line,
			    "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %" SCNx32 ":%" SCNx32
			    " %" SCNu64 " %n",
			    &entry->start, &entry->end, permissions, &entry->pgoff,
			    &entry->device_major, &entry->device_minor, &entry->inode, &path);
	if (fields != 7 || entry->start >= entry->end)
		return false;
	entry->executable = strlen(permissions) == 4 && permissions[2] == 'x';
	/* No path: %n is not reached when the line ends after the inode. */
	char *name = path > 0 ? line + path : line + strlen(line);
	undo_escapes(name);
	entry->path = name;
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
		if (maps_parse(line, &entry) && entry.executable)
			go_on = callback(&entry, user);
	}
	int result = ferror(file) ? -1 : 0;
	free(line);
	fclose(file);
	return result;
}
