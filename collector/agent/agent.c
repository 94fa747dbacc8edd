#include "collector/agent/agent.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* Of a stack without a limit. */
#define MAIN_DEPTH_MAX (64ull << 20)

struct agent agent;
_Thread_local struct agent_thread agent_thread;

/* Only there with glibc, whose threads' stacks and once controls the library knows. */
extern const char *gnu_get_libc_version(void) __attribute__((weak));

void agent_resolve(void)
{
	if (agent_thread.is_resolving)
		return;
	agent_thread.is_resolving = true;
	int error = errno;
	real_find(&agent.real);
	errno = error;
	/* Who sees this sees the functions. */
	__atomic_store_n(&agent.real.is_complete, true, __ATOMIC_RELEASE);
	agent_thread.is_resolving = false;
}

uint64_t agent_now(void)
{
	struct timespec now;
	agent.real.clock_gettime(CLOCK_MONOTONIC_RAW, &now);
	return (uint64_t)now.tv_sec * 1000000000ull + (uint64_t)now.tv_nsec;
}

static void count(struct channel *channel, enum channel_count which)
{
	__atomic_fetch_add(&channel->header.counts[which], 1, __ATOMIC_RELAXED);
}

/* In a fork's child: the waiting threads are its parent's. The first process of a pid namespace
 * records nothing from here on, nor do its children. */
static void begin_again(void)
{
	struct channel *channel = agent.channel;
	uint32_t pid = (uint32_t)getpid();
	if (pid == 1)
		__atomic_store_n(&agent.channel, NULL, __ATOMIC_RELAXED);
	/* Most are zero, and their pages stay shared with the parent. */
	for (size_t i = 0; i < SLOTS; i++)
		if (atomic_load_explicit(&agent.waiting[i], memory_order_relaxed) != 0)
			atomic_store_explicit(&agent.waiting[i], 0, memory_order_relaxed);
	count(channel, pid == 1 ? CHANNEL_OTHER_NAMESPACE : CHANNEL_ATTACHED);
	atomic_store_explicit(agent.pid, pid, memory_order_release);
}

bool agent_is_active(void)
{
	struct channel *channel = __atomic_load_n(&agent.channel, __ATOMIC_RELAXED);
	uint32_t none = 0;
	if (!channel || __atomic_load_n(&channel->header.is_over, __ATOMIC_RELAXED) != 0)
		return false;
	uint32_t pid = atomic_load_explicit(agent.pid, memory_order_acquire);
	if (pid == 0 && atomic_compare_exchange_strong(agent.pid, &none, AGENT_BUSY)) {
		begin_again();
		return agent_is_active();
	}
	if (pid == 0 || pid == AGENT_BUSY)
		return false;
	if (agent_thread.pid != pid)
		agent_thread =
			(struct agent_thread){.pid = pid, .stack_low = agent_thread.stack_low};
	return true;
}

/* Opens only what surely is a memfd of the right size: opening other files can have effects. */
static int open_channel(const char *path)
{
	enum { SEALS = F_SEAL_SHRINK | F_SEAL_GROW };
	struct stat status;
	char name[64];
	int place = open(path, O_PATH | O_CLOEXEC);
	if (place < 0)
		return -1;
	int fd = -1;
	if (fstat(place, &status) == 0 && S_ISREG(status.st_mode) &&
	    status.st_size == (off_t)CHANNEL_SIZE) {
		snprintf(name, sizeof(name), "/proc/self/fd/%d", place);
		fd = open(name, O_RDWR | O_CLOEXEC);
	}
	close(place);
	if (fd >= 0 && (fcntl(fd, F_GET_SEALS) & SEALS) != SEALS) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* Whether address space may be taken from the program. */
static bool has_room(void)
{
	struct rlimit limit;
	return getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur == RLIM_INFINITY;
}

static struct channel *map_channel(int fd, uint64_t key)
{
	size_t size = has_room() ? CHANNEL_SHARED_SIZE : sizeof(struct channel_header);
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED)
		return NULL;
	struct channel *channel = memory;
	bool is_ours = channel->header.magic == CHANNEL_MAGIC && channel->header.key == key &&
		       channel->header.size == CHANNEL_SIZE;
	if (is_ours && size == CHANNEL_SHARED_SIZE) {
		/* A core file of the program has what it has without us. */
		madvise(memory, size, MADV_DONTDUMP);
		return channel;
	}
	if (is_ours)
		count(channel, CHANNEL_NO_ROOM);
	munmap(memory, size);
	return NULL;
}

static struct channel *find_channel(const char *text)
{
	char path[256];
	const char *colon = strrchr(text, ':');
	size_t length = colon ? (size_t)(colon - text) : 0;
	if (length == 0 || length >= sizeof(path))
		return NULL;
	memcpy(path, text, length);
	path[length] = '\0';
	int fd = open_channel(path);
	if (fd < 0)
		return NULL;
	struct channel *channel = map_channel(fd, strtoull(colon + 1, NULL, 16));
	close(fd);
	return channel;
}

/* The kernel keeps so much free below the main thread's stack (mmap_base, arch/x86/mm/mmap.c), and
 * no more: other threads' stacks may lie right there. */
static uintptr_t find_main_depth(void)
{
	struct rlimit limit;
	if (getrlimit(RLIMIT_STACK, &limit) != 0)
		return 0;
	return limit.rlim_cur < MAIN_DEPTH_MAX ? limit.rlim_cur : MAIN_DEPTH_MAX;
}

/* Ids of other namespaces would be taken for those of others' threads. */
static bool is_same_namespace(const struct channel *channel)
{
	struct stat status;
	return stat("/proc/self/ns/pid", &status) == 0 &&
	       status.st_ino == channel->header.pid_namespace;
}

/* The rings of the image that this one replaced: their threads are no more, but for one id. */
static void leave_rings(struct channel *channel)
{
	uint64_t pid = (uint64_t)getpid();
	for (size_t i = 0; i < CHANNEL_RINGS; i++)
		if (__atomic_load_n(&channel->owners[i], __ATOMIC_RELAXED) >> 32 == pid)
			__atomic_fetch_or(&channel->owners[i], CHANNEL_LEFT, __ATOMIC_RELAXED);
}

static void attach(const char *text)
{
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED)
		return;
	struct channel *channel =
		madvise(page, 4096, MADV_WIPEONFORK) == 0 ? find_channel(text) : NULL;
	if (channel && !is_same_namespace(channel)) {
		count(channel, CHANNEL_OTHER_NAMESPACE);
		munmap(channel, CHANNEL_SHARED_SIZE);
		channel = NULL;
	}
	if (!channel) {
		munmap(page, 4096);
		return;
	}
	leave_rings(channel);
	agent.pid = page;
	atomic_store_explicit(agent.pid, (uint32_t)getpid(), memory_order_relaxed);
	agent.main_top = (uintptr_t)getauxval(AT_RANDOM);
	agent.main_thread = pthread_self();
	agent.main_depth = find_main_depth();
	count(channel, CHANNEL_ATTACHED);
	agent.channel = channel;
}

/* A program that runs with other rights than its caller's takes no orders from an environment. */
__attribute__((constructor)) static void begin(void)
{
	int error = errno;
	const char *text = secure_getenv(CHANNEL_VARIABLE);
	agent_real();
	if (text && gnu_get_libc_version && getauxval(AT_SECURE) == 0 && agent.real.clock_gettime)
		attach(text);
	errno = error;
}
