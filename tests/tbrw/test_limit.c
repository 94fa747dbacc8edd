/* The limit of file sizes (RLIMIT_FSIZE), without ignoring SIGXFSZ. */
#include "tests/tbrw/support.h"
#include <sys/resource.h>
#include <sys/stat.h>

/* No room is kept beyond the limit; on some file systems asking for it ends the process. */
START_TEST(room_ends_at_the_limit)
{
	struct rlimit limit = {100001, RLIM_INFINITY};
	TBRW_U32 code = VT_SUCCESS;
	struct stat st = {0};
	TBRW_PTR ptr = open_file("a.tb5", CREATE);

	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	begin_samples(ptr);
	/* Each check is written to a file, too. */
	for (uint64_t i = 0; code == VT_SUCCESS && i * sizeof(struct sample) < 80000; i++) {
		struct sample s = sample_of(1, 1, 0x1000, i);

		code = TBRW_add_data(ptr, 0, sizeof(s), &s);
	}
	OK(code);
	ck_assert_int_eq(stat(path_of("a.tb5"), &st), 0);
	ck_assert_int_le(st.st_blocks * 512, 100001 + 8192);
	OK(TBRW_abort_cleanup_and_close(ptr));
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {room_ends_at_the_limit};

	return run_suite(suite_of("limit", tests, 1));
}
