/* The summary's warnings: what its figures leave out. */
#include "tools/collection/overview.h"
#include "tools/memory/xalloc.h"
#include <inttypes.h>
#include <stdlib.h>

#define NOT_FOLLOWED_MAX 5u

struct warned {
	overview_take_warning *take;
	void *user;
};

/* Notes with a count. */
static const struct {
	enum profile_note_kind kind;
	const char *before;
	const char *what; /* one of them */
	const char *behind;
} counts[] = {
	{PROFILE_NOTE_THROTTLED, "the kernel throttled sampling ", "time",
	 "; use a longer interval"},
	{PROFILE_NOTE_RECORDS_LOST, "", "record",
	 " other than samples lost: modules or threads may be missing"},
	{PROFILE_NOTE_BYTES_LOST, "", "byte",
	 " of records could not be read: samples, modules or threads may be missing"},
	{PROFILE_NOTE_OUT_OF_ORDER, "", "record",
	 " arrived out of order: samples taken around then may stand under the wrong module or "
	 "thread"},
};

/* Frees the sentence. */
static void warn(const struct warned *warned, char *sentence)
{
	warned->take(sentence, warned->user);
	free(sentence);
}

static void warn_of_counts(const struct warned *warned, const struct overview *overview)
{
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		uint64_t count = overview->notes[counts[i].kind].value;
		if (count > 0)
			warn(warned, xalloc_printf("%s%" PRIu64 " %s%s%s", counts[i].before, count,
						   counts[i].what, count == 1 ? "" : "s",
						   counts[i].behind));
	}
}

static void warn_of_program(const struct warned *warned, uint32_t pid, const char *program)
{
	warn(warned, xalloc_printf("process %" PRIu32 " (%s) was not followed: the kernel ends "
				   "sampling where a program gets other rights as it starts "
				   "(set-user-ID) or may not be read; root can attach to it with "
				   "-p",
				   pid, program));
}

static void warn_of_notes(const struct warned *warned, const struct profile_reader *reader)
{
	uint32_t not_followed = 0;
	for (uint32_t i = 0; i < profile_reader_note_count(reader); i++) {
		const struct profile_note *note = profile_reader_note(reader, i);
		const char *text = profile_reader_text(reader, note->text);
		if (note->kind == PROFILE_NOTE_WARNING)
			warned->take(text, warned->user);
		if (note->kind == PROFILE_NOTE_NOT_FOLLOWED && not_followed++ < NOT_FOLLOWED_MAX)
			warn_of_program(warned, note->pid, text);
	}
	if (not_followed > NOT_FOLLOWED_MAX)
		warn(warned,
		     xalloc_printf("%" PRIu32 " more program%s not followed",
				   not_followed - NOT_FOLLOWED_MAX,
				   not_followed - NOT_FOLLOWED_MAX == 1 ? " was" : "s were"));
}

void overview_warn(const struct overview *overview, const struct profile_reader *reader,
		   overview_take_warning *take, void *user)
{
	const struct warned warned = {take, user};
	if (!overview->is_complete)
		take("the result is incomplete: the collection did not end; this is what was "
		     "written until then",
		     user);
	warn_of_counts(&warned, overview);
	warn_of_notes(&warned, reader);
}
