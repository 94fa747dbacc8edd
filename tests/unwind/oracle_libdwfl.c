#include "tests/unwind/oracles.h"
#include <elfutils/libdwfl.h>
#include <stdlib.h>
#include <string.h>

enum { REGISTERS = 17 };

struct oracle_libdwfl {
	const struct recording *recording;
	const struct recording_sample *sample;
	struct oracle_frames *frames;
	Dwfl *dwfl;
	bool started; /* the one thread was handed out */
};

static const Dwfl_Callbacks callbacks = {.find_elf = dwfl_linux_proc_find_elf,
					 .find_debuginfo = dwfl_standard_find_debuginfo};

static pid_t next_thread(Dwfl *dwfl, void *user, void **thread_user)
{
	struct oracle_libdwfl *oracle = user;

	(void)dwfl;
	if (oracle->started)
		return 0;
	oracle->started = true;
	*thread_user = user;
	return oracle->recording->pid;
}

static bool memory_read(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *value, void *user)
{
	const struct oracle_libdwfl *oracle = user;
	const struct uw_stack *stack = &oracle->sample->stack;
	uint64_t offset = address - stack->base;

	(void)dwfl;
	if (offset < stack->size && stack->size - offset >= sizeof(*value)) {
		memcpy(value, stack->bytes + offset, sizeof(*value));
		return true;
	}
	/* Files and the vdso; what can be written is not as it was. */
	return recording_find(oracle->recording, address) &&
	       recording_read(oracle->recording, address, value, sizeof(*value));
}

static bool set_initial_registers(Dwfl_Thread *thread, void *user)
{
	const struct oracle_libdwfl *oracle = user;
	Dwarf_Word registers[REGISTERS];

	for (size_t i = 0; i < REGISTERS; i++)
		registers[i] = oracle->sample->regs.value[i];
	return dwfl_thread_state_registers(thread, 0, REGISTERS, registers);
}

struct oracle_libdwfl *oracle_libdwfl_create(const struct recording *recording)
{
	static const Dwfl_Thread_Callbacks threads = {.next_thread = next_thread,
						      .memory_read = memory_read,
						      .set_initial_registers =
							      set_initial_registers};
	struct oracle_libdwfl *oracle = calloc(1, sizeof(*oracle));

	if (!oracle)
		abort();
	oracle->recording = recording;
	oracle->dwfl = dwfl_begin(&callbacks);
	if (dwfl_linux_proc_report(oracle->dwfl, recording->pid) != 0 ||
	    dwfl_report_end(oracle->dwfl, NULL, NULL) != 0 ||
	    !dwfl_attach_state(oracle->dwfl, NULL, recording->pid, &threads, oracle)) {
		oracle_libdwfl_destroy(oracle);
		return NULL;
	}
	return oracle;
}

void oracle_libdwfl_destroy(struct oracle_libdwfl *oracle)
{
	if (!oracle)
		return;
	dwfl_end(oracle->dwfl);
	free(oracle);
}

static int on_frame(Dwfl_Frame *frame, void *user)
{
	struct oracle_frames *frames = user;
	bool exact;

	if (frames->count == ORACLE_FRAMES_MAX ||
	    !dwfl_frame_pc(frame, &frames->ip[frames->count], &exact))
		return DWARF_CB_ABORT;
	frames->count++;
	return DWARF_CB_OK;
}

void oracle_libdwfl_walk(struct oracle_libdwfl *oracle, const struct recording_sample *sample,
			 struct oracle_frames *frames)
{
	oracle->sample = sample;
	oracle->started = false;
	frames->count = 0;
	dwfl_getthread_frames(oracle->dwfl, oracle->recording->pid, on_frame, frames);
}

static bool covers(Dwarf_CFI *cfi, Dwarf_Addr address)
{
	Dwarf_Frame *frame = NULL;
	bool found = cfi && dwarf_cfi_addrframe(cfi, address, &frame) == 0;

	free(frame);
	return found;
}

bool oracle_libdwfl_has_cfi(const struct oracle_libdwfl *oracle, uint64_t address)
{
	Dwfl_Module *module = dwfl_addrmodule(oracle->dwfl, address);
	Dwarf_Addr eh_bias = 0, debug_bias = 0;
	Dwarf_CFI *eh = module ? dwfl_module_eh_cfi(module, &eh_bias) : NULL;
	Dwarf_CFI *debug = module ? dwfl_module_dwarf_cfi(module, &debug_bias) : NULL;

	return covers(eh, address - eh_bias) || covers(debug, address - debug_bias);
}
