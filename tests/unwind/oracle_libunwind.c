#include "tests/unwind/oracles.h"
#include <elf.h>
#include <fcntl.h>
#include <libunwind.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Exported for remote unwinders, without a declaration in the public header. */
int UNW_OBJ(dwarf_search_unwind_table)(unw_addr_space_t, unw_word_t, unw_dyn_info_t *,
				       unw_proc_info_t *, int, void *);

enum { COPIED_MAX = 64 * 1024 * 1024 };

static const char vdso[] = "[vdso]";

/* A mapping of a file, in this process too. */
struct image {
	const uint8_t *bytes; /* of the mapping's start; NULL: not readable */
	size_t size;
	bool copied;          /* bytes are owned */
	unw_dyn_info_t table; /* of the whole module; format -1: none */
};

struct oracle_libunwind {
	const struct recording *recording;
	const struct recording_sample *sample;
	unw_addr_space_t space;
	struct image *images; /* as recording->mappings */
	size_t last;          /* image that was read last */
};

static struct image *image_find(struct oracle_libunwind *oracle, uint64_t address)
{
	const struct recording_mapping *mappings = oracle->recording->mappings;
	size_t low = 0, high = oracle->recording->mapping_count, i = oracle->last;

	if (address >= mappings[i].start && address < mappings[i].end)
		return &oracle->images[i];
	/* They are sorted. */
	while (low < high) {
		i = low + (high - low) / 2;
		if (address >= mappings[i].end)
			low = i + 1;
		else
			high = i;
	}
	if (low == oracle->recording->mapping_count || address < mappings[low].start)
		return NULL;
	oracle->last = low;
	return &oracle->images[low];
}

static bool read_memory(struct oracle_libunwind *oracle, uint64_t address, void *bytes, size_t size)
{
	const struct uw_stack *stack = &oracle->sample->stack;
	uint64_t offset = address - stack->base;

	if (offset < stack->size && stack->size - offset >= size) {
		memcpy(bytes, stack->bytes + offset, size);
		return true;
	}
	const struct image *image = image_find(oracle, address);
	if (!image || !image->bytes)
		return false;
	offset = address - oracle->recording->mappings[oracle->last].start;
	if (offset >= image->size || image->size - offset < size)
		return false;
	memcpy(bytes, image->bytes + offset, size);
	return true;
}

static int access_mem(unw_addr_space_t space, unw_word_t address, unw_word_t *value, int write,
		      void *user)
{
	(void)space;
	return write || !read_memory(user, address, value, sizeof(*value)) ? -UNW_EINVAL : 0;
}

static int access_reg(unw_addr_space_t space, unw_regnum_t reg, unw_word_t *value, int write,
		      void *user)
{
	const struct oracle_libunwind *oracle = user;

	(void)space;
	if (write || reg < 0 || reg > 16)
		return -UNW_EBADREG;
	*value = oracle->sample->regs.value[reg]; /* libunwind numbers them as DWARF does */
	return 0;
}

static int access_fpreg(unw_addr_space_t space, unw_regnum_t reg, unw_fpreg_t *value, int write,
			void *user)
{
	(void)space, (void)reg, (void)value, (void)write, (void)user;
	return -UNW_EBADREG;
}

static int find_proc_info(unw_addr_space_t space, unw_word_t ip, unw_proc_info_t *info, int need,
			  void *user)
{
	struct image *image = image_find(user, ip);

	if (!image || image->table.format < 0)
		return -UNW_ENOINFO;
	return UNW_OBJ(dwarf_search_unwind_table)(space, ip, &image->table, info, need, user);
}

static void put_unwind_info(unw_addr_space_t space, unw_proc_info_t *info, void *user)
{
	(void)space, (void)info, (void)user;
}

static int get_dyn_info_list_addr(unw_addr_space_t space, unw_word_t *address, void *user)
{
	(void)space, (void)address, (void)user;
	return -UNW_ENOINFO;
}

static int resume(unw_addr_space_t space, unw_cursor_t *cursor, void *user)
{
	(void)space, (void)cursor, (void)user;
	return -UNW_EINVAL;
}

static int get_proc_name(unw_addr_space_t space, unw_word_t ip, char *name, size_t size,
			 unw_word_t *offset, void *user)
{
	(void)space, (void)ip, (void)name, (void)size, (void)offset, (void)user;
	return -UNW_EINVAL;
}

/* The search table of a file, for a mapping of it that starts at its offset. */
static void find_table(struct oracle_libunwind *oracle, const struct recording_mapping *mapping,
		       struct image *image, const uint8_t *file, size_t size)
{
	const Elf64_Ehdr *ehdr = (const void *)file;
	const Elf64_Phdr *phdr = (const void *)(file + ehdr->e_phoff);
	uint64_t bias = UINT64_MAX, hdr = 0;
	uint8_t head[12];
	uint32_t count;

	if (size < sizeof(*ehdr) || memcmp(file, ELFMAG, SELFMAG) != 0)
		return;
	for (unsigned i = 0; i < ehdr->e_phnum; i++) {
		uint64_t page = phdr[i].p_offset & ~UINT64_C(4095);

		if (phdr[i].p_type == PT_LOAD && phdr[i].p_flags & PF_X && page == mapping->offset)
			bias = mapping->start - (phdr[i].p_vaddr & ~UINT64_C(4095));
		if (phdr[i].p_type == PT_GNU_EH_FRAME)
			hdr = phdr[i].p_vaddr;
	}
	/* version, encodings (pcrel | sdata4, udata4, datarel | sdata4), .eh_frame, count */
	if (bias == UINT64_MAX || hdr == 0 ||
	    !read_memory(oracle, bias + hdr, head, sizeof(head)) || head[2] != 3 || head[3] != 0x3b)
		return;
	memcpy(&count, head + 8, sizeof(count));
	image->table.format = UNW_INFO_FORMAT_REMOTE_TABLE;
	image->table.start_ip = mapping->start;
	image->table.end_ip = mapping->end;
	image->table.u.rti.segbase = bias + hdr;
	image->table.u.rti.table_data = bias + hdr + sizeof(head);
	image->table.u.rti.table_len = count * 8 / sizeof(unw_word_t);
}

static const uint8_t *map_file(const char *path, size_t *size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat status;
	void *bytes = MAP_FAILED;

	if (fd >= 0 && fstat(fd, &status) == 0 && status.st_size > 0) {
		*size = (size_t)status.st_size;
		bytes = mmap(NULL, *size, PROT_READ, MAP_PRIVATE, fd, 0);
	}
	if (fd >= 0)
		close(fd);
	return bytes == MAP_FAILED ? NULL : bytes;
}

/* Not to be had from a file as it is: what the program may have written in, addresses above all,
 * and the vdso. */
static void copy_image(const struct recording *recording, const struct recording_mapping *mapping,
		       struct image *image)
{
	size_t size = mapping->end - mapping->start;
	bool wanted = mapping->path[0] == '/' || strcmp(mapping->path, vdso) == 0;
	uint8_t *bytes = wanted && size <= COPIED_MAX ? malloc(size) : NULL;

	if (bytes && recording_read(recording, mapping->start, bytes, size)) {
		image->bytes = bytes;
		image->size = size;
		image->copied = true;
	} else {
		free(bytes);
	}
}

/* Files stay mapped until the process ends. */
static void open_images(struct oracle_libunwind *oracle)
{
	const struct recording *recording = oracle->recording;

	for (size_t i = 0; i < recording->mapping_count; i++) {
		const struct recording_mapping *mapping = &recording->mappings[i];
		struct image *image = &oracle->images[i];
		size_t size;
		const uint8_t *file =
			mapping->path[0] == '/' ? map_file(mapping->path, &size) : NULL;

		image->table.format = -1;
		if (mapping->writable || strcmp(mapping->path, vdso) == 0) {
			copy_image(recording, mapping, image);
			continue;
		}
		if (!file || mapping->offset >= size)
			continue;
		image->bytes = file + mapping->offset;
		image->size = size - mapping->offset;
	}
	for (size_t i = 0; i < recording->mapping_count; i++) {
		const struct recording_mapping *mapping = &recording->mappings[i];
		const struct image *image = &oracle->images[i];

		if (image->bytes && mapping->executable && !mapping->writable)
			find_table(oracle, mapping, &oracle->images[i],
				   image->bytes - mapping->offset, image->size + mapping->offset);
	}
}

struct oracle_libunwind *oracle_libunwind_create(const struct recording *recording, bool cached)
{
	static unw_accessors_t accessors = {.find_proc_info = find_proc_info,
					    .put_unwind_info = put_unwind_info,
					    .get_dyn_info_list_addr = get_dyn_info_list_addr,
					    .access_mem = access_mem,
					    .access_reg = access_reg,
					    .access_fpreg = access_fpreg,
					    .resume = resume,
					    .get_proc_name = get_proc_name};
	struct oracle_libunwind *oracle = calloc(1, sizeof(*oracle));

	if (!oracle || recording->count == 0)
		return oracle;
	oracle->recording = recording;
	oracle->sample = &recording->samples[0];
	oracle->images = calloc(recording->mapping_count, sizeof(*oracle->images));
	oracle->space = unw_create_addr_space(&accessors, 0);
	if (!oracle->images || !oracle->space)
		abort();
	unw_set_caching_policy(oracle->space, cached ? UNW_CACHE_GLOBAL : UNW_CACHE_NONE);
	open_images(oracle);
	return oracle;
}

void oracle_libunwind_destroy(struct oracle_libunwind *oracle)
{
	if (!oracle)
		return;
	if (oracle->space)
		unw_destroy_addr_space(oracle->space);
	for (size_t i = 0; oracle->images && i < oracle->recording->mapping_count; i++)
		if (oracle->images[i].copied)
			free((void *)(uintptr_t)oracle->images[i].bytes);
	free(oracle->images);
	free(oracle);
}

void oracle_libunwind_walk(struct oracle_libunwind *oracle, const struct recording_sample *sample,
			   struct oracle_frames *frames)
{
	unw_cursor_t cursor;
	unw_word_t ip;

	oracle->sample = sample;
	frames->count = 0;
	if (unw_init_remote(&cursor, oracle->space, oracle) < 0)
		return;
	do {
		if (unw_get_reg(&cursor, UNW_REG_IP, &ip) < 0 || ip == 0)
			return;
		frames->ip[frames->count++] = ip;
	} while (frames->count < ORACLE_FRAMES_MAX && unw_step(&cursor) > 0);
}
