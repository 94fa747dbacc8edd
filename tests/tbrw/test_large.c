/* More sample records than memory holds: written, read back, bound and seen with their results, in
 * less than 256 MB of resident memory. Usage: test_large FOLDER [MILLIONS] */
#include "tbrw/tbrw.h"
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include <wchar.h>

#define MODULES      1000u
#define MODULE_SPACE 0x10000u
#define RSS_LIMIT_KB (256L << 10)

struct sample {
	TBRW_SampleRecordPC pc;
	TBRW_SampleRecordTSC tsc;
};

static void must(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "test_large: %s\n", what);
	exit(EXIT_FAILURE);
}

#define OK(call) must((call) == VT_SUCCESS, #call)

static struct sample sample_at(uint64_t i)
{
	struct sample s;

	memset(&s, 0, sizeof(s));
	s.pc.iip = i * 7919 % (MODULES * (uint64_t)MODULE_SPACE);
	s.pc.IA64PC = 1;
	s.pc.pidRecIndex = 1;
	s.pc.pidRecIndexRaw = 1;
	s.pc.tid = 1 + (TBRW_U32)(i % 8);
	s.pc.tidIsRaw = 1;
	s.tsc.tsc = 1 + i;
	return s;
}

static void write_modules(TBRW_PTR ptr)
{
	OK(TBRW_writing_section(ptr, TBRW_MODULE_SECTION));
	for (uint32_t i = 0; i < MODULES; i++) {
		TBRW_MODULE m = {.module_size = sizeof(m),
				 .module_associated_pid = 1,
				 .module_flags = TBRW_MODULE_LOADED | TBRW_MODULE_TSC_USED,
				 .module_length = MODULE_SPACE,
				 .module_load_address = (uint64_t)i * MODULE_SPACE,
				 .module_unload_tsc = UINT64_MAX};

		OK(TBRW_add_module(ptr, &m));
	}
	OK(TBRW_done_section(ptr, TBRW_MODULE_SECTION));
}

static void write_file(const wchar_t *path, uint64_t count)
{
	TBRW_STREAM_INFO info = {.stream_info_size = sizeof(info),
				 .stream_type = TBRW_SAMPLING_STREAM};
	TBRW_SAMPREC_DESC_ENTRY pc = {.desc_size = sizeof(pc)}, tsc = pc;
	TBRW_PTR ptr;

	pc.desc_type = ST_LEGACY_SAMPLE_RECORD;
	pc.desc_data_size = sizeof(TBRW_SampleRecordPC);
	tsc.desc_type = ST_TIMESTAMP;
	tsc.desc_subtype = SST_TSC;
	tsc.desc_data_size = sizeof(TBRW_SampleRecordTSC);
	OK(TBRW_open(&ptr, path, TBRW_FILE_WRITE | TBRW_FILE_CREATE_ALWAYS));
	write_modules(ptr);
	OK(TBRW_writing_stream(ptr, 0));
	OK(TBRW_writing_stream_section(ptr, 0, TBRW_STREAM_INFO_SECTION));
	OK(TBRW_set_stream_info(ptr, 0, &info));
	OK(TBRW_done_stream_section(ptr, 0, TBRW_STREAM_INFO_SECTION));
	OK(TBRW_writing_stream_section(ptr, 0, TBRW_DATA_DESCRIPTION_SECTION));
	OK(TBRW_add_data_descriptor_entry(ptr, 0, &pc));
	OK(TBRW_add_data_descriptor_entry(ptr, 0, &tsc));
	OK(TBRW_done_stream_section(ptr, 0, TBRW_DATA_DESCRIPTION_SECTION));
	OK(TBRW_writing_stream_section(ptr, 0, TBRW_DATA_SECTION));
	for (uint64_t i = 0; i < count; i++) {
		struct sample s = sample_at(i);

		OK(TBRW_add_data(ptr, 0, sizeof(s), &s));
	}
	OK(TBRW_done_stream_section(ptr, 0, TBRW_DATA_SECTION));
	OK(TBRW_done_stream(ptr, 0));
	OK(TBRW_close(ptr));
}

static TBRW_U32 see(void *data, TBRW_U32 size, TBRW_U32 count, void *user)
{
	const struct sample *samples = data;
	uint64_t *seen = user;

	(void)size;
	for (TBRW_U32 i = 0; i < count; i++, ++*seen)
		must(samples[i].tsc.tsc == 1 + *seen, "a sample is not the one that was written");
	return TRUE;
}

static TBRW_U32 see_bound(const void *data, TBRW_U32 size, TBRW_U64 count,
			  const DATA_BIND_STRUCT *table, TBRW_U32 table_size, void *user)
{
	const struct sample *samples = data;
	uint64_t *seen = user;

	(void)size;
	(void)table_size;
	for (TBRW_U64 i = 0; i < count; i++, ++*seen) {
		must(samples[i].tsc.tsc == 1 + *seen, "a bound sample is not the one written");
		must(table[i].module_index == samples[i].pc.iip / MODULE_SPACE, "another module");
		must(table[i].pid_index == 0 && table[i].tid_index < 8, "another thread");
	}
	return TRUE;
}

static void read_file(const wchar_t *path, uint64_t count)
{
	uint64_t seen = 0, bound = 0;
	TBRW_PTR ptr;

	OK(TBRW_open(&ptr, path, TBRW_FILE_READ | TBRW_FILE_WRITE));
	OK(TBRW_dobind(ptr, 0));
	OK(TBRW_close(ptr));
	OK(TBRW_open(&ptr, path, TBRW_FILE_READ));
	OK(TBRW_reading_stream(ptr, 0));
	OK(TBRW_reading_stream_section(ptr, 0, TBRW_DATA_SECTION));
	OK(TBRW_enumerate_data(ptr, 0, see, &seen, 0));
	OK(TBRW_bind_enumerate_data(ptr, 0, see_bound, &bound, 0));
	OK(TBRW_abort_cleanup_and_close(ptr));
	must(seen == count && bound == count, "samples are missing");
}

int main(int argc, char **argv)
{
	uint64_t millions = argc > 2 ? strtoull(argv[2], NULL, 10) : 200;
	TBRW_U32 size = 512;
	wchar_t wide[512];
	struct rusage usage;
	char path[512];

	must(argc > 1 && millions, "usage: test_large FOLDER [MILLIONS]");
	snprintf(path, sizeof(path), "%s/large.tb5", argv[1]);
	OK(TBRW_convert_utf8_to_wcs(path, wide, &size));
	write_file(wide, millions * 1000000);
	read_file(wide, millions * 1000000);
	unlink(path);
	getrusage(RUSAGE_SELF, &usage);
	printf("%llu million samples, %ld KB resident at most\n", (unsigned long long)millions,
	       usage.ru_maxrss);
	must(usage.ru_maxrss < RSS_LIMIT_KB, "too much memory");
	return EXIT_SUCCESS;
}
