#include "tests/tbrw/support.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[256];

void folder_setup(void)
{
	const char *root = getenv("TBRW_TEST_KEEP");

	/* Kept files are linked, which works within one file system. */
	snprintf(folder, sizeof(folder), "%s/tbrw-test-XXXXXX", root ? root : "/tmp");
	ck_assert_ptr_nonnull(mkdtemp(folder));
}

void folder_use(const char *path)
{
	snprintf(folder, sizeof(folder), "%s", path);
}

/* With TBRW_TEST_KEEP set to a folder, the tb5 files that a test wrote are kept there. */
static void keep_file(const char *name)
{
	const char *kept = getenv("TBRW_TEST_KEEP");
	const char *suffix = strrchr(name, '.');
	char path[512];

	if (!kept || !suffix || strcmp(suffix, ".tb5") != 0)
		return;
	snprintf(path, sizeof(path), "%s/%s-%s", kept, strrchr(folder, '/') + 1, name);
	ck_assert_int_eq(link(path_of(name), path), 0);
}

void folder_teardown(void)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] != '.') {
			keep_file(entry->d_name);
			unlink(path_of(entry->d_name));
		}
	if (dir)
		closedir(dir);
	rmdir(folder);
}

const char *path_of(const char *name)
{
	static char paths[4][640];
	static unsigned next;
	char *path = paths[next++ % 4];

	snprintf(path, sizeof(paths[0]), "%s/%s", folder, name);
	return path;
}

TBRW_CHAR *wide_path_of(const char *name)
{
	static wchar_t paths[4][640];
	static unsigned next;
	wchar_t *path = paths[next++ % 4];
	TBRW_U32 size = 640;

	OK(TBRW_convert_utf8_to_wcs(path_of(name), path, &size));
	return path;
}

Suite *suite_of(const char *name, const TTest *const *tests, size_t count)
{
	Suite *suite = suite_create(name);
	TCase *tcase = tcase_create(name);

	tcase_set_timeout(tcase, 240);
	tcase_add_checked_fixture(tcase, folder_setup, folder_teardown);
	for (size_t i = 0; i < count; i++)
		tcase_add_test(tcase, tests[i]);
	suite_add_tcase(suite, tcase);
	return suite;
}

TBRW_PTR open_file(const char *name, TBRW_U32 mode)
{
	TBRW_PTR ptr = NULL;

	OK(TBRW_open(&ptr, wide_path_of(name), mode));
	ck_assert_ptr_nonnull(ptr);
	return ptr;
}

TBRW_STRING_OR_ID string_of(const wchar_t *text)
{
	TBRW_STRING_OR_ID given;

	given.soi_ptr = (TBRW_CHAR *)(uintptr_t)text;
	return given;
}

const wchar_t *text_of(TBRW_PTR ptr, TBRW_STRING_OR_ID id)
{
	static wchar_t text[512];

	if (!id.soi_uniqueid)
		return L"";
	OK(TBRW_convert_uniqueid_to_string(ptr, sizeof(text), &id, text, NULL));
	return text;
}

struct sample sample_of(uint32_t pid, uint32_t tid, uint64_t ip, uint64_t tsc)
{
	struct sample s;

	memset(&s, 0, sizeof(s));
	s.pc.iip = ip;
	s.pc.IA64PC = 1;
	s.pc.cs = 0x33;
	s.pc.pidRecIndex = pid;
	s.pc.pidRecIndexRaw = 1;
	s.pc.tid = tid;
	s.pc.tidIsRaw = 1;
	s.tsc.tsc = tsc;
	return s;
}

TBRW_STREAM_INFO stream_info_of(TBRW_U32 type, const wchar_t *comment)
{
	TBRW_STREAM_INFO info;

	memset(&info, 0, sizeof(info));
	info.stream_info_size = sizeof(info);
	info.stream_type = type;
	info.comment = string_of(comment);
	return info;
}

TBRW_SAMPREC_DESC_ENTRY descriptor_of(TBRW_U16 type, TBRW_U16 subtype, TBRW_U32 offset,
				      TBRW_U32 size, const wchar_t *name)
{
	TBRW_SAMPREC_DESC_ENTRY d;

	memset(&d, 0, sizeof(d));
	d.desc_size = sizeof(d);
	d.desc_type = type;
	d.desc_subtype = subtype;
	d.desc_offset = offset;
	d.desc_data_size = size;
	d.desc_name = string_of(name);
	return d;
}

TBRW_MODULE module_of(uint32_t pid, uint64_t address, uint64_t length, uint64_t load,
		      const wchar_t *path)
{
	TBRW_MODULE m;

	memset(&m, 0, sizeof(m));
	m.module_size = sizeof(m);
	m.module_associated_pid = pid;
	m.module_flags = TBRW_MODULE_LOADED | TBRW_MODULE_TSC_USED;
	m.module_event_when = load;
	m.module_segment_type = TBRW_MODE_64BIT;
	m.module_code_selector = 0x33;
	m.module_length = length;
	m.module_load_address = address;
	m.module_unload_tsc = UINT64_MAX;
	m.module_path = string_of(path);
	m.module_name = string_of(path);
	return m;
}

TBRW_PID process_of(uint32_t pid, uint32_t flags, uint64_t when, const wchar_t *name)
{
	TBRW_PID p;

	memset(&p, 0, sizeof(p));
	p.pid_size = sizeof(p);
	p.pid_id = pid;
	p.pid_flags = flags | TBRW_PID_TSC_USED;
	p.pid_event_when = when;
	p.pid_name = string_of(name);
	return p;
}

TBRW_TID thread_of(uint32_t pid, uint32_t tid, uint32_t flags, uint64_t when, const wchar_t *name)
{
	TBRW_TID t;

	memset(&t, 0, sizeof(t));
	t.tid_size = sizeof(t);
	t.tid_associated_pid = pid;
	t.tid_id = tid;
	t.tid_flags = flags | TBRW_TID_TSC_USED;
	t.tid_event_when = when;
	t.tid_name = string_of(name);
	return t;
}

void begin_samples(TBRW_PTR ptr)
{
	TBRW_STREAM_INFO info = stream_info_of(TBRW_SAMPLING_STREAM, L"samples");
	TBRW_SAMPREC_DESC_ENTRY pc = descriptor_of(ST_LEGACY_SAMPLE_RECORD, SST_NONE, 0,
						   sizeof(TBRW_SampleRecordPC), L"SampleRecord");
	TBRW_SAMPREC_DESC_ENTRY tsc =
		descriptor_of(ST_TIMESTAMP, SST_TSC, 0, sizeof(TBRW_SampleRecordTSC), L"TimeStamp");

	OK(TBRW_writing_stream(ptr, 0));
	OK(TBRW_writing_stream_section(ptr, 0, TBRW_STREAM_INFO_SECTION));
	OK(TBRW_set_stream_info(ptr, 0, &info));
	OK(TBRW_done_stream_section(ptr, 0, TBRW_STREAM_INFO_SECTION));
	OK(TBRW_writing_stream_section(ptr, 0, TBRW_DATA_DESCRIPTION_SECTION));
	OK(TBRW_add_data_descriptor_entry(ptr, 0, &pc));
	OK(TBRW_add_data_descriptor_entry(ptr, 0, &tsc));
	OK(TBRW_done_stream_section(ptr, 0, TBRW_DATA_DESCRIPTION_SECTION));
	OK(TBRW_writing_stream_section(ptr, 0, TBRW_DATA_SECTION));
}

void end_samples(TBRW_PTR ptr)
{
	OK(TBRW_done_stream_section(ptr, 0, TBRW_DATA_SECTION));
	OK(TBRW_done_stream(ptr, 0));
}

void write_samples(TBRW_PTR ptr, const struct sample *samples, size_t count)
{
	begin_samples(ptr);
	for (size_t i = 0; i < count; i++) {
		struct sample s = samples[i];

		OK(TBRW_add_data(ptr, 0, sizeof(s.pc), &s.pc));
		OK(TBRW_add_data(ptr, 0, sizeof(s.tsc), &s.tsc));
	}
	end_samples(ptr);
}

void write_custom_stream(TBRW_PTR ptr, TBRW_U32 stream, const wchar_t *comment, TBRW_U32 size,
			 const void *data, size_t bytes)
{
	TBRW_STREAM_INFO info = stream_info_of(TBRW_CUSTOM_STREAM, comment);
	TBRW_SAMPREC_DESC_ENTRY d = descriptor_of(ST_NONE, SST_NONE, 0, size, L"value");

	OK(TBRW_writing_stream(ptr, stream));
	OK(TBRW_writing_stream_section(ptr, stream, TBRW_STREAM_INFO_SECTION));
	OK(TBRW_set_stream_info(ptr, stream, &info));
	OK(TBRW_done_stream_section(ptr, stream, TBRW_STREAM_INFO_SECTION));
	OK(TBRW_writing_stream_section(ptr, stream, TBRW_DATA_DESCRIPTION_SECTION));
	OK(TBRW_add_data_descriptor_entry(ptr, stream, &d));
	OK(TBRW_done_stream_section(ptr, stream, TBRW_DATA_DESCRIPTION_SECTION));
	OK(TBRW_writing_stream_section(ptr, stream, TBRW_DATA_SECTION));
	OK(TBRW_add_data(ptr, stream, (TBRW_U32)bytes, (void *)(uintptr_t)data));
	OK(TBRW_done_stream_section(ptr, stream, TBRW_DATA_SECTION));
	OK(TBRW_done_stream(ptr, stream));
}

TBRW_U32 collect_bound(const void *data, TBRW_U32 size, TBRW_U64 n, const DATA_BIND_STRUCT *table,
		       TBRW_U32 table_size, void *user)
{
	struct bind_results *b = user;

	ck_assert_ptr_nonnull(data);
	ck_assert_uint_eq(size, n * sizeof(struct sample));
	ck_assert_uint_eq(table_size, n * sizeof(*table));
	ck_assert_uint_le(b->count + n, b->capacity);
	memcpy(b->results + b->count, table, table_size);
	b->count += n;
	return TRUE;
}

void bind_samples(TBRW_PTR ptr, DATA_BIND_STRUCT *results, size_t capacity)
{
	struct bind_results b = {results, 0, capacity};

	OK(TBRW_dobind(ptr, 0));
	OK(TBRW_bind_enumerate_data(ptr, 0, collect_bound, &b, 0));
	ck_assert_uint_eq(b.count, capacity);
}

void write_modules(TBRW_PTR ptr, const TBRW_MODULE *modules, size_t count)
{
	OK(TBRW_writing_section(ptr, TBRW_MODULE_SECTION));
	for (size_t i = 0; i < count; i++) {
		TBRW_MODULE m = modules[i];

		OK(TBRW_add_module(ptr, &m));
	}
	OK(TBRW_done_section(ptr, TBRW_MODULE_SECTION));
}

bool is_bound(TBRW_PTR ptr)
{
	TBRW_U32 bound;

	OK(TBRW_is_bound(ptr, 0, &bound));
	return bound;
}

bool same_text(TBRW_PTR ptr, TBRW_STRING_OR_ID id, const wchar_t *text)
{
	return wcscmp(text_of(ptr, id), text) == 0;
}

void write_bytes(const char *name, const void *data, size_t size)
{
	FILE *f = fopen(path_of(name), "wb");

	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fwrite(data, 1, size, f), size);
	fclose(f);
}

unsigned char *read_bytes(const char *name, size_t *size)
{
	FILE *f = fopen(path_of(name), "rb");

	ck_assert_ptr_nonnull(f);
	fseek(f, 0, SEEK_END);
	*size = (size_t)ftell(f);
	rewind(f);
	unsigned char *data = malloc(*size + 1);
	ck_assert_ptr_nonnull(data);
	ck_assert_uint_eq(fread(data, 1, *size, f), *size);
	fclose(f);
	return data;
}

TBRW_U32 sum_values(void *data, TBRW_U32 size, TBRW_U32 count, void *user)
{
	const uint32_t *values = data;
	uint64_t *sum = user;

	ck_assert_uint_eq(size, count * 4);
	for (TBRW_U32 i = 0; i < count; i++)
		*sum += values[i];
	return TRUE;
}

uint64_t sum_of(TBRW_PTR ptr, TBRW_U32 stream, TBRW_U32 *ret)
{
	uint64_t sum = 0;

	*ret = TBRW_reading_stream(ptr, stream);
	if (*ret != VT_SUCCESS)
		return 0;
	*ret = TBRW_reading_stream_section(ptr, stream, TBRW_DATA_SECTION);
	if (*ret == VT_SUCCESS) {
		*ret = TBRW_enumerate_data(ptr, stream, sum_values, &sum, 0);
		OK(TBRW_done_stream_section(ptr, stream, TBRW_DATA_SECTION));
	}
	OK(TBRW_done_stream(ptr, stream));
	return sum;
}
