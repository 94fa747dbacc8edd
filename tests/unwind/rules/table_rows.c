/*
 * A module's table against the interpreter it is made with: at the first and the last address of
 * every row, on both sides of every FDE, or, with --each, at every address.
 * Usage: table_rows [--each] FILE_OR_FOLDER...
 */
#include "tests/unwind/rules/table_check.h"
#include "unwind/cfi/row.h"
#include "unwind/rules/quick.h"
#include "unwind/rules/table.h"
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SHOWN = 10, FOLDERS_OPEN = 16, EACH_MAX = 1024 * 1024 };

static struct {
	struct uw_module *module;
	const struct uw_table *table;
	struct uw_quick_row *rows;
	size_t room;
	const char *path;
	bool each;
	size_t files, addresses, asked, differences, bytes;
	size_t frame_bytes;
} run;

static void differ(uint64_t rva, const char *what)
{
	if (run.differences++ < SHOWN)
		fprintf(stderr, "%s: %#" PRIx64 ": %s\n", run.path, rva, what);
}

static size_t rows_of(const struct uw_fde *fde)
{
	size_t room = uw_reader_left(&fde->code) + 1;

	if (room > run.room) {
		run.rows = reallocarray(run.rows, room, sizeof(*run.rows));
		run.room = room;
		if (!run.rows)
			abort();
	}
	return uw_cfi_quick_rows(fde, NULL, run.rows, room);
}

static void compare(uint64_t rva)
{
	struct table_check check = table_check(&run.module->cfi, run.table, rva);

	run.addresses++;
	run.asked += !check.has;
	if (check.wrong)
		differ(rva, check.wrong);
}

static void compare_fde(const struct uw_fde *fde)
{
	size_t count = rows_of(fde);

	compare(fde->start - 1);
	compare(fde->start);
	compare(fde->end - 1);
	compare(fde->end);
	if (run.each && fde->end - fde->start <= EACH_MAX) {
		for (uint64_t rva = fde->start; rva < fde->end; rva++)
			compare(rva);
		return;
	}
	for (size_t i = 1; i < count; i++) {
		uint64_t rva = fde->start + run.rows[i].offset;

		compare(rva - 1);
		compare(rva);
	}
}

static void compare_module(void)
{
	const struct uw_cfi *cfi = &run.module->cfi;

	if (uw_module_build_table(run.module) < 0) {
		if (errno != ENOTSUP)
			differ(0, strerror(errno));
		return;
	}
	run.table = atomic_load(&run.module->table);
	run.files++;
	run.bytes += uw_module_table_bytes(run.module);
	run.frame_bytes += cfi->frame.size;
	for (size_t i = 0; i < uw_cfi_count(cfi); i++) {
		struct uw_fde fde;

		if (uw_cfi_entry_read(cfi, i, NULL, &fde))
			compare_fde(&fde);
		else
			compare(uw_cfi_entry_start(cfi, i));
	}
}

static int visit(const char *path, const struct stat *status, int type, struct FTW *ftw)
{
	(void)ftw;
	if (type != FTW_F || !S_ISREG(status->st_mode))
		return 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && uw_module_open(fd, &run.module) == 0) {
		run.path = path;
		uw_module_load(run.module);
		compare_module();
		uw_module_unref(run.module);
	}
	if (fd >= 0)
		close(fd);
	return 0;
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--each") == 0) {
			run.each = true;
			continue;
		}
		char *real = realpath(argv[i], NULL);
		if (real)
			nftw(real, visit, FOLDERS_OPEN, FTW_PHYS);
		free(real);
	}
	free(run.rows);
	printf("%zu files, %zu addresses, %zu of them left to the interpreter, %zu differences; "
	       "%zu bytes of tables for %zu of call frame information\n",
	       run.files, run.addresses, run.asked, run.differences, run.bytes, run.frame_bytes);
	return run.files == 0 || run.differences > 0;
}
