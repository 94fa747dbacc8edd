/* Modules from files and images: whole, stripped, cut, damaged, replaced under the reader. */
#include "tests/support/suite.h"
#include "tests/unwind/capture.h"
#include "unwind/cfi/row.h"
#include "unwind/module/module.h"
#include <check.h>
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct image {
	uint8_t *bytes;
	size_t size;
};

static struct image self;

static struct image image_read(const char *path)
{
	struct image image;
	struct stat status;
	FILE *file = fopen(path, "re");

	ck_assert_ptr_nonnull(file);
	ck_assert_int_eq(fstat(fileno(file), &status), 0);
	image.size = (size_t)status.st_size;
	image.bytes = malloc(image.size);
	ck_assert_ptr_nonnull(image.bytes);
	ck_assert_uint_eq(fread(image.bytes, 1, image.size, file), image.size);
	fclose(file);
	return image;
}

static void setup(void)
{
	self = image_read("/proc/self/exe");
}

static void teardown(void)
{
	free(self.bytes);
}

static int image_file(const void *bytes, size_t size)
{
	int fd = memfd_create("image", MFD_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, bytes, size), (ssize_t)size);
	return fd;
}

static struct uw_module *module_of(const struct image *image)
{
	struct uw_module *module = NULL;

	ck_assert_int_eq(uw_module_from_memory(image->bytes, image->size, &module), 0);
	ck_assert_ptr_nonnull(module);
	uw_module_load(module);
	return module;
}

static Elf64_Ehdr *ehdr_of(struct image *image)
{
	void *bytes = image->bytes;

	return bytes;
}

static Elf64_Phdr *phdr_of(struct image *image, uint32_t type)
{
	void *bytes = image->bytes + ehdr_of(image)->e_phoff;
	Elf64_Phdr *phdr = bytes;

	while (phdr->p_type != type)
		phdr++;
	return phdr;
}

/* Addresses all over the executable segments must have the same answer in both. */
static void assert_same_cfi(const struct uw_module *one, const struct uw_module *other)
{
	size_t described = 0;

	for (size_t i = 0; i < one->elf.segment_count; i++) {
		const struct uw_segment *segment = &one->elf.segments[i];

		for (uint64_t at = 0; segment->executable && at < segment->file_size; at += 3) {
			struct uw_fde fdes[2];
			struct uw_cfi_gap gaps[2];
			enum uw_cfi_result results[2];

			results[0] = uw_cfi_find(&one->cfi, segment->rva + at, &fdes[0], &gaps[0]);
			results[1] =
				uw_cfi_find(&other->cfi, segment->rva + at, &fdes[1], &gaps[1]);
			ck_assert_int_eq(results[0], results[1]);
			if (results[0] != UW_CFI_OK)
				continue;
			described++;
			ck_assert_uint_eq(fdes[0].start, fdes[1].start);
			ck_assert_uint_eq(fdes[0].end, fdes[1].end);
		}
	}
	ck_assert_uint_gt(described, 1000);
}

START_TEST(file_and_memory_agree)
{
	struct uw_module *memory = module_of(&self), *file = NULL;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	ck_assert_int_eq(uw_module_open(fd, &file), 0);
	close(fd);
	ck_assert_int_eq(uw_module_arch(file), UW_ARCH_X86_64);
	uw_module_load(file);
	assert_same_cfi(memory, file);
	uw_module_unref(memory);
	uw_module_unref(file);
	uw_module_unref(NULL);
}
END_TEST

START_TEST(without_section_headers)
{
	struct uw_module *whole = module_of(&self), *stripped;

	ehdr_of(&self)->e_shoff = 0;
	ehdr_of(&self)->e_shnum = 0;
	ehdr_of(&self)->e_shstrndx = 0;
	stripped = module_of(&self);
	assert_same_cfi(whole, stripped);
	uw_module_unref(whole);
	uw_module_unref(stripped);
}
END_TEST

START_TEST(without_search_table)
{
	struct uw_module *whole = module_of(&self), *linear, *omitted;
	Elf64_Phdr *phdr = phdr_of(&self, PT_GNU_EH_FRAME);

	self.bytes[phdr->p_offset + 3] = UW_PE_OMIT; /* table_enc */
	omitted = module_of(&self);
	phdr->p_type = PT_NULL;
	linear = module_of(&self);
	ck_assert_uint_gt(whole->cfi.table.size, 0);
	ck_assert_uint_gt(linear->cfi.index_count, 0);
	ck_assert_uint_eq(omitted->cfi.index_count, linear->cfi.index_count);
	assert_same_cfi(whole, linear);
	assert_same_cfi(whole, omitted);
	uw_module_unref(whole);
	uw_module_unref(linear);
	uw_module_unref(omitted);
}
END_TEST

START_TEST(without_anything)
{
	struct uw_cfi_gap gap;
	struct uw_fde fde;

	phdr_of(&self, PT_GNU_EH_FRAME)->p_type = PT_NULL;
	ehdr_of(&self)->e_shnum = 0;
	struct uw_module *module = module_of(&self);
	ck_assert_int_eq(uw_cfi_find(&module->cfi, ehdr_of(&self)->e_entry, &fde, &gap),
			 UW_CFI_NONE);
	uw_module_unref(module);
}
END_TEST

/* A search header without the section that it is for. */
START_TEST(search_table_alone)
{
	struct uw_cfi_gap gap;
	struct uw_fde fde;
	Elf64_Phdr *phdr = phdr_of(&self, PT_GNU_EH_FRAME);

	ehdr_of(&self)->e_shnum = 0;
	memset(self.bytes + phdr->p_offset + 4, 0x70, 4); /* eh_frame_ptr: into no segment */
	struct uw_module *module = module_of(&self);
	ck_assert_int_eq(uw_cfi_find(&module->cfi, ehdr_of(&self)->e_entry, &fde, &gap),
			 UW_CFI_NONE);
	uw_module_unref(module);
	phdr->p_filesz = 0;
	module = module_of(&self);
	ck_assert_int_eq(uw_cfi_find(&module->cfi, ehdr_of(&self)->e_entry, &fde, &gap),
			 UW_CFI_NONE);
	uw_module_unref(module);
}
END_TEST

/* The build-id is given to the linker in meson.build. */
START_TEST(build_id)
{
	static const uint8_t expected[] = {0x01, 0x23, 0x45, 0x67, 0x89,
					   0xab, 0xcd, 0xef, 0x10, 0x32};
	struct uw_module *module = module_of(&self);
	uint8_t id[64] = "";

	ck_assert_uint_eq(uw_module_build_id(module, id, sizeof(id)), sizeof(expected));
	ck_assert_mem_eq(id, expected, sizeof(expected));
	id[0] = id[1] = id[2] = 0xee;
	ck_assert_uint_eq(uw_module_build_id(module, id, 2), sizeof(expected));
	ck_assert_uint_eq(id[1], 0x23);
	ck_assert_uint_eq(id[2], 0xee);
	uw_module_unref(module);
	phdr_of(&self, PT_NOTE)->p_type = PT_NULL;
	if (phdr_of(&self, PT_LOAD))
		ehdr_of(&self)->e_shnum = 0;
	for (Elf64_Phdr *phdr = phdr_of(&self, PT_LOAD); phdr->p_type != PT_GNU_STACK; phdr++)
		if (phdr->p_type == PT_NOTE)
			phdr->p_type = PT_NULL;
	module = module_of(&self);
	ck_assert_uint_eq(uw_module_build_id(module, id, sizeof(id)), 0);
	uw_module_unref(module);
}
END_TEST

static void assert_refused(const void *bytes, size_t size, int error)
{
	struct uw_module *module = NULL;
	int fd = image_file(bytes, size);

	errno = 0;
	ck_assert_int_eq(uw_module_from_memory(bytes, size, &module), -1);
	ck_assert_int_eq(errno, error);
	errno = 0;
	ck_assert_int_eq(uw_module_open(fd, &module), -1);
	ck_assert_int_eq(errno, error);
	ck_assert_ptr_null(module);
	close(fd);
}

START_TEST(not_elf)
{
	assert_refused("", 0, ENOEXEC);
	assert_refused("#!/bin/sh\n", 10, ENOEXEC);
	assert_refused(self.bytes, 63, ENOEXEC);
	assert_refused(self.bytes, 64, EINVAL); /* no program headers */
	ehdr_of(&self)->e_machine = EM_PPC64;
	assert_refused(self.bytes, self.size, ENOEXEC);
	ehdr_of(&self)->e_machine = EM_X86_64;
	self.bytes[EI_CLASS] = ELFCLASS32;
	assert_refused(self.bytes, self.size, ENOEXEC);
	self.bytes[EI_CLASS] = ELFCLASS64;
	ehdr_of(&self)->e_phentsize = 7;
	assert_refused(self.bytes, self.size, EINVAL);
}
END_TEST

START_TEST(not_a_file)
{
	struct uw_module *module;
	int fd = open("/", O_RDONLY | O_CLOEXEC);

	ck_assert_int_eq(uw_module_open(-1, &module), -1);
	ck_assert_int_eq(errno, EBADF);
	ck_assert_int_eq(uw_module_open(fd, &module), -1);
	ck_assert_int_eq(errno, ENOEXEC);
	close(fd);
}
END_TEST

/* Looks everything up that a module has, for its side effects under the sanitizers. */
static void exercise(struct uw_module *module)
{
	uint8_t id[8], word[8];

	uw_module_load(module);
	uw_module_build_id(module, id, sizeof(id));
	for (size_t i = 0; i < module->elf.segment_count; i++) {
		const struct uw_segment *segment = &module->elf.segments[i];
		uint64_t step = segment->file_size / 64 + 1;

		for (uint64_t at = 0; at < segment->file_size + step; at += step) {
			struct uw_cfi_gap gap;
			struct uw_fde fde;
			struct uw_row row;

			uw_elf_read_constant(&module->elf, segment->rva + at, word, sizeof(word));
			uw_module_rva(module, segment->offset + at);
			if (uw_cfi_find(&module->cfi, segment->rva + at, &fde, &gap) == UW_CFI_OK)
				uw_cfi_row(&fde, segment->rva + at, &row, &(uint32_t){0});
		}
	}
}

START_TEST(truncated_files)
{
	size_t opened = 0;

	for (size_t size = 0; size < self.size; size += 1 + size / 97) {
		struct uw_module *module;
		/* Exactly as long as the file, so that the sanitizers see a read beyond it. */
		uint8_t *copy = malloc(size + 1);

		memcpy(copy, self.bytes, size);
		if (uw_module_from_memory(copy, size, &module) == 0) {
			exercise(module);
			uw_module_unref(module);
			opened++;
		}
		free(copy);
	}
	ck_assert_uint_gt(opened, 50);
}
END_TEST

START_TEST(shrinking_file)
{
	int fd = image_file(self.bytes, self.size);
	struct uw_module *module;

	ck_assert_int_eq(uw_module_open(fd, &module), 0);
	ck_assert_int_eq(ftruncate(fd, 4096), 0);
	exercise(module);
	ck_assert_int_eq(ftruncate(fd, 0), 0);
	exercise(module);
	uw_module_unref(module);
	close(fd);
}
END_TEST

/* What was not read until then is another build's: nothing of it is taken. */
START_TEST(overwritten_file)
{
	int fd = image_file(self.bytes, self.size);
	struct uw_module *module;
	struct timespec tick = {.tv_nsec = 20000000};
	uint8_t byte;

	ck_assert_int_eq(uw_module_open(fd, &module), 0);
	ck_assert(uw_elf_read_constant(&module->elf, module->elf.segments[0].rva, &byte, 1));
	ck_assert(!uw_module_has_changed(module));
	nanosleep(&tick, NULL);
	ck_assert_int_eq(pwrite(fd, self.bytes, self.size, 0), (ssize_t)self.size);
	ck_assert(uw_module_has_changed(module));
	ck_assert(!uw_elf_read_constant(&module->elf, module->elf.segments[0].rva, &byte, 1));
	uw_module_load(module);
	ck_assert_uint_eq(module->cfi.frame.size, 0);
	uw_module_unref(module);
	close(fd);
}
END_TEST

START_TEST(damaged_files)
{
	enum { ROUNDS = 300 };
	struct image damaged = {.bytes = malloc(self.size), .size = self.size};
	const Elf64_Phdr *hdr = phdr_of(&self, PT_GNU_EH_FRAME);

	srand(1);
	for (int round = 0; round < ROUNDS; round++) {
		struct uw_module *module;

		memcpy(damaged.bytes, self.bytes, self.size);
		/* Half of the damage in the headers, half in the unwind information. */
		for (int i = 0; i < 40; i++) {
			size_t at = (size_t)rand();

			at = i % 2 ? 16 + at % 1024 : hdr->p_offset + at % (hdr->p_filesz * 4);
			if (at < damaged.size)
				damaged.bytes[at] = (uint8_t)rand();
			if (round % 2 == 0)
				memcpy(damaged.bytes, self.bytes, 1100);
		}
		if (uw_module_from_memory(damaged.bytes, damaged.size, &module) < 0)
			continue;
		exercise(module);
		uw_module_unref(module);
	}
	free(damaged.bytes);
}
END_TEST

/* The segment that a file offset is mapped from decides the address, page by page. */
START_TEST(addresses_of_offsets)
{
	struct uw_module *module = module_of(&self);
	const struct uw_segment *segment = NULL;

	for (size_t i = 0; i < module->elf.segment_count; i++)
		if (module->elf.segments[i].executable)
			segment = &module->elf.segments[i];
	ck_assert_ptr_nonnull(segment);
	ck_assert_uint_eq(uw_module_rva(module, segment->offset & ~UINT64_C(4095)),
			  segment->rva & ~UINT64_C(4095));
	ck_assert_uint_eq(uw_module_rva(module, UINT64_C(1) << 40), UINT64_C(1) << 40);
	uw_module_unref(module);
}
END_TEST

/* Two executable segments at unrelated addresses, as lld makes them, and one at address 0. */
START_TEST(several_executable_segments)
{
	struct {
		Elf64_Ehdr ehdr;
		Elf64_Phdr phdr[3];
		uint8_t rest[0x5000];
	} file = {0};
	struct uw_module *module;

	memcpy(file.ehdr.e_ident, ELFMAG, SELFMAG);
	file.ehdr.e_ident[EI_CLASS] = ELFCLASS64;
	file.ehdr.e_ident[EI_DATA] = ELFDATA2LSB;
	file.ehdr.e_machine = EM_X86_64;
	file.ehdr.e_phoff = sizeof(file.ehdr);
	file.ehdr.e_phnum = 3;
	file.ehdr.e_phentsize = sizeof(Elf64_Phdr);
	file.phdr[0] = (Elf64_Phdr){.p_type = PT_LOAD, .p_flags = PF_R, .p_filesz = 0x1234};
	file.phdr[1] = (Elf64_Phdr){.p_type = PT_LOAD,
				    .p_flags = PF_R | PF_X,
				    .p_offset = 0x1234,
				    .p_vaddr = 0x2234,
				    .p_filesz = 0x1000};
	file.phdr[2] = (Elf64_Phdr){.p_type = PT_LOAD,
				    .p_flags = PF_R | PF_X,
				    .p_offset = 0x2234,
				    .p_vaddr = 0x700234,
				    .p_filesz = 0x1000};
	ck_assert_int_eq(uw_module_from_memory(&file, sizeof(file), &module), 0);
	ck_assert_uint_eq(uw_module_rva(module, 0), 0);
	ck_assert_uint_eq(uw_module_rva(module, 0x1000), 0x2000);
	ck_assert_uint_eq(uw_module_rva(module, 0x2000), 0x700000);
	ck_assert_uint_eq(uw_module_rva(module, 0x3000), 0x701000);
	uw_module_unref(module);
}
END_TEST

enum { NOTES_AT = 4096, NOTES_SIZE = 65536, TABLE_AT = NOTES_AT + NOTES_SIZE + 64 };

/* A file with as many sections, each of them the same NOTES_SIZE bytes of empty notes, but for the
 * one that holds the build-id. */
static int notes_file(unsigned sections, unsigned id_section)
{
	struct {
		Elf64_Nhdr header;
		char name[4];
		uint8_t id[4];
	} note = {{.n_namesz = 4, .n_descsz = 4, .n_type = NT_GNU_BUILD_ID}, "GNU", {1, 2, 3, 4}};
	Elf64_Ehdr ehdr = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, 1},
			   .e_machine = EM_X86_64,
			   .e_phoff = sizeof(ehdr),
			   .e_phnum = 1,
			   .e_phentsize = sizeof(Elf64_Phdr),
			   .e_shoff = TABLE_AT,
			   .e_shnum = (uint16_t)sections,
			   .e_shentsize = sizeof(Elf64_Shdr)};
	Elf64_Phdr phdr = {.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_filesz = 4096};
	Elf64_Shdr *table = calloc(sections, sizeof(*table));
	size_t size = sections * sizeof(*table);
	int fd = memfd_create("notes", MFD_CLOEXEC);

	for (unsigned i = 0; i < sections; i++)
		table[i] = (Elf64_Shdr){.sh_type = SHT_NOTE,
					.sh_offset = NOTES_AT,
					.sh_size = NOTES_SIZE};
	table[id_section].sh_offset = NOTES_AT + NOTES_SIZE;
	table[id_section].sh_size = sizeof(note);
	ck_assert_int_eq(pwrite(fd, &ehdr, sizeof(ehdr), 0), sizeof(ehdr));
	ck_assert_int_eq(pwrite(fd, &phdr, sizeof(phdr), sizeof(ehdr)), sizeof(phdr));
	ck_assert_int_eq(pwrite(fd, &note, sizeof(note), NOTES_AT + NOTES_SIZE), sizeof(note));
	ck_assert_int_eq(pwrite(fd, table, size, TABLE_AT), (ssize_t)size);
	free(table);
	return fd;
}

static size_t id_size_of(unsigned sections, unsigned id_section)
{
	struct uw_module *module;
	int fd = notes_file(sections, id_section);

	ck_assert_int_eq(uw_module_open(fd, &module), 0);
	exercise(module);
	size_t size = module->elf.build_id_size;
	uw_module_unref(module);
	close(fd);
	return size;
}

/* What a file may cost has a bound, whatever it says of itself: what stands behind 256 KB of notes
 * is not looked at. */
START_TEST(many_notes)
{
	ck_assert_uint_eq(id_size_of(2000, 1), 4);
	ck_assert_uint_eq(id_size_of(2000, 3), 4);
	ck_assert_uint_eq(id_size_of(2000, 6), 0);
	ck_assert_uint_eq(id_size_of(2000, 1999), 0);
}
END_TEST

static size_t blocks_read(const struct uw_module *module)
{
	size_t count = 0;

	for (size_t at = 0; at < module->cfi.section.size;
	     at += (size_t)1 << UW_LAZY_SECTION_LOG_BLOCK)
		count += module->cfi.section.is_read[at >> UW_LAZY_SECTION_LOG_BLOCK];
	return count;
}

/* A module that nobody walks in costs its headers, one that somebody does little more. */
START_TEST(read_when_needed)
{
	struct uw_module *module;
	struct uw_cfi_gap gap;
	struct uw_fde fde;
	Dl_info library;

	ck_assert_int_ne(dladdr(stdout, &library), 0); /* the C library, by its data */
	int fd = open(library.dli_fname, O_RDONLY | O_CLOEXEC);
	ck_assert_int_eq(uw_module_open(fd, &module), 0);
	close(fd);
	ck_assert(!module->elf.has_sections);
	ck_assert(!uw_module_lacks_info(module));
	ck_assert(!module->is_loaded);
	ck_assert_ptr_null(module->cfi.section.bytes);
	uw_module_load(module);
	ck_assert_uint_gt(module->cfi.section.size, 4 << UW_LAZY_SECTION_LOG_BLOCK);
	ck_assert_uint_eq(blocks_read(module), 0);
	ck_assert_int_eq(uw_module_find(module, uw_cfi_entry_start(&module->cfi, 0), &fde, &gap),
			 UW_CFI_OK);
	ck_assert_uint_gt(blocks_read(module), 0);
	ck_assert_uint_le(blocks_read(module), 4); /* an FDE and its CIE, each across two */
	uw_module_unref(module);
}
END_TEST

/* What was not read before the file was cut off is no information, and stays that. */
START_TEST(shrinking_unread)
{
	int fd = image_file(self.bytes, self.size);
	struct uw_module *module;
	struct uw_cfi_gap gap;
	struct uw_fde fde;

	ck_assert_int_eq(uw_module_open(fd, &module), 0);
	uw_module_load(module);
	ck_assert_int_eq(ftruncate(fd, 4096), 0);
	for (size_t i = 0; i < uw_cfi_count(&module->cfi); i++)
		ck_assert_int_eq(uw_module_find(module, uw_cfi_entry_start(&module->cfi, i), &fde,
						&gap),
				 UW_CFI_BAD);
	ck_assert_uint_eq(blocks_read(module), 0);
	uw_module_unref(module);
	close(fd);
}
END_TEST

/* What walks remember of a module's code does not keep its file open. */
START_TEST(closed_when_unused)
{
	struct uw_space *space = uw_space_create(UW_ARCH_X86_64);
	struct uw_regs regs = {{0}};
	struct uw_stack stack = {.base = 0x7000, .bytes = (const uint8_t *)"", .requested = 8};
	struct uw_frame frame;
	struct uw_module *module;
	enum uw_stop stop;
	int fd = image_file(self.bytes, self.size);

	ck_assert_int_eq(uw_module_open(fd, &module), 0);
	close(fd);
	ck_assert(!uw_module_is_used(module));
	ck_assert_int_eq(uw_space_map(space, 0, self.size, 0, module, 1), 0);
	ck_assert(uw_module_is_used(module));
	uw_module_load(module);
	regs.value[7] = 0x7000;
	for (size_t i = 0; i < uw_cfi_count(&module->cfi); i++) {
		regs.value[16] = uw_cfi_entry_start(&module->cfi, i);
		uw_walk(space, &regs, &stack, &frame, 1, &stop);
	}
	ck_assert_int_eq(uw_space_unmap(space, 0, self.size), 0);
	ck_assert(!uw_module_is_used(module));
	fd = module->elf.fd;
	uw_module_unref(module);
	ck_assert_int_eq(fcntl(fd, F_GETFD), -1);
	uw_space_destroy(space);
}
END_TEST

START_TEST(references)
{
	struct uw_module *module = module_of(&self);
	struct uw_space *space = uw_space_create(UW_ARCH_X86_64), *clone;
	uint32_t tag;
	uint64_t rva;

	ck_assert_int_eq(uw_space_map(space, 0x10000, 0x20000, 0x1000, module, 5), 0);
	uw_module_unref(module);
	ck_assert_int_eq(uw_space_unmap(space, 0x12000, 0x13000), 0);
	ck_assert(uw_space_find(space, 0x11000, &tag, &rva));
	ck_assert_uint_eq(rva, uw_module_rva(module, 0x1000) + 0x1000);
	ck_assert(uw_space_find(space, 0x14000, &tag, &rva));
	ck_assert_uint_eq(rva, uw_module_rva(module, 0x1000) + 0x4000);
	clone = uw_space_clone(space);
	uw_space_destroy(space);
	/* Replaces the last but one mapping by the same module, while only they hold it. */
	ck_assert_int_eq(uw_space_map(clone, 0x13000, 0x20000, 0x4000, module, 6), 0);
	ck_assert(uw_space_find(clone, 0x14000, &tag, &rva));
	ck_assert_uint_eq(tag, 6);
	uw_space_destroy(clone);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("unwind module");
	TCase *tcase = tcase_create("module");

	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, file_and_memory_agree);
	tcase_add_test(tcase, without_section_headers);
	tcase_add_test(tcase, without_search_table);
	tcase_add_test(tcase, without_anything);
	tcase_add_test(tcase, search_table_alone);
	tcase_add_test(tcase, build_id);
	tcase_add_test(tcase, not_elf);
	tcase_add_test(tcase, not_a_file);
	tcase_add_test(tcase, truncated_files);
	tcase_add_test(tcase, shrinking_file);
	tcase_add_test(tcase, overwritten_file);
	tcase_add_test(tcase, damaged_files);
	tcase_add_test(tcase, addresses_of_offsets);
	tcase_add_test(tcase, several_executable_segments);
	tcase_add_test(tcase, many_notes);
	tcase_add_test(tcase, read_when_needed);
	tcase_add_test(tcase, shrinking_unread);
	tcase_add_test(tcase, closed_when_unused);
	tcase_add_test(tcase, references);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
