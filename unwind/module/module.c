#include "unwind/module/module.h"

#include "unwind/functions/functions.h"
#include "unwind/module/debug_frame.h"
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	FEW_FDES = 256,
	HDR_HEAD = 20,       /* of .eh_frame_hdr: 4 encodings, two pointers of up to 8 bytes */
	PAGE_SIZE_MIN = 4096 /* mappings start at multiples of this */
};

/* Without a section header, .eh_frame starts where .eh_frame_hdr points, and ends at a terminator
 * or at the end of the segment. */
static struct uw_piece find_frame_piece(const struct uw_elf *elf, const struct uw_span *hdr)
{
	struct uw_piece piece = elf->eh_frame;

	if (piece.size != 0 || hdr->size == 0 || !uw_cfi_hdr_frame(hdr, &piece.rva))
		return piece;
	const struct uw_segment *segment = uw_elf_segment(elf, piece.rva);
	if (!segment)
		return piece;
	piece.offset = segment->offset + (piece.rva - segment->rva);
	piece.size = segment->file_size - (piece.rva - segment->rva);
	return piece;
}

static uint64_t count_code_bytes(const struct uw_module *module)
{
	uint64_t code = 0;

	for (size_t i = 0; i < module->elf.segment_count; i++)
		if (module->elf.segments[i].executable)
			code += module->elf.segments[i].file_size;
	return code;
}

/* Whether .eh_frame describes little of the code, for example only the C library's start files:
 * less than half of the code, if the FDEs are few enough to add up. An .eh_frame of all code is
 * larger than a 64th of the code. */
static bool is_sparse(const struct uw_module *module)
{
	const struct uw_cfi *cfi = &module->cfi;
	uint64_t code = count_code_bytes(module);

	if (uw_cfi_count(cfi) > FEW_FDES)
		return cfi->frame.size < code / 64;
	return uw_cfi_covered(cfi) < code / 2;
}

int uw_module_take_debug(struct uw_module *module, const struct uw_elf *elf)
{
	/* Without FDEs in .eh_frame, .debug_frame takes its place. */
	struct uw_cfi *cfi = uw_cfi_count(&module->cfi) > 0 ? &module->debug : &module->cfi;
	struct uw_debug_frame found;

	assert(!module->debug_bytes);
	if (uw_debug_frame_open(elf, &found) < 0)
		return -1;
	module->has_refused |= found.is_refused;
	if (!found.bytes)
		return 0;
	uw_cfi_finish(cfi);
	*cfi = found.cfi;
	module->debug_bytes = found.bytes;
	return 0;
}

/* Other linkers than Go's may put the table among other things. */
static int open_go(struct uw_module *module)
{
	module->is_go_searched = module->elf.is_go;
	return module->elf.is_go ? uw_go_open_any(&module->go, &module->elf)
				 : uw_go_open_named(&module->go, &module->elf);
}

static int open_cfi(struct uw_module *module)
{
	struct uw_span hdr;

	uw_elf_take_sections(&module->elf);
	if (uw_elf_copy(&module->elf, &module->elf.eh_frame_hdr, &module->hdr_bytes, &hdr) < 0)
		return -1;
	struct uw_piece frame = find_frame_piece(&module->elf, &hdr);
	if (uw_cfi_open(&module->cfi, &module->elf, &frame, &hdr) < 0 || open_go(module) < 0)
		return -1;
	if (!is_sparse(module))
		return 0;
	if (uw_module_take_debug(module, &module->elf) < 0)
		return -1;
	module->lacks_info = !module->debug_bytes && module->go.span.size == 0;
	return 0;
}

/* Leaves the module loaded, without unwind information. */
static void drop_info(struct uw_module *module)
{
	uw_functions_destroy(module->functions);
	uw_cfi_finish(&module->cfi);
	uw_cfi_finish(&module->debug);
	uw_go_finish(&module->go);
	free(module->debug_bytes);
	free(module->hdr_bytes);
	module->functions = NULL;
	module->cfi = module->debug = (struct uw_cfi){.arch = module->elf.arch};
	module->debug_bytes = module->hdr_bytes = NULL;
	module->is_loaded = true;
}

void uw_module_load_now(struct uw_module *module)
{
	if (open_cfi(module) < 0)
		drop_info(module);
	module->is_loaded = true;
}

bool uw_module_search_go(struct uw_module *module)
{
	assert(module->is_loaded);
	if (module->is_go_searched || module->go.span.size > 0)
		return false;
	module->is_go_searched = true;
	if (uw_go_open_searched(&module->go, &module->elf) < 0)
		uw_go_finish(&module->go);
	return module->go.span.size > 0;
}

/* Whether the size of .eh_frame and the head of its search table alone show enough unwind
 * information, as for nearly all modules with much of it. */
static bool is_surely_rich(struct uw_module *module)
{
	struct uw_elf *elf = &module->elf;
	uint8_t bytes[HDR_HEAD];
	struct uw_span head = {bytes, sizeof(bytes), elf->eh_frame_hdr.rva};

	uw_elf_take_sections(elf);
	if (elf->eh_frame_hdr.size < sizeof(bytes) ||
	    !uw_elf_read(elf, elf->eh_frame_hdr.offset, bytes, sizeof(bytes)))
		return false;
	struct uw_piece piece = find_frame_piece(elf, &head);
	return uw_cfi_hdr_count(&head) > FEW_FDES && piece.size >= count_code_bytes(module) / 64;
}

bool uw_module_lacks_info(struct uw_module *module)
{
	if (!module->is_loaded && is_surely_rich(module))
		return false;
	uw_module_load(module);
	return module->lacks_info;
}

static void destroy_module(struct uw_module *module)
{
	drop_info(module);
	uw_lines_finish(&module->lines);
	uw_elf_finish(&module->elf);
	free(module);
}

/* Completes a module after its elf was opened with this result, or frees it. NULL: no memory. */
static int finish_open(struct uw_module *opened, int result, struct uw_module **module)
{
	if (result < 0) {
		free(opened);
		return -1;
	}
	opened->cfi.arch = opened->elf.arch;
	opened->references = 1;
	*module = opened;
	return 0;
}

int uw_module_open(int fd, struct uw_module **module)
{
	struct uw_module *opened = calloc(1, sizeof(*opened));
	return finish_open(opened, opened ? uw_elf_open(&opened->elf, fd) : -1, module);
}

int uw_module_from_memory(const void *bytes, size_t size, struct uw_module **module)
{
	struct uw_module *opened = calloc(1, sizeof(*opened));
	int result = opened ? uw_elf_from_memory(&opened->elf, bytes, size) : -1;
	return finish_open(opened, result, module);
}

struct uw_module *uw_module_ref(struct uw_module *module)
{
	module->references++;
	return module;
}

void uw_module_unref(struct uw_module *module)
{
	assert(!module || module->references > 0);
	if (module && --module->references == 0)
		destroy_module(module);
}

bool uw_module_is_used(const struct uw_module *module)
{
	assert(module->references > 0);
	return module->references > 1;
}

bool uw_module_has_changed(const struct uw_module *module)
{
	return uw_elf_has_changed(&module->elf);
}

size_t uw_module_build_id(const struct uw_module *module, uint8_t *id, size_t size)
{
	if (size > module->elf.build_id_size)
		size = module->elf.build_id_size;
	if (size > 0)
		memcpy(id, module->elf.build_id, size);
	return module->elf.build_id_size;
}

enum uw_arch uw_module_arch(const struct uw_module *module)
{
	return module->elf.arch;
}

enum uw_cfi_result uw_module_find(const struct uw_module *module, uint64_t rva, struct uw_fde *fde,
				  struct uw_cfi_gap *gap)
{
	return uw_cfi_find_either(&module->cfi, &module->debug, rva, fde, gap);
}

struct uw_functions *uw_module_functions(struct uw_module *module)
{
	assert(module->is_loaded);
	if (!module->functions && module->elf.arch == UW_ARCH_X86_64)
		module->functions = uw_functions_create(&module->elf, &module->lines, &module->cfi,
							&module->debug);
	return module->functions;
}

uint64_t uw_module_rva(const struct uw_module *module, uint64_t pgoff)
{
	const struct uw_segment *best = NULL;
	bool best_starts = false;

	/* The loader maps whole pages: a segment also covers the rest of its first and last page,
	 * and neighbouring segments may share a page. Take the executable one; of several the one
	 * that starts at pgoff. */
	for (size_t i = 0; i < module->elf.segment_count; i++) {
		const struct uw_segment *segment = &module->elf.segments[i];
		uint64_t start = segment->offset & ~(uint64_t)(PAGE_SIZE_MIN - 1);
		bool starts = start == pgoff;

		if (pgoff < start ||
		    pgoff - start >= segment->file_size + (segment->offset - start))
			continue;
		if (!best || (segment->executable && !best->executable) ||
		    (segment->executable == best->executable && starts && !best_starts)) {
			best = segment;
			best_starts = starts;
		}
	}
	return best ? pgoff - best->offset + best->rva : pgoff;
}

bool uw_module_has_data(const struct uw_module *module, uint64_t rva)
{
	for (size_t i = 0; i < module->elf.segment_count; i++) {
		const struct uw_segment *segment = &module->elf.segments[i];

		if (segment->writable && rva >= segment->rva &&
		    rva - segment->rva < segment->memory_size)
			return true;
	}
	return false;
}
