#include "tests/collector/bpf/bpf_fixture.h"

#include "tests/support/suite.h"
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

enum { NOBODY = 65534, SKIPPED = 77 };

/* For check's own tests, which take no argument. */
static const struct bpf_source *tested;

int bpf_free_descriptor(void)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	close(fd);
	return fd;
}

START_TEST(refused_to_others)
{
	int before = bpf_free_descriptor();
	if (geteuid() == 0)
		ck_assert_int_eq(setuid(NOBODY), 0);
	void *source = NULL;
	ck_assert(tested->open(&source) < 0 && errno == EPERM);
	ck_assert_ptr_null(source);
	ck_assert_int_eq(bpf_free_descriptor(), before);
}
END_TEST

START_TEST(closes_nothing)
{
	tested->close(NULL);
}
END_TEST

int bpf_run_source(const struct bpf_source *source)
{
	void *opened = NULL;
	tested = source;
	bool is_built = source->open(&opened) == 0 || errno != ENOSYS;
	source->close(opened);
	if (!is_built)
		return SKIPPED; /* built without BPF */
	Suite *suite = suite_create(source->name);
	TCase *tcase = tcase_create(source->name);

	if (geteuid() != 0)
		printf("skipped - %s: needs root\n", source->what);
	for (size_t i = 0; geteuid() == 0 && source->tests[i]; i++)
		tcase_add_test(tcase, source->tests[i]);
	tcase_add_test(tcase, refused_to_others);
	tcase_add_test(tcase, closes_nothing);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
