/* tbreport and tbconvert as programs: what they print where, and their exit status. */
#include "tests/support/suite.h"
#include "tests/tools/build_result.h"
#include "tools/functions/filter.h"
#include "tools/samples/tally.h"
#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char directory[32];
static char path[64];
static char output[1 << 16];

static const struct build_sample samples[] = {{"app:main app:work", 30, 10, .thread = 0}};

static void set_up(void)
{
	build_directory(directory);
	ck_assert_int_eq(chdir(directory), 0);
	snprintf(path, sizeof(path), "%s/r000hs.tb5", directory);
}

static void tear_down(void)
{
	build_directory_remove(directory);
}

static void build(bool is_abandoned)
{
	unlink(path);
	build_result_write(path, &(struct build_result){samples, 1, .is_finalized = true,
							.is_abandoned = is_abandoned});
}

/* The words of a command line; what it prints to both streams is in output. */
static void expect(const char *command, int status, const char *text)
{
	char line[512];
	snprintf(line, sizeof(line), "{ %s; } 2>&1", command);
	FILE *pipe = popen(line, "r");
	ck_assert_ptr_nonnull(pipe);
	output[fread(output, 1, sizeof(output) - 1, pipe)] = '\0';
	int ended = pclose(pipe);
	ck_assert_msg(WIFEXITED(ended) && WEXITSTATUS(ended) == status, "%s: %x: %s", command,
		      (unsigned)ended, output);
	ck_assert_msg(strstr(output, text), "%s: %s", command, output);
}

static TBRW_U32 collect(void)
{
	struct profile_reader *reader;
	struct tally tally;
	struct filter filter = {0};
	if (profile_reader_open(path, &reader) != VT_SUCCESS)
		return VT_SUCCESS;
	TBRW_U32 code = tally_collect(reader, &filter, 0, &tally);
	if (code == VT_SUCCESS)
		tally_finish(&tally);
	profile_reader_close(reader);
	return code;
}

static void flip(int fd, off_t at)
{
	uint8_t byte;
	ck_assert_int_eq(pread(fd, &byte, 1, at), 1);
	byte ^= 0xff;
	ck_assert_int_eq(pwrite(fd, &byte, 1, at), 1);
}

/* A result that opens, and whose samples cannot be read. */
static void damage_samples(void)
{
	struct stat status;
	int fd = open(path, O_RDWR | O_CLOEXEC);
	ck_assert_int_eq(fstat(fd, &status), 0);
	for (off_t at = 0; at < status.st_size; at += 4) {
		flip(fd, at);
		if (collect() != VT_SUCCESS) {
			close(fd);
			return;
		}
		flip(fd, at);
	}
	ck_abort_msg("no byte spoils the samples");
}

START_TEST(report_of_unreadable_samples)
{
	build(false);
	damage_samples();
	expect(TBREPORT " r000hs.tb5", 1, "tbreport: cannot read the samples of r000hs.tb5: ");
	ck_assert_ptr_nonnull(strstr(output, "; use a copy of the result, or collect again\n"));
}
END_TEST

START_TEST(report_usage)
{
	build(false);
	expect(TBREPORT " --version", 0, "tbreport " VERSION "\n");
	expect(TBREPORT " --help", 0, "Usage: tbreport");
	expect(TBREPORT " --nonsense", 2, "tbreport: --nonsense");
	expect(TBREPORT " hotspot", 2, "did you mean hotspots?");
	expect(TBREPORT " hotspots nowhere", 1, "tbreport: nowhere: ");
	expect(TBREPORT " r001hs", 1, "tbreport: r001hs: ");
	expect("mkdir r000hs && cp r000hs.tb5 r000hs && " TBREPORT, 0, "CPU Time");
}
END_TEST

START_TEST(report_without_result)
{
	expect(TBREPORT, 1, "tbreport: no result: ");
	expect("echo text >r000hs.tb5; " TBREPORT " r000hs.tb5", 1,
	       "tbreport: cannot read r000hs.tb5: ");
	ck_assert_ptr_nonnull(strstr(output, "; name a result of tbcollect\n"));
}
END_TEST

/* The summary says it in its own words. */
START_TEST(report_incomplete)
{
	const char *words = "tbreport: r000hs.tb5: incomplete, the collection did not end; ";
	build(false);
	expect(TBREPORT " hotspots r000hs.tb5", 0, "work");
	ck_assert_ptr_null(strstr(output, words));
	build(true);
	expect(TBREPORT " hotspots r000hs.tb5", 0, words);
	expect(TBREPORT " r000hs.tb5", 0, "Warning: ");
	ck_assert_ptr_null(strstr(output, words));
}
END_TEST

START_TEST(report_that_cannot_be_written)
{
	build(false);
	expect(TBREPORT " r000hs.tb5 -o nowhere/text", 1,
	       "tbreport: cannot write nowhere/text: No such file or directory; choose another "
	       "place with -o\n");
	expect(TBREPORT " r000hs.tb5 >/dev/full", 1,
	       "tbreport: cannot write standard output: No space left on device; make room or ");
	expect(TBREPORT " r000hs.tb5 -o text && cat text", 0, "CPU Time");
}
END_TEST

/* The output fits a terminal of 80 x 24. */
static void expect_screen(void)
{
	unsigned lines = 0;
	for (const char *at = output, *end; (end = strchr(at, '\n')); at = end + 1) {
		ck_assert_msg(end - at <= 80, "%.*s", (int)(end - at), at);
		lines++;
	}
	ck_assert_msg(lines < 24, "%u lines", lines);
}

START_TEST(convert_usage)
{
	build(false);
	expect(TBCONVERT " --version", 0, "tbconvert " VERSION "\n");
	expect(TBCONVERT " --help", 0, "  tbconvert recover [-o FILE] [RESULT]\n");
	expect(TBCONVERT " finalize -h", 0, "Usage: tbconvert finalize [--debug-dir DIR] ");
	ck_assert_ptr_null(strstr(output, "recover"));
	expect(TBCONVERT " export --help", 0, "Formats:\n  folded ");
	expect_screen();
	expect(TBCONVERT " --help", 0, "export");
	expect_screen();
	expect(TBCONVERT, 2, "tbconvert: no command; see tbconvert --help\n");
	expect(TBCONVERT " finalise", 2,
	       "tbconvert: finalise: no such command; did you mean finalize?");
	expect(TBCONVERT " finalize --nonsense", 2, "tbconvert: --nonsense: no such option; see");
	expect(TBCONVERT " finalize --debug-dir", 2, "--debug-dir: its value is missing; see");
	expect(TBCONVERT " recover -x", 2, "tbconvert: -x: no such option");
	expect(TBCONVERT " finalize --quiet=1", 2, "tbconvert: --quiet=1: it takes no value");
	expect(TBREPORT " --help=1", 2, "tbreport: --help=1: it takes no value");
	expect(TBREPORT " -x", 2, "tbreport: -x: no such option");
	expect(TBCONVERT " export --nonsense", 2, "tbconvert: --nonsense: no such option");
	expect(TBCONVERT " export r000hs.tb5", 2,
	       "tbconvert: export: no format; name one with --to");
	expect(TBCONVERT " export --to none", 2,
	       "tbconvert: --to none: no such format; use folded");
	expect(TBCONVERT " export --to 2 --from 2", 2,
	       "tbconvert: --from 2: no time is left; the end must lie behind the beginning\n");
	expect(TBCONVERT " export --from now", 2, "tbconvert: --from now: not a time since the ");
	expect(TBCONVERT " export --filter name=x", 2, "tbconvert: --filter name=x: no such key; ");
	expect(TBCONVERT " export --inline yes", 2,
	       "tbconvert: --inline yes: no such choice; use off or on\n");
	expect(TBCONVERT " export --weight us", 2,
	       "tbconvert: --weight us: no such weight; use samples, cpu, wall or wait\n");
	expect(TBCONVERT " recover a b", 2,
	       "tbconvert: b: one argument too many; name one result\n");
	expect(TBCONVERT " import", 2, "tbconvert: import: no file; name one file, see tbconvert");
	expect(TBCONVERT " import a b", 2, "tbconvert: import: more than one file; name one file");
	expect(TBCONVERT " import --help", 0, "Usage: tbconvert import [-r DIR] ");
	expect_screen();
	expect(TBCONVERT " import nosuch x.csv", 1, "tbconvert: nosuch: no such file or directory");
	expect(TBCONVERT " import --event a nosuch x.csv", 2,
	       "tbconvert: import: --event is not for external data in RESULT CSV...; see ");
	expect(TBCONVERT " import --no-collapse / x.csv", 2,
	       "tbconvert: import: --no-collapse is not for external data in RESULT CSV...; see ");
	expect(TBCONVERT " import nowhere", 1,
	       "tbconvert: cannot import nowhere: No such file or directory; name a file of ");
	expect(TBCONVERT " import /", 1, "tbconvert: cannot import /: it is a directory; ");
	expect(TBCONVERT " import /dev/null", 1,
	       "tbconvert: cannot import /dev/null: it is no regular file; ");
	expect(TBCONVERT " import " TBCONVERT, 1, ": its format is not known; name a file of ");
	expect(TBCONVERT " recover nowhere", 1, "tbconvert: nowhere: ");
}
END_TEST

START_TEST(export_results)
{
	build(false);
	expect(TBCONVERT " export --to folded r000hs.tb5", 0, "app;main;work 30\n");
	ck_assert_ptr_null(strstr(output, "tbconvert: "));
	expect(TBCONVERT " export --to folded -o text r000hs.tb5 && cat text", 0, "main;work");
	expect(TBCONVERT " export --to folded --threads -o - r000hs.tb5", 0, "main;work");
	ck_assert_ptr_nonnull(strstr(output, "100"));
	expect(TBCONVERT " export --to folded --weight cpu r000hs.tb5", 0,
	       "app;main;work 300000\n");
	expect(TBCONVERT " export --to folded --from 20ms --to 50ms r000hs.tb5", 0,
	       "app;main;work 3\n");
	expect(TBCONVERT " export --to folded --from 1s r000hs.tb5 | wc -c", 0, "0\n");
	expect(TBCONVERT " export --to folded --filter function=main r000hs.tb5 | wc -c", 0, "0\n");
	expect(TBCONVERT " export --to folded --filter function=work r000hs.tb5", 0, "work 30\n");
	expect(TBCONVERT " export --to folded -o nowhere/text r000hs.tb5", 1,
	       "tbconvert: cannot write nowhere/text: No such file or directory; choose another");
	expect(TBCONVERT " export --to folded r000hs.tb5 >/dev/full", 1,
	       "tbconvert: cannot write standard output: No space left on device; make room or ");
	build(true);
	expect(TBCONVERT " export --to folded r000hs.tb5", 0,
	       "tbconvert: r000hs.tb5: incomplete, the collection did not end; exporting ");
	expect("echo text >r000hs.tb5; " TBCONVERT " export --to folded r000hs.tb5", 1,
	       "tbconvert: cannot read r000hs.tb5: ");
}
END_TEST

/* What was in the file that was to be replaced stays. */
START_TEST(export_of_unreadable_samples)
{
	build(false);
	damage_samples();
	expect("echo before >text; " TBCONVERT " export --to folded -o text r000hs.tb5", 1,
	       "tbconvert: cannot read the samples of r000hs.tb5: ");
	expect("cat text; ls", 0, "before\nr000hs.tb5\ntext\n");
}
END_TEST

START_TEST(recover_results)
{
	build(false);
	expect(TBCONVERT " recover r000hs.tb5", 1,
	       "tbconvert: r000hs.tb5: complete already; nothing to recover\n");
	/* A damaged chunk: what is before it is saved, what is lost counted, the file kept. */
	expect("cp r000hs.tb5 bad.tb5; printf '\\377\\377' | dd of=bad.tb5 bs=1 conv=notrunc "
	       "status=none seek=$(($(stat -c %s bad.tb5) / 2)); cp bad.tb5 as-it-was",
	       0, "");
	expect(TBREPORT " summary bad.tb5 >text 2>&1", 1, "");
	expect(TBCONVERT " recover bad.tb5", 0,
	       "tbconvert: bad.tb5 is damaged (kept as *.damaged): the last ");
	expect("cmp bad.tb5.damaged as-it-was; ls", 0,
	       "as-it-was\nbad.tb5\nbad.tb5.damaged\nr000hs.tb5\ntext\n");
	expect(TBREPORT " summary bad.tb5 | grep -c 'file that was damaged'", 0, "1\n");
	expect(TBCONVERT " recover -o good.tb5 as-it-was", 0,
	       "tbconvert: as-it-was is damaged: the last ");
	expect("cmp good.tb5 bad.tb5; rm as-it-was bad.tb5* good.tb5 text", 0, "");
	expect("echo no >no.tb5; " TBCONVERT " recover no.tb5", 1,
	       "tbconvert: cannot recover no.tb5: ");
	ck_assert_ptr_nonnull(strstr(output, "; nothing in it can be recovered\n"));
	build(true);
	expect(TBREPORT " summary r000hs.tb5", 0, "");
	ck_assert_ptr_nonnull(
		strstr(output,
		       "; run: tbconvert recover RESULT, then tbconvert finalize RESULT\n"));
	expect(TBCONVERT " recover -o . r000hs.tb5", 1, "tbconvert: cannot replace .: ");
	expect(TBCONVERT " recover -o nowhere/a.tb5 r000hs.tb5", 1,
	       "tbconvert: cannot write nowhere/a.tb5: No such file or directory; name another ");
	expect(TBCONVERT " recover -o whole.tb5 r000hs.tb5 && ls -A", 0, "r000hs.tb5\nwhole.tb5\n");
	expect(TBREPORT " hotspots whole.tb5", 0, "func@0x1024");
	ck_assert_ptr_null(strstr(output, "incomplete"));
	expect(TBREPORT " hotspots r000hs.tb5", 0, "incomplete");
	expect(TBCONVERT " recover r000hs.tb5", 0, "");
	expect(TBREPORT " hotspots r000hs.tb5", 0, "func@0x1024");
	ck_assert_ptr_null(strstr(output, "incomplete"));
	expect("echo text >r000hs.tb5; " TBCONVERT " recover r000hs.tb5", 1,
	       "tbconvert: cannot recover r000hs.tb5: ");
}
END_TEST

START_TEST(finalize_results)
{
	build(false);
	expect(TBCONVERT " finalize r000hs.tb5", 0,
	       "tbconvert: no symbols from 1 file: /opt/app/app (not readable); ");
	expect(TBCONVERT " finalize -q r000hs.tb5", 0, "");
	ck_assert_str_eq(output, "");
	build(true);
	expect(TBCONVERT " finalize -q r000hs.tb5", 1,
	       "tbconvert: cannot add symbols to r000hs.tb5: ");
	ck_assert_ptr_nonnull(strstr(output, "; run tbconvert recover first\n"));
	expect("echo text >r000hs.tb5; " TBCONVERT " finalize r000hs.tb5", 1,
	       "tbconvert: cannot read r000hs.tb5: ");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("programs");
	TCase *tcase = tcase_create("programs");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, report_usage);
	tcase_add_test(tcase, report_without_result);
	tcase_add_test(tcase, report_incomplete);
	tcase_add_test(tcase, report_that_cannot_be_written);
	tcase_add_test(tcase, report_of_unreadable_samples);
	tcase_add_test(tcase, convert_usage);
	tcase_add_test(tcase, export_results);
	tcase_add_test(tcase, export_of_unreadable_samples);
	tcase_add_test(tcase, recover_results);
	tcase_add_test(tcase, finalize_results);
	tcase_set_timeout(tcase, 60);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
