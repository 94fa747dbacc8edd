#include "tests/unwind/recording.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAPPINGS_MAX = 4096, GAP_US = 300, GAP_RANDOM_US = 900, STILL_WANTED = 20 };

/* psABI of x86-64, section 3.2.2: leaf functions may use as much below their stack pointer. */
enum { RED_ZONE = 128 };

enum { USER32_CS = 0x23 /* arch/x86/include/asm/segment.h: 32-bit code */ };

/* How long it is waited, at most, until all threads have taken notice of their stop. */
enum { STOP_WAITS = 1000, STOP_WAIT_US = 1000 };

static void *must(void *memory)
{
	if (!memory)
		abort();
	return memory;
}

/* Starts the program traced; false: no ptrace here. */
static bool start(struct recording *recording, char *const *argv)
{
	int go[2];

	if (pipe(go) < 0)
		abort();
	recording->pid = fork();
	if (recording->pid < 0)
		abort();
	if (recording->pid == 0) {
		char byte;
		int null = open("/dev/null", O_RDWR | O_CLOEXEC);

		dup2(null, STDIN_FILENO);
		dup2(null, STDOUT_FILENO);
		close(go[1]);
		if (read(go[0], &byte, 1) == 1)
			execvp(argv[0], argv);
		_exit(127);
	}
	close(go[0]);
	if (ptrace(PTRACE_SEIZE, recording->pid, NULL, PTRACE_O_EXITKILL) < 0) {
		close(go[1]);
		return false;
	}
	if (write(go[1], "", 1) != 1)
		abort();
	close(go[1]);
	return true;
}

/* Stops a thread; false: it ended. Signals of its own are handed on. */
static bool stop(pid_t tid)
{
	int status;

	if (ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) < 0)
		return false;
	for (;;) {
		if (waitpid(tid, &status, __WALL) != tid || !WIFSTOPPED(status))
			return false;
		if (status >> 16 == PTRACE_EVENT_STOP)
			return true;
		ptrace(PTRACE_CONT, tid, NULL, (uintptr_t)WSTOPSIG(status));
	}
}

/* What follows a thread's name in its stat file: its state, and its CPU time (proc(5)). */
static bool read_thread(pid_t pid, const char *tid, char *state, unsigned long *ticks)
{
	char path[64], line[1024];
	unsigned long user, system;

	snprintf(path, sizeof(path), "/proc/%d/task/%.20s/stat", pid, tid);
	FILE *file = fopen(path, "re");
	if (!file || !fgets(line, sizeof(line), file))
		line[0] = '\0';
	if (file)
		fclose(file);
	const char *after = strrchr(line, ')');
	if (!after || sscanf(after + 1, " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu",
			     state, &user, &system) != 3)
		return false;
	*ticks = user + system;
	return true;
}

/* The thread with most CPU time; *all_stopped: none of them runs. */
static pid_t busiest_thread(pid_t pid, bool *all_stopped)
{
	char path[64], state;
	unsigned long ticks, most = 0;
	pid_t busiest = pid;
	struct dirent *entry;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	DIR *folder = opendir(path);
	*all_stopped = true;
	while (folder && (entry = readdir(folder))) {
		if (entry->d_name[0] == '.' || !read_thread(pid, entry->d_name, &state, &ticks))
			continue;
		*all_stopped = *all_stopped && strchr("tTZX", state);
		if (ticks > most) {
			most = ticks;
			busiest = (pid_t)strtol(entry->d_name, NULL, 10);
		}
	}
	if (folder)
		closedir(folder);
	return busiest;
}

/* From here on it is the busiest thread that is traced, and no other. */
static bool choose_thread(struct recording *recording)
{
	bool all_stopped;

	recording->tid = busiest_thread(recording->pid, &all_stopped);
	return recording->tid == recording->pid ||
	       (stop(recording->pid) &&
		ptrace(PTRACE_SEIZE, recording->tid, NULL, PTRACE_O_EXITKILL) == 0 &&
		ptrace(PTRACE_DETACH, recording->pid, NULL, NULL) == 0);
}

/* Stops the other threads too; the one that is traced stands already. */
static bool stop_all(const struct recording *recording)
{
	bool all_stopped = false;

	kill(recording->pid, SIGSTOP);
	for (int i = 0; i < STOP_WAITS && !all_stopped; i++) {
		busiest_thread(recording->pid, &all_stopped);
		usleep(STOP_WAIT_US);
	}
	return all_stopped;
}

static void read_mappings(struct recording *recording)
{
	char path[64], line[1024];

	snprintf(path, sizeof(path), "/proc/%d/maps", recording->pid);
	FILE *maps = fopen(path, "re");
	recording->mapping_count = 0;
	while (maps && recording->mapping_count < MAPPINGS_MAX && fgets(line, sizeof(line), maps)) {
		struct recording_mapping *mapping = &recording->mappings[recording->mapping_count];
		char permissions[5] = "";

		memset(mapping, 0, sizeof(*mapping));
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %*s %511[^\n]",
			   &mapping->start, &mapping->end, permissions, &mapping->offset,
			   mapping->path) < 4 ||
		    permissions[0] != 'r')
			continue;
		mapping->writable = permissions[1] == 'w';
		mapping->executable = permissions[2] == 'x';
		/* Stacks and heaps hold no code or tables. Data of files may: CIEs point there to
		 * the pointer to a personality routine. */
		if (mapping->writable && !mapping->executable && mapping->path[0] != '/')
			continue;
		recording->mapping_count++;
	}
	if (maps)
		fclose(maps);
}

/* Reads the mappings again; whether they are as before. */
static bool mappings_hold(struct recording *recording)
{
	struct recording_mapping *before = recording->mappings;
	size_t count = recording->mapping_count;

	recording->mappings = must(calloc(MAPPINGS_MAX, sizeof(*recording->mappings)));
	read_mappings(recording);
	bool same = count == recording->mapping_count &&
		    memcmp(before, recording->mappings, count * sizeof(*before)) == 0;
	free(before);
	return same;
}

bool recording_read(const struct recording *recording, uint64_t address, void *bytes, size_t size)
{
	struct iovec local = {.iov_base = bytes, .iov_len = size};
	struct iovec remote = {.iov_len = size};

	memcpy(&remote.iov_base, &address, sizeof(address));
	return process_vm_readv(recording->pid, &local, 1, &remote, 1, 0) == (ssize_t)size;
}

static void take(struct recording *recording)
{
	static uint8_t bytes[RECORDING_STACK_MAX];
	struct recording_sample *sample = &recording->samples[recording->count];
	struct user_regs_struct user;
	struct iovec local = {.iov_base = bytes, .iov_len = sizeof(bytes)};
	struct iovec remote = {.iov_len = sizeof(bytes)};

	if (ptrace(PTRACE_GETREGS, recording->tid, NULL, &user) < 0)
		abort();
	sample->regs = (struct uw_regs){.value = {user.rax, user.rdx, user.rcx, user.rbx, user.rsi,
						  user.rdi, user.rbp, user.rsp, user.r8, user.r9,
						  user.r10, user.r11, user.r12, user.r13, user.r14,
						  user.r15, user.rip}};
	recording->arch = user.cs == USER32_CS ? UW_ARCH_I386 : UW_ARCH_X86_64;
	if (recording->arch == UW_ARCH_I386)
		sample->regs =
			(struct uw_regs){.value = {user.rax, user.rcx, user.rdx, user.rbx, user.rsp,
						   user.rbp, user.rsi, user.rdi, user.rip}};
	uint64_t start = user.rsp - RED_ZONE;
	memcpy(&remote.iov_base, &start, sizeof(start));
	ssize_t got = process_vm_readv(recording->pid, &local, 1, &remote, 1, 0);
	if (got <= RED_ZONE)
		return;
	sample->stack =
		(struct uw_stack){.base = start,
				  .bytes = memcpy(must(malloc((size_t)got)), bytes, (size_t)got),
				  .size = (size_t)got,
				  .requested = sizeof(bytes)};
	recording->count++;
}

static void drop_samples(struct recording *recording)
{
	for (size_t i = 0; i < recording->count; i++)
		free((void *)(uintptr_t)recording->samples[i].stack.bytes);
	recording->count = 0;
}

struct recording *recording_create(char *const *argv, size_t wanted, unsigned delay_ms)
{
	struct recording *recording = must(calloc(1, sizeof(*recording)));
	size_t stops = 0;

	recording->samples = must(calloc(wanted, sizeof(*recording->samples)));
	recording->mappings = must(calloc(MAPPINGS_MAX, sizeof(*recording->mappings)));
	if (!start(recording, argv)) {
		recording_destroy(recording);
		return NULL;
	}
	usleep(delay_ms * 1000);
	if (!choose_thread(recording))
		return recording;
	/* A program that maps all the time is stopped when it did not for a while. */
	while ((recording->count < wanted && stops < 4 * wanted) ||
	       (recording->count < STILL_WANTED && stops < 8 * wanted)) {
		if (stops++ > 0)
			usleep(GAP_US + (useconds_t)(rand() % GAP_RANDOM_US));
		if (!stop(recording->tid))
			break;
		if (!mappings_hold(recording))
			drop_samples(recording);
		take(recording);
		if (recording->count < wanted)
			ptrace(PTRACE_CONT, recording->tid, NULL, NULL);
	}
	if ((recording->count < wanted && !stop(recording->tid)) || !stop_all(recording) ||
	    !mappings_hold(recording))
		drop_samples(recording);
	return recording;
}

void recording_destroy(struct recording *recording)
{
	if (!recording)
		return;
	kill(recording->pid, SIGKILL);
	if (recording->tid > 0 && recording->tid != recording->pid)
		waitpid(recording->tid, NULL, __WALL);
	waitpid(recording->pid, NULL, 0);
	drop_samples(recording);
	free(recording->samples);
	free(recording->mappings);
	free(recording);
}

const struct recording_mapping *recording_find(const struct recording *recording, uint64_t address)
{
	for (size_t i = 0; i < recording->mapping_count; i++)
		if (address >= recording->mappings[i].start && address < recording->mappings[i].end)
			return &recording->mappings[i];
	return NULL;
}

static struct uw_module *open_module(const struct recording *recording,
				     const struct recording_mapping *mapping)
{
	struct uw_module *module = NULL;

	if (strcmp(mapping->path, "[vdso]") == 0) {
		size_t size = mapping->end - mapping->start;
		uint8_t *image = must(malloc(size));

		if (recording_read(recording, mapping->start, image, size) &&
		    uw_module_from_memory(image, size, &module) < 0)
			module = NULL;
		free(image);
	} else if (mapping->path[0] == '/') {
		int fd = open(mapping->path, O_RDONLY | O_CLOEXEC);

		if (fd >= 0 && uw_module_open(fd, &module) < 0)
			module = NULL;
		if (fd >= 0)
			close(fd);
	}
	return module;
}

struct uw_space *recording_space(const struct recording *recording)
{
	struct uw_space *space = must(uw_space_create(recording->arch));

	for (size_t i = 0; i < recording->mapping_count; i++) {
		const struct recording_mapping *mapping = &recording->mappings[i];

		if (!mapping->executable)
			continue;
		struct uw_module *module = open_module(recording, mapping);
		if (uw_space_map(space, mapping->start, mapping->end, mapping->offset, module,
				 (uint32_t)i) < 0)
			abort();
		uw_module_unref(module);
	}
	return space;
}
