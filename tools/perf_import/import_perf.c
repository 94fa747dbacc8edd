#include "tools/perf_import/import_perf.h"

#include "collector/recording/recording.h"
#include "containers/compare.h"
#include "profile/read/reader.h"
#include "profile/write/writer.h"
#include "tools/terminal/diagnose.h"
#include <stdlib.h>
#include <string.h>

bool import_perf_recognizes(const uint8_t *head, size_t size)
{
	return recording_is_recognized(head, size);
}

static int compare_symbols(const void *a, const void *b)
{
	return compare_numbers(((const struct recording_symbol *)a)->start,
			       ((const struct recording_symbol *)b)->start);
}

/* The last symbol that begins no later than the address, if it covers that; NULL: none. */
static const struct recording_symbol *find_symbol(const struct recording_summary *summary,
						  uint64_t address)
{
	size_t first = 0, end = summary->symbol_count;
	while (first < end) {
		size_t middle = first + (end - first) / 2;
		if (summary->symbols[middle].start <= address)
			first = middle + 1;
		else
			end = middle;
	}
	if (first == 0)
		return NULL;
	const struct recording_symbol *found = &summary->symbols[first - 1];
	return address - found->start < found->size ? found : NULL;
}

static TBRW_U32 add_symbols(const struct profile_reader *reader,
			    const struct recording_summary *summary, struct profile_writer *writer)
{
	TBRW_U32 code = VT_SUCCESS;
	for (uint32_t i = 0; code == VT_SUCCESS && i < profile_reader_frame_count(reader); i++) {
		const struct profile_frame *frame = profile_reader_frame(reader, i);
		const struct recording_symbol *found = find_symbol(summary, frame->rva);
		if (!found ||
		    profile_reader_image(reader, frame->image)->kind != PROFILE_IMAGE_KERNEL)
			continue;
		code = profile_symbol_writer_add(writer,
						 &(struct profile_symbol){.frame = i,
									  .start = found->start,
									  .size = found->size},
						 &(struct profile_symbol_text){
							 .name = found->name});
	}
	return code;
}

/* Functions of the kernel that the recording names: the finalization behind keeps their names. */
static TBRW_U32 write_symbols(const char *path, const struct recording_summary *summary)
{
	struct profile_reader *reader;
	struct profile_writer *writer;
	if (summary->symbol_count == 0)
		return VT_SUCCESS;
	qsort(summary->symbols, summary->symbol_count, sizeof(*summary->symbols), compare_symbols);
	TBRW_U32 code = profile_reader_open(path, &reader);
	if (code != VT_SUCCESS)
		return code;
	code = profile_symbol_writer_begin(path, &writer);
	if (code == VT_SUCCESS)
		code = add_symbols(reader, summary, writer);
	if (code == VT_SUCCESS)
		code = profile_symbol_writer_finish(writer);
	else
		profile_writer_abandon(writer);
	profile_reader_close(reader);
	return code;
}

/* A line each. */
static void tell(char *lines)
{
	char *rest = NULL;
	for (char *line = strtok_r(lines, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		diagnose("%s", line);
}

/* The summary's list goes to the caller. */
static void give_events(struct recording_summary *summary, struct import_events *events)
{
	*events = (struct import_events){summary->events, summary->event_count};
	summary->events = NULL;
	summary->event_count = 0;
}

int import_perf_read(const struct import_input *input, const char *path, const char *name,
		     struct import_events *events)
{
	char text[DIAGNOSE_CODE_SIZE];
	struct failure failure = {0};
	struct recording_summary summary;
	const struct recording_request request = {.fd = input->fd,
						  .name = input->name,
						  .event = input->event,
						  .rank = input->rank,
						  .path = path,
						  .result = name,
						  .version = TBCOLLECT_VERSION,
						  .collapse = !input->keeps_recursion,
						  .see = input->see,
						  .user = input->user};
	int status = 0;
	if (recording_import(&request, &summary, &failure) < 0) {
		diagnose("%s", failure.text);
		status = failure.exit_status;
	} else {
		TBRW_U32 code = write_symbols(path, &summary);
		if (code != VT_SUCCESS)
			diagnose("no names of the kernel's functions: %s; [kernel] stands for them",
				 diagnose_code(code, text));
		tell(summary.told);
		give_events(&summary, events);
	}
	recording_summary_finish(&summary);
	return status;
}
