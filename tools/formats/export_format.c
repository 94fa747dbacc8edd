#include "tools/formats/export_format.h"

#include "tools/chrome/export_chrome.h"
#include "tools/csv_export/export_csv.h"
#include "tools/firefox/export_firefox.h"
#include "tools/memory/xalloc.h"
#include "tools/perf_export/export_perf.h"
#include "tools/samples/tally.h"
#include <string.h>

static const struct export_format formats[] = {
	{"folded", "folded stacks for flame graphs", TALLY_BY_PROCESS,
	 .weights = EXPORT_WEIGHTS_ONE, .write = export_folded_write},
	{"perf", "perf.data for perf, and for vtune -import", TALLY_ONE_BY_ONE, .is_binary = true,
	 .wants_modules = true, .names_event = true, .write = export_perf_write},
	{"pprof", "profile.proto in gzip, for go tool pprof and its like",
	 TALLY_BY_THREAD | TALLY_BY_REASON | TALLY_POOLED, .weights = EXPORT_WEIGHTS_ALL,
	 .is_binary = true, .write = export_pprof_write},
	{"otlp", "OpenTelemetry profiles (v1development), a ProfilesData message",
	 TALLY_BY_THREAD | TALLY_BY_REASON | TALLY_POOLED, .weights = EXPORT_WEIGHTS_ALL,
	 .is_binary = true, .write = export_otlp_write},
	{"speedscope", "threads in the order of time, for speedscope", TALLY_ONE_BY_ONE,
	 .write = export_speedscope_write},
	{"firefox", "threads and their states, in gzip, for profiler.firefox.com", TALLY_ONE_BY_ONE,
	 .is_binary = true, .is_of_time = true, .write = export_firefox_write},
	{"chrome", "threads and their states, for Perfetto and chrome://tracing", TALLY_ONE_BY_ONE,
	 .is_of_time = true, .write = export_chrome_write},
	{"callgrind", "functions, lines and calls, for KCachegrind and callgrind_annotate",
	 TALLY_BY_PROCESS, .weights = EXPORT_WEIGHTS_ALL, .write = export_callgrind_write},
	{"csv", "files for vtune -import: threads' times, CPU utilization", TALLY_ONE_BY_ONE,
	 .is_of_time = true, .write_files = export_csv_write},
};

const struct export_format *export_format_at(size_t index)
{
	return index < sizeof(formats) / sizeof(formats[0]) ? &formats[index] : NULL;
}

const struct export_format *export_format_find(const char *name)
{
	const struct export_format *format;
	for (size_t i = 0; (format = export_format_at(i)) && strcmp(format->name, name) != 0; i++)
		;
	return format;
}

const char **export_format_names(void)
{
	size_t count = sizeof(formats) / sizeof(formats[0]);
	const char **names = xalloc_zeroed(count + 1, sizeof(*names));
	for (size_t i = 0; i < count; i++)
		names[i] = formats[i].name;
	return names;
}
