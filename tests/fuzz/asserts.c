/* The assertions of libcheck outside of its tests: one that fails aborts. Linked with
 * --wrap=_mark_point and --wrap=_ck_assert_failed. */
#include <stdio.h>
#include <stdlib.h>

void __wrap__mark_point(const char *file, int line);
_Noreturn void __wrap__ck_assert_failed(const char *file, int line, const char *expression,
					const char *text, ...);

void __wrap__mark_point(const char *file, int line)
{
	(void)file;
	(void)line;
}

_Noreturn void __wrap__ck_assert_failed(const char *file, int line, const char *expression,
					const char *text, ...)
{
	(void)text;
	fprintf(stderr, "%s:%d: %s\n", file, line, expression);
	abort();
}
