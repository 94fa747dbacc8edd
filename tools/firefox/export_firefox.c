/* Firefox Profiler's processed profile format. Members of an object have no order: the threads come
 * first, and the tables that their samples refer to behind them. */
#include "tools/firefox/export_firefox.h"

#include "tools/collection/overview.h"
#include "tools/firefox/firefox_markers.h"
#include "tools/firefox/firefox_tables.h"
#include "tools/firefox/firefox_threads.h"
#include "tools/memory/xalloc.h"
#include "tools/pprof/gzip.h"
#include "tools/timelines/timelines.h"

#define FORMAT_VERSION  70u /* of processed profiles */
#define BROWSER_VERSION 36u /* of the browser's own format: nothing of ours depends on it */
#define MS_DIGITS       6u
#define BUFFER_SIZE     (UINT32_C(1) << 16)

static ssize_t compress_bytes(void *gzip, const char *bytes, size_t size)
{
	gzip_write(gzip, bytes, size);
	return (ssize_t)size;
}

static const char *find_product(const struct profile_reader *reader,
				const struct overview *overview)
{
	for (uint32_t i = 0; i < profile_reader_process_count(reader); i++) {
		const struct profile_process_info *process = profile_reader_process(reader, i);
		if (overview->target_pid.is_known && process->pid == overview->target_pid.value &&
		    process->name[0])
			return process->name;
	}
	return overview->command[0] ? overview->command : "tbcollect";
}

static void write_units(struct json_writer *json)
{
	json_open_object(json, "sampleUnits");
	json_write_text(json, "time", "ms");
	json_write_text(json, "eventDelay", "ms");
	json_write_text(json, "threadCPUDelta", "\302\265s");
	json_close_object(json);
}

static void write_entry(const char *label, const char *text, struct json_writer *json)
{
	if (!text[0])
		return;
	json_open_object(json, NULL);
	json_write_text(json, "label", label);
	json_write_text(json, "format", "string");
	json_write_text(json, "value", text);
	json_close_object(json);
}

static void write_warning(const char *sentence, void *json)
{
	write_entry("Warning", sentence, json);
}

/* How the profile came about, and what its figures leave out. */
static void write_extra(struct json_writer *json, const struct profile_reader *reader,
			const struct overview *overview)
{
	json_open_array(json, "extra");
	json_open_object(json, NULL);
	json_write_text(json, "label", "Collection");
	json_open_array(json, "entries");
	write_entry("Collector", overview->collector, json);
	write_entry("Host", overview->host.name, json);
	overview_warn(overview, reader, write_warning, json);
	if (!overview->is_finalized)
		write_warning("The result has no symbols yet; run tbconvert finalize, then export",
			      json);
	json_close_array(json);
	json_close_object(json);
	json_close_array(json);
}

static void write_host(struct json_writer *json, const struct profile_host_info *host)
{
	json_write_text(json, "oscpu", host->os);
	json_write_text(json, "platform", "X11"); /* the format's word for Unix */
	if (host->cpu[0])
		json_write_text(json, "CPUName", host->cpu);
	if (host->logical_cpus > 0)
		json_write_number(json, "logicalCPUs", host->logical_cpus);
}

static void write_meta(struct json_writer *json, const struct timelines *timelines)
{
	const struct profile_reader *reader = timelines->stacks->reader;
	struct overview overview;
	overview_collect(reader, timelines->stacks->tally, "", &overview);
	uint64_t interval_ns = profile_reader_interval_ns(reader);
	json_open_object(json, "meta");
	json_write_number(json, "version", BROWSER_VERSION);
	json_write_number(json, "preprocessedProfileVersion", FORMAT_VERSION);
	json_write_decimal(json, "interval", interval_ns > 0 ? interval_ns : 1, MS_DIGITS);
	json_write_decimal(json, "startTime", overview.start_real_ns, MS_DIGITS);
	json_write_number(json, "profilingStartTime", 0);
	json_write_decimal(json, "profilingEndTime", firefox_threads_end(timelines), MS_DIGITS);
	json_write_number(json, "processType", 0);
	json_write_number(json, "stackwalk", 1);
	json_write_bool(json, "debug", false);
	json_write_text(json, "product", find_product(reader, &overview));
	json_write_text(json, "importedFrom", "tbcollect " TBCOLLECT_VERSION);
	if (overview.command[0])
		json_write_text(json, "arguments", overview.command);
	write_host(json, &overview.host);
	/* Symbols are what the result has: there is no server to ask for more. */
	json_write_bool(json, "symbolicated", true);
	json_write_bool(json, "usesOnlyOneStackType", true);
	json_write_bool(json, "sourceCodeIsNotOnSearchfox", true);
	write_units(json);
	firefox_tables_write_categories(json);
	firefox_markers_write_schemas(json);
	json_open_array(json, "initialSelectedThreads");
	json_write_number(json, NULL, 0); /* the one with the most time */
	json_close_array(json);
	write_extra(json, reader, &overview);
	json_close_object(json);
}

static TBRW_U32 write_file(const struct timelines *timelines, FILE *stream)
{
	const struct weighted_stacks *stacks = timelines->stacks;
	struct json_writer json = {.stream = stream};
	struct firefox_tables tables = {.tree = {.reader = stacks->reader,
						 .functions = stacks->functions,
						 .mode = stacks->mode,
						 .by_frame = true}};
	json_open_object(&json, NULL);
	write_meta(&json, timelines);
	TBRW_U32 code = firefox_threads_write(timelines, &tables, &json);
	firefox_tables_write(&tables, &json);
	json_close_object(&json);
	firefox_tables_finish(&tables);
	return code;
}

static TBRW_U32 compress_file(const struct timelines *timelines, FILE *stream)
{
	struct gzip *gzip = gzip_create(stream);
	FILE *plain = fopencookie(gzip, "w", (cookie_io_functions_t){.write = compress_bytes});
	if (!plain || setvbuf(plain, NULL, _IOFBF, BUFFER_SIZE) != 0)
		xalloc_fail();
	TBRW_U32 code = write_file(timelines, plain);
	fclose(plain);
	gzip_finish(gzip);
	return code;
}

TBRW_U32 export_firefox_write(struct weighted_stacks *stacks, const struct export_options *options,
			      FILE *stream)
{
	(void)options; /* threads are always apart */
	struct timelines timelines;
	TBRW_U32 code = timelines_collect(&timelines, stacks, TIMELINE_BY_SAMPLE);
	if (code == VT_SUCCESS)
		code = compress_file(&timelines, stream);
	timelines_finish(&timelines);
	return code;
}
