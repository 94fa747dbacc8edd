#include "tools/names/demangle.h"

#include "tools/memory/xalloc.h"
#include "tools/names/demangle_module.h"
#include <assert.h>
#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define D_INPUT_MAX      4096u
#define D_REFERENCES_MAX 24u

struct collected {
	char *text;
	size_t length;
	size_t capacity;
	jmp_buf too_long;
};

/* Callbacks cannot stop libiberty, and a hostile name would keep it busy for ever: hence the jump.
 * libiberty holds no resource then but a few bytes for a punycode identifier. */
static void collect_piece(const char *piece, size_t length, void *user)
{
	struct collected *collected = user;
	assert(collected->length <= DEMANGLE_OUTPUT_MAX);
	if (length > DEMANGLE_OUTPUT_MAX - collected->length)
		longjmp(collected->too_long, 1);
	xalloc_room(&collected->text, &collected->capacity, collected->length + length + 1, 1);
	memcpy(collected->text + collected->length, piece, length);
	collected->length += length;
	collected->text[collected->length] = '\0';
}

static bool run_demanglers(struct collected *collected, const char *linkage_name, int options)
{
	if (setjmp(collected->too_long))
		return false;
	/* Legacy Rust names are valid C++ names too: Rust is asked first. */
	if (rust_demangle_callback(linkage_name, options, collect_piece, collected))
		return collected->length > 0;
	collected->length = 0;
	return cplus_demangle_v3_callback(linkage_name, options, collect_piece, collected) &&
	       collected->length > 0;
}

/* The D demangler has no callback. Each back reference may double the text: the limits of their
 * number and of the name's length keep the text to some megabytes. */
static bool is_d(const char *name)
{
	size_t references = 0;
	if (strcmp(name, "_Dmain") == 0)
		return true;
	if (strncmp(name, "_D", 2) != 0 || name[2] < '0' || name[2] > '9')
		return false;
	for (const char *at = name; (at = strchr(at, 'Q')); at++)
		references++;
	return references <= D_REFERENCES_MAX && strlen(name) <= D_INPUT_MAX;
}

/* The last parentheses are the parameters', unless they hold a template's arguments. */
static void cut_d_parameters(char *text)
{
	char *at = strrchr(text, ')');
	size_t depth = 0;
	for (; at && at > text; at--) {
		depth += *at == ')';
		depth -= *at == '(';
		if (depth > 0)
			continue;
		if (at[-1] != '!')
			*at = '\0';
		return;
	}
}

static char *demangle_d(const char *linkage_name, enum demangle_form form)
{
	char *text =
		is_d(linkage_name) ? dlang_demangle(linkage_name, DMGL_ANSI | DMGL_PARAMS) : NULL;
	if (text && strlen(text) > DEMANGLE_OUTPUT_MAX) {
		free(text);
		return NULL;
	}
	if (text && form == DEMANGLE_SHORT)
		cut_d_parameters(text);
	return text;
}

char *demangle_ada_name(const char *linkage_name)
{
	if (strlen(linkage_name) > DEMANGLE_INPUT_MAX)
		return NULL;
	char *text = ada_demangle(linkage_name, 0);
	/* <name>: not known to the demangler. */
	if (text && text[0] != '<')
		return text;
	free(text);
	return NULL;
}

/* Names of library main programs and of GNAT's own units: no other language has such functions. */
static bool is_surely_ada(const char *name)
{
	static const char *const beginnings[] = {"_ada_", "ada__", "system__", "gnat__",
						 "interfaces__"};
	for (size_t i = 0; i < sizeof(beginnings) / sizeof(beginnings[0]); i++) {
		size_t length = strlen(beginnings[i]);
		if (strncmp(name, beginnings[i], length) == 0 && name[length] >= 'a' &&
		    name[length] <= 'z')
			return true;
	}
	return false;
}

/* Demangles the other languages' names; a copy of any other name. */
static char *demangle_other(const char *linkage_name, enum demangle_form form)
{
	char *text = demangle_d(linkage_name, form);
	if (!text)
		text = demangle_fortran_name(linkage_name);
	if (!text)
		text = demangle_ocaml_name(linkage_name, form);
	if (!text && is_surely_ada(linkage_name))
		text = demangle_ada_name(linkage_name);
	return text ? text : xalloc_text(linkage_name);
}

char *demangle_name(const char *linkage_name, enum demangle_form form)
{
	int options = DMGL_ANSI;
	if (form == DEMANGLE_FULL)
		options |= DMGL_PARAMS;
	bool is_mangled = strncmp(linkage_name, "_Z", 2) == 0 ||
			  strncmp(linkage_name, "_R", 2) == 0 ||
			  strncmp(linkage_name, "_GLOBAL_", 8) == 0;
	if (strlen(linkage_name) > DEMANGLE_INPUT_MAX)
		return xalloc_text(linkage_name);
	if (!is_mangled)
		return demangle_other(linkage_name, form);

	struct collected *collected = xalloc_zeroed(1, sizeof(*collected));
	bool done = run_demanglers(collected, linkage_name, options);
	char *text = collected->text;
	free(collected);
	if (done)
		return text;
	free(text);
	return xalloc_text(linkage_name);
}
