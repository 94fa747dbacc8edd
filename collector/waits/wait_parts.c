#include "collector/context/stacks.h"
#include "collector/machine/registers.h"
#include "collector/model/tracker_sampled.h"
#include "collector/perf/record.h"
#include "collector/result/emit.h"
#include "collector/waits/look.h"
#include "collector/waits/wait_call.h"
#include "collector/waits/waits_private.h"
#include <string.h>
#include <sys/syscall.h>

struct process *waits_process(struct waits *waits, uint32_t pid, uint64_t time_ns)
{
	struct process *process = tracker_process(waits->tracker, pid);
	if (process)
		tracker_prepare(waits->tracker, process, time_ns);
	return process;
}

static bool begins_with(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

/* Whether a wait is for data: of a file, a socket, a terminal, or a page of memory. Pipes and
 * events are what threads and processes tell each other by, and so are locks of files. */
static bool is_io(const struct wait_target *target, const char *file)
{
	if (target->kind == PROFILE_OBJECT_FAULT)
		return true;
	if (target->kind != PROFILE_OBJECT_FILE || target->syscall == SYS_flock ||
	    target->syscall == SYS_fcntl)
		return false;
	return !file || (!begins_with(file, "pipe:") && !begins_with(file, "anon_inode:"));
}

uint32_t waits_object_of_call(struct waits *waits, const struct process *process,
			      const struct record_call *call, bool is_32bit, const char *file,
			      uint16_t *number)
{
	char name[LOOK_NAME_MAX];
	struct wait_target target = wait_call_target(call, is_32bit);
	struct profile_object object = {.kind = target.kind,
					.address = target.address,
					.number = target.number};
	*number = target.syscall;
	if (target.kind == PROFILE_OBJECT_UNKNOWN)
		return 0;
	if (target.kind != PROFILE_OBJECT_FILE)
		file = NULL;
	else if (!file && look_file(process->pid, target.number, name) > 0)
		file = name;
	if (waits->config.without_io_waits && is_io(&target, file))
		return PROFILE_NONE;
	return wait_objects_get(&waits->objects, process, &object, file);
}

void waits_stack(struct waits *waits, struct process *process, const struct record_sample *sample,
		 struct profile_stack *stack)
{
	bool is_32bit = sample->abi == RECORD_REGISTERS_32;
	const struct registers_machine *machine = registers_machine(is_32bit);
	struct stack_origin origin = {
		.regs = &sample->regs,
		.ip = sample->regs.value[machine->ip],
		.copy = &sample->stack,
		.has_gaps = sample->stack_absent,
		.chain = {sample->chain.addresses, sample->chain.count, sample->chain.guessed,
			  sample->chain.is_cut, sample->chain.is_whole},
	};
	*stack = (struct profile_stack){.state = PROFILE_STACK_SKIPPED,
					.reason = PROFILE_SKIP_NO_REGS};
	if (sample->abi == RECORD_REGISTERS_NONE)
		return;
	bool is_wanted = !waits->config.without_stacks;
	bool is_walked = is_wanted && machine->is_unwound && sample->choice != RECORD_LEFT_OUT;
	if (!is_wanted)
		*stack = (struct profile_stack){.state = PROFILE_STACK_NONE};
	else if (sample->choice == RECORD_LEFT_OUT)
		stack->reason = PROFILE_SKIP_BUDGET;
	origin.space = process_space(process, is_32bit);
	stacks_node(waits->stacks, &origin,
		    sample->chain.count > 0 ? STACK_GIVEN
		    : is_walked             ? STACK_WALKED
					    : STACK_LEAF,
		    stack);
}

void waits_put(struct waits *waits, const struct profile_wait *wait, uint64_t start_ns)
{
	struct profile_wait written = *wait;
	if (start_ns <= waits->start_ns)
		written.flags |= PROFILE_WAIT_BEFORE;
	if (wait->object == PROFILE_NONE)
		waits->left_out++;
	else if (!sync_threads_hold(waits, &written, start_ns))
		emit_wait(waits->emit, &written, start_ns);
}
