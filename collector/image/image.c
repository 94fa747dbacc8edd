#include "collector/image/image.h"

#include "collector/image/debug_file.h"
#include "collector/image/image_ask.h"
#include "collector/image/image_file.h"
#include "collector/image/image_memory.h"
#include "collector/machine/clock.h"
#include "collector/proc/perf_map.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

struct image {
	struct profile_image record;
	struct uw_module *module; /* NULL: none, or closed to be opened again */
	char *path;
	uint64_t hash;
	uint64_t used;      /* the turn in which it was last asked for */
	uint64_t looked_ns; /* when its file was last seen unchanged */
	uint32_t successor; /* the same file, which could be opened later; 0: none */
	uint32_t tried_pid; /* through which it was last tried to open it */
	uint32_t owner;     /* of its file */
	int64_t changed_ns; /* PROFILE_IMAGE_CHANGED: when the file was, as a date */
	bool is_32bit;
	bool is_past;    /* by now another image stands for what its file holds */
	bool is_refused; /* the file is none that can be used */
	bool has_file;   /* the module holds a descriptor */
	bool is_ready;   /* the module has what its debug file says, if it needs that */
};

struct image_table {
	struct emit *emit;
	struct asker *asker;
	struct image *items; /* by number in the result; 0 is unknown, others' have no path */
	uint32_t count;
	uint32_t capacity;
	uint32_t *slots; /* open addressing; index, 0 is free */
	size_t slot_count;
	uint32_t *open; /* images that hold descriptors and may be closed */
	uint32_t open_count;
	uint32_t open_capacity;
	uint64_t turn;
	uint64_t memory_budget; /* bytes that may still be copied from processes' memory */
	bool told_limit;        /* that descriptors ran out */
	bool told_lost;         /* that a closed file could not be opened again */
	bool told_changed;      /* that a file was changed */
};

enum {
	INITIAL_CAPACITY = 64,
	VDSO_PAGES_MAX = 16,
	CLOSE_AT_ONCE = 16,
	MEMORY_MAX = 512 * 1024 * 1024
};

struct image_table *image_table_create(struct emit *emit, struct asker *asker)
{
	struct image_table *table = calloc(1, sizeof(*table));
	if (!table)
		return NULL;
	table->emit = emit;
	table->asker = asker;
	table->memory_budget = MEMORY_MAX;
	table->count = 1;
	table->capacity = INITIAL_CAPACITY;
	table->slot_count = (size_t)2 * INITIAL_CAPACITY;
	table->items = calloc(table->capacity, sizeof(*table->items));
	table->slots = calloc(table->slot_count, sizeof(*table->slots));
	if (!table->items || !table->slots) {
		image_table_destroy(table);
		return NULL;
	}
	return table;
}

void image_table_destroy(struct image_table *table)
{
	if (!table)
		return;
	for (uint32_t i = 1; i < table->count; i++) {
		uw_module_unref(table->items[i].module);
		free(table->items[i].path);
	}
	free(table->items);
	free(table->slots);
	free(table->open);
	free(table);
}

/* FNV-1a */
static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t size)
{
	const uint8_t *at = bytes;
	for (size_t i = 0; i < size; i++)
		hash = (hash ^ at[i]) * 0x100000001b3ull;
	return hash;
}

static uint64_t hash_image(const struct profile_image *record, const char *path)
{
	uint64_t hash = hash_bytes(0xcbf29ce484222325ull, path, strlen(path));
	return hash_bytes(hash, &record->pid, sizeof(record->pid));
}

/* The kernel names a file by its build-id or by its inode, /proc by its inode; an opened image
 * knows both. */
static bool is_same(const struct image *image, const struct profile_image *record, const char *path)
{
	const struct profile_image *known = &image->record;
	if (known->kind != record->kind || known->pid != record->pid ||
	    strcmp(image->path, path) != 0)
		return false;
	if (record->build_id_size > 0)
		return known->build_id_size == record->build_id_size &&
		       memcmp(known->build_id, record->build_id, record->build_id_size) == 0;
	return known->inode == record->inode;
}

static uint32_t *find_slot(struct image_table *table, uint64_t hash,
			   const struct profile_image *record, const char *path)
{
	size_t mask = table->slot_count - 1;
	size_t i = hash & mask;
	while (table->slots[i] != 0) {
		const struct image *image = &table->items[table->slots[i]];
		if (image->hash == hash && is_same(image, record, path))
			break;
		i = (i + 1) & mask;
	}
	return &table->slots[i];
}

static int grow(struct image_table *table)
{
	struct image *items = realloc(table->items, (size_t)table->capacity * 2 * sizeof(*items));
	if (!items)
		return -1;
	table->items = items;
	memset(items + table->capacity, 0, table->capacity * sizeof(*items));
	uint32_t *slots = calloc(table->slot_count * 2, sizeof(*slots));
	if (!slots)
		return -1;
	free(table->slots);
	table->slots = slots;
	table->slot_count *= 2;
	table->capacity *= 2;
	for (uint32_t i = 1; i < table->count; i++)
		if (items[i].path && !items[i].is_past)
			*find_slot(table, items[i].hash, &items[i].record, items[i].path) = i;
	return 0;
}

static bool is_vdso(const struct image_source *source)
{
	return strcmp(source->path, "[vdso]") == 0;
}

/* A 32-bit process has another vdso than a 64-bit one, whose is at the end of its addresses. */
static bool is_vdso_32(const struct image_source *source)
{
	return is_vdso(source) && source->end <= UINT32_MAX;
}

bool image_is_anonymous(const struct image_source *source)
{
	return !is_vdso(source) && !image_file_is_path(source->path);
}

/* What identifies the image: the record without what only opening it tells. */
static struct profile_image identify(const struct image_source *source)
{
	struct profile_image record = {
		.kind = PROFILE_IMAGE_FILE,
		.inode = source->inode,
		.device_major = source->device_major,
		.device_minor = source->device_minor,
		.build_id_size = source->build_id_size,
	};
	memcpy(record.build_id, source->build_id, source->build_id_size);
	if (is_vdso(source)) {
		record.kind = PROFILE_IMAGE_VDSO;
	} else if (image_is_anonymous(source)) {
		/* JIT code belongs to one process, which alone gives its addresses a meaning. */
		record = (struct profile_image){.kind = PROFILE_IMAGE_JIT, .pid = source->pid};
	}
	return record;
}

/* The vdso is one image for all processes of a running kernel that have the same width; for 64-bit
 * ones ours will do. */
static struct uw_module *open_vdso(struct asker *asker, const struct image_source *source)
{
	struct uw_module *module = NULL;
	struct image_opened opened = {0};
	if (is_vdso_32(source)) {
		image_ask(asker, image_memory_open_vdso, source, &opened);
		return opened.module;
	}
	const void *image =
		(const void *)getauxval(AT_SYSINFO_EHDR); /* NOLINT: an address by design */
	uint64_t size = source->end - source->start;
	if (!image || size > VDSO_PAGES_MAX * 4096u ||
	    uw_module_from_memory(image, (size_t)size, &module) < 0)
		return NULL;
	return module;
}

/* Of the images whose files only this table keeps open, closes the one that nobody has asked for
 * the longest; false where there is none. */
static bool close_idle(struct image_table *table)
{
	uint32_t found = table->open_count;
	for (uint32_t i = 0; i < table->open_count; i++) {
		const struct image *image = &table->items[table->open[i]];
		if (!uw_module_is_used(image->module) &&
		    (found == table->open_count ||
		     image->used < table->items[table->open[found]].used))
			found = i;
	}
	if (found == table->open_count)
		return false;
	struct image *image = &table->items[table->open[found]];
	uw_module_close(image->module);
	uw_module_unref(image->module);
	image->module = NULL;
	image->has_file = image->is_ready = false;
	table->open[found] = table->open[--table->open_count];
	return true;
}

/* Without a build-id only the inode says which file it is, and once a deleted file is closed its
 * inode becomes another's, whose code would be taken for this one's. */
static bool is_closable(const struct image *image)
{
	return image->has_file && image->record.build_id_size > 0;
}

/* Remembers that the image at index holds a descriptor, and closes others where these are many. */
static void note_open(struct image_table *table, uint32_t index)
{
	if (table->open_count == table->open_capacity) {
		uint32_t capacity = table->open_capacity + IMAGE_OPEN_MAX;
		uint32_t *open = realloc(table->open, capacity * sizeof(*open));
		if (!open)
			return; /* it stays open */
		table->open = open;
		table->open_capacity = capacity;
	}
	while (table->open_count >= IMAGE_OPEN_MAX && close_idle(table))
		;
	table->open[table->open_count++] = index;
}

static void tell_limit(struct image_table *table)
{
	if (!table->told_limit)
		emit_note(table->emit, PROFILE_NOTE_WARNING, EMIT_TIME_BEFORE, 0, 0, 0,
			  "the limit of open files kept some programs from being read: their "
			  "stacks "
			  "are incomplete; raise it (ulimit -n)");
	table->told_limit = true;
}

/* flags: those of the image where it was to be opened again. What was written of it before is that
 * of a file that was read, so that a note has to say why later stacks end in it. */
static void tell_lost(struct image_table *table, const struct image *image, uint32_t flags)
{
	char text[4300];
	if (table->told_lost || flags & PROFILE_IMAGE_NO_DESCRIPTOR)
		return; /* the limit is told already */
	table->told_lost = true;
	snprintf(text, sizeof(text),
		 "%s was closed, as many files were open, and could not be opened again: stacks "
		 "through it, and through other such files, may be incomplete",
		 image->path);
	emit_note(table->emit, PROFILE_NOTE_WARNING, EMIT_TIME_BEFORE, 0, 0, 0, text);
}

static void tell_changed(struct image_table *table, const char *path)
{
	char text[4300];
	if (table->told_changed)
		return;
	table->told_changed = true;
	snprintf(text, sizeof(text),
		 "%s was changed after it was mapped: stacks through what it was before, and "
		 "through other such files, may be incomplete",
		 path);
	emit_note(table->emit, PROFILE_NOTE_WARNING, EMIT_TIME_BEFORE, 0, 0, 0, text);
}

/* The file could not be opened, for this reason. */
static void note_unread(struct image_table *table, struct image *image, int error)
{
	image->record.flags |= PROFILE_IMAGE_NOT_OPEN;
	if (error == EMFILE) {
		image->record.flags |= PROFILE_IMAGE_NO_DESCRIPTOR;
		tell_limit(table);
	} else if (error == ESTALE) {
		image->record.flags |= PROFILE_IMAGE_CHANGED;
		tell_changed(table, image->path);
	} else if (error == ENOENT) {
		image->record.flags |= PROFILE_IMAGE_GONE;
	}
}

/* Has a process opened or copied the image for us; the record gets what names its file. */
static struct image_opened ask_for(struct image_table *table, struct image *image,
				   const struct image_source *source, image_opener *opener)
{
	struct image_opened opened = {.budget = table->memory_budget};
	image_ask(table->asker, opener, source, &opened);
	table->memory_budget = opened.budget;
	if (opened.module && image->record.inode == 0) {
		image->record.inode = opened.inode;
		image->record.device_major = opened.device_major;
		image->record.device_minor = opened.device_minor;
	}
	return opened;
}

static struct uw_module *open_file(struct image_table *table, struct image *image,
				   const struct image_source *source)
{
	struct image_opened opened;
	bool closed;
	image->looked_ns = clock_now();
	do {
		closed = false;
		opened = ask_for(table, image, source, image_file_open);
		for (int i = 0; opened.error == EMFILE && i < CLOSE_AT_ONCE; i++)
			closed |= close_idle(table);
	} while (closed);
	image->owner = opened.owner;
	image->changed_ns = opened.changed_ns;
	/* What was changed holds for all who map it: whoever maps it later asks for a new image. */
	image->is_refused = opened.error == ENOEXEC || opened.error == ESTALE;
	image->has_file = opened.module != NULL;
	image->is_ready = false;
	if (opened.module)
		return opened.module;
	struct uw_module *module = NULL;
	if (!image->is_refused)
		module = ask_for(table, image, source, image_memory_open).module;
	if (!module)
		note_unread(table, image, opened.error);
	return module;
}

/* Whose names of generated code count: said while the process lives, as its files stay behind. */
static void note_owner(struct image_table *table, struct image *image,
		       const struct image_source *source)
{
	uint64_t started = perf_map_started(source->pid);
	uint32_t owner = perf_map_owner(source->pid);
	if (owner == PERF_MAP_NO_OWNER && source->has_owner)
		owner = source->owner;
	image->record.owner_uid = owner;
	if (image->record.kind == PROFILE_IMAGE_JIT && started != 0)
		emit_note(table->emit, PROFILE_NOTE_JIT_STARTED, EMIT_TIME_BEFORE, started,
			  source->pid, 0, image->path);
}

/* Fills in what only opening the image tells. */
static void open_image(struct image_table *table, struct image *image,
		       const struct image_source *source)
{
	struct profile_image *record = &image->record;
	image->tried_pid = source->pid;
	if (record->kind == PROFILE_IMAGE_VDSO)
		image->module = open_vdso(table->asker, source);
	else if (record->kind == PROFILE_IMAGE_FILE)
		image->module = open_file(table, image, source);
	else
		note_owner(table, image, source);
	if (!image->module)
		return;
	image->is_32bit = uw_module_arch(image->module) == UW_ARCH_I386;
	if (record->build_id_size == 0)
		record->build_id_size = image_file_build_id(image->module, record->build_id);
}

static char *path_of(const struct profile_image *record, const struct image_source *source)
{
	static const char deleted[] = " (deleted)";
	if (record->kind == PROFILE_IMAGE_JIT)
		return perf_map_path(source->pid);
	if (is_vdso_32(source))
		return strdup("[vdso32]");
	size_t length = strlen(source->path);
	size_t suffix = sizeof(deleted) - 1;
	if (length > suffix && strcmp(source->path + length - suffix, deleted) == 0)
		length -= suffix;
	return strndup(source->path, length);
}

/* Adds an image and writes it, after opening it through the process that is its source; takes path
 * and module. The result numbers it, and has images that are none of this table, the kernel's.
 * Returns its index; 0: out of memory. */
static uint32_t add_image(struct image_table *table, const struct image *image, uint32_t pid)
{
	struct profile_image record = image->record;
	record.pid = pid; /* where finalization may find the file */
	uint32_t index = emit_image(table->emit, &record, image->path);
	if (index < table->count)
		index = table->count; /* the result takes nothing any more */
	while (index >= table->capacity) {
		if (grow(table) == 0)
			continue;
		free(image->path);
		uw_module_unref(image->module);
		return 0;
	}
	table->count = index + 1;
	table->items[index] = *image;
	table->items[index].used = table->turn++;
	if (is_closable(image))
		note_open(table, index);
	return index;
}

/* The image that is used for this one, which is asked for. */
static uint32_t find_current(struct image_table *table, uint32_t index)
{
	while (table->items[index].successor != 0)
		index = table->items[index].successor;
	table->items[index].used = table->turn++;
	return index;
}

/* Whether the file was changed since it was opened. A look holds for what was mapped before it:
 * programs map one file thousands of times. */
static bool has_changed(struct image *image, const struct image_source *source)
{
	if (source->mapped_ns != 0 && source->mapped_ns < image->looked_ns)
		return false;
	image->looked_ns = clock_now();
	return uw_module_has_changed(image->module);
}

/* Whether the file was changed since the image was made, and the source is known to be a later
 * mapping. */
static bool is_outdated(struct image *image, const struct image_source *source)
{
	if (image->is_past || image->has_file)
		return image->is_past || has_changed(image, source);
	return image->record.flags & PROFILE_IMAGE_CHANGED && source->mapped_ns != 0 &&
	       image_file_date(source->mapped_ns) >= image->changed_ns;
}

/* Leaves an image to those who map it: its file is of no use any more, and may be closed. */
static void retire(struct image_table *table, uint32_t index)
{
	struct image *image = &table->items[index];
	bool stays_open = image->has_file && !is_closable(image);
	image->is_past = image->is_refused = true;
	tell_changed(table, image->path);
	if (stays_open)
		note_open(table, index);
}

/* The image that is used for what the source maps, if the one at index is its first; 0: it needs a
 * new one. */
static uint32_t find_present(struct image_table *table, uint32_t index,
			     const struct image_source *source)
{
	uint32_t current = index == 0 ? 0 : find_current(table, index);
	if (current == 0 || !is_outdated(&table->items[current], source))
		return current;
	if (!table->items[current].is_past)
		retire(table, current);
	table->items[index].is_past = true;
	return 0;
}

uint32_t image_table_get(struct image_table *table, const struct image_source *source)
{
	struct profile_image record = identify(source);
	char *path = path_of(&record, source);
	if (!path)
		return 0;
	uint64_t hash = hash_image(&record, path);
	uint32_t known = find_present(table, *find_slot(table, hash, &record, path), source);
	if (known != 0) {
		/* Whose memory it was to be read from may have ended too early. */
		if (is_vdso_32(source) && !table->items[known].module)
			open_image(table, &table->items[known], source);
		free(path);
		return known;
	}
	struct image image = {.record = record, .path = path, .hash = hash};
	open_image(table, &image, source);
	if (strlen(source->path) > strlen(path) && record.kind == PROFILE_IMAGE_FILE)
		image.record.flags |= PROFILE_IMAGE_DELETED;
	uint32_t added = add_image(table, &image, source->pid);
	if (added != 0)
		*find_slot(table, hash, &record, path) = added;
	return added;
}

/* Makes a file's image once more, which could not be opened: what was seen of it until now stays
 * that of a file that was not read. Returns the index, that of the old one where there is no
 * memory. */
static uint32_t succeed(struct image_table *table, uint32_t index, const struct image *opened,
			uint32_t pid)
{
	struct image image = *opened;
	image.record.flags &= PROFILE_IMAGE_DELETED;
	image.path = strdup(opened->path);
	if (!image.path) {
		uw_module_unref(image.module);
		return index;
	}
	uint32_t added = add_image(table, &image, pid);
	if (added == 0)
		return index;
	table->items[index].successor = added;
	return added;
}

/* Gives the module what its debug file says, if it needs that: when it is to be used. */
static void make_ready(struct image_table *table, struct image *image)
{
	char text[4300];
	if (image->is_ready || !image->module || !image->has_file)
		return;
	image->is_ready = true;
	debug_file_add(image->module, image->path, image->owner);
	if (!uw_module_lacks_info(image->module) || !uw_module_has_refused(image->module))
		return;
	snprintf(text, sizeof(text),
		 "the unwind information of %s is compressed in a way that cannot be read here: "
		 "its stacks are incomplete",
		 image->path);
	emit_note(table->emit, PROFILE_NOTE_WARNING, EMIT_TIME_BEFORE, 0, 0, 0, text);
}

uint32_t image_table_open(struct image_table *table, uint32_t index,
			  const struct image_place *place)
{
	if (index == 0 || index >= table->count)
		return index;
	index = find_current(table, index);
	struct image *image = &table->items[index];
	bool was_open = !(image->record.flags & PROFILE_IMAGE_NOT_OPEN);
	bool ran_out = image->record.flags & PROFILE_IMAGE_NO_DESCRIPTOR;
	if (image->record.kind == PROFILE_IMAGE_FILE && !image->module && !image->is_refused &&
	    (was_open || ran_out || image->tried_pid != place->pid)) {
		struct image opened = *image;
		struct image_source source = {.pid = place->pid,
					      .start = place->start,
					      .end = place->end,
					      .mapped_ns = place->mapped_ns,
					      .path = opened.path,
					      .inode = opened.record.inode,
					      .build_id = opened.record.build_id,
					      .build_id_size = opened.record.build_id_size};
		open_image(table, &opened, &source);
		image->tried_pid = place->pid;
		if (opened.module && !was_open) {
			index = succeed(table, index, &opened, place->pid);
		} else if (opened.module) {
			*image = opened;
			if (is_closable(image))
				note_open(table, index);
		} else if (was_open) {
			tell_lost(table, image, opened.record.flags);
		}
	}
	make_ready(table, &table->items[index]);
	return index;
}

struct uw_module *image_module(const struct image_table *table, uint32_t image)
{
	return image < table->count ? table->items[image].module : NULL;
}

bool image_is_unread(const struct image_table *table, uint32_t image)
{
	return image < table->count && !table->items[image].module &&
	       table->items[image].record.flags & PROFILE_IMAGE_NOT_OPEN;
}

bool image_is_32bit(const struct image_table *table, uint32_t image)
{
	return image < table->count && table->items[image].is_32bit;
}

const char *image_path(const struct image_table *table, uint32_t image)
{
	const char *path = image < table->count ? table->items[image].path : NULL;
	return path ? path : "";
}
