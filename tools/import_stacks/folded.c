/* Folded stacks: "process;root;...;leaf COUNT", our own export's and other tools'. */
#include "tools/functions/functions.h"
#include "tools/import_stacks/line_reader.h"
#include "tools/import_stacks/load.h"
#include "tools/import_stacks/marks.h"
#include "tools/memory/index_map.h"
#include "tools/memory/xalloc.h"
#include "tools/terminal/diagnose.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What a count is shown as, since something must be. Of numbers beyond those of samples: 1 ns. */
#define COUNT_NS    UINT64_C(10000000)
#define SAMPLES_MAX UINT64_C(100000000000)
#define COUNT_MAX   (UINT64_MAX / 8)

struct named_frame {
	char *name;
	bool is_guessed;
};

struct folded {
	struct stack_result *result;
	/* Of all lines, by a first look. */
	bool has_processes; /* as the first part: one at least is no function */
	bool has_threads;   /* as the second one, NAME-TID */
	uint64_t total;
	uint64_t bad; /* lines */
	uint64_t count_ns;
	struct named_frame *frames; /* by frame of the result */
	struct index_map frame_map;
	char **parts; /* of the present line */
	size_t part_count;
	size_t part_capacity;
};

/* Takes the number at the line's end off. False: there is none. */
static bool take_count(char *line, size_t length, uint64_t *count)
{
	while (length > 0 && (line[length - 1] == '\r' || line[length - 1] == ' '))
		line[--length] = '\0';
	char *space = strrchr(line, ' ');
	if (!space || !space[1] || space == line)
		return false;
	*count = 0;
	for (const char *at = space + 1; *at; at++) {
		if (*at < '0' || *at > '9' || *count > COUNT_MAX / 10)
			return false;
		*count = *count * 10 + (uint64_t)(*at - '0');
	}
	*space = '\0';
	return true;
}

static void split(struct folded *folded, char *line)
{
	folded->part_count = 0;
	for (char *part = line; part;) {
		char *end = strchr(part, ';');
		if (end)
			*end++ = '\0';
		/* Of pointers. NOLINTNEXTLINE(bugprone-sizeof-expression) */
		size_t size = sizeof(*folded->parts);
		xalloc_room(&folded->parts, &folded->part_capacity, folded->part_count + 1, size);
		folded->parts[folded->part_count++] = part;
		part = end;
	}
}

/* The tid of NAME-TID; NULL: there is none. */
static char *find_tid(char *part)
{
	char *dash = strrchr(part, '-');
	size_t digits = dash ? strspn(dash + 1, "0123456789") : 0;
	return digits > 0 && digits < 10 && !dash[1 + digits] ? dash : NULL;
}

/* False: no line of stacks, nor a remark. */
static bool read_line(struct folded *folded, struct line_reader *reader, uint64_t *count)
{
	bool is_remark = reader->length == 0 || reader->line[0] == '#';
	if (!take_count(reader->line, reader->length, count)) {
		*count = 0;
		return is_remark;
	}
	split(folded, reader->line);
	return true;
}

/* a::b, main(), run (tool.py:12): no process has such a name, but (sd-pam) is one. */
static bool is_function_name(const char *name)
{
	const char *open = strchr(name, '(');
	return strstr(name, "::") || (open && open != name && name[strlen(name) - 1] == ')');
}

/* A first look at all lines: what their parts are. */
static int look(struct folded *folded, const struct import_input *input)
{
	struct line_reader *reader = xalloc_zeroed(1, sizeof(*reader));
	uint64_t count;
	reader->fd = input->fd;
	folded->has_threads = true;
	while (line_reader_next(reader)) {
		import_see(input, reader->bytes, 2 * input->size);
		if (!read_line(folded, reader, &count)) {
			folded->bad++;
			continue;
		}
		if (count == 0)
			continue;
		folded->total =
			count > UINT64_MAX - folded->total ? UINT64_MAX : folded->total + count;
		folded->has_processes |= !is_function_name(folded->parts[0]);
		folded->has_threads &= folded->part_count > 1 && find_tid(folded->parts[1]) != NULL;
	}
	folded->bad += reader->too_long;
	int error = reader->error;
	line_reader_finish(reader);
	free(reader);
	if (error == 0 && lseek(input->fd, 0, SEEK_SET) == 0)
		return 0;
	diagnose("cannot read %s: %s", input->name, strerror(error));
	return EXIT_FAILURE;
}

static bool is_frame(const void *item, const void *wanted)
{
	const struct named_frame *frame = item;
	const struct named_frame *other = wanted;
	return frame->is_guessed == other->is_guessed && strcmp(frame->name, other->name) == 0;
}

/* The frame of a name. Addresses are not known: rva is but a number. */
static uint32_t enter_frame(struct folded *folded, char *name, bool is_guessed)
{
	struct index_map *map = &folded->frame_map;
	const struct named_frame wanted = {name, is_guessed};
	const uint64_t identity[] = {index_map_hash_text(map, name), is_guessed};
	uint32_t before = index_map_count(map);
	uint32_t index = index_map_enter(map, &folded->frames, &wanted, sizeof(wanted),
					 index_map_hash(map, identity, sizeof(identity)), is_frame);
	if (index < before)
		return index;
	folded->frames[index].name = xalloc_text(name);
	stack_result_add_frame(folded->result,
			       &(struct profile_frame){
				       .flags = is_guessed ? PROFILE_FRAME_GUESSED : 0,
				       .rva = (uint64_t)index + 1,
			       });
	if (name[0] && marks_find(name) != FUNCTION_UNKNOWN)
		stack_result_add_symbols(folded->result, &(struct stack_symbol){.name = name}, 1);
	return index;
}

/* The stack of the parts from `first` on. */
static void enter_stack(struct folded *folded, size_t first, struct stack_weight *weight)
{
	size_t seam = folded->part_count;
	if (folded->part_count - first == 1 &&
	    marks_find(folded->parts[first]) == FUNCTION_KERNEL) {
		weight->is_kernel = true;
		weight->state = PROFILE_STACK_NONE;
		return;
	}
	if (first < folded->part_count && marks_find(folded->parts[first]) == FUNCTION_SKIPPED) {
		weight->state = PROFILE_STACK_SKIPPED;
		first++;
	}
	if (folded->part_count - first > MARKS_DEPTH_MAX) {
		first = folded->part_count - MARKS_DEPTH_MAX;
		weight->state = PROFILE_STACK_SKIPPED;
		weight->reason = PROFILE_SKIP_DEPTH;
	}
	/* Frames outside of the seam are guessed. */
	for (size_t i = folded->part_count; i-- > first;) {
		if (marks_find(folded->parts[i]) == FUNCTION_GUESSED)
			seam = i;
	}
	if (seam < folded->part_count && weight->state == PROFILE_STACK_COMPLETE)
		weight->state = PROFILE_STACK_GUESSED;
	for (size_t i = first; i < folded->part_count; i++) {
		bool is_guessed = seam < folded->part_count && i < seam;
		if (i == seam)
			continue;
		weight->node =
			stack_result_enter_node(folded->result, weight->node,
						enter_frame(folded, folded->parts[i], is_guessed));
	}
}

static const char *known_name(const char *name)
{
	return strcmp(name, "[Unknown]") == 0 ? "" : name;
}

/* Returns where the stack begins. */
static size_t enter_owner(struct folded *folded, struct stack_weight *weight)
{
	struct stack_owner_name name = {.process = "", .thread = ""};
	size_t first = 0;
	if (folded->has_processes)
		name.process = known_name(folded->parts[first++]);
	if (folded->has_processes && folded->has_threads) {
		char *dash = find_tid(folded->parts[first]);
		if (dash) {
			*dash = '\0';
			name.tid = (uint32_t)strtoul(dash + 1, NULL, 10);
		}
		name.thread = known_name(folded->parts[first++]);
	}
	weight->owner = stack_result_enter_owner(folded->result, &name);
	return first;
}

static void add_line(struct folded *folded, uint64_t count)
{
	struct stack_weight weight = {.samples = count};
	size_t first = enter_owner(folded, &weight);
	enter_stack(folded, first, &weight);
	weight.cpu_ns =
		count > UINT64_MAX / folded->count_ns ? UINT64_MAX : count * folded->count_ns;
	folded->bad += !stack_result_add(folded->result, &weight);
}

static void read_lines(struct folded *folded, const struct import_input *input)
{
	struct line_reader *reader = xalloc_zeroed(1, sizeof(*reader));
	uint64_t count;
	reader->fd = input->fd;
	while (line_reader_next(reader)) {
		import_see(input, input->size + reader->bytes, 2 * input->size);
		if (read_line(folded, reader, &count) && count > 0)
			add_line(folded, count);
	}
	line_reader_finish(reader);
	free(reader);
}

static void warn(const struct folded *folded)
{
	struct stack_result *result = folded->result;
	stack_result_warn(result,
			  xalloc_printf("folded stacks have counts, and no times: each count is "
					"shown as %s of CPU time, and the order of samples is not "
					"known",
					folded->count_ns == COUNT_NS ? "10 ms" : "1 ns"));
	if (!folded->has_processes)
		stack_result_warn(result, xalloc_text("the stacks do not begin with processes"));
	if (folded->bad > 0)
		stack_result_warn(result,
				  xalloc_printf("%" PRIu64 " line%s not understood: no count at "
						"the end, one too large, or too long a line",
						folded->bad,
						folded->bad == 1 ? " of the file was"
								 : "s of the file were"));
}

static void finish(struct folded *folded)
{
	for (uint32_t i = 0; i < index_map_count(&folded->frame_map); i++)
		free(folded->frames[i].name);
	index_map_finish(&folded->frame_map);
	free(folded->frames);
	free(folded->parts);
}

int load_folded(const struct import_input *input, struct stack_result *result,
		struct stack_run *run)
{
	struct folded folded = {.result = result};
	int status = look(&folded, input);
	if (status == 0 && folded.total == 0) {
		diagnose("cannot import %s: none of its lines is \"FUNCTION;...;FUNCTION COUNT\"",
			 input->name);
		status = EXIT_FAILURE;
	}
	if (status == 0) {
		folded.count_ns = folded.total > SAMPLES_MAX ? 1 : COUNT_NS;
		read_lines(&folded, input);
		warn(&folded);
		if (folded.has_processes)
			diagnose("%s: the first part of each line is taken for a process",
				 input->name);
		run->collector = "folded stacks";
		run->samples_limit = STACK_SAMPLES_MAX;
	}
	finish(&folded);
	return status;
}
