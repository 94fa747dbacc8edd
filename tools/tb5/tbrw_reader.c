/* tbrw_reader: reads a tb5 file through the public TBRW API into two data files; tbrw_writer makes
 * a tb5 file of these again. */
#include "tools/tb5/tbrw_reader.h"

#include "tools/cli/output.h"
#include "tools/memory/xalloc.h"
#include "tools/tb5/tb5_text.h"
#include "tools/terminal/diagnose.h"
#include "tools/text/path.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define PROGRAM "tbrw_reader"

static const char usage[] = "Usage: " PROGRAM " FILE.tb5 OUTPUT\n"
			    "Reads an unbound tb5 file into two data files for tbrw_writer: OUTPUT "
			    "gets every section,\n"
			    "and FILE.tb5.dat, in the same folder as OUTPUT, the sampling data.\n";

static TBRW_U32 read_stream(struct reader *r, TBRW_U32 stream)
{
	TBRW_U32 code = TBRW_reading_stream(r->walk.file, stream);
	/* Unbinding removes streams; their numbers stay unused. */
	if (code != VT_SUCCESS)
		return code == VT_STREAM_NOT_EXIST ? VT_SUCCESS : code;
	reader_put(r, DAT_STREAM, NULL, 0);
	code = reader_sections(r, stream);
	if (code == VT_SUCCESS)
		code = TBRW_done_stream(r->walk.file, stream);
	reader_put(r, DAT_STREAM_DONE, NULL, 0);
	r->stream_out++;
	return code;
}

static TBRW_U32 read_all(struct reader *r)
{
	TBRW_U32 streams = 0;
	fwrite(DAT_MAGIC, 1, sizeof(DAT_MAGIC) - 1, r->out);
	r->stream_out = DAT_NO_STREAM;
	TBRW_U32 code = reader_sections(r, DAT_NO_STREAM);
	if (code == VT_SUCCESS)
		code = TBRW_get_number_data_streams(r->walk.file, &streams);
	r->stream_out = 0;
	for (TBRW_U32 n = 0; code == VT_SUCCESS && n < streams; n++)
		code = read_stream(r, n);
	return code;
}

/* Only a complete file without bind results can be written again unchanged. */
static int check_file(TBRW_PTR file, const char *path)
{
	TBRW_U32 bound = 0;
	TBRW_U32 streams = 0;
	TBRW_U32 code = TBRW_verify(file);
	if (code == VT_SUCCESS)
		code = TBRW_get_number_data_streams(file, &streams);
	if (code == VT_SUCCESS && streams)
		code = TBRW_is_bound(file, 0, &bound);
	if (code != VT_SUCCESS)
		return tb5_text_fail("cannot read", path, code,
				     "recover what is left with tbconvert recover");
	if (bound) {
		diagnose("%s is bound; name a file that is not", path);
		return EXIT_FAILURE;
	}
	return EXIT_SUCCESS;
}

static int fail_write(const char *path, int error)
{
	diagnose("cannot write %s: %s; free space and run again", path, strerror(error));
	return EXIT_FAILURE;
}

static int open_output(struct output *output, const char *path)
{
	int error = output_open(output, path);
	if (!error)
		return EXIT_SUCCESS;
	diagnose("cannot create %s: %s; name another output", path, strerror(error));
	return EXIT_FAILURE;
}

/* Both files or none: buffered bytes may fail to be written only now. */
static int finish_outputs(struct output *out, const char *out_path, struct output *data,
			  const char *data_path)
{
	if (fflush(out->stream) == EOF || out->error) {
		int error = out->error;
		output_abandon(out);
		output_abandon(data);
		return fail_write(out_path, error);
	}
	int error = output_finish(data);
	if (error) {
		output_abandon(out);
		return fail_write(data_path, error);
	}
	error = output_finish(out);
	return error ? fail_write(out_path, error) : EXIT_SUCCESS;
}

static int read_into(TBRW_PTR file, const char *path, const char *out_path, const char *data_path)
{
	struct output out;
	struct output data;
	if (open_output(&out, out_path) != EXIT_SUCCESS)
		return EXIT_FAILURE;
	if (open_output(&data, data_path) != EXIT_SUCCESS) {
		output_abandon(&out);
		return EXIT_FAILURE;
	}
	struct reader r = {.walk = {.file = file},
			   .out = out.stream,
			   .data = data.stream,
			   .data_name = path_base_name(data_path)};
	TBRW_U32 code = read_all(&r);
	if (code == VT_SUCCESS || out.error || data.error)
		return finish_outputs(&out, out_path, &data, data_path);
	output_abandon(&out);
	output_abandon(&data);
	return tb5_text_fail("cannot read", path, code, "collect or recover it again");
}

/* The second file's path: the tb5 file's name with a suffix, in the folder of the first. The caller
 * frees the path. */
static char *data_path_of(const char *tb5_path, const char *out_path)
{
	char *folder = path_directory(out_path);
	char *path = xalloc_printf("%s/%s" DAT_DATA_SUFFIX, folder, path_base_name(tb5_path));
	free(folder);
	return path;
}

int main(int argc, char **argv)
{
	TBRW_PTR file;
	int status = dat_check_arguments(argc, argv, usage, PROGRAM " " TBCOLLECT_VERSION);
	if (status >= 0)
		return status;
	umask(077); /* addresses and names of programs are for the user only */
	TBRW_U32 code = tb5_text_open(&file, argv[1], TBRW_FILE_READ);
	if (code != VT_SUCCESS)
		return tb5_text_fail("cannot open", argv[1], code, "name a tb5 file");
	char *data_path = data_path_of(argv[1], argv[2]);
	status = check_file(file, argv[1]);
	if (status == EXIT_SUCCESS)
		status = read_into(file, argv[1], argv[2], data_path);
	free(data_path);
	TBRW_abort_cleanup_and_close(file);
	return status;
}
