#include "tools/memory/xalloc.h"

#include "containers/array.h"
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Noreturn void xalloc_fail(void)
{
	fprintf(stderr,
		"%s: out of memory: the result needs more than this machine gives; "
		"narrow it with --filter or read it on a larger machine\n",
		program_invocation_short_name);
	exit(EXIT_FAILURE);
}

void *xalloc_zeroed(size_t count, size_t size)
{
	void *memory = calloc(count ? count : 1, size ? size : 1);
	if (!memory)
		xalloc_fail();
	return memory;
}

void *xalloc_resize(void *memory, size_t count, size_t size)
{
	void *grown = reallocarray(memory, count ? count : 1, size ? size : 1);
	if (!grown)
		xalloc_fail();
	return grown;
}

char *xalloc_text_of(const char *bytes, size_t length)
{
	char *copy = xalloc_zeroed(length + 1, 1);
	memcpy(copy, bytes, length);
	return copy;
}

char *xalloc_text(const char *text)
{
	return xalloc_text_of(text, strlen(text));
}

char *xalloc_printf(const char *format, ...)
{
	char *text = NULL;
	va_list arguments;
	va_start(arguments, format);
	int length = vasprintf(&text, format, arguments);
	va_end(arguments);
	if (length < 0)
		xalloc_fail();
	return text;
}

void xalloc_room(void *array, size_t *capacity, size_t count, size_t size)
{
	if (!array_reserve(array, capacity, count, size))
		xalloc_fail();
}
