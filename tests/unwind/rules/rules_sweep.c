/*
 * The rules of functions that are decoded as a whole against the interpreter: at the first and the
 * last address of every row, on both sides of every FDE, or, with --each, at every address.
 * Usage: rules_sweep [--each] FILE_OR_FOLDER...
 */
#include "tests/unwind/rules/rules_check.h"
#include "unwind/rules/quick.h"
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	SHOWN = 10,
	FOLDERS_OPEN = 16,
	EACH_MAX = 1024 * 1024,
	KNOWN_MIN = 95 /* percent of what the common form can say */
};

static struct {
	struct uw_module *module;
	struct uw_rule_cache *cache;
	struct uw_rules_row *rows;
	size_t room;
	const char *path;
	bool each;
	size_t files, addresses, common, known, differences;
} run;

static size_t rows_of(const struct uw_fde *fde)
{
	size_t room = uw_cursor_left(&fde->code) + 1;
	if (room > run.room) {
		run.rows = reallocarray(run.rows, room, sizeof(*run.rows));
		run.room = room;
		if (!run.rows)
			abort();
	}
	return uw_quick_rows(fde, run.rows, room);
}

static void compare(uint64_t rva)
{
	struct rules_check check = rules_check(run.cache, run.module, rva);
	run.addresses++;
	run.common += check.is_common;
	run.known += check.has;
	if (check.wrong && run.differences++ < SHOWN)
		fprintf(stderr, "%s: %#" PRIx64 ": %s\n", run.path, rva, check.wrong);
}

static void compare_fde(const struct uw_fde *fde)
{
	compare(fde->start - 1);
	compare(fde->start);
	compare(fde->end - 1);
	compare(fde->end);
	if (run.each && fde->end - fde->start <= EACH_MAX) {
		for (uint64_t rva = fde->start; rva < fde->end; rva++)
			compare(rva);
		return;
	}
	size_t count = rows_of(fde);
	for (size_t i = 1; i < count; i++) {
		uint64_t rva = fde->start + run.rows[i].offset;
		compare(rva - 1);
		compare(rva);
	}
}

static void compare_module(void)
{
	const struct uw_cfi *cfi = &run.module->cfi;
	if (!uw_machine_pushes(uw_machine_of(run.module->elf.arch)) || cfi->frame.size == 0)
		return;
	run.files++;
	for (size_t i = 0; i < uw_cfi_count(cfi); i++) {
		struct uw_fde fde;
		if (uw_cfi_entry_read(cfi, i, &fde))
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
	run.cache = uw_rule_cache_create();
	if (!run.cache)
		abort();
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
	uw_rule_cache_unref(run.cache);
	free(run.rows);
	printf("%zu files, %zu addresses: of %zu with rules of the common form %zu are known, "
	       "%zu differences\n",
	       run.files, run.addresses, run.common, run.known, run.differences);
	return run.files == 0 || run.differences > 0 || run.known * 100 < run.common * KNOWN_MIN;
}
