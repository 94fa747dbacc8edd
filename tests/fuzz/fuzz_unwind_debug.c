/*
 * libFuzzer entry: a program's file and its separate debug file, both hostile.
 *
 * Input: a mode byte, and the rest by mode. 0: the length of the program's file (4 bytes), it, and
 * the debug file. Otherwise the rest is for a .debug_frame, in sound files made around it: 1: what
 * it holds; 2: the same, and the files have it in a zlib stream of stored blocks; 3: the compressed
 * section as it is, with its header. Bit 2: the machine is i386, not x86-64. Bit 3: the section is
 * in the program's own file. Files are read by descriptor, as libelf inflates no others. What is
 * taken from them must keep the promises of unwind.h.
 */
#include "unwind/cfi/row.h"
#include "unwind/module/module.h"
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	MODE_FILES,
	MODE_PLAIN,
	MODE_PACKED,
	MODE_COMPRESSED,
	MODE_MASK = 3,
	MODE_I386 = 4,
	MODE_OWN = 8,
	CODE_SIZE = 1024,
	BLOCK_MAX = 65535, /* of a stored block: RFC 1951, section 3.2.4 */
	STACK_WORDS = 32,
	LOOKUPS = 256
};

static const char names[] = "\0.debug_frame\0.shstrtab";

/* The headers, at the same offsets in files of both classes. */
struct file {
	union {
		Elf64_Ehdr ehdr;
		Elf32_Ehdr ehdr_32;
	};
	union {
		Elf64_Phdr phdr[2];
		Elf32_Phdr phdr_32[2];
	};
	union {
		Elf64_Shdr shdr[3];
		Elf32_Shdr shdr_32[3];
	};
	Elf64_Nhdr note; /* of one size in both */
	char note_name[4];
	uint8_t build_id[4];
	char names[sizeof(names)];
	uint8_t code[CODE_SIZE];
	uint8_t frame[]; /* .debug_frame */
};

enum { NOTE_SIZE = sizeof(Elf64_Nhdr) + 8, HEAD_SIZE = offsetof(struct file, frame) };

/* Traps where a result breaks a promise. */
static void check(bool promise)
{
	if (!promise)
		__builtin_trap();
}

static void *must(void *memory)
{
	if (!memory)
		abort();
	return memory;
}

/* A file that holds these bytes; which: it is made once, and filled again. */
static int file_of(unsigned which, const void *bytes, size_t size)
{
	static int fds[2] = {-1, -1};

	if (fds[which] < 0)
		fds[which] = memfd_create("fuzz", MFD_CLOEXEC);
	if (fds[which] < 0 || ftruncate(fds[which], 0) < 0 ||
	    pwrite(fds[which], bytes, size, 0) != (ssize_t)size)
		abort();
	return fds[which];
}

static void put_headers_64(struct file *file, size_t size, bool compressed)
{
	size_t frame_size = size - HEAD_SIZE;

	file->ehdr.e_machine = EM_X86_64;
	file->ehdr.e_version = EV_CURRENT;
	file->ehdr.e_type = ET_EXEC;
	file->ehdr.e_ehsize = sizeof(file->ehdr);
	file->ehdr.e_phoff = offsetof(struct file, phdr);
	file->ehdr.e_phnum = 2;
	file->ehdr.e_phentsize = sizeof(Elf64_Phdr);
	file->ehdr.e_shoff = offsetof(struct file, shdr);
	file->ehdr.e_shnum = 3;
	file->ehdr.e_shentsize = sizeof(Elf64_Shdr);
	file->ehdr.e_shstrndx = 2;
	file->phdr[0] = (Elf64_Phdr){.p_type = PT_LOAD,
				     .p_flags = PF_R | PF_X,
				     .p_filesz = size,
				     .p_memsz = size};
	file->phdr[1] = (Elf64_Phdr){.p_type = PT_NOTE,
				     .p_offset = offsetof(struct file, note),
				     .p_filesz = NOTE_SIZE};
	file->shdr[1] = (Elf64_Shdr){.sh_name = 1,
				     .sh_type = frame_size ? SHT_PROGBITS : SHT_NOBITS,
				     .sh_flags = compressed ? SHF_COMPRESSED : 0,
				     .sh_offset = HEAD_SIZE,
				     .sh_addralign = 1,
				     .sh_size = frame_size};
	file->shdr[2] = (Elf64_Shdr){.sh_name = 14,
				     .sh_type = SHT_STRTAB,
				     .sh_offset = offsetof(struct file, names),
				     .sh_addralign = 1,
				     .sh_size = sizeof(names)};
}

static void put_headers_32(struct file *file, size_t size, bool compressed)
{
	Elf32_Word frame_size = (Elf32_Word)(size - HEAD_SIZE);

	file->ehdr_32.e_machine = EM_386;
	file->ehdr_32.e_version = EV_CURRENT;
	file->ehdr_32.e_type = ET_EXEC;
	file->ehdr_32.e_ehsize = sizeof(file->ehdr_32);
	file->ehdr_32.e_phoff = offsetof(struct file, phdr);
	file->ehdr_32.e_phnum = 2;
	file->ehdr_32.e_phentsize = sizeof(Elf32_Phdr);
	file->ehdr_32.e_shoff = offsetof(struct file, shdr);
	file->ehdr_32.e_shnum = 3;
	file->ehdr_32.e_shentsize = sizeof(Elf32_Shdr);
	file->ehdr_32.e_shstrndx = 2;
	file->phdr_32[0] = (Elf32_Phdr){.p_type = PT_LOAD,
					.p_flags = PF_R | PF_X,
					.p_filesz = (Elf32_Word)size,
					.p_memsz = (Elf32_Word)size};
	file->phdr_32[1] = (Elf32_Phdr){.p_type = PT_NOTE,
					.p_offset = offsetof(struct file, note),
					.p_filesz = NOTE_SIZE};
	file->shdr_32[1] = (Elf32_Shdr){.sh_name = 1,
					.sh_type = frame_size ? SHT_PROGBITS : SHT_NOBITS,
					.sh_flags = compressed ? SHF_COMPRESSED : 0,
					.sh_offset = HEAD_SIZE,
					.sh_addralign = 1,
					.sh_size = frame_size};
	file->shdr_32[2] = (Elf32_Shdr){.sh_name = 14,
					.sh_type = SHT_STRTAB,
					.sh_offset = offsetof(struct file, names),
					.sh_addralign = 1,
					.sh_size = sizeof(names)};
}

/* A file with code, a build-id and, unless size is 0, a .debug_frame. */
static int wrap(unsigned which, bool i386, bool compressed, const uint8_t *frame, size_t size)
{
	struct file *file = must(calloc(1, sizeof(*file) + size));

	memcpy(file->ehdr.e_ident, ELFMAG, SELFMAG);
	file->ehdr.e_ident[EI_CLASS] = i386 ? ELFCLASS32 : ELFCLASS64;
	file->ehdr.e_ident[EI_DATA] = ELFDATA2LSB;
	file->ehdr.e_ident[EI_VERSION] = EV_CURRENT;
	if (i386)
		put_headers_32(file, HEAD_SIZE + size, compressed);
	else
		put_headers_64(file, HEAD_SIZE + size, compressed);
	file->note = (Elf64_Nhdr){
		.n_namesz = sizeof(file->note_name),
		.n_descsz = sizeof(file->build_id),
		.n_type = NT_GNU_BUILD_ID,
	};
	memcpy(file->note_name, ELF_NOTE_GNU, sizeof(file->note_name));
	memcpy(file->names, names, sizeof(names));
	memset(file->code, 0xe8, sizeof(file->code));
	if (size > 0)
		memcpy(file->frame, frame, size);
	int fd = file_of(which, file, HEAD_SIZE + size);
	free(file);
	return fd;
}

/* A compressed section that holds these bytes; fewer than a block has. */
static uint8_t *pack(bool i386, const uint8_t *bytes, size_t size, size_t *packed_size)
{
	Elf64_Chdr wide = {.ch_type = ELFCOMPRESS_ZLIB, .ch_size = size, .ch_addralign = 1};
	Elf32_Chdr narrow = {.ch_type = ELFCOMPRESS_ZLIB,
			     .ch_size = (Elf32_Word)size,
			     .ch_addralign = 1};
	const uint16_t length[2] = {(uint16_t)size, (uint16_t)~size};
	uint32_t a = 1, b = 0; /* Adler-32: RFC 1950, section 9 */
	size_t header = i386 ? sizeof(narrow) : sizeof(wide);
	uint8_t *packed = must(malloc(header + 7 + size + 4)), *at = packed;

	memcpy(at, i386 ? (const void *)&narrow : &wide, header);
	at += header;
	memcpy(at, "\x78\x01\x01", 3); /* a last block, stored */
	memcpy(at + 3, length, sizeof(length));
	if (size > 0)
		memcpy(at + 7, bytes, size);
	at += 7 + size;
	for (size_t i = 0; i < size; i++) {
		a = (a + bytes[i]) % 65521;
		b = (b + a) % 65521;
	}
	*at++ = (uint8_t)(b >> 8);
	*at++ = (uint8_t)b;
	*at++ = (uint8_t)(a >> 8);
	*at++ = (uint8_t)a;
	*packed_size = (size_t)(at - packed);
	return packed;
}

/* The rules at many addresses, and a walk. */
static void use(struct uw_module *module)
{
	static const uint64_t start = 0x400000, sp = 0x7ffe0000;
	enum uw_arch arch = uw_module_arch(module);
	struct uw_space *space = must(uw_space_create(arch));
	struct uw_regs regs = {0};
	uint64_t words[STACK_WORDS];
	static struct uw_frame frames[UW_DEPTH_MAX];
	struct uw_stack stack = {.base = sp,
				 .bytes = (const uint8_t *)words,
				 .size = sizeof(words),
				 .requested = sizeof(words)};
	enum uw_stop stop;

	uw_module_load(module);
	for (uint64_t i = 0; i < LOOKUPS; i++) {
		struct uw_cfi_gap gap;
		struct uw_fde fde;
		struct uw_row row;
		uint64_t rva = offsetof(struct file, code) + i * 4;

		if (uw_module_find(module, rva, &fde, &gap) == UW_CFI_OK) {
			check(fde.start <= rva && rva < fde.end);
			uw_cfi_row(&fde, rva, &row, &(uint32_t){0});
		}
	}
	for (size_t i = 0; i < STACK_WORDS; i++)
		words[i] = i % 2 ? start + offsetof(struct file, code) + i * 8 : sp + i * 8;
	for (size_t i = 0; i < 17; i++)
		regs.value[i] = sp + 8 * (i % 4);
	regs.value[arch == UW_ARCH_I386 ? 8 : 16] = start + offsetof(struct file, code) + 40;
	regs.value[arch == UW_ARCH_I386 ? 4 : 7] = sp;
	uw_space_map(space, start, start + 0x100000, 0, module, 1);
	size_t count = uw_walk(space, &regs, &stack, frames, UW_DEPTH_MAX, &stop);
	check(count >= 1 && count <= UW_DEPTH_MAX && (unsigned)stop < UW_STOP_COUNT);
	uw_space_destroy(space);
}

static void check_link(struct uw_module *module)
{
	char name[64] = "";
	uint32_t crc;
	size_t size = uw_module_debug_link(module, name, sizeof(name), &crc);

	check(size < sizeof(name) && strlen(name) == size && !strchr(name, '/'));
	check(uw_module_debug_link(module, name, 1, &crc) == 0);
}

/* Whether the debug file was taken. */
static bool add_debug(struct uw_module *module, int fd)
{
	bool lacked = uw_module_lacks_info(module);
	int result = uw_module_add_debug(module, fd);

	check(result == 0 || result == -1);
	if (result == 0) {
		check(lacked && !uw_module_lacks_info(module));
		check(uw_module_add_debug(module, fd) == -1 && errno == EEXIST);
		return true;
	}
	check(errno == (lacked ? errno : EEXIST));
	check(errno == EEXIST || errno == ESTALE || errno == ENOENT || errno == ENOEXEC ||
	      errno == EINVAL || errno == ENOMEM);
	check(uw_module_lacks_info(module) == lacked);
	return false;
}

static void run_files(const uint8_t *bytes, size_t size)
{
	struct uw_module *module = NULL;
	uint32_t first = 0;

	if (size >= sizeof(first)) {
		memcpy(&first, bytes, sizeof(first));
		bytes += sizeof(first);
		size -= sizeof(first);
	}
	if (first > size)
		first = (uint32_t)size;
	if (uw_module_open(file_of(0, bytes, first), &module) < 0)
		return;
	check_link(module);
	use(module);
	if (add_debug(module, file_of(1, bytes + first, size - first)))
		use(module);
	uw_module_unref(module);
}

/* Takes a .debug_frame from sound files. Returns the module, which the caller releases. */
static struct uw_module *take(unsigned mode, bool compressed, const uint8_t *frame, size_t size)
{
	struct uw_module *module = NULL;
	bool i386 = mode & MODE_I386;

	if (mode & MODE_OWN) {
		check(uw_module_open(wrap(0, i386, compressed, frame, size), &module) == 0);
		uw_module_load(module); /* before the next one takes its file's place */
		return module;
	}
	check(uw_module_open(wrap(0, i386, false, NULL, 0), &module) == 0);
	check(uw_module_lacks_info(module));
	add_debug(module, wrap(1, i386, compressed, frame, size));
	return module;
}

static void run_frame(unsigned mode, const uint8_t *bytes, size_t size)
{
	struct uw_module *module = take(mode, (mode & MODE_MASK) == MODE_COMPRESSED, bytes, size);

	if ((mode & MODE_MASK) == MODE_PACKED && size > 0) {
		struct uw_module *plain = module;
		size_t packed_size;
		uint8_t *packed = pack(mode & MODE_I386, bytes, size, &packed_size);

		module = take(mode, true, packed, packed_size);
		/* Packed or not is all the same. */
		check(plain->cfi.frame.size == size && module->cfi.frame.size == size);
		check(memcmp(plain->cfi.frame.bytes, module->cfi.frame.bytes, size) == 0);
		uw_module_unref(plain);
		free(packed);
	}
	use(module);
	uw_module_unref(module);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0)
		return 0;
	if ((data[0] & MODE_MASK) == MODE_FILES)
		run_files(data + 1, size - 1);
	else
		run_frame(data[0], data + 1, size - 1 < BLOCK_MAX ? size - 1 : BLOCK_MAX);
	return 0;
}
