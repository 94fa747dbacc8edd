/* Samples itself every millisecond of CPU time and writes sampler.tb5, which tbreport shows.
 * Build: cc -g sampler.c $(pkg-config --cflags --libs tbrw) */
#define _GNU_SOURCE
#include <link.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
#include <tbrw.h>
#include <ucontext.h>
#include <unistd.h>

/* A stream section from its opening to its done. Success is 0: the first failure ends a chain. */
#define SECTION(id, write)                                                      \
	(TBRW_writing_stream_section(tb5, 0, TBRW_##id##_SECTION) || (write) || \
	 TBRW_done_stream_section(tb5, 0, TBRW_##id##_SECTION))

static struct sample {
	TBRW_SampleRecordPC pc;
	TBRW_SampleRecordTSC tsc;
} samples[300], *volatile next = samples;

static void take_sample(int number, siginfo_t *info, void *context)
{
	TBRW_SampleRecordPC pc = {.IA64PC = 1, .pidRecIndexRaw = 1, .tidIsRaw = 1};

	pc.iip = (TBRW_U64)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
	pc.pidRecIndex = pc.tid = (TBRW_U32)getpid();
	if (number == SIGPROF && info && next < samples + 300)
		*next++ = (struct sample){pc, {__builtin_ia32_rdtsc()}};
}

static int add_module(struct dl_phdr_info *elf, size_t size, void *tb5)
{
	const char *name = *elf->dlpi_name ? elf->dlpi_name : realpath("/proc/self/exe", NULL);
	TBRW_MODULE m = {.module_size = sizeof(m), .module_flags = TBRW_MODULE_LOADED};
	wchar_t path[4096];
	TBRW_U32 room = sizeof(path) / sizeof(*path);

	m.module_flags |= *elf->dlpi_name ? 0 : TBRW_MODULE_IS_EXE;
	m.module_associated_pid = (TBRW_U32)getpid();
	m.module_load_address = elf->dlpi_addr;
	m.module_path.soi_ptr = path;
	for (int i = 0; size && i < elf->dlpi_phnum; i++)
		if (elf->dlpi_phdr[i].p_type == PT_LOAD)
			m.module_length = elf->dlpi_phdr[i].p_vaddr + elf->dlpi_phdr[i].p_memsz;
	return TBRW_convert_utf8_to_wcs(name, path, &room) || TBRW_add_module(tb5, &m);
}

int main(void)
{
	TBRW_STREAM_INFO info = {sizeof(info), 0, TBRW_SAMPLING_STREAM, .sampling_interval = 1000};
	TBRW_SAMPREC_DESC_ENTRY pc = {.desc_size = sizeof(pc),
				      .desc_data_size = sizeof(samples->pc)};
	TBRW_SAMPREC_DESC_ENTRY tsc = {.desc_size = sizeof(tsc),
				       .desc_data_size = sizeof(TBRW_U64)};
	struct sigaction action = {.sa_sigaction = take_sample, .sa_flags = SA_SIGINFO};
	TBRW_PTR tb5;

	pc.desc_type = ST_LEGACY_SAMPLE_RECORD;
	tsc.desc_type = ST_TIMESTAMP, tsc.desc_subtype = SST_TSC;
	sigaction(SIGPROF, &action, NULL);
	setitimer(ITIMER_PROF, &(struct itimerval){{0, 1000}, {0, 1000}}, NULL);
	while (next < samples + 300)
		continue;
	return TBRW_open(&tb5, L"sampler.tb5", TBRW_FILE_WRITE | TBRW_FILE_CREATE_ALWAYS) ||
	       TBRW_writing_section(tb5, TBRW_MODULE_SECTION) || dl_iterate_phdr(add_module, tb5) ||
	       TBRW_done_section(tb5, TBRW_MODULE_SECTION) || TBRW_writing_stream(tb5, 0) ||
	       SECTION(STREAM_INFO, TBRW_set_stream_info(tb5, 0, &info)) ||
	       SECTION(DATA_DESCRIPTION, TBRW_add_data_descriptor_entry(tb5, 0, &pc) ||
						 TBRW_add_data_descriptor_entry(tb5, 0, &tsc)) ||
	       SECTION(DATA, TBRW_add_data(tb5, 0, sizeof(samples), samples)) ||
	       TBRW_done_stream(tb5, 0) || TBRW_close(tb5);
}
