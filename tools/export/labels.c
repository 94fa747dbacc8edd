#include "tools/export/labels.h"

#include "profile/read/reader.h"
#include "tools/memory/xalloc.h"
#include <inttypes.h>

const struct profile_note *label_command(const struct profile_reader *reader)
{
	for (uint32_t i = 0; i < profile_reader_note_count(reader); i++) {
		const struct profile_note *note = profile_reader_note(reader, i);
		if (note->kind == PROFILE_NOTE_COMMAND || note->kind == PROFILE_NOTE_ATTACHED)
			return note;
	}
	return NULL;
}

char *label_make(const char *name, uint32_t number)
{
	return xalloc_printf("%s-%" PRIu32, name[0] ? name : "[Unknown]", number);
}
