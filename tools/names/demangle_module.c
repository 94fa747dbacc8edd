#include "tools/names/demangle_module.h"

#include "tools/memory/xalloc.h"
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define LOWER    "abcdefghijklmnopqrstuvwxyz"
#define UPPER    "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS   "0123456789"
#define MODULE   LOWER DIGITS "_"
#define FUNCTION LOWER UPPER DIGITS "_"

char *demangle_fortran_name(const char *linkage_name)
{
	static const char separator[] = "_MOD_";
	if (strncmp(linkage_name, "__", 2) != 0 || !strchr(LOWER, linkage_name[2]))
		return NULL;
	const char *module = linkage_name + 2;
	const char *at = strstr(module, separator);
	if (!at || strspn(module, MODULE) < (size_t)(at - module))
		return NULL;
	const char *procedure = at + strlen(separator);
	size_t length = strspn(procedure, FUNCTION);
	if (length == 0 || (procedure[length] != '\0' && procedure[length] != '.'))
		return NULL;
	return xalloc_printf("%.*s::%s", (int)(at - module), module, procedure);
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Length without the number behind the last underscore. */
static size_t without_number(const char *name)
{
	size_t length = strlen(name);
	size_t end = length;
	while (end > 0 && name[end - 1] >= '0' && name[end - 1] <= '9')
		end--;
	return end < length && end > 1 && name[end - 1] == '_' ? end - 1 : length;
}

/* Decodes the next character into *to; returns the bytes of the name used for the character. */
static size_t decode_character(const char *from, const char *end, char *to)
{
	if (end - from > 2 && from[0] == '_' && from[1] == '_') {
		*to = '.';
		return 2;
	}
	if (end - from > 2 && from[0] == '$' && hex_digit(from[1]) >= 2 &&
	    hex_digit(from[2]) >= 0) {
		*to = (char)(hex_digit(from[1]) << 4 | hex_digit(from[2]));
		return 3;
	}
	*to = *from;
	return 1;
}

char *demangle_ocaml_name(const char *linkage_name, enum demangle_form form)
{
	const char *name = linkage_name + strlen("caml");
	if (strncmp(linkage_name, "caml", strlen("caml")) != 0 || name[0] < 'A' || name[0] > 'Z' ||
	    name[strspn(name, FUNCTION "$.'")] != '\0' ||
	    (!strstr(name, "__") && !strchr(name, '.')))
		return NULL;
	const char *end = name + (form == DEMANGLE_FULL ? strlen(name) : without_number(name));
	char *text = xalloc_text_of(name, (size_t)(end - name));
	size_t length = 0;
	while (name < end)
		name += decode_character(name, end, &text[length++]);
	text[length] = '\0';
	return text;
}
