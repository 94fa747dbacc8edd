#include "collector/model/process.h"

#include "collector/image/image.h"
#include "collector/image/maps.h"
#include "collector/machine/clock.h"
#include "collector/machine/registers.h"
#include "collector/proc/asker.h"
#include "collector/result/emit.h"
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PROGRAM_PATH_MAX = 4096 };

_Static_assert(sizeof(((struct record_mmap *)NULL)->build_id) == IMAGE_BUILD_ID_MAX,
	       "images take the build-ids of records");

struct process *process_create(const struct process_context *context, uint32_t pid,
			       const char *name, uint64_t start_ns)
{
	struct process *process = calloc(1, sizeof(*process));
	if (!process)
		return NULL;
	process->context = context;
	process->pid = pid;
	process->start_ns = start_ns;
	process->memory = (struct code_memory){.pid = pid, .asker = context->asker};
	process->owner = context->is_recorded ? ASKER_NO_OWNER : asker_find_owner(pid);
	process_rename(process, name);
	return process;
}

/* Code of a recording's processes is nowhere to be read. */
static void read_code_of(struct process *process, struct uw_space *space)
{
	const struct uw_code_reader reader = {&process->memory, code_memory_read};
	if (space && !process->context->is_recorded)
		uw_space_set_reader(space, &reader);
}

struct process *process_fork(const struct process *parent, uint32_t pid, uint64_t time_ns)
{
	struct process *child = process_create(parent->context, pid, parent->name, time_ns);
	if (!child)
		return NULL;
	if (mapping_list_copy(&child->mappings, &parent->mappings) < 0) {
		process_destroy(child);
		return NULL;
	}
	/* To the child, everything was loaded when it began. */
	struct ranges_place place = {0};
	for (struct mapping *m; (m = ranges_next(&child->mappings, &place));)
		m->load_ns = time_ns;
	/* A failed clone is made when needed. */
	for (int i = 0; i < PROCESS_WIDTHS; i++)
		if (parent->spaces[i]) {
			child->spaces[i] = uw_space_clone(parent->spaces[i]);
			read_code_of(child, child->spaces[i]);
		}
	child->main_image = parent->main_image;
	child->stale = parent->stale || parent->unread;
	child->unread = parent->unread;
	/* The child was gone before its record came. */
	if (child->owner == ASKER_NO_OWNER)
		child->owner = parent->owner;
	return child;
}

static void destroy_spaces(struct process *process)
{
	for (int i = 0; i < PROCESS_WIDTHS; i++) {
		uw_space_destroy(process->spaces[i]);
		process->spaces[i] = NULL;
	}
}

void process_destroy(struct process *process)
{
	if (!process)
		return;
	destroy_spaces(process);
	ranges_finish(&process->mappings);
	free(process);
}

void process_rename(struct process *process, const char *name)
{
	snprintf(process->name, sizeof(process->name), "%s", name);
}

static struct profile_module make_module(const struct process *process,
					 const struct mapping *mapping)
{
	return (struct profile_module){
		.pid = process->pid,
		.image = mapping->image,
		.start = mapping->start,
		.length = mapping->end - mapping->start,
		.pgoff = mapping->pgoff,
		.load_ns = mapping->load_ns,
		.unload_ns = PROFILE_TIME_NEVER,
		.path = image_path(process->context->images, mapping->image),
		.cs = registers_machine(mapping->is_32bit)->selector,
		.is_32bit = mapping->is_32bit,
		.is_executable = mapping->is_main,
	};
}

struct unload {
	const struct process *process;
	uint64_t time_ns;
};

static void unload_mapping(const struct mapping *mapping, void *user)
{
	const struct unload *unload = user;
	struct profile_module module = make_module(unload->process, mapping);
	module.unload_ns = unload->time_ns;
	if (mapping->written)
		emit_module_unload(unload->process->context->emit, &module);
}

static void clear(struct process *process)
{
	process->map_version++;
	ranges_finish(&process->mappings);
	process->main_image = 0;
	process->anonymous_image = 0;
	process->tried_image = 0;
	process->committed = false;
	process->any_written = false;
	process->stale = process->unread = false;
	process->read_ns = 0;
	process->memory.is_refused = false;
	destroy_spaces(process);
}

/* An exec may change the owner. */
static void see_owner(struct process *process)
{
	uint32_t owner =
		process->context->is_recorded ? ASKER_NO_OWNER : asker_find_owner(process->pid);
	if (owner != ASKER_NO_OWNER)
		process->owner = owner;
}

void process_exec(struct process *process, const char *name, uint64_t time_ns)
{
	if (process->committed) {
		process_end(process, time_ns);
		process->start_ns = time_ns;
	}
	clear(process);
	process_rename(process, name);
	see_owner(process);
	process->exec_pending = true;
	process->starting = true;
}

/* Makes the mapping's image ready for walks. Returns its index, which may have changed. */
static uint32_t open_mapping(const struct process *process, const struct mapping *mapping)
{
	struct image_place place = {process->pid, mapping->start, mapping->end, mapping->mapped_ns};
	return image_table_open(process->context->images, mapping->image, &place);
}

/* The rva of the mapping's start, as walks have it: without a module, the address. */
static uint64_t find_rva(const struct process *process, const struct mapping *mapping)
{
	open_mapping(process, mapping); /* files are closed when many are open */
	const struct uw_module *unwound = image_module(process->context->images, mapping->image);
	return unwound ? uw_module_rva(unwound, mapping->pgoff) : mapping->start;
}

static void write_module(struct process *process, struct mapping *mapping)
{
	assert(process->committed);
	if (mapping->written)
		return;
	struct profile_module module = make_module(process, mapping);
	module.rva = find_rva(process, mapping);
	module.is_first = !process->any_written;
	mapping->written = true;
	emit_module_load(process->context->emit, &module);
	process->any_written = true;
}

static void write_modules(struct process *process)
{
	struct ranges_place place = {0};
	for (struct mapping *m; (m = ranges_next(&process->mappings, &place));)
		write_module(process, m);
}

/* Writes a new mapping and the remains of older ones beside it. */
static void write_modules_at(struct process *process, const struct mapping *added)
{
	const uint64_t ends[] = {added->start - 1, added->start, added->end};
	for (size_t i = added->start == 0 ? 1 : 0; i < 3; i++) {
		struct mapping *mapping = mapping_list_find(&process->mappings, ends[i]);
		if (mapping)
			write_module(process, mapping);
	}
}

/* false: out of memory. */
static bool map_into(struct uw_space *space, const struct process *process,
		     const struct mapping *mapping)
{
	/* Files are closed when many are open. A file found to be another image only now stays
	 * unread in this mapping, whose record may be written. */
	open_mapping(process, mapping);
	return uw_space_map(space, mapping->start, mapping->end, mapping->pgoff,
			    image_module(process->context->images, mapping->image),
			    mapping->image) == 0;
}

/* Maps into the existing spaces. false: out of memory. */
static bool map_into_all(const struct process *process, const struct mapping *mapping)
{
	bool is_mapped = true;
	for (int i = 0; i < PROCESS_WIDTHS; i++)
		if (process->spaces[i])
			is_mapped &= map_into(process->spaces[i], process, mapping);
	return is_mapped;
}

/* Whether the process maps the image already. */
static bool maps_image(const struct process *process, uint32_t image)
{
	struct ranges_place place = {0};
	for (const struct mapping *m; (m = ranges_next(&process->mappings, &place));)
		if (m->image == image)
			return true;
	return false;
}

/* The image behind a new mapping. All anonymous code of a process is one image, looked up once:
 * compilers may map code thousands of times a second. An image that could not be opened through
 * other processes is tried once through this one. */
static uint32_t find_image(struct process *process, const struct image_source *source)
{
	bool is_anonymous = image_is_anonymous(source);
	if (is_anonymous && process->anonymous_image != 0)
		return process->anonymous_image;
	uint32_t image = image_table_get(process->context->images, source);
	struct image_place place = {source->pid, source->start, source->end, source->mapped_ns};
	if (is_anonymous)
		process->anonymous_image = image;
	/* Mappings of one file follow each other. */
	if (!image_is_unread(process->context->images, image) || image == process->tried_image)
		return image;
	process->tried_image = image;
	if (maps_image(process, image))
		return image;
	return image_table_open(process->context->images, image, &place);
}

static int add_mapping(struct process *process, const struct image_source *source, uint64_t pgoff,
		       uint64_t time_ns)
{
	struct unload unload = {process, time_ns};
	struct mapping mapping = {
		.start = source->start,
		.end = source->end,
		.pgoff = pgoff,
		.load_ns = time_ns,
		.mapped_ns = source->mapped_ns,
		.image = find_image(process, source),
	};
	/* The kernel maps the program itself first, before its interpreter (fs/binfmt_elf.c). */
	if (process->main_image == 0 && !process->unread && source->path[0] == '/')
		process->main_image = mapping.image;
	mapping.is_main = mapping.image != 0 && mapping.image == process->main_image;
	mapping.is_32bit = image_is_32bit(process->context->images, mapping.image);
	process->exec_pending = false;
	enum mapping_change change;
	if (mapping_list_add(&process->mappings, &mapping, unload_mapping, &unload, &change) < 0)
		return -1;
	if (change == MAPPING_SAME)
		return 0;
	process->map_version += change == MAPPING_REPLACED;
	/* The replaced mapping may come from the maps, and its record may be lost. */
	if (change == MAPPING_REPLACED && source->mapped_ns < process->read_ns)
		process->read_ns = 0;
	if (!map_into_all(process, &mapping))
		return -1;
	if (process->committed)
		write_modules_at(process, &mapping);
	return 0;
}

int process_map(struct process *process, const struct record_mmap *map, uint64_t time_ns)
{
	struct image_source source = {
		.pid = process->pid,
		.start = map->start,
		.end = map->start + map->length,
		.mapped_ns = process->context->is_recorded ? 0 : time_ns,
		.path = map->path,
		.inode = map->inode,
		.device_major = map->device_major,
		.device_minor = map->device_minor,
		.build_id = map->build_id,
		.build_id_size = map->build_id_size,
		.has_owner = process->owner != ASKER_NO_OWNER,
		.owner = process->owner,
	};
	if (source.end <= source.start)
		return 0; /* not a possible mapping */
	return add_mapping(process, &source, map->pgoff, time_ns);
}

struct reading {
	struct process *process;
	uint64_t time_ns;
	int result;
};

static bool add_entry(const struct maps_entry *entry, void *user)
{
	struct reading *reading = user;
	if (!entry->executable)
		return true;
	struct image_source source = {
		.pid = reading->process->pid,
		.start = entry->start,
		.end = entry->end,
		.path = entry->path,
		.inode = entry->inode,
		.device_major = entry->device_major,
		.device_minor = entry->device_minor,
		.build_id = (const uint8_t *)"",
		.has_owner = reading->process->owner != ASKER_NO_OWNER,
		.owner = reading->process->owner,
	};
	reading->result = add_mapping(reading->process, &source, entry->pgoff, reading->time_ns);
	return reading->result == 0;
}

/* The program as /proc/PID/exe names it; false: the process is gone. */
static bool read_program(uint32_t pid, char path[PROGRAM_PATH_MAX])
{
	static const char deleted[] = " (deleted)"; /* ends the link of a deleted program */
	char link[64];
	snprintf(link, sizeof(link), "/proc/%u/exe", pid);
	ssize_t length = readlink(link, path, PROGRAM_PATH_MAX - 1);
	if (length <= 0)
		return false;
	path[length] = '\0';
	size_t end = (size_t)length - (sizeof(deleted) - 1);
	if ((size_t)length >= sizeof(deleted) && strcmp(path + end, deleted) == 0)
		path[end] = '\0';
	return true;
}

/* Finds the program among the mappings: their order by address does not show it. */
static void find_main_image(struct process *process)
{
	char path[PROGRAM_PATH_MAX];
	if (!read_program(process->pid, path))
		return;
	process->main_image = 0;
	struct ranges_place place = {0};
	for (struct mapping *mapping; (mapping = ranges_next(&process->mappings, &place));) {
		mapping->is_main =
			strcmp(image_path(process->context->images, mapping->image), path) == 0;
		if (mapping->is_main)
			process->main_image = mapping->image;
	}
}

void process_attach(struct process *process)
{
	process->stale = process->unread = true;
}

void process_lose(struct process *process, uint64_t time_ns)
{
	if (time_ns >= process->read_ns && !process->context->is_recorded)
		process->stale = true;
}

int process_read_maps(struct process *process, uint64_t time_ns)
{
	bool unread = process->unread;
	struct reading reading = {process, unread ? process->start_ns : time_ns, 0};
	bool committed = process->committed;
	uint64_t began_ns = clock_now();
	process->unread = false;
	process->committed = false; /* nothing is written before the program is known */
	int result = maps_read(process->context->asker, (pid_t)process->pid, add_entry, &reading);
	process->stale = false;
	process->read_ns = began_ns;
	process->unread = unread && process->mappings.count == 0;
	find_main_image(process);
	process->committed = committed;
	if (committed)
		write_modules(process);
	return result < 0 ? result : reading.result;
}

/* Opens all images before anything is written: the process has samples. */
static void open_mappings(struct process *process)
{
	struct ranges_place place = {0};
	for (struct mapping *mapping; (mapping = ranges_next(&process->mappings, &place));) {
		uint32_t image = open_mapping(process, mapping);
		if (image == mapping->image)
			continue;
		if (process->main_image == mapping->image)
			process->main_image = image;
		mapping->image = image;
		mapping->is_32bit = image_is_32bit(process->context->images, image);
		/* A space cloned from the parent still maps the unread image; on ENOMEM the image
		 * stays. */
		map_into_all(process, mapping);
	}
}

void process_commit(struct process *process)
{
	if (process->committed)
		return;
	assert(!process->any_written);
	process->committed = true;
	open_mappings(process);
	write_modules(process);
}

void process_end(struct process *process, uint64_t time_ns)
{
	struct unload unload = {process, time_ns};
	struct ranges_place place = {0};
	char program[PROGRAM_PATH_MAX];
	const char *path = image_path(process->context->images, process->main_image);
	if (process->unread && time_ns == PROFILE_TIME_NEVER && read_program(process->pid, program))
		path = program;
	if (time_ns != PROFILE_TIME_NEVER)
		for (const struct mapping *m; (m = ranges_next(&process->mappings, &place));)
			unload_mapping(m, &unload);
	emit_process(process->context->emit,
		     &(struct profile_process){.pid = process->pid,
					       .start_ns = process->start_ns,
					       .end_ns = time_ns,
					       .path = path,
					       .name = process->name});
}

bool process_find_variable(const struct process *process, uint64_t address, uint32_t *image,
			   uint64_t *rva)
{
	const struct mapping *before = NULL;
	struct ranges_place place = {0};
	/* A file's variables come behind its code, and no other file's code in between. */
	for (const struct mapping *m; (m = ranges_next(&process->mappings, &place));)
		if (m->start <= address)
			before = m;
	if (!before)
		return false;
	uint32_t opened = open_mapping(process, before);
	const struct uw_module *module = image_module(process->context->images, opened);
	if (!module)
		return false;
	*image = opened;
	*rva = address - before->start + uw_module_rva(module, before->pgoff);
	return uw_module_has_data(module, *rva);
}

struct uw_space *process_space(struct process *process, bool is_32bit)
{
	struct uw_space **kept = &process->spaces[is_32bit];
	if (*kept)
		return *kept;
	struct uw_space *space =
		uw_space_sibling(process->context->family, registers_machine(is_32bit)->arch);
	struct ranges_place place = {0};
	for (const struct mapping *m; space && (m = ranges_next(&process->mappings, &place));) {
		if (map_into(space, process, m))
			continue;
		uw_space_destroy(space);
		space = NULL;
	}
	read_code_of(process, space);
	*kept = space;
	return space;
}
