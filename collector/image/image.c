#include "collector/image/image.h"

#include "collector/image/image_ask.h"
#include "collector/image/image_debug.h"
#include "collector/image/image_file.h"
#include "collector/image/image_memory.h"
#include "collector/image/perf_map.h"
#include "collector/machine/clock.h"
#include "collector/proc/asker.h"
#include "containers/array.h"
#include "containers/hash.h"
#include "containers/hash_table.h"
#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

/* The state of an image's file. */
enum image_state {
	IMAGE_UNREAD,  /* no module: the file could not be opened, but another process may give
			* access */
	IMAGE_REFUSED, /* no module: the file cannot be used, or was changed */
	IMAGE_COPIED,  /* a module without a file: the vdso, the memory of a deleted file */
	IMAGE_OPEN,    /* a module with a descriptor */
	IMAGE_READY,   /* the same, and its debug file was looked for */
	IMAGE_CLOSED,  /* no module: the file was closed, and is opened again for the next walk */
	IMAGE_PAST,    /* the file was changed and got another image; present mappings keep the
			* module of this one until it is closed */
};

struct image {
	struct profile_image record;
	enum image_state state;
	struct uw_module *module;
	char *path;
	uint64_t used;      /* the turn of the last request */
	uint64_t looked_ns; /* when its file was last seen unchanged */
	uint32_t successor; /* the image of the same file, opened later; 0: none */
	uint32_t tried_pid; /* the process of the last attempt to open the file */
	uint32_t owner;     /* of its file */
	int64_t changed_ns; /* PROFILE_IMAGE_CHANGED: date of the file's change */
	bool is_32bit;
};

enum warning { WARNING_LIMIT, WARNING_LOST, WARNING_CHANGED, WARNING_COUNT };

struct image_table {
	struct emit *emit;
	struct asker *asker;
	struct image *items; /* by number in the result; 0 is unknown, others' have no path */
	size_t count;
	size_t capacity;
	struct hash_table names; /* of image_slot */
	struct hash_key key;
	uint32_t *open; /* images with descriptors that may be closed */
	size_t open_count;
	size_t open_capacity;
	uint64_t turn;
	uint64_t memory_budget; /* bytes left to copy from processes' memory */
	bool is_recorded;       /* processes are those of a recording ... */
	uint32_t owner;         /* ... made by this user */
	bool is_told[WARNING_COUNT];
};

struct image_slot {
	struct hash_slot head;
	uint32_t image; /* the first one of its name that is not past */
};

/* The search key of an image. */
struct image_key {
	const struct image_table *table;
	const struct profile_image *record;
	const char *path;
};

enum { VDSO_PAGES_MAX = 16, CLOSE_AT_ONCE = 16, MEMORY_MAX = 512 * 1024 * 1024 };

/* Makes room for the image at index. */
static bool reserve_image(struct image_table *table, size_t index)
{
	if (!array_reserve(&table->items, &table->capacity, index + 1, sizeof(*table->items)))
		return false;
	for (; table->count <= index; table->count++)
		table->items[table->count] = (struct image){0};
	return true;
}

struct image_table *image_table_create(struct emit *emit, struct asker *asker)
{
	struct image_table *table = calloc(1, sizeof(*table));
	if (!table)
		return NULL;
	*table = (struct image_table){.emit = emit,
				      .asker = asker,
				      .key = hash_key_draw(),
				      .memory_budget = MEMORY_MAX};
	if (reserve_image(table, 0))
		return table;
	free(table);
	return NULL;
}

void image_table_set_recorded(struct image_table *table, uint32_t owner)
{
	assert(table->count == 1);
	table->is_recorded = true;
	table->owner = owner;
}

void image_table_destroy(struct image_table *table)
{
	if (!table)
		return;
	for (size_t i = 1; i < table->count; i++) {
		uw_module_unref(table->items[i].module);
		free(table->items[i].path);
	}
	hash_table_finish(&table->names);
	free(table->items);
	free(table->open);
	free(table);
}

/* The kernel names a file by its build-id or by its inode, /proc by its inode; an opened image
 * knows both. */
static bool is_image(const void *slot, const void *user)
{
	const struct image_key *key = user;
	const struct profile_image *record = key->record;
	const struct image *image = &key->table->items[((const struct image_slot *)slot)->image];
	const struct profile_image *known = &image->record;
	if (known->kind != record->kind || known->pid != record->pid ||
	    strcmp(image->path, key->path) != 0)
		return false;
	if (record->build_id_size > 0)
		return known->build_id_size == record->build_id_size &&
		       memcmp(known->build_id, record->build_id, record->build_id_size) == 0;
	return known->inode == record->inode;
}

static uint64_t hash_image(const struct image_key *key)
{
	return hash_bytes(&key->table->key, key->path, strlen(key->path)) ^
	       hash_number(&key->table->key, key->record->pid);
}

static bool is_vdso(const struct image_source *source)
{
	return strcmp(source->path, "[vdso]") == 0;
}

/* A 64-bit process has its vdso at the end of its addresses; a 32-bit one has another vdso. */
static bool is_vdso_32(const struct image_source *source)
{
	return is_vdso(source) && source->end <= UINT32_MAX;
}

bool image_is_anonymous(const struct image_source *source)
{
	return !is_vdso(source) && !image_file_is_path(source->path);
}

/* The identifying part of an image's record; opening the image tells the rest. */
static struct profile_image identify(const struct image_source *source)
{
	struct profile_image record = {
		.kind = PROFILE_IMAGE_FILE,
		.inode = source->inode,
		.device_major = source->device_major,
		.device_minor = source->device_minor,
		.build_id_size = source->build_id_size,
	};
	assert(source->build_id_size <= sizeof(record.build_id));
	memcpy(record.build_id, source->build_id, source->build_id_size);
	if (is_vdso(source)) {
		record.kind = PROFILE_IMAGE_VDSO;
	} else if (image_is_anonymous(source)) {
		/* JIT code belongs to one process: its addresses mean nothing in others. */
		record = (struct profile_image){.kind = PROFILE_IMAGE_JIT, .pid = source->pid};
	}
	return record;
}

/* All processes of a running kernel with the same width share one vdso image; for 64-bit ones ours
 * will do. */
static struct uw_module *open_vdso(const struct image_table *table,
				   const struct image_source *source)
{
	struct uw_module *module = NULL;
	struct image_opened opened = {0};
	if (table->is_recorded && (is_vdso_32(source) || source->build_id_size == 0))
		return NULL;
	if (is_vdso_32(source)) {
		image_ask(table->asker, image_memory_open_vdso, source, &opened);
		return opened.module;
	}
	const void *image =
		(const void *)getauxval(AT_SYSINFO_EHDR); /* NOLINT: an address by design */
	uint64_t size = source->end - source->start;
	if (!image || size > VDSO_PAGES_MAX * 4096u ||
	    uw_module_from_memory(image, (size_t)size, &module) < 0)
		return NULL;
	if (!table->is_recorded || image_file_has_build_id(module, source))
		return module;
	uw_module_unref(module); /* another kernel's */
	return NULL;
}

/* Whether the module holds a descriptor. */
static bool has_file(const struct image *image)
{
	return image->state == IMAGE_OPEN || image->state == IMAGE_READY ||
	       (image->state == IMAGE_PAST && image->module);
}

/* Without a build-id the inode alone identifies a file. Once a deleted file is closed, its inode
 * may become another file's, whose code would be taken for this one's. */
static bool is_closable(const struct image *image)
{
	return has_file(image) && (image->record.build_id_size > 0 || image->state == IMAGE_PAST);
}

/* Closes the image with the oldest request among those whose files only this table keeps open;
 * false: none. */
static bool close_idle(struct image_table *table)
{
	size_t found = table->open_count;
	for (size_t i = 0; i < table->open_count; i++) {
		const struct image *image = &table->items[table->open[i]];
		assert(is_closable(image));
		if (!uw_module_is_used(image->module) &&
		    (found == table->open_count ||
		     image->used < table->items[table->open[found]].used))
			found = i;
	}
	if (found == table->open_count)
		return false;
	struct image *image = &table->items[table->open[found]];
	uw_module_unref(image->module);
	image->module = NULL;
	if (image->state != IMAGE_PAST)
		image->state = IMAGE_CLOSED;
	table->open[found] = table->open[--table->open_count];
	return true;
}

/* Adds the image at index to the closable ones, if its file may be closed; closes others if these
 * are many. */
static void note_open(struct image_table *table, uint32_t index)
{
	if (!is_closable(&table->items[index]) ||
	    !array_reserve(&table->open, &table->open_capacity, table->open_count + 1,
			   sizeof(*table->open)))
		return; /* the file stays open */
	while (table->open_count >= IMAGE_OPEN_MAX && close_idle(table))
		;
	assert(table->items[index].module);
	table->open[table->open_count++] = index;
}

static void note_warning(struct image_table *table, const char *before, const char *path,
			 const char *after)
{
	char text[PATH_MAX + 256];
	snprintf(text, sizeof(text), "%s%s%s", before, path, after);
	emit_note(table->emit, PROFILE_NOTE_WARNING, PROFILE_TIME_BEFORE, .text = text);
}

/* Warns once of a problem that many files may have; path: of the first. */
static void warn_once(struct image_table *table, enum warning warning, const char *path)
{
	static const char *const texts[] = {
		[WARNING_LIMIT] =
			"the limit of open files kept some programs from being read: their stacks "
			"are incomplete; raise it (ulimit -n)",
		[WARNING_LOST] =
			" was closed, as many files were open, and could not be opened again: "
			"stacks through it, and through other such files, may be incomplete",
		[WARNING_CHANGED] =
			" was changed after it was mapped: stacks through what it was before, and "
			"through other such files, may be incomplete",
	};
	if (!table->is_told[warning])
		note_warning(table, "", path, texts[warning]);
	table->is_told[warning] = true;
}

/* Notes why the file could not be opened. */
static void note_unread(struct image_table *table, struct image *image, int error)
{
	image->record.flags |= PROFILE_IMAGE_NOT_OPEN;
	if (error == EMFILE) {
		image->record.flags |= PROFILE_IMAGE_NO_DESCRIPTOR;
		warn_once(table, WARNING_LIMIT, "");
	} else if (error == ESTALE) {
		image->record.flags |= PROFILE_IMAGE_CHANGED;
		warn_once(table, WARNING_CHANGED, image->path);
	} else if (error == ENOENT) {
		image->record.flags |= PROFILE_IMAGE_GONE;
	}
}

/* Has the opener open or copy the image; the record gets inode and device, if unknown. */
static struct image_opened ask_for(struct image_table *table, struct image *image,
				   const struct image_source *source, image_opener *opener)
{
	struct image_opened opened = {.budget = table->memory_budget};
	struct image_source asked = *source;
	/* A process of the same number is another one. */
	if (table->is_recorded)
		asked.pid = 0, asked.end = 0;
	image_ask(table->asker, opener, &asked, &opened);
	table->memory_budget = opened.budget;
	if (opened.module && image->record.inode == 0) {
		image->record.inode = opened.inode;
		image->record.device_major = opened.device_major;
		image->record.device_minor = opened.device_minor;
	}
	return opened;
}

static void open_file(struct image_table *table, struct image *image,
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
	int error = opened.error;
	/* A change holds for all who map the file: whoever maps it later asks for a new image. */
	bool is_refused = error == ENOEXEC || error == ESTALE;
	image->owner = opened.owner;
	image->changed_ns = opened.changed_ns;
	image->state = IMAGE_OPEN;
	if (!opened.module && !is_refused && !table->is_recorded) {
		opened = ask_for(table, image, source, image_memory_open);
		image->state = IMAGE_COPIED;
	}
	image->module = opened.module;
	if (!image->module) {
		image->state = is_refused ? IMAGE_REFUSED : IMAGE_UNREAD;
		note_unread(table, image, error);
	}
}

/* Notes the process's owner and start, by which its perf map is judged: noted while the process
 * lives, as perf maps stay behind. */
static void note_owner(struct image_table *table, struct image *image,
		       const struct image_source *source)
{
	if (table->is_recorded) {
		image->record.owner_uid = table->owner;
		return;
	}
	uint64_t started = perf_map_started(source->pid);
	uint32_t owner = asker_find_owner(source->pid);
	if (owner == ASKER_NO_OWNER && source->has_owner)
		owner = source->owner;
	image->record.owner_uid = owner;
	if (image->record.kind == PROFILE_IMAGE_JIT && started != 0)
		emit_note(table->emit, PROFILE_NOTE_JIT_STARTED, PROFILE_TIME_BEFORE,
			  .value = started, .pid = source->pid, .text = image->path);
}

/* Opens the image and completes its record. */
static void open_image(struct image_table *table, struct image *image,
		       const struct image_source *source)
{
	struct profile_image *record = &image->record;
	image->tried_pid = source->pid;
	if (record->kind == PROFILE_IMAGE_VDSO) {
		image->module = open_vdso(table, source);
		image->state = image->module ? IMAGE_COPIED : IMAGE_UNREAD;
	} else if (record->kind == PROFILE_IMAGE_FILE) {
		open_file(table, image, source);
	} else {
		note_owner(table, image, source);
	}
	if (!image->module)
		return;
	image->is_32bit = uw_module_arch(image->module) == UW_ARCH_I386;
	if (record->build_id_size == 0)
		record->build_id_size = image_file_build_id(image->module, record->build_id);
}

/* The perf map of a recorded process, where perf looks for it. */
static char *recorded_map_path(uint32_t pid)
{
	char path[64];
	snprintf(path, sizeof(path), "/tmp/perf-%u.map", pid);
	return strdup(path);
}

static char *path_of(const struct image_table *table, const struct profile_image *record,
		     const struct image_source *source)
{
	static const char deleted[] = " (deleted)";
	if (record->kind == PROFILE_IMAGE_JIT)
		return table->is_recorded ? recorded_map_path(source->pid)
					  : perf_map_path(source->pid);
	if (is_vdso_32(source))
		return strdup("[vdso32]");
	size_t length = strlen(source->path);
	size_t suffix = sizeof(deleted) - 1;
	if (length > suffix && strcmp(source->path + length - suffix, deleted) == 0)
		length -= suffix;
	return strndup(source->path, length);
}

/* Writes an image to the result and adds it to the table; takes path and module. pid: the process
 * through which the image was opened. The result numbers images; some numbers are not of this table
 * but the kernel's. Returns the image's index; 0: out of memory. */
static uint32_t add_image(struct image_table *table, const struct image *image, uint32_t pid)
{
	struct profile_image record = image->record;
	if (!table->is_recorded)
		record.pid = pid; /* where finalization may find the file */
	uint32_t index = emit_image(table->emit, &record, image->path);
	if (index < table->count)
		index = (uint32_t)table->count; /* the result takes nothing any more */
	if (!reserve_image(table, index)) {
		free(image->path);
		uw_module_unref(image->module);
		return 0;
	}
	table->items[index] = *image;
	table->items[index].used = table->turn++;
	note_open(table, index);
	return index;
}

/* The last successor of the image, which counts as requested. */
static uint32_t find_current(struct image_table *table, uint32_t index)
{
	while (table->items[index].successor != 0)
		index = table->items[index].successor;
	table->items[index].used = table->turn++;
	return index;
}

/* Whether the file was changed since it was opened. One look serves for all earlier mappings:
 * programs map one file thousands of times. */
static bool has_changed(struct image *image, const struct image_source *source)
{
	if (source->mapped_ns != 0 && source->mapped_ns < image->looked_ns)
		return false;
	image->looked_ns = clock_now();
	return uw_module_has_changed(image->module);
}

/* Whether the file was changed after the image was made, and the source is known to be a later
 * mapping. */
static bool is_outdated(struct image *image, const struct image_source *source)
{
	if (image->state == IMAGE_PAST)
		return true;
	if (has_file(image))
		return has_changed(image, source);
	return image->record.flags & PROFILE_IMAGE_CHANGED && source->mapped_ns != 0 &&
	       image_file_date(source->mapped_ns) >= image->changed_ns;
}

/* Leaves an image to its present mappings: its file has no further use and may be closed. */
static void retire(struct image_table *table, uint32_t index)
{
	struct image *image = &table->items[index];
	bool was_closable = is_closable(image);
	if (image->state == IMAGE_PAST)
		return;
	image->state = IMAGE_PAST;
	warn_once(table, WARNING_CHANGED, image->path);
	if (!was_closable)
		note_open(table, index);
}

/* The image in use for the source's file, whose first image is at index; 0: the file needs a new
 * one. */
static uint32_t find_present(struct image_table *table, uint32_t index,
			     const struct image_source *source)
{
	uint32_t current = find_current(table, index);
	if (!is_outdated(&table->items[current], source))
		return current;
	retire(table, current);
	return 0;
}

uint32_t image_table_get(struct image_table *table, const struct image_source *source)
{
	const struct profile_image record = identify(source);
	struct image image = {.record = record, .path = path_of(table, &record, source)};
	if (!image.path)
		return 0;
	struct image_key key = {table, &record, image.path};
	uint64_t hash = hash_image(&key);
	struct image_slot *slot =
		hash_table_find(&table->names, sizeof(*slot), hash, is_image, &key);
	uint32_t known = slot ? find_present(table, slot->image, source) : 0;
	if (known != 0) {
		/* The process of the earlier attempt may have ended too early. */
		if (is_vdso_32(source) && !table->items[known].module)
			open_image(table, &table->items[known], source);
		free(image.path);
		return known;
	}
	open_image(table, &image, source);
	if (strlen(source->path) > strlen(image.path) && record.kind == PROFILE_IMAGE_FILE)
		image.record.flags |= PROFILE_IMAGE_DELETED;
	uint32_t added = add_image(table, &image, source->pid);
	if (added != 0 && !slot)
		slot = hash_table_add(&table->names, sizeof(*slot), hash);
	if (added != 0 && slot)
		slot->image = added;
	return added;
}

/* Adds another image of a file that could not be opened before: samples until now stay with the
 * image of an unread file. Returns the new index, or the old one when out of memory. */
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
	assert(added > index); /* lists of successors end */
	table->items[index].successor = added;
	return added;
}

/* Adds the debug file's information to a module without its own, before the first use. */
static void make_ready(struct image_table *table, struct image *image)
{
	if (image->state != IMAGE_OPEN)
		return;
	assert(image->module);
	image->state = IMAGE_READY;
	image_debug_add(image->module, image->path, image->owner);
	if (uw_module_lacks_info(image->module) && uw_module_has_refused(image->module))
		note_warning(table, "the unwind information of ", image->path,
			     " is compressed in a way that cannot be read here: its stacks are "
			     "incomplete");
}

/* Whether the file of an image without a module may be opened through this process. */
static bool is_worth_a_try(const struct image_table *table, const struct image *image, uint32_t pid)
{
	return image->record.kind == PROFILE_IMAGE_FILE &&
	       (image->state == IMAGE_CLOSED ||
		(image->state == IMAGE_UNREAD && !table->is_recorded &&
		 (image->record.flags & PROFILE_IMAGE_NO_DESCRIPTOR || image->tried_pid != pid)));
}

/* Opens the image's file again, or for the first time. Returns the index as image_table_open. */
static uint32_t reopen(struct image_table *table, uint32_t index, const struct image_place *place)
{
	struct image *image = &table->items[index];
	struct image opened = *image;
	struct image_source source = {.pid = place->pid,
				      .start = place->start,
				      .end = place->end,
				      .mapped_ns = place->mapped_ns,
				      .path = image->path,
				      .inode = image->record.inode,
				      .build_id = image->record.build_id,
				      .build_id_size = image->record.build_id_size};
	assert(!opened.module);
	open_image(table, &opened, &source);
	image->tried_pid = place->pid;
	if (opened.module && image->state == IMAGE_UNREAD)
		return succeed(table, index, &opened, place->pid);
	if (opened.module) {
		*image = opened;
		note_open(table, index);
	} else if (image->state == IMAGE_CLOSED &&
		   !(opened.record.flags & PROFILE_IMAGE_NO_DESCRIPTOR)) {
		/* The image record was written when the file was readable; only a note can say
		 * otherwise now. The limit is told already. */
		warn_once(table, WARNING_LOST, image->path);
	}
	return index;
}

uint32_t image_table_open(struct image_table *table, uint32_t index,
			  const struct image_place *place)
{
	if (index == 0 || index >= table->count)
		return index;
	index = find_current(table, index);
	if (is_worth_a_try(table, &table->items[index], place->pid))
		index = reopen(table, index, place);
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
