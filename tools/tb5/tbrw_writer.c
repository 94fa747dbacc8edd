/* tbrw_writer: makes a tb5 file through the public TBRW API from the two data files of tbrw_reader,
 * as a collector would from its measurements. */
#include "tools/tb5/tbrw_writer.h"

#include "tools/memory/xalloc.h"
#include "tools/tb5/tb5_text.h"
#include "tools/terminal/diagnose.h"
#include "tools/text/path.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define PROGRAM "tbrw_writer"

static const char usage[] =
	"Usage: " PROGRAM " INPUT FILE.tb5\n"
	"Writes a tb5 file from INPUT, which tbrw_reader wrote, and the data file beside it.\n";

static int fail_input(const char *path, const char *why)
{
	diagnose("cannot read %s: %s; name what tbrw_reader wrote", path, why);
	return EXIT_FAILURE;
}

/* Reads one item with its payload; the caller frees the payload. `left`: bytes left in the file,
 * the limit of the payload. */
static TBRW_U32 read_item(FILE *in, uint64_t *left, struct dat_item *item, unsigned char **payload)
{
	if (*left < sizeof(*item) || fread(item, sizeof(*item), 1, in) != 1 ||
	    item->size > *left - sizeof(*item) || item->size > DAT_PAYLOAD_MAX)
		return VT_BAD_PARAMETER;
	*left -= sizeof(*item) + item->size;
	*payload = xalloc_zeroed(item->size, 1);
	if (fread(*payload, 1, item->size, in) == item->size)
		return VT_SUCCESS;
	free(*payload);
	return VT_BAD_PARAMETER;
}

static TBRW_U32 write_all(struct writer *w, FILE *in, uint64_t left)
{
	TBRW_U32 code = VT_SUCCESS;
	while (code == VT_SUCCESS && left) {
		struct dat_item item;
		unsigned char *payload;
		code = read_item(in, &left, &item, &payload);
		if (code != VT_SUCCESS)
			break;
		code = writer_put(w, &item, payload);
		free(payload);
	}
	return code;
}

/* After an error no part of a result remains. */
static int write_file(FILE *in, uint64_t left, const char *folder, const char *path)
{
	static const char advice[] = "run tbrw_reader again, and free space if there is none";
	struct writer w = {.folder = folder};
	TBRW_U32 code = tb5_text_open(&w.file, path, TBRW_FILE_WRITE | TBRW_FILE_CREATE_ALWAYS);
	if (code != VT_SUCCESS)
		return tb5_text_fail("cannot create", path, code, "name another file");
	code = write_all(&w, in, left);
	if (code == VT_SUCCESS)
		code = TBRW_close(w.file);
	if (code == VT_SUCCESS)
		return EXIT_SUCCESS;
	TBRW_abort_cleanup_and_close(w.file);
	remove(path);
	return tb5_text_fail("cannot write", path, code, advice);
}

static int write_from(const char *in_path, const char *path)
{
	char magic[sizeof(DAT_MAGIC) - 1];
	FILE *in = fopen(in_path, "rbe");
	char *folder = path_directory(in_path);
	int status = EXIT_FAILURE;
	struct stat st;
	if (!in || fstat(fileno(in), &st) != 0)
		fail_input(in_path, strerror(errno));
	else if (!S_ISREG(st.st_mode) || fread(magic, sizeof(magic), 1, in) != 1 ||
		 memcmp(magic, DAT_MAGIC, sizeof(magic)) != 0)
		fail_input(in_path, "not a data file");
	else
		status = write_file(in, (uint64_t)st.st_size - sizeof(magic), folder, path);
	free(folder);
	if (in)
		fclose(in);
	return status;
}

int main(int argc, char **argv)
{
	int status = dat_check_arguments(argc, argv, usage, PROGRAM " " TBCOLLECT_VERSION);
	if (status >= 0)
		return status;
	umask(077); /* addresses and names of programs are for the user only */
	return write_from(argv[1], argv[2]);
}
