/* Feeds analysis_file_parse with any text; each setting must lie inside it. */
#include "collector/options/analysis_file.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct analysis_file *file, size_t size, unsigned lines)
{
	for (size_t i = 0; i < file->count; i++) {
		const struct analysis_setting *setting = &file->settings[i];
		if (setting->key >= ANALYSIS_KEY_COUNT || setting->line == 0 ||
		    setting->line > lines || setting->value < file->text ||
		    setting->value + strlen(setting->value) > file->text + size ||
		    setting->value[0] == '\0')
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct failure failure = {0};
	unsigned lines = 1;
	if (size > ANALYSIS_FILE_SIZE_MAX)
		return 0;
	for (size_t i = 0; i < size; i++)
		lines += data[i] == '\n';
	struct analysis_file *file = calloc(1, sizeof(*file));
	if (!file)
		return 0;
	memcpy(file->text, data, size);
	if (analysis_file_parse(file, size, "file", &failure) == 0)
		check(file, size, lines);
	else if (failure.exit_status == 0 || strncmp(failure.text, "file:", 5) != 0)
		abort();
	free(file);
	return 0;
}
