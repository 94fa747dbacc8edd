/* Modules from files and images: whole, stripped, refused, read when needed. */
#include "tests/support/suite.h"
#include "tests/unwind/module/self_image.h"
#include <check.h>
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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
	struct uw_module *memory = self_image_module(&self_image), *file = NULL;
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

static int in_data = 1;
static int in_bss;
static const int constant = 2;

START_TEST(variables)
{
	struct uw_module *module = self_image_module(&self_image);
	Dl_info here;

	ck_assert_int_ne(dladdr(&in_data, &here), 0);
	uint64_t bias =
		self_image_ehdr(&self_image)->e_type == ET_EXEC ? 0 : (uintptr_t)here.dli_fbase;
	ck_assert(uw_module_has_data(module, (uintptr_t)&in_data - bias));
	ck_assert(uw_module_has_data(module, (uintptr_t)&in_bss - bias));
	ck_assert(!uw_module_has_data(module, (uintptr_t)&constant - bias));
	ck_assert(!uw_module_has_data(module, (uintptr_t)&self_image_setup - bias));
	ck_assert(!uw_module_has_data(module, (uintptr_t)&here - bias));
	ck_assert(!uw_module_has_data(module, UINT64_MAX));
	uw_module_unref(module);
}
END_TEST

START_TEST(without_section_headers)
{
	struct uw_module *whole = self_image_module(&self_image), *stripped;

	self_image_ehdr(&self_image)->e_shoff = 0;
	self_image_ehdr(&self_image)->e_shnum = 0;
	self_image_ehdr(&self_image)->e_shstrndx = 0;
	stripped = self_image_module(&self_image);
	assert_same_cfi(whole, stripped);
	uw_module_unref(whole);
	uw_module_unref(stripped);
}
END_TEST

START_TEST(without_search_table)
{
	struct uw_module *whole = self_image_module(&self_image), *linear, *omitted;
	Elf64_Phdr *phdr = self_image_phdr(&self_image, PT_GNU_EH_FRAME);

	self_image.bytes[phdr->p_offset + 3] = UW_PE_OMIT; /* table_enc */
	omitted = self_image_module(&self_image);
	phdr->p_type = PT_NULL;
	linear = self_image_module(&self_image);
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

	self_image_phdr(&self_image, PT_GNU_EH_FRAME)->p_type = PT_NULL;
	self_image_ehdr(&self_image)->e_shnum = 0;
	struct uw_module *module = self_image_module(&self_image);
	ck_assert_int_eq(uw_cfi_find(&module->cfi, self_image_ehdr(&self_image)->e_entry, &fde,
				     &gap),
			 UW_CFI_NONE);
	uw_module_unref(module);
}
END_TEST

/* A search header without the section that it is for. */
START_TEST(search_table_alone)
{
	struct uw_cfi_gap gap;
	struct uw_fde fde;
	Elf64_Phdr *phdr = self_image_phdr(&self_image, PT_GNU_EH_FRAME);

	self_image_ehdr(&self_image)->e_shnum = 0;
	memset(self_image.bytes + phdr->p_offset + 4, 0x70, 4); /* eh_frame_ptr: into no segment */
	struct uw_module *module = self_image_module(&self_image);
	ck_assert_int_eq(uw_cfi_find(&module->cfi, self_image_ehdr(&self_image)->e_entry, &fde,
				     &gap),
			 UW_CFI_NONE);
	uw_module_unref(module);
	phdr->p_filesz = 0;
	module = self_image_module(&self_image);
	ck_assert_int_eq(uw_cfi_find(&module->cfi, self_image_ehdr(&self_image)->e_entry, &fde,
				     &gap),
			 UW_CFI_NONE);
	uw_module_unref(module);
}
END_TEST

/* The build-id is given to the linker in meson.build. */
START_TEST(build_id)
{
	static const uint8_t expected[] = {0x01, 0x23, 0x45, 0x67, 0x89,
					   0xab, 0xcd, 0xef, 0x10, 0x32};
	struct uw_module *module = self_image_module(&self_image);
	uint8_t id[64] = "";

	ck_assert_uint_eq(uw_module_build_id(module, id, sizeof(id)), sizeof(expected));
	ck_assert_mem_eq(id, expected, sizeof(expected));
	id[0] = id[1] = id[2] = 0xee;
	ck_assert_uint_eq(uw_module_build_id(module, id, 2), sizeof(expected));
	ck_assert_uint_eq(id[1], 0x23);
	ck_assert_uint_eq(id[2], 0xee);
	uw_module_unref(module);
	self_image_phdr(&self_image, PT_NOTE)->p_type = PT_NULL;
	if (self_image_phdr(&self_image, PT_LOAD))
		self_image_ehdr(&self_image)->e_shnum = 0;
	for (Elf64_Phdr *phdr = self_image_phdr(&self_image, PT_LOAD); phdr->p_type != PT_GNU_STACK;
	     phdr++)
		if (phdr->p_type == PT_NOTE)
			phdr->p_type = PT_NULL;
	module = self_image_module(&self_image);
	ck_assert_uint_eq(uw_module_build_id(module, id, sizeof(id)), 0);
	uw_module_unref(module);
}
END_TEST

static void assert_refused(const void *bytes, size_t size, int error)
{
	struct uw_module *module = NULL;
	int fd = self_image_file(bytes, size);

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
	assert_refused(self_image.bytes, 63, ENOEXEC);
	assert_refused(self_image.bytes, 64, EINVAL); /* no program headers */
	self_image_ehdr(&self_image)->e_machine = EM_PPC64;
	assert_refused(self_image.bytes, self_image.size, ENOEXEC);
	self_image_ehdr(&self_image)->e_machine = EM_X86_64;
	self_image.bytes[EI_CLASS] = ELFCLASS32;
	assert_refused(self_image.bytes, self_image.size, ENOEXEC);
	self_image.bytes[EI_CLASS] = ELFCLASS64;
	self_image_ehdr(&self_image)->e_phentsize = 7;
	assert_refused(self_image.bytes, self_image.size, EINVAL);
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

/* The segment that a file offset is mapped from decides the address, page by page. */
START_TEST(addresses_of_offsets)
{
	struct uw_module *module = self_image_module(&self_image);
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
	ck_assert_uint_eq(self_image_blocks_read(module), 0);
	ck_assert_int_eq(uw_module_find(module, uw_cfi_entry_start(&module->cfi, 0), &fde, &gap),
			 UW_CFI_OK);
	ck_assert_uint_gt(self_image_blocks_read(module), 0);
	ck_assert_uint_le(self_image_blocks_read(module),
			  4); /* an FDE and its CIE, each across two */
	uw_module_unref(module);
}
END_TEST

/* What walks remember of a module's code does not keep its file open. */
START_TEST(closed_when_unused)
{
	struct uw_space *space = uw_space_create(UW_ARCH_X86_64);
	struct uw_regs regs = {0};
	struct uw_stack stack = {.base = 0x7000, .bytes = (const uint8_t *)"", .requested = 8};
	struct uw_frame frame;
	struct uw_module *module;
	enum uw_stop stop;
	int fd = self_image_file(self_image.bytes, self_image.size);

	ck_assert_int_eq(uw_module_open(fd, &module), 0);
	close(fd);
	ck_assert(!uw_module_is_used(module));
	ck_assert_int_eq(uw_space_map(space, 0, self_image.size, 0, module, 1), 0);
	ck_assert(uw_module_is_used(module));
	uw_module_load(module);
	regs.value[7] = 0x7000;
	for (size_t i = 0; i < uw_cfi_count(&module->cfi); i++) {
		regs.value[16] = uw_cfi_entry_start(&module->cfi, i);
		uw_walk(space, &regs, &stack, &frame, 1, &stop);
	}
	ck_assert_int_eq(uw_space_unmap(space, 0, self_image.size), 0);
	ck_assert(!uw_module_is_used(module));
	fd = module->elf.fd;
	uw_module_unref(module);
	ck_assert_int_eq(fcntl(fd, F_GETFD), -1);
	uw_space_destroy(space);
}
END_TEST

START_TEST(references)
{
	struct uw_module *module = self_image_module(&self_image);
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
	tcase_add_checked_fixture(tcase, self_image_setup, self_image_teardown);
	tcase_add_test(tcase, file_and_memory_agree);
	tcase_add_test(tcase, without_section_headers);
	tcase_add_test(tcase, without_search_table);
	tcase_add_test(tcase, without_anything);
	tcase_add_test(tcase, search_table_alone);
	tcase_add_test(tcase, build_id);
	tcase_add_test(tcase, not_elf);
	tcase_add_test(tcase, not_a_file);
	tcase_add_test(tcase, addresses_of_offsets);
	tcase_add_test(tcase, several_executable_segments);
	tcase_add_test(tcase, read_when_needed);
	tcase_add_test(tcase, closed_when_unused);
	tcase_add_test(tcase, references);
	tcase_add_test(tcase, variables);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
