#include "collector/image.h"

#include "collector/image_file.h"
#include "collector/image_memory.h"
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

struct image {
	struct profile_image record;
	struct uw_module *module;
	char *path;
	uint64_t hash;
};

struct image_table {
	struct emit *emit;
	struct image *items; /* by index; item 0 is unknown */
	uint32_t count;
	uint32_t capacity;
	uint32_t *slots; /* open addressing; index, 0 is free */
	size_t slot_count;
};

enum { INITIAL_CAPACITY = 64, VDSO_PAGES_MAX = 16 };

struct image_table *image_table_create(struct emit *emit)
{
	struct image_table *table = calloc(1, sizeof(*table));
	if (table == NULL)
		return NULL;
	table->emit = emit;
	table->count = 1;
	table->capacity = INITIAL_CAPACITY;
	table->slot_count = (size_t)2 * INITIAL_CAPACITY;
	table->items = calloc(table->capacity, sizeof(*table->items));
	table->slots = calloc(table->slot_count, sizeof(*table->slots));
	if (table->items == NULL || table->slots == NULL) {
		image_table_destroy(table);
		return NULL;
	}
	return table;
}

void image_table_destroy(struct image_table *table)
{
	if (table == NULL)
		return;
	for (uint32_t i = 1; i < table->count; i++) {
		uw_module_unref(table->items[i].module);
		free(table->items[i].path);
	}
	free(table->items);
	free(table->slots);
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
	if (items == NULL)
		return -1;
	table->items = items;
	uint32_t *slots = calloc(table->slot_count * 2, sizeof(*slots));
	if (slots == NULL)
		return -1;
	free(table->slots);
	table->slots = slots;
	table->slot_count *= 2;
	table->capacity *= 2;
	for (uint32_t i = 1; i < table->count; i++)
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
	} else if (!image_file_is_path(source->path)) {
		/* JIT code belongs to one process, which alone gives its addresses a meaning. */
		record = (struct profile_image){.kind = PROFILE_IMAGE_JIT, .pid = source->pid};
	}
	return record;
}

/* The vdso is one image for all processes of a running kernel that have the same width; for 64-bit
 * ones ours will do. */
static struct uw_module *open_vdso(const struct image_source *source)
{
	struct uw_module *module = NULL;
	if (is_vdso_32(source))
		return image_memory_open_vdso(source);
	const void *image =
		(const void *)getauxval(AT_SYSINFO_EHDR); /* NOLINT: an address by design */
	uint64_t size = source->end - source->start;
	if (image == NULL || size > VDSO_PAGES_MAX * 4096u ||
	    uw_module_from_memory(image, (size_t)size, &module) < 0)
		return NULL;
	return module;
}

static void open_image(struct image *image, const struct image_source *source)
{
	struct profile_image *record = &image->record;
	if (record->kind == PROFILE_IMAGE_VDSO) {
		image->module = open_vdso(source);
	} else if (record->kind == PROFILE_IMAGE_FILE) {
		image->module = image_file_open(source, record);
		if (image->module == NULL)
			image->module = image_memory_open(source, record);
	} else {
		record->owner_uid = image_file_owner(source->pid);
	}
	if (record->build_id_size == 0 && image->module != NULL)
		record->build_id_size =
			(uint32_t)uw_module_build_id(image->module, record->build_id,
						     sizeof(record->build_id));
}

static char *path_of(const struct profile_image *record, const struct image_source *source)
{
	static const char deleted[] = " (deleted)";
	if (record->kind == PROFILE_IMAGE_JIT)
		return image_file_perf_map(source->pid);
	if (is_vdso_32(source))
		return strdup("[vdso32]");
	size_t length = strlen(source->path);
	size_t suffix = sizeof(deleted) - 1;
	if (length > suffix && strcmp(source->path + length - suffix, deleted) == 0)
		length -= suffix;
	return strndup(source->path, length);
}

uint32_t image_table_get(struct image_table *table, const struct image_source *source)
{
	struct profile_image record = identify(source);
	char *path = path_of(&record, source);
	if (path == NULL)
		return 0;
	uint64_t hash = hash_image(&record, path);
	uint32_t known = *find_slot(table, hash, &record, path);
	if (known != 0 || (table->count == table->capacity && grow(table) < 0)) {
		/* Whose memory it was to be read from may have ended too early. */
		if (known != 0 && is_vdso_32(source) && table->items[known].module == NULL)
			table->items[known].module = open_vdso(source);
		free(path);
		return known;
	}
	struct image *image = &table->items[table->count];
	*image = (struct image){.record = record, .path = path, .hash = hash};
	*find_slot(table, hash, &record, path) = table->count;
	struct image opened = *image;
	open_image(&opened, source);
	if (strlen(source->path) > strlen(path) && record.kind == PROFILE_IMAGE_FILE)
		opened.record.flags |= PROFILE_IMAGE_DELETED;
	if (opened.module == NULL && record.kind == PROFILE_IMAGE_FILE)
		opened.record.flags |= PROFILE_IMAGE_NOT_OPEN;
	*image = opened;
	opened.record.pid = source->pid; /* where finalization may find the file */
	emit_image(table->emit, &opened.record, path);
	return table->count++;
}

struct uw_module *image_module(const struct image_table *table, uint32_t image)
{
	return image < table->count ? table->items[image].module : NULL;
}

bool image_is_32bit(const struct image_table *table, uint32_t image)
{
	const struct uw_module *module = image_module(table, image);
	return module != NULL && uw_module_arch(module) == UW_ARCH_I386;
}

const char *image_path(const struct image_table *table, uint32_t image)
{
	return image > 0 && image < table->count ? table->items[image].path : "";
}
