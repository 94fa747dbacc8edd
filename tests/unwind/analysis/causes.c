#include "tests/unwind/analysis/causes.h"

#include "containers/array.h"
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Takes the first word off a line; NULL: there is none. */
static char *take_word(char **line)
{
	char *word = strsep(line, " ");

	while (*line && **line == ' ')
		(*line)++;
	return word && *word ? strdup(word) : NULL;
}

static bool add_cause(struct causes *causes, char *line)
{
	if (!array_reserve(&causes->items, &causes->capacity, causes->count + 1,
			   sizeof(*causes->items)))
		return false;
	struct cause *cause = &causes->items[causes->count++];
	*cause = (struct cause){.file = take_word(&line)};
	cause->function = line ? take_word(&line) : NULL;
	cause->text = line ? strdup(line) : NULL;
	return cause->file && cause->function && cause->text && *cause->text;
}

bool causes_read(struct causes *causes, const char *path)
{
	FILE *stream = fopen(path, "re");
	char *line = NULL;
	size_t size = 0, number = 0;
	bool done = stream != NULL;

	while (done && getline(&line, &size, stream) > 0) {
		number++;
		line[strcspn(line, "\n")] = '\0';
		done = *line == '\0' || *line == '#' || add_cause(causes, line);
	}
	if (!done)
		fprintf(stderr, "%s: line %zu: no FILE FUNCTION CAUSE\n", path, number);
	free(line);
	if (stream)
		fclose(stream);
	return done;
}

void causes_finish(struct causes *causes)
{
	for (size_t i = 0; i < causes->count; i++) {
		free(causes->items[i].file);
		free(causes->items[i].function);
		free(causes->items[i].text);
	}
	free(causes->items);
}

static bool is_of(const struct cause *cause, const char *path, const char *file)
{
	return fnmatch(cause->file, strchr(cause->file, '/') ? path : file, 0) == 0;
}

void causes_note_file(struct causes *causes, const char *path, const char *file)
{
	for (size_t i = 0; i < causes->count; i++)
		causes->items[i].files += is_of(&causes->items[i], path, file);
}

struct cause *causes_find(struct causes *causes, const char *path, const char *file,
			  const char *function)
{
	for (size_t i = 0; i < causes->count; i++)
		if (strcmp(causes->items[i].function, function) == 0 &&
		    is_of(&causes->items[i], path, file))
			return &causes->items[i];
	return NULL;
}

void causes_print(const struct causes *causes)
{
	for (size_t i = 0; i < causes->count; i++) {
		const struct cause *cause = &causes->items[i];
		if (cause->files > 0)
			printf("%s %s: %zu functions, %lu bytes excused in %zu files%s\n",
			       cause->file, cause->function, cause->excused, cause->bytes,
			       cause->files, cause->excused == 0 ? ": a cause of nothing" : "");
	}
}
