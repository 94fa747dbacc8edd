#include "tools/code/machine_code.h"

#include "containers/compare.h"
#include "tools/memory/xalloc.h"
#include <stdlib.h>

static int compare_ranges(const void *a, const void *b)
{
	const struct code_range *left = a;
	const struct code_range *right = b;
	return compare_numbers(left->start, right->start);
}

/* Sorts, and makes one of ranges that overlap. Returns how many are left. */
static size_t merge_ranges(struct code_range *ranges, size_t count)
{
	size_t kept = 0;
	if (count > 1)
		qsort(ranges, count, sizeof(*ranges), compare_ranges);
	for (size_t i = 0; i < count; i++) {
		struct code_range *last = kept > 0 ? &ranges[kept - 1] : NULL;
		if (!last || ranges[i].start - last->start >= last->size) {
			ranges[kept++] = ranges[i];
			continue;
		}
		uint64_t reach = ranges[i].start - last->start + ranges[i].size;
		last->size = reach > last->size ? reach : last->size;
	}
	return kept;
}

static void add_range(struct machine_code *code, const struct symbol_file *file,
		      const struct code_range *range, bool with_intel)
{
	size_t available = 0;
	const uint8_t *bytes = symbol_file_bytes(file, range->start, &available);
	uint64_t room = MACHINE_CODE_MAX - code->size;
	uint64_t size = range->size < room ? range->size : room;
	if (!bytes)
		available = 0;
	/* Of a range of no size, nobody knows where its instructions begin. */
	code->is_cut |= available < size || size < range->size || range->size == 0;
	code->size += size;
	if (available > 0)
		disassembly_add(&code->code, bytes, size < available ? size : available,
				range->start, code->is_32bit, with_intel);
}

static void collect_addresses(struct machine_code *code)
{
	const struct disassembly *all = &code->code;
	code->addresses = xalloc_zeroed(2 * all->count, sizeof(*code->addresses));
	for (size_t i = 0; i < all->count; i++) {
		const struct instruction *instruction = &all->instructions[i];
		code->addresses[code->address_count++].rva = instruction->rva;
		if (instruction->has_target)
			code->addresses[code->address_count++].rva = instruction->target;
	}
	symbol_addresses_sort(code->addresses, code->address_count);
}

/* x32 has 32-bit files and 64-bit code. */
static void find_machine(struct machine_code *code, Elf *elf)
{
	GElf_Ehdr header;
	bool is_known = gelf_getehdr(elf, &header) != NULL;
	code->is_32bit = is_known && header.e_machine == EM_386;
	code->is_other = !is_known || (header.e_machine != EM_X86_64 && !code->is_32bit);
}

static void read_code(struct machine_code *code, struct symbol_file *file,
		      struct code_range *ranges, size_t count, bool with_intel)
{
	find_machine(code, file->elf);
	if (code->is_other)
		return;
	resolve_code_ranges(file, ranges, count);
	count = merge_ranges(ranges, count);
	for (size_t i = 0; i < count; i++)
		add_range(code, file, &ranges[i], with_intel);
	collect_addresses(code);
	resolve_in_file(file, code->addresses, code->address_count);
}

enum symbol_file_status machine_code_read(struct machine_code *code, const struct mapped_file *file,
					  struct code_range *ranges, size_t count, bool with_intel)
{
	struct symbol_file opened;
	*code = (struct machine_code){0};
	enum symbol_file_status status = resolve_open(&opened, file, NULL);
	if (status == SYMBOL_FILE_OPEN)
		read_code(code, &opened, ranges, count, with_intel);
	symbol_file_close(&opened);
	return status;
}

void machine_code_finish(struct machine_code *code)
{
	for (size_t i = 0; i < code->address_count; i++)
		symbol_address_finish(&code->addresses[i]);
	free(code->addresses);
	disassembly_finish(&code->code);
	*code = (struct machine_code){0};
}

struct symbol_address *machine_code_at(const struct machine_code *code, uint64_t rva)
{
	size_t at = symbol_addresses_from(code->addresses, code->address_count, rva);
	bool is_found = at < code->address_count && code->addresses[at].rva == rva;
	return is_found ? &code->addresses[at] : NULL;
}
