#include "tools/generated/code_lives.h"

#include "containers/compare.h"
#include "profile/read/external.h"
#include "profile/read/states.h"
#include "program/regular_file.h"
#include "tools/generated/jitdump_lives.h"
#include "tools/memory/xalloc.h"
#include "tools/text/path.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DUMPS_MAX = 500 }; /* of a result; others are not read */

struct dump {
	int fd;
	struct jitdump *reader;
};

struct life {
	uint32_t frame;
	uint32_t dump;
	uint64_t tsc; /* when it began; 0: times say nothing, the last one counts */
	struct jitdump_life life;
	bool is_seen;
};

struct code_lives {
	struct profile_reader *reader;
	struct code_dump_file *files;
	struct dump *dumps; /* of the files that could be read, else reader NULL */
	size_t dump_count;
	struct life *items; /* by frame and time */
	size_t count, capacity;
	size_t *first_of_frame; /* one more than there are frames */
	uint32_t *stands_for;   /* of a frame; PROFILE_NONE: no life */
	bool *is_mixed;         /* of a frame */
	bool *is_mixed_node;
	size_t mixed_count;
};

/* jit-PID.dump, by which perf knows the file too (tools/perf/util/jitdump.c, jit_detect). */
static bool is_dump_path(const char *path)
{
	const char *name = path_base_name(path);
	if (strncmp(name, "jit-", 4) != 0)
		return false;
	size_t digits = strspn(name + 4, "0123456789");
	return digits > 0 && strcmp(name + 4 + digits, ".dump") == 0;
}

static enum perf_map_status check_file(const struct profile_image *dump, uint32_t owner,
				       const struct stat *status)
{
	if (owner == PERF_MAP_NO_OWNER)
		return PERF_MAP_UNKNOWN_OWNER;
	if (status->st_uid != owner)
		return PERF_MAP_OTHER_OWNER;
	return dump->inode != 0 && dump->inode != status->st_ino ? PERF_MAP_REPLACED
								 : PERF_MAP_READ;
}

/* Opens a path that could be the dump's. */
static enum perf_map_status try_path(const char *path, const struct profile_image *image,
				     uint32_t owner, struct dump *dump)
{
	struct stat status;
	dump->fd = regular_file_open(path, O_NOFOLLOW, &status);
	if (dump->fd < 0)
		return errno == ENOENT ? PERF_MAP_MISSING : PERF_MAP_NO_NAMES;
	enum perf_map_status result = check_file(image, owner, &status);
	dump->reader = xalloc_zeroed(1, sizeof(*dump->reader));
	if (result == PERF_MAP_READ && !jitdump_open(dump->reader, dump->fd))
		result = PERF_MAP_NO_NAMES;
	if (result == PERF_MAP_READ)
		return result;
	close(dump->fd);
	free(dump->reader);
	dump->reader = NULL;
	return result;
}

/* Here first: the process is gone, as a rule, and its number may be another's. */
static enum perf_map_status open_dump(const struct profile_reader *reader,
				      const struct profile_image *image, uint32_t owner,
				      struct dump *dump)
{
	const char *path = profile_reader_text(reader, image->path);
	if (path_leads_up(path))
		return PERF_MAP_MISSING;
	enum perf_map_status here = try_path(path, image, owner, dump);
	if (here == PERF_MAP_READ || image->pid == 0 || image->inode == 0)
		return here;
	char *there = xalloc_printf("/proc/%u/root%s", image->pid, path);
	enum perf_map_status below = try_path(there, image, owner, dump);
	free(there);
	return below == PERF_MAP_READ ? below : here;
}

static bool is_listed(const struct code_lives *lives, uint32_t image, const char *path)
{
	for (size_t i = 0; i < lives->dump_count; i++)
		if (lives->files[i].image == image && lives->files[i].path == path)
			return true;
	return false;
}

static void add_dump(struct code_lives *lives, uint32_t jit, const struct profile_image *dump)
{
	const char *path = profile_reader_text(lives->reader, dump->path);
	if (is_listed(lives, jit, path) || lives->dump_count >= DUMPS_MAX)
		return;
	size_t count = lives->dump_count + 1;
	lives->files = xalloc_resize(lives->files, count, sizeof(*lives->files));
	lives->dumps = xalloc_resize(lives->dumps, count, sizeof(*lives->dumps));
	lives->dumps[lives->dump_count] = (struct dump){.fd = -1};
	uint32_t owner = profile_reader_image(lives->reader, jit)->owner_uid;
	enum perf_map_status status =
		open_dump(lives->reader, dump, owner, &lives->dumps[lives->dump_count]);
	lives->files[lives->dump_count++] = (struct code_dump_file){path, jit, status};
}

/* Finds the dumps of each process with generated code. */
static void find_dumps(struct code_lives *lives)
{
	const struct profile_reader *reader = lives->reader;
	for (uint32_t i = 0; i < profile_reader_module_count(reader); i++) {
		const struct profile_module_info *module = profile_reader_module(reader, i);
		if (module->image == PROFILE_NONE)
			continue;
		const struct profile_image *dump = profile_reader_image(reader, module->image);
		if (dump->kind != PROFILE_IMAGE_FILE ||
		    !is_dump_path(profile_reader_text(reader, dump->path)))
			continue;
		for (uint32_t k = 0; k < profile_reader_image_count(reader); k++) {
			const struct profile_image *image = profile_reader_image(reader, k);
			if (image->kind == PROFILE_IMAGE_JIT && image->pid == module->pid)
				add_dump(lives, k, dump);
		}
	}
}

/* The image's code frames, sorted; *count of them. */
static struct symbol_address *frames_of(const struct profile_reader *reader, uint32_t image,
					size_t *count)
{
	struct symbol_address *addresses = NULL;
	size_t capacity = 0;
	*count = 0;
	for (uint32_t i = 0; i < profile_reader_frame_count(reader); i++) {
		const struct profile_frame *frame = profile_reader_frame(reader, i);
		if (frame->image != image || frame->flags & PROFILE_FRAME_DATA)
			continue;
		xalloc_room(&addresses, &capacity, *count + 1, sizeof(*addresses));
		addresses[(*count)++] = (struct symbol_address){.rva = frame->rva, .frame = i};
	}
	symbol_addresses_sort(addresses, *count);
	return addresses;
}

static uint64_t tsc_of(const struct code_lives *lives, const struct jitdump *dump, uint64_t time)
{
	return dump->has_counter ? profile_reader_tsc_of_counter(lives->reader, time)
				 : profile_reader_tsc_of_monotonic(lives->reader, time);
}

static void read_dump(struct code_lives *lives, size_t index)
{
	struct jitdump *dump = lives->dumps[index].reader;
	struct jitdump_lives found;
	size_t count;
	if (!dump)
		return;
	struct symbol_address *addresses =
		frames_of(lives->reader, lives->files[index].image, &count);
	jitdump_lives_read(dump, addresses, count, &found);
	if (found.loads == 0)
		lives->files[index].status = PERF_MAP_NO_NAMES;
	for (size_t i = 0; i < found.count && lives->count < JITDUMP_LIVES_MAX; i++) {
		xalloc_room(&lives->items, &lives->capacity, lives->count + 1,
			    sizeof(*lives->items));
		lives->items[lives->count++] = (struct life){
			.frame = addresses[found.items[i].address].frame,
			.dump = (uint32_t)index,
			.tsc = tsc_of(lives, dump, found.items[i].time),
			.life = found.items[i],
		};
	}
	jitdump_lives_finish(&found);
	free(addresses);
}

static int compare_lives(const void *a, const void *b)
{
	const struct life *left = a;
	const struct life *right = b;
	int order = compare_numbers(left->frame, right->frame);
	if (!order)
		order = compare_numbers(left->tsc, right->tsc);
	if (!order)
		order = compare_numbers(left->dump, right->dump);
	return order ? order : compare_numbers(left->life.order, right->life.order);
}

static void index_frames(struct code_lives *lives)
{
	uint32_t frames = profile_reader_frame_count(lives->reader);
	if (lives->count > 1)
		qsort(lives->items, lives->count, sizeof(*lives->items), compare_lives);
	lives->first_of_frame = xalloc_zeroed((size_t)frames + 1, sizeof(*lives->first_of_frame));
	size_t next = 0;
	for (uint32_t i = 0; i <= frames; i++) {
		while (next < lives->count && lives->items[next].frame < i)
			next++;
		lives->first_of_frame[i] = next;
	}
}

/* The life of a frame with lives: the last one that began by then, else the first one. */
static size_t life_at(const struct code_lives *lives, uint32_t frame, uint64_t tsc)
{
	size_t low = lives->first_of_frame[frame];
	size_t high = lives->first_of_frame[frame + 1];
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;
		if (lives->items[middle].tsc <= tsc)
			low = middle;
		else
			high = middle;
	}
	return low;
}

static size_t life_count(const struct code_lives *lives, uint32_t frame)
{
	return lives->first_of_frame[frame + 1] - lives->first_of_frame[frame];
}

/* Marks the nodes that are, or are called by, nodes of marked frames. A parent comes first. */
static void mark_nodes(struct code_lives *lives, const bool *is_marked_frame)
{
	uint32_t count = profile_reader_node_count(lives->reader);
	for (uint32_t i = 1; i < count; i++) {
		const struct profile_node *node = profile_reader_node(lives->reader, i);
		lives->is_mixed_node[i] =
			(node->frame != PROFILE_NONE && is_marked_frame[node->frame]) ||
			(node->parent != PROFILE_NONE && lives->is_mixed_node[node->parent]);
	}
}

static void see_stack(struct code_lives *lives, uint32_t node, uint64_t tsc)
{
	while (node != PROFILE_NONE && lives->is_mixed_node[node]) {
		const struct profile_node *at = profile_reader_node(lives->reader, node);
		if (at->frame != PROFILE_NONE && lives->is_mixed[at->frame])
			lives->items[life_at(lives, at->frame, tsc)].is_seen = true;
		node = at->parent;
	}
}

static bool see_sample(const struct profile_sample_info *sample, void *user)
{
	see_stack(user, sample->stack.node, sample->tsc);
	return true;
}

static bool see_wait(const struct profile_wait_info *info, void *user)
{
	struct code_lives *lives = user;
	see_stack(lives, info->wait.node, profile_reader_tsc_of_raw(lives->reader, info->start_ns));
	see_stack(lives, info->wait.waker_node,
		  profile_reader_tsc_of_raw(lives->reader, info->start_ns + info->wait.wait_ns));
	return true;
}

/* Marks the lives that samples and waits met, of frames with several. */
static void see_all(struct code_lives *lives)
{
	uint32_t frames = profile_reader_frame_count(lives->reader);
	bool any = false;
	for (uint32_t i = 0; i < frames; i++) {
		lives->is_mixed[i] = life_count(lives, i) > 1;
		any |= lives->is_mixed[i];
	}
	if (!any)
		return;
	mark_nodes(lives, lives->is_mixed);
	profile_reader_each_of_all(lives->reader, see_sample, lives);
	if (profile_reader_wait_sources(lives->reader))
		profile_reader_each_wait(lives->reader, see_wait, lives);
}

/* Chooses the life that a frame stands for: the first one seen, else the last one. */
static void choose_lives(struct code_lives *lives)
{
	uint32_t frames = profile_reader_frame_count(lives->reader);
	for (uint32_t i = 0; i < frames; i++) {
		size_t seen = 0;
		lives->stands_for[i] = PROFILE_NONE;
		for (size_t k = lives->first_of_frame[i + 1]; k-- > lives->first_of_frame[i];) {
			if (lives->items[k].is_seen || lives->stands_for[i] == PROFILE_NONE)
				lives->stands_for[i] = (uint32_t)k;
			seen += lives->items[k].is_seen;
		}
		lives->is_mixed[i] = seen > 1;
		lives->mixed_count += seen > 1;
	}
	mark_nodes(lives, lives->is_mixed);
}

struct code_lives *code_lives_read(struct profile_reader *reader)
{
	struct code_lives *lives = xalloc_zeroed(1, sizeof(*lives));
	uint32_t frames = profile_reader_frame_count(reader);
	lives->reader = reader;
	lives->stands_for = xalloc_zeroed((size_t)frames + 1, sizeof(*lives->stands_for));
	lives->is_mixed = xalloc_zeroed((size_t)frames + 1, sizeof(*lives->is_mixed));
	lives->is_mixed_node =
		xalloc_zeroed(profile_reader_node_count(reader), sizeof(*lives->is_mixed_node));
	find_dumps(lives);
	for (size_t i = 0; i < lives->dump_count; i++)
		read_dump(lives, i);
	index_frames(lives);
	see_all(lives);
	choose_lives(lives);
	return lives;
}

void code_lives_destroy(struct code_lives *lives)
{
	if (!lives)
		return;
	for (size_t i = 0; i < lives->dump_count; i++) {
		if (!lives->dumps[i].reader)
			continue;
		close(lives->dumps[i].fd);
		free(lives->dumps[i].reader);
	}
	free(lives->files);
	free(lives->dumps);
	free(lives->items);
	free(lives->first_of_frame);
	free(lives->stands_for);
	free(lives->is_mixed);
	free(lives->is_mixed_node);
	free(lives);
}

size_t code_lives_mixed_count(const struct code_lives *lives)
{
	return lives->mixed_count;
}

bool code_lives_is_mixed_node(const struct code_lives *lives, uint32_t node)
{
	return lives->is_mixed_node[node];
}

uint32_t code_lives_other(const struct code_lives *lives, uint32_t frame, uint64_t tsc)
{
	if (!lives->is_mixed[frame])
		return PROFILE_NONE;
	uint32_t life = (uint32_t)life_at(lives, frame, tsc);
	return life == lives->stands_for[frame] ? PROFILE_NONE : life;
}

uint32_t code_lives_count(const struct code_lives *lives)
{
	return (uint32_t)lives->count;
}

bool code_lives_resolve(struct code_lives *lives, struct symbol_address *address)
{
	uint32_t index = lives->stands_for[address->frame];
	if (index == PROFILE_NONE)
		return false;
	const struct life *life = &lives->items[index];
	return jitdump_life_resolve(lives->dumps[life->dump].reader, &life->life, address);
}

const struct code_dump_file *code_lives_files(const struct code_lives *lives, size_t *count)
{
	*count = lives->dump_count;
	return lives->files;
}
