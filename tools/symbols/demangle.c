#include "tools/symbols/demangle.h"
#include "tools/xalloc.h"
#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct collected {
	char *text;
	size_t length;
	size_t capacity;
	jmp_buf too_long;
};

/* libiberty's callbacks have no way to stop it, and a hostile name would keep it busy for ever.
 * It holds no resource across the call but a few bytes for a punycode identifier. */
static void collect(const char *piece, size_t length, void *user)
{
	struct collected *collected = user;
	if (length > DEMANGLE_OUTPUT_MAX - collected->length)
		longjmp(collected->too_long, 1);
	if (collected->length + length + 1 > collected->capacity) {
		collected->capacity =
			xalloc_grown(collected->capacity, collected->length + length + 1);
		collected->text = xalloc_resize(collected->text, collected->capacity, 1);
	}
	memcpy(collected->text + collected->length, piece, length);
	collected->length += length;
	collected->text[collected->length] = '\0';
}

static bool run(struct collected *collected, const char *linkage_name, int options)
{
	if (setjmp(collected->too_long))
		return false;
	/* Legacy Rust names are valid C++ names too, so Rust is asked first. */
	if (rust_demangle_callback(linkage_name, options, collect, collected))
		return collected->length > 0;
	collected->length = 0;
	return cplus_demangle_v3_callback(linkage_name, options, collect, collected) &&
	       collected->length > 0;
}

char *demangle_name(const char *linkage_name, enum demangle_form form)
{
	int options = DMGL_ANSI;
	if (form == DEMANGLE_FULL)
		options |= DMGL_PARAMS;
	bool is_mangled = strncmp(linkage_name, "_Z", 2) == 0 ||
			  strncmp(linkage_name, "_R", 2) == 0 ||
			  strncmp(linkage_name, "_GLOBAL_", 8) == 0;
	if (!is_mangled || strlen(linkage_name) > DEMANGLE_INPUT_MAX)
		return xalloc_text(linkage_name);

	struct collected *collected = xalloc_zeroed(1, sizeof(*collected));
	bool done = run(collected, linkage_name, options);
	char *text = collected->text;
	free(collected);
	if (done)
		return text;
	free(text);
	return xalloc_text(linkage_name);
}
