/* Samples itself every millisecond of CPU time and writes sampler.tb5, which tbreport shows.
 * Build: cc sampler.c $(pkg-config --cflags --libs tbrw) */
#define _GNU_SOURCE
#include <link.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <tbrw.h>
#include <ucontext.h>
#include <unistd.h>

#define SAMPLES 300
static struct {
	TBRW_SampleRecordPC pc;
	TBRW_SampleRecordTSC tsc;
} samples[SAMPLES];
static volatile sig_atomic_t count;
static TBRW_PTR tb5;

static void take_sample(int number, siginfo_t *info, void *context)
{
	TBRW_SampleRecordPC pc = {.cs = 0x33, .codeMode = TBRW_MODE_64BIT, .IA64PC = 1};

	(void)number, (void)info;
	if (count == SAMPLES)
		return;
	pc.iip = (TBRW_U64)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
	pc.pidRecIndex = pc.tid = (TBRW_U32)getpid();
	pc.pidRecIndexRaw = pc.tidIsRaw = 1;
	samples[count].pc = pc;
	samples[count].tsc.tsc = __builtin_ia32_rdtsc();
	count = count + 1;
}

static int add_module(struct dl_phdr_info *object, size_t size, void *user)
{
	wchar_t path[4096] = L"";
	TBRW_U32 room = 4096;
	TBRW_MODULE m = {.module_size = sizeof m, .module_unload_tsc = ~0ull};

	(void)size;
	m.module_flags = TBRW_MODULE_LOADED | TBRW_MODULE_TSC_USED;
	m.module_associated_pid = (TBRW_U32)getpid();
	m.module_segment_type = TBRW_MODE_64BIT;
	m.module_path.soi_ptr = m.module_name.soi_ptr = path;
	m.module_load_address = object->dlpi_addr;
	for (int i = 0; i < object->dlpi_phnum; i++)
		if (object->dlpi_phdr[i].p_type == PT_LOAD)
			m.module_length =
				object->dlpi_phdr[i].p_vaddr + object->dlpi_phdr[i].p_memsz;
	/* The program itself has no name in the list. */
	TBRW_convert_utf8_to_wcs(*object->dlpi_name ? object->dlpi_name : user, path, &room);
	return (int)TBRW_add_module(tb5, &m);
}

static int write_samples(void)
{
	TBRW_STREAM_INFO info = {.stream_info_size = sizeof info,
				 .stream_type = TBRW_SAMPLING_STREAM,
				 .sampling_interval = 1000};
	TBRW_SAMPREC_DESC_ENTRY pc = {.desc_size = sizeof pc}, tsc = pc;

	pc.desc_type = ST_LEGACY_SAMPLE_RECORD, pc.desc_data_size = sizeof samples->pc;
	tsc.desc_type = ST_TIMESTAMP, tsc.desc_data_size = sizeof samples->tsc;
	tsc.desc_subtype = SST_TSC;
	return TBRW_writing_stream(tb5, 0) ||
	       TBRW_writing_stream_section(tb5, 0, TBRW_STREAM_INFO_SECTION) ||
	       TBRW_set_stream_info(tb5, 0, &info) ||
	       TBRW_done_stream_section(tb5, 0, TBRW_STREAM_INFO_SECTION) ||
	       TBRW_writing_stream_section(tb5, 0, TBRW_DATA_DESCRIPTION_SECTION) ||
	       TBRW_add_data_descriptor_entry(tb5, 0, &pc) ||
	       TBRW_add_data_descriptor_entry(tb5, 0, &tsc) ||
	       TBRW_done_stream_section(tb5, 0, TBRW_DATA_DESCRIPTION_SECTION) ||
	       TBRW_writing_stream_section(tb5, 0, TBRW_DATA_SECTION) ||
	       TBRW_add_data(tb5, 0, sizeof samples, samples) ||
	       TBRW_done_stream_section(tb5, 0, TBRW_DATA_SECTION) || TBRW_done_stream(tb5, 0);
}

int main(void)
{
	struct itimerval each_ms = {{0, 1000}, {0, 1000}};
	struct sigaction action = {.sa_sigaction = take_sample, .sa_flags = SA_SIGINFO};
	char self[4096] = "";

	if (readlink("/proc/self/exe", self, sizeof self - 1) < 0)
		return 1;
	sigaction(SIGPROF, &action, NULL);
	setitimer(ITIMER_PROF, &each_ms, NULL);
	while (count < SAMPLES)
		continue;
	return TBRW_open(&tb5, L"sampler.tb5", TBRW_FILE_WRITE | TBRW_FILE_CREATE_ALWAYS) ||
	       TBRW_writing_section(tb5, TBRW_MODULE_SECTION) ||
	       dl_iterate_phdr(add_module, self) || TBRW_done_section(tb5, TBRW_MODULE_SECTION) ||
	       write_samples() || TBRW_close(tb5);
}
