/*
 * Runs a program, stops its first thread again and again, and compares each walk with the frames
 * that elfutils' libdwfl finds in the stopped process. A walk with history, which must give the
 * same frames, follows.
 *
 * Usage: live_oracle [-s] [-n] [-c PERCENT] [-r PERCENT] [-u PERCENT] [-g PERCENT] [-e PERCENT]
 * SAMPLES PROGRAM [ARGUMENT...] The program may be a 32-bit one. With -s there is a sample at each
 * instruction from the program's start on, in code of all kinds. The bounds are shares of the
 * samples: -c: of complete stacks at least (default 100), -r: of frames that are taken over from
 * history at least (default 0); and at most (default 0), -u: of stacks that libuw ends, saying that
 * it knows no more, and libdwfl does not; -g: of those that differ in code without CFI, where both
 * go by conventions; -e: of those that libdwfl ends before the root that libuw finds. Where these
 * are is shown. -n: stacks that both end in the vdso's code without CFI are not counted as
 * incomplete: on i386 that is all of it but for its system call, where a leaf's frame pointer
 * proves nothing if its caller, in the C library, uses ebp for something else. Those that libdwfl
 * alone ends there, which knows no conventions on i386, do not count for -e, but must be fewer than
 * the same ones. Exit status 0: samples were taken, did not differ, and are within the bounds; 77:
 * this machine does not allow ptrace(2).
 */
#include "tests/unwind/live_target.h"
#include <elfutils/libdwfl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SHOWN = 5, FRAMES_COMPARED = 900, PLACES_MAX = 64 };

/* How a walk compares with libdwfl's. */
enum outcome {
	OUTCOME_SAME,
	OUTCOME_DIFFERENT,
	OUTCOME_REUSED,       /* the walk with history gives other frames than the one without */
	OUTCOME_SHORTER,      /* libuw knows no more, and says so */
	OUTCOME_CONVENTIONAL, /* in code without CFI */
	OUTCOME_LONGER,       /* libdwfl ends before the root */
	OUTCOME_COUNT
};

static const char *const outcome_names[OUTCOME_COUNT] = {
	[OUTCOME_SAME] = "the same",
	[OUTCOME_DIFFERENT] = "different",
	[OUTCOME_REUSED] = "different with history",
	[OUTCOME_SHORTER] = "libuw knows no more, libdwfl does",
	[OUTCOME_CONVENTIONAL] = "different, by conventions",
	[OUTCOME_LONGER] = "libdwfl ends early",
};

struct list {
	uint64_t ip[UW_DEPTH_MAX];
	bool exact[UW_DEPTH_MAX];
	size_t count;
};

/* Where outcomes other than the same were, and where stacks are not complete: the last frame that
 * both have. */
struct place {
	char name[256];
	size_t count;
};

struct session {
	pid_t pid;
	enum uw_arch arch;
	struct uw_space *space;
	struct uw_history *history;
	Dwfl *dwfl;
	char *maps; /* the text that space and dwfl were made from */
	struct uw_regs regs;
	bool started; /* the one thread was handed to libdwfl */
	bool steps;
	bool excuses_vdso;     /* -n */
	uint64_t vdso[2];      /* start and end */
	size_t ended_in_vdso;  /* stacks for -n */
	size_t theirs_in_vdso; /* that libdwfl alone ends there */
	size_t samples, place_count;
	size_t frames, reused; /* of the walks with history */
	size_t outcomes[OUTCOME_COUNT];
	size_t stops[UW_STOP_COUNT];
	double complete_min;               /* percent of the samples */
	double reused_min;                 /* percent of the frames */
	double outcome_max[OUTCOME_COUNT]; /* as well */
	struct place places[PLACES_MAX];
};

static const Dwfl_Callbacks callbacks = {.find_elf = dwfl_linux_proc_find_elf,
					 .find_debuginfo = dwfl_standard_find_debuginfo};

/* libdwfl's own reading of a 32-bit process takes neighbouring bytes for the upper half of a word
 * (elfutils 0.188), so it is given registers and memory. */
static pid_t next_thread(Dwfl *dwfl, void *user, void **thread_user)
{
	struct session *session = user;

	(void)dwfl;
	if (session->started)
		return 0;
	session->started = true;
	*thread_user = user;
	return session->pid;
}

static bool memory_read(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *value, void *user)
{
	const struct session *session = user;
	size_t size = session->arch == UW_ARCH_I386 ? 4 : 8;
	struct iovec local = {.iov_base = value, .iov_len = size}, remote = {.iov_len = size};

	(void)dwfl;
	*value = 0;
	memcpy(&remote.iov_base, &address, sizeof(address));
	return process_vm_readv(session->pid, &local, 1, &remote, 1, 0) == (ssize_t)size;
}

static bool set_initial_registers(Dwfl_Thread *thread, void *user)
{
	const struct session *session = user;
	Dwarf_Word registers[UW_REGS_MAX];
	unsigned count = session->arch == UW_ARCH_I386 ? 9 : 17;

	for (unsigned i = 0; i < count; i++)
		registers[i] = session->regs.value[i];
	return dwfl_thread_state_registers(thread, 0, count, registers);
}

/* Makes both views of the address space again if it changed. */
static void session_refresh(struct session *session)
{
	static const Dwfl_Thread_Callbacks threads = {.next_thread = next_thread,
						      .memory_read = memory_read,
						      .set_initial_registers =
							      set_initial_registers};
	char *maps = live_target_maps(session->pid);

	if (!maps || (session->maps && strcmp(maps, session->maps) == 0))
		return;
	free(session->maps);
	session->maps = strdup(maps);
	uw_space_destroy(session->space);
	session->space = live_target_space(session->pid, session->arch, maps, session->vdso);
	if (session->dwfl)
		dwfl_end(session->dwfl);
	session->dwfl = dwfl_begin(&callbacks);
	if (dwfl_linux_proc_report(session->dwfl, session->pid) != 0 ||
	    dwfl_report_end(session->dwfl, NULL, NULL) != 0 ||
	    !dwfl_attach_state(session->dwfl, NULL, session->pid, &threads, session))
		fprintf(stderr, "libdwfl: %s\n", dwfl_errmsg(-1));
}

static int on_dwfl_frame(Dwfl_Frame *frame, void *argument)
{
	struct list *list = argument;

	if (list->count == FRAMES_COMPARED ||
	    !dwfl_frame_pc(frame, &list->ip[list->count], &list->exact[list->count]))
		return DWARF_CB_ABORT;
	list->count++;
	return DWARF_CB_OK;
}

static void show(const struct session *session, const struct list *theirs,
		 const struct uw_frame *frames, size_t count, enum uw_stop stop)
{
	size_t longest = count > theirs->count ? count : theirs->count;

	fprintf(stderr, "sample %zu: %zu frames, %s; libdwfl: %zu\n", session->samples, count,
		uw_stop_name(stop), theirs->count);
	for (size_t i = 0; i < longest; i++)
		fprintf(stderr, "  %2zu %16" PRIx64 " %c rva %9" PRIx64 " | %16" PRIx64 "\n", i,
			i < count ? frames[i].ip : 0, i < count ? "scf"[frames[i].source] : '-',
			i < count ? frames[i].rva : 0, i < theirs->count ? theirs->ip[i] : 0);
}

/* The function of an address, or, where its file names none there, the 256 bytes around it. */
static void place_name(const struct session *session, uint64_t ip, char *name, size_t size)
{
	Dwfl_Module *module = session->dwfl ? dwfl_addrmodule(session->dwfl, ip) : NULL;
	const char *symbol = module ? dwfl_module_addrname(module, ip) : NULL;
	const char *file = "?";
	Dwarf_Addr start = 0;

	if (module)
		file = dwfl_module_info(module, NULL, &start, NULL, NULL, NULL, NULL, NULL);
	file = strrchr(file, '/') ? strrchr(file, '/') + 1 : file;
	if (symbol)
		snprintf(name, size, "%s of %s", symbol, file);
	else
		snprintf(name, size, "%s+%#" PRIx64, file, (ip - start) & ~UINT64_C(0xff));
}

static void note_place(struct session *session, enum outcome outcome, enum uw_stop stop,
		       uint64_t ip)
{
	char where[160], name[sizeof(session->places[0].name)];
	size_t i = 0;

	place_name(session, ip, where, sizeof(where));
	snprintf(name, sizeof(name), "%s (%s) after %s", outcome_names[outcome], uw_stop_name(stop),
		 where);
	while (i < session->place_count && strcmp(session->places[i].name, name) != 0)
		i++;
	if (i == PLACES_MAX)
		return;
	memcpy(session->places[i].name, name, sizeof(name));
	session->places[i].count++;
	if (i == session->place_count)
		session->place_count++;
}

static bool is_in_vdso(const struct session *session, uint64_t ip)
{
	return session->excuses_vdso && ip >= session->vdso[0] && ip < session->vdso[1];
}

/* Whether a walk ends in the vdso, for want of information. */
static bool ends_in_vdso(const struct session *session, const struct uw_frame *frames, size_t count,
			 enum uw_stop stop)
{
	return stop == UW_STOP_NO_INFO && count > 0 && is_in_vdso(session, frames[count - 1].ip);
}

/* frames and theirs are the same before frame i. */
static enum outcome judge(const struct session *session, const struct uw_frame *frames,
			  size_t count, size_t i, const struct list *theirs, enum uw_stop stop)
{
	if (i == count && i == theirs->count)
		return OUTCOME_SAME;
	/* The hole in clone() and the like. */
	if (i == theirs->count &&
	    (stop == UW_STOP_ROOT || ends_in_vdso(session, frames, count, stop)))
		return OUTCOME_LONGER;
	if (session->steps && i == count && stop != UW_STOP_ROOT)
		return OUTCOME_SHORTER;
	if (session->steps && i < count && frames[i].source == UW_SOURCE_FRAME_POINTER)
		return OUTCOME_CONVENTIONAL;
	return OUTCOME_DIFFERENT;
}

/* Whether the walk with history gives the same. */
static bool history_agrees(struct session *session, const struct uw_stack *stack,
			   const struct uw_frame *frames, size_t count, enum uw_stop stop)
{
	static struct uw_frame again[UW_DEPTH_MAX];
	enum uw_stop again_stop;
	size_t reused, i = 0;

	if (uw_walk_reuse(session->space, session->history, &session->regs, stack, again,
			  FRAMES_COMPARED, &again_stop, &reused) != count ||
	    again_stop != stop)
		return false;
	while (i < count && again[i].ip == frames[i].ip && again[i].sp == frames[i].sp &&
	       again[i].rva == frames[i].rva && again[i].source == frames[i].source)
		i++;
	session->frames += count;
	session->reused += reused;
	return i == count;
}

static void session_compare(struct session *session)
{
	static struct uw_frame frames[UW_DEPTH_MAX];
	static struct list theirs;
	struct uw_stack stack;
	enum uw_stop stop;
	size_t count, i = 0;

	session->arch = live_target_sample(session->pid, &session->regs, &stack);
	session_refresh(session);
	session->started = false;
	count = uw_walk(session->space, &session->regs, &stack, frames, FRAMES_COMPARED, &stop);
	theirs.count = 0;
	dwfl_getthread_frames(session->dwfl, session->pid, on_dwfl_frame, &theirs);
	session->samples++;
	session->stops[stop]++;
	while (i < count && i < theirs.count && frames[i].ip == theirs.ip[i])
		i++;
	enum outcome outcome = judge(session, frames, count, i, &theirs, stop);
	if (!history_agrees(session, &stack, frames, count, stop))
		outcome = OUTCOME_REUSED;
	if (outcome == OUTCOME_DIFFERENT && session->outcomes[outcome] < SHOWN)
		show(session, &theirs, frames, count, stop);
	if ((outcome != OUTCOME_SAME || stop != UW_STOP_ROOT) && i > 0)
		note_place(session, outcome, stop, frames[i - 1].ip);
	session->outcomes[outcome]++;
	if (outcome == OUTCOME_SAME || outcome == OUTCOME_LONGER)
		session->ended_in_vdso += ends_in_vdso(session, frames, count, stop);
	if (outcome == OUTCOME_LONGER && i > 0)
		session->theirs_in_vdso += is_in_vdso(session, theirs.ip[i - 1]);
}

static void run(struct session *session, size_t wanted)
{
	int status;

	while (session->samples < wanted) {
		usleep(300 + (useconds_t)(rand() % 700));
		if (ptrace(PTRACE_INTERRUPT, session->pid, NULL, NULL) < 0 ||
		    waitpid(session->pid, &status, 0) != session->pid || WIFEXITED(status) ||
		    WIFSIGNALED(status))
			return;
		if (status >> 16 == PTRACE_EVENT_STOP)
			session_compare(session);
		/* Signals of the program's own are handed on. */
		ptrace(PTRACE_CONT, session->pid, NULL,
		       status >> 16 == 0 ? (uintptr_t)WSTOPSIG(status) : 0);
	}
}

/* Each instruction from the program's first one on. */
static void run_steps(struct session *session, size_t wanted)
{
	int status = 0;

	while (session->samples < wanted && waitpid(session->pid, &status, 0) == session->pid &&
	       WIFSTOPPED(status)) {
		bool stepped = WSTOPSIG(status) == SIGTRAP;

		if (stepped)
			session_compare(session);
		ptrace(PTRACE_SINGLESTEP, session->pid, NULL,
		       stepped ? 0 : (uintptr_t)WSTOPSIG(status));
	}
}

/* Whether the shares of the samples are within their bounds; says which are not. */
static bool is_within_bounds(const struct session *session)
{
	double percent = 100.0 / (double)session->samples;
	size_t excused = session->ended_in_vdso;
	double complete = percent * (double)(session->stops[UW_STOP_ROOT] + excused);
	double reused = 100.0 * (double)session->reused / (double)session->frames;
	bool within = complete >= session->complete_min && session->stops[UW_STOP_ROOT] > excused;

	if (!within)
		fprintf(stderr, "only %.3f %% of the stacks are complete, not %.3f\n", complete,
			session->complete_min);
	if (reused < session->reused_min) {
		fprintf(stderr, "%.1f %% of the frames are taken over, not %.1f\n", reused,
			session->reused_min);
		within = false;
	}
	if (session->outcomes[OUTCOME_SAME] <= session->theirs_in_vdso) {
		fprintf(stderr, "libdwfl ends most stacks in the vdso: it says nothing\n");
		within = false;
	}
	for (int i = OUTCOME_DIFFERENT; i < OUTCOME_COUNT; i++) {
		size_t known = i == OUTCOME_LONGER ? session->theirs_in_vdso : 0;
		double share = percent * (double)(session->outcomes[i] - known);

		if (share <= session->outcome_max[i])
			continue;
		fprintf(stderr, "%s: %.3f %% of the samples, at most %.3f expected\n",
			outcome_names[i], share, session->outcome_max[i]);
		within = false;
	}
	return within;
}

static void print_result(const struct session *session)
{
	printf("%zu samples", session->samples);
	for (int i = 0; i < OUTCOME_COUNT; i++)
		printf("; %s: %zu", outcome_names[i], session->outcomes[i]);
	putchar('\n');
	printf("taken over: %zu of %zu frames\n", session->reused, session->frames);
	for (int stop = 0; stop < UW_STOP_COUNT; stop++)
		if (session->stops[stop])
			printf("%s: %zu\n", uw_stop_name((enum uw_stop)stop), session->stops[stop]);
	for (size_t i = 0; i < session->place_count; i++)
		printf("  %zu %s\n", session->places[i].count, session->places[i].name);
}

/* Returns false where an option is not known. */
static bool read_options(int argc, char **argv, struct session *session)
{
	int option;

	session->complete_min = 100;
	while ((option = getopt(argc, argv, "+snc:r:u:g:e:")) != -1) {
		double percent = optarg ? strtod(optarg, NULL) : 0;

		if (option == 's')
			session->steps = true;
		else if (option == 'n')
			session->excuses_vdso = true;
		else if (option == 'c')
			session->complete_min = percent;
		else if (option == 'r')
			session->reused_min = percent;
		else if (option == 'u')
			session->outcome_max[OUTCOME_SHORTER] = percent;
		else if (option == 'g')
			session->outcome_max[OUTCOME_CONVENTIONAL] = percent;
		else if (option == 'e')
			session->outcome_max[OUTCOME_LONGER] = percent;
		else
			return false;
	}
	return argc - optind >= 2;
}

/* Starts the program, which waits until it is traced; false: no ptrace here. */
static bool start(struct session *session, char **argv)
{
	int go[2];

	if (pipe(go) < 0)
		live_target_die("pipe");
	session->pid = fork();
	if (session->pid == 0) {
		char byte;

		if (read(go[0], &byte, 1) == 1)
			execvp(argv[0], argv);
		_exit(127);
	}
	if (session->pid < 0)
		live_target_die("fork");
	if (ptrace(PTRACE_SEIZE, session->pid, NULL,
		   PTRACE_O_EXITKILL | (session->steps ? PTRACE_O_TRACEEXEC : 0)) < 0) {
		kill(session->pid, SIGKILL);
		return false;
	}
	if (write(go[1], "", 1) != 1)
		live_target_die("write");
	return true;
}

int main(int argc, char **argv)
{
	static struct session session;

	if (!read_options(argc, argv, &session)) {
		fprintf(stderr, "usage: live_oracle [OPTION...] SAMPLES PROGRAM [ARGUMENT...]\n");
		return 2;
	}
	size_t wanted = (size_t)atoi(argv[optind]);
	session.history = uw_history_create();
	if (!session.history || !start(&session, argv + optind + 1))
		return 77;
	if (session.steps) {
		run_steps(&session, wanted);
	} else {
		usleep(30000);
		run(&session, wanted);
	}
	kill(session.pid, SIGKILL);
	print_result(&session);
	bool good = session.samples > 0 && is_within_bounds(&session);
	if (session.dwfl)
		dwfl_end(session.dwfl);
	uw_history_destroy(session.history);
	uw_space_destroy(session.space);
	free(session.maps);
	return !good;
}
