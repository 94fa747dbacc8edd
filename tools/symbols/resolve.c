#include "tools/symbols/resolve.h"

#include "tools/symbols/cold_part.h"
#include "tools/symbols/dwarf_inlines.h"
#include "tools/symbols/eh_frame.h"
#include "tools/symbols/elf_symbols.h"
#include "tools/symbols/plt.h"
#include "tools/symbols/sigreturn.h"

static void resolve_image(struct symbol_image *image, struct symbol_address *addresses,
			  size_t count)
{
	elf_symbols_resolve(image, addresses, count);
	cold_part_resolve(image, addresses, count);
	plt_resolve(image, addresses, count);
	sigreturn_resolve(image, addresses, count);
	eh_frame_resolve(image, addresses, count);
	dwarf_inlines_resolve(image, addresses, count);
	for (size_t i = 0; i < count; i++) {
		struct symbol_entry *function = &addresses[i].function;
		if (function->name || function->is_pseudo)
			continue;
		function->start = addresses[i].rva;
		function->is_pseudo = true;
	}
}

enum symbol_image_status resolve_file(const struct mapped_file *file, const char *debug_path,
				      struct symbol_address *addresses, size_t count)
{
	struct symbol_image image;
	enum symbol_image_status status = file->path[0] == '['
						  ? symbol_image_open_vdso(&image, file)
						  : symbol_image_open(&image, file, debug_path);
	if (status == SYMBOL_IMAGE_OPEN)
		resolve_image(&image, addresses, count);
	symbol_image_close(&image);
	return status;
}
