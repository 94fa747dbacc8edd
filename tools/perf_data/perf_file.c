#include "tools/perf_data/perf_file.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The format's numbers. */
enum {
	HEADER_SIZE = 104,
	SECTION_SIZE = 16,
	RECORD_ATTR = 64,
	RECORD_BUILD_ID = 67,
	RECORD_EVENT_UPDATE = 78,
	RECORD_FEATURE = 80,
	TEXT_ALIGN = 64,
	TEXT_LIMIT = 32768, /* a feature of the pipe form is a record */
	PATH_LIMIT = 4096,
	BUILD_ID_ROOM = 24,
	BUILD_ID_MAX = 20,
};

/* util/header.h: the record's build-id has its size behind its bytes. */
#define MISC_BUILD_ID_SIZE (1u << 15)

static const char magic[8] = "PERFILE2";

enum {
	ATTR_SIZE = PERF_ATTR_SIZE_VER5, /* all fields in use, known to older readers */
	EVENTS_MAX = 2,
	IDS_PLACE = HEADER_SIZE, /* one of each event */
	ATTRS_PLACE = IDS_PLACE + EVENTS_MAX * sizeof(uint64_t),
};

static const enum perf_event_id event_ids[EVENTS_MAX] = {PERF_EVENT_SAMPLES, PERF_EVENT_WAITS};

static uint32_t count_events(const struct perf_file_info *info)
{
	return info->has_waits ? EVENTS_MAX : 1;
}

static const char *name_event(const struct perf_file_info *info, enum perf_event_id id)
{
	return id == PERF_EVENT_WAITS ? PERF_FILE_WAITS : info->event;
}

/* Of the records. */
static uint64_t data_place(const struct perf_file_info *info)
{
	return ATTRS_PLACE + (uint64_t)count_events(info) * (ATTR_SIZE + SECTION_SIZE);
}

/* The name without modifiers: cycles of cycles:u and of cycles/period=3/. */
static bool is_event(const char *name, const char *event)
{
	size_t length = strcspn(event, ":/");
	return strlen(name) == length && memcmp(name, event, length) == 0;
}

static void find_event(const char *name, bool is_counted, struct perf_event_attr *attr)
{
	static const struct {
		const char *name;
		uint32_t type;
		uint64_t config;
	} events[] = {
		{"cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK},
		{"task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK},
		{"cpu-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
		{"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
		{"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
		{"cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
		{"branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES},
		{"page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
		{"faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
		{"minor-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN},
		{"major-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ},
		{"context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES},
		{"cpu-migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS},
	};
	enum { EVENTS = sizeof(events) / sizeof(events[0]) };
	size_t i = 0;
	while (i < EVENTS && !is_event(events[i].name, name))
		i++;
	/* Of any other name: a clock, or an event of which only the name is known. */
	if (i == EVENTS && is_counted) {
		attr->type = PERF_TYPE_RAW;
		return;
	}
	i = i == EVENTS ? 0 : i;
	attr->type = events[i].type;
	attr->config = events[i].config;
}

static void add_attr(struct perf_bytes *bytes, const struct perf_file_info *info,
		     enum perf_event_id id)
{
	bool is_first = id == PERF_EVENT_SAMPLES;
	struct perf_event_attr attr = {
		.size = ATTR_SIZE,
		.sample_period = is_first ? info->interval_ns : info->wait_ns,
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			       PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |
			       PERF_SAMPLE_CALLCHAIN,
		.disabled = 1,
		.inherit = 1,
		/* Kernel code has its names in the file: perf need not look for the kernel's. */
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.mmap = is_first,
		.comm = is_first,
		.task = is_first,
		.sample_id_all = 1,
		.exclude_guest = 1,
		.mmap2 = is_first,
		.comm_exec = is_first,
		.use_clockid = 1,
		.context_switch = is_first && info->has_switches,
		.ksymbol = is_first,
		.build_id = is_first,
		.clockid = CLOCK_MONOTONIC_RAW,
	};
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_DUMMY;
	if (is_first)
		find_event(info->event, info->is_counted, &attr);
	perf_bytes_add(bytes, &attr, ATTR_SIZE);
}

static void add_section(struct perf_bytes *bytes, uint64_t place, uint64_t size)
{
	perf_bytes_add_u64(bytes, place);
	perf_bytes_add_u64(bytes, size);
}

/* struct perf_header_string */
static void add_string(struct perf_bytes *bytes, const char *text)
{
	size_t place = bytes->size;
	perf_bytes_add_u32(bytes, 0);
	perf_bytes_add_text(bytes, text, TEXT_LIMIT, TEXT_ALIGN);
	uint32_t size = (uint32_t)(bytes->size - place - sizeof(size));
	memcpy(bytes->bytes + place, &size, sizeof(size));
}

static void add_build_id(struct perf_bytes *bytes, const struct perf_build_id *build_id)
{
	struct perf_event_header header = {.type = RECORD_BUILD_ID,
					   .misc = PERF_RECORD_MISC_USER | MISC_BUILD_ID_SIZE};
	char room[BUILD_ID_ROOM] = {0};
	size_t place = bytes->size;
	memcpy(room, build_id->bytes, build_id->size);
	room[BUILD_ID_MAX] = (char)build_id->size;
	perf_bytes_add(bytes, &header, sizeof(header));
	perf_bytes_add_u32(bytes, UINT32_MAX); /* the host's */
	perf_bytes_add(bytes, room, sizeof(room));
	perf_bytes_add_text(bytes, build_id->path, PATH_LIMIT, TEXT_ALIGN);
	header.size = (uint16_t)(bytes->size - place);
	memcpy(bytes->bytes + place, &header, sizeof(header));
}

static void add_build_ids(struct perf_bytes *bytes, const struct perf_file_info *info)
{
	for (size_t i = 0; i < info->build_id_count; i++)
		add_build_id(bytes, &info->build_ids[i]);
}

static void add_host(struct perf_bytes *bytes, const struct perf_file_info *info)
{
	add_string(bytes, info->host);
}

static void add_release(struct perf_bytes *bytes, const struct perf_file_info *info)
{
	add_string(bytes, info->release);
}

static void add_version(struct perf_bytes *bytes, const struct perf_file_info *info)
{
	add_string(bytes, info->version);
}

static void add_arch(struct perf_bytes *bytes, const struct perf_file_info *info)
{
	add_string(bytes, info->arch);
}

/* Present and online. */
static void add_cpus(struct perf_bytes *bytes, const struct perf_file_info *info)
{
	perf_bytes_add_u32(bytes, info->cpus);
	perf_bytes_add_u32(bytes, info->cpus);
}

static void add_cpu(struct perf_bytes *bytes, const struct perf_file_info *info)
{
	add_string(bytes, info->cpu);
}

/* A list of one string. */
static void add_command(struct perf_bytes *bytes, const struct perf_file_info *info)
{
	perf_bytes_add_u32(bytes, 1);
	add_string(bytes, info->command);
}

static void add_events(struct perf_bytes *bytes, const struct perf_file_info *info)
{
	perf_bytes_add_u32(bytes, count_events(info));
	perf_bytes_add_u32(bytes, ATTR_SIZE);
	for (uint32_t i = 0; i < count_events(info); i++) {
		add_attr(bytes, info, event_ids[i]);
		perf_bytes_add_u32(bytes, 1); /* ids */
		add_string(bytes, name_event(info, event_ids[i]));
		perf_bytes_add_u64(bytes, event_ids[i]);
	}
}

static void add_clock(struct perf_bytes *bytes, const struct perf_file_info *info)
{
	(void)info;
	perf_bytes_add_u64(bytes, 1); /* resolution, ns */
}

static void add_clocks(struct perf_bytes *bytes, const struct perf_file_info *info)
{
	perf_bytes_add_u32(bytes, 1); /* version of this feature */
	perf_bytes_add_u32(bytes, CLOCK_MONOTONIC_RAW);
	perf_bytes_add_u64(bytes, info->real_ns);
	perf_bytes_add_u64(bytes, info->raw_ns);
}

struct feature {
	unsigned bit;
	void (*add)(struct perf_bytes *bytes, const struct perf_file_info *info);
};

static const struct feature features[] = {
	{2, add_build_ids}, {3, add_host},
	{4, add_release},   {5, add_version},
	{6, add_arch},      {7, add_cpus},
	{8, add_cpu},       {11, add_command},
	{12, add_events},   {21, NULL /* times of samples */},
	{23, add_clock},    {29, add_clocks},
};

enum {
	FEATURE_COUNT = sizeof(features) / sizeof(features[0]),
	FEATURE_BUILD_IDS = 2,
	FEATURE_CLOCKS = 29
};

static bool has_feature(const struct perf_file_info *info, unsigned bit)
{
	if (bit == FEATURE_CLOCKS)
		return info->real_ns > 0;
	return bit != FEATURE_BUILD_IDS || info->build_id_count > 0;
}

static void write_pipe_build_ids(struct perf_file *file)
{
	struct perf_writer *writer = &file->writer;
	for (size_t i = 0; i < file->info->build_id_count; i++) {
		writer->start = writer->records.size;
		add_build_id(&writer->records, &file->info->build_ids[i]);
		perf_writer_end(writer);
	}
}

/* Readers of pipes take an event's name from this record only. */
static void write_pipe_name(struct perf_file *file, enum perf_event_id id)
{
	const uint64_t is_name = 2; /* util/event.h, PERF_EVENT_UPDATE__NAME */
	struct perf_writer *writer = &file->writer;
	perf_writer_begin(writer, RECORD_EVENT_UPDATE, 0);
	perf_bytes_add_u64(&writer->records, is_name);
	perf_bytes_add_u64(&writer->records, id);
	perf_bytes_add_text(&writer->records, name_event(file->info, id), TEXT_LIMIT, TEXT_ALIGN);
	perf_writer_end(writer);
}

static void write_pipe_event(struct perf_file *file, enum perf_event_id id)
{
	struct perf_writer *writer = &file->writer;
	perf_writer_begin(writer, RECORD_ATTR, 0);
	add_attr(&writer->records, file->info, id);
	perf_bytes_add_u64(&writer->records, id);
	perf_writer_end(writer);
}

/* The times of samples are not known yet. */
static void begin_pipe(struct perf_file *file)
{
	struct perf_writer *writer = &file->writer;
	uint64_t size = sizeof(magic) + sizeof(size);
	fwrite(magic, 1, sizeof(magic), writer->stream);
	fwrite(&size, sizeof(size), 1, writer->stream);
	for (uint32_t i = 0; i < count_events(file->info); i++)
		write_pipe_event(file, event_ids[i]);
	for (size_t i = 0; i < FEATURE_COUNT; i++) {
		const struct feature *feature = &features[i];
		if (!feature->add || feature->bit == FEATURE_BUILD_IDS ||
		    !has_feature(file->info, feature->bit))
			continue;
		perf_writer_begin(writer, RECORD_FEATURE, 0);
		perf_bytes_add_u64(&writer->records, feature->bit);
		feature->add(&writer->records, file->info);
		perf_writer_end(writer);
	}
	for (uint32_t i = 0; i < count_events(file->info); i++)
		write_pipe_name(file, event_ids[i]);
	write_pipe_build_ids(file);
}

/* The header with the given size of the records, and the events. */
static void add_header(struct perf_bytes *bytes, const struct perf_file_info *info, uint64_t size)
{
	uint64_t flags[4] = {0};
	for (size_t i = 0; i < FEATURE_COUNT; i++)
		if (has_feature(info, features[i].bit))
			flags[0] |= UINT64_C(1) << features[i].bit;
	perf_bytes_add(bytes, magic, sizeof(magic));
	perf_bytes_add_u64(bytes, HEADER_SIZE);
	perf_bytes_add_u64(bytes, ATTR_SIZE + SECTION_SIZE);
	add_section(bytes, ATTRS_PLACE, (uint64_t)count_events(info) * (ATTR_SIZE + SECTION_SIZE));
	add_section(bytes, data_place(info), size);
	add_section(bytes, 0, 0); /* no types of events */
	perf_bytes_add(bytes, flags, sizeof(flags));
	for (uint32_t i = 0; i < EVENTS_MAX; i++)
		perf_bytes_add_u64(bytes, event_ids[i]);
	for (uint32_t i = 0; i < count_events(info); i++) {
		add_attr(bytes, info, event_ids[i]);
		add_section(bytes, IDS_PLACE + i * sizeof(uint64_t), sizeof(uint64_t));
	}
}

static void write_header(const struct perf_file *file)
{
	struct perf_bytes bytes = {0};
	add_header(&bytes, file->info, file->writer.written);
	fwrite(bytes.bytes, 1, bytes.size, file->writer.stream);
	free(bytes.bytes);
}

/* The places of the features, then the features. */
static void write_features(const struct perf_file *file, uint64_t first_ns, uint64_t last_ns)
{
	struct perf_bytes sections = {0}, bytes = {0};
	size_t count = 0;
	for (size_t i = 0; i < FEATURE_COUNT; i++)
		count += has_feature(file->info, features[i].bit);
	uint64_t place = data_place(file->info) + file->writer.written + count * SECTION_SIZE;
	for (size_t i = 0; i < FEATURE_COUNT; i++) {
		size_t before = bytes.size;
		if (!has_feature(file->info, features[i].bit))
			continue;
		if (features[i].add)
			features[i].add(&bytes, file->info);
		else
			add_section(&bytes, first_ns, last_ns);
		add_section(&sections, place + before, bytes.size - before);
	}
	fwrite(sections.bytes, 1, sections.size, file->writer.stream);
	fwrite(bytes.bytes, 1, bytes.size, file->writer.stream);
	free(sections.bytes);
	free(bytes.bytes);
}

void perf_file_begin(struct perf_file *file, const struct perf_file_info *info, FILE *stream)
{
	*file = (struct perf_file){.writer.stream = stream, .info = info};
	file->is_pipe = fseeko(stream, 0, SEEK_CUR) != 0 || ftello(stream) != 0;
	if (file->is_pipe)
		begin_pipe(file);
	else
		write_header(file);
}

void perf_file_finish(struct perf_file *file, uint64_t first_ns, uint64_t last_ns)
{
	FILE *stream = file->writer.stream;
	perf_writer_flush(&file->writer);
	if (!file->is_pipe) {
		write_features(file, first_ns, last_ns);
		if (fseeko(stream, 0, SEEK_SET) == 0)
			write_header(file);
		fseeko(stream, 0, SEEK_END);
	}
	perf_writer_finish(&file->writer);
}
