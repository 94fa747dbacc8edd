#include "tools/waits/wait_functions.h"

#include "profile/read/reader.h"
#include "tools/functions/functions.h"
#include "tools/memory/xalloc.h"
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

/* Functions looked at from the leaf up, for the type. */
#define DEPTH_MAX 24u

enum level {
	LEVEL_NONE,    /* code of the program */
	LEVEL_PASSED,  /* a library's, which says nothing of the type */
	LEVEL_C,       /* the C library's */
	LEVEL_RUNTIME, /* of a runtime above: wins over the C library's that it calls */
};

/* Names as finalization stores them, but without leading underscores and GI_ (of glibc's aliases);
 * patterns of fnmatch(3). The first match counts. */
static const struct known_function {
	const char *pattern;
	enum level level;
	enum wait_type type;
} known_functions[] = {
	{"pthread_mutex_cond_lock*", LEVEL_C, WAIT_TYPE_MUTEX},
	{"pthread_mutex_*lock*", LEVEL_C, WAIT_TYPE_MUTEX},
	{"lll_lock_wait*", LEVEL_C, WAIT_TYPE_MUTEX},
	{"mtx_*lock", LEVEL_C, WAIT_TYPE_MUTEX},
	{"pthread_rwlock_*lock*", LEVEL_C, WAIT_TYPE_RWLOCK},
	{"pthread_cond_*", LEVEL_C, WAIT_TYPE_CONDITION},
	{"cnd_*wait", LEVEL_C, WAIT_TYPE_CONDITION},
	{"pthread_barrier_*", LEVEL_C, WAIT_TYPE_BARRIER},
	{"sem_*wait", LEVEL_C, WAIT_TYPE_SEMAPHORE},
	{"new_sem_*wait*", LEVEL_C, WAIT_TYPE_SEMAPHORE},
	{"pthread_*join*", LEVEL_C, WAIT_TYPE_JOIN},
	{"thrd_join", LEVEL_C, WAIT_TYPE_JOIN},
	{"pthread_once*", LEVEL_C, WAIT_TYPE_ONCE},
	{"call_once", LEVEL_C, WAIT_TYPE_ONCE},
	{"cxa_guard_acquire", LEVEL_C, WAIT_TYPE_ONCE},
	{"pthread_spin_*lock", LEVEL_C, WAIT_TYPE_SPIN},
	/* libgomp; only the capital ones are exported. */
	{"gomp_*barrier*", LEVEL_RUNTIME, WAIT_TYPE_BARRIER},
	{"GOMP_barrier*", LEVEL_RUNTIME, WAIT_TYPE_BARRIER},
	{"gomp_mutex_*", LEVEL_RUNTIME, WAIT_TYPE_MUTEX},
	{"GOMP_critical_*", LEVEL_RUNTIME, WAIT_TYPE_MUTEX},
	{"gomp_sem_*", LEVEL_RUNTIME, WAIT_TYPE_SEMAPHORE},
	/* C++: of libstdc++ and of code inlined from its headers. */
	{"std::condition_variable*", LEVEL_RUNTIME, WAIT_TYPE_CONDITION},
	{"std::*mutex::*lock*", LEVEL_RUNTIME, WAIT_TYPE_MUTEX},
	{"std::thread::join", LEVEL_RUNTIME, WAIT_TYPE_JOIN},
	{"std::counting_semaphore*", LEVEL_RUNTIME, WAIT_TYPE_SEMAPHORE},
	{"std::barrier*", LEVEL_RUNTIME, WAIT_TYPE_BARRIER},
	{"std::latch*", LEVEL_RUNTIME, WAIT_TYPE_BARRIER},
	/* Rust: its standard library calls futex itself. */
	{"std::sys::*::mutex::*Mutex::lock*", LEVEL_RUNTIME, WAIT_TYPE_MUTEX},
	{"std::sys::*::rwlock::*RwLock::*", LEVEL_RUNTIME, WAIT_TYPE_RWLOCK},
	{"std::sys::*::condvar::*Condvar::wait*", LEVEL_RUNTIME, WAIT_TYPE_CONDITION},
	{"std::sys::*::once::*Once::*", LEVEL_RUNTIME, WAIT_TYPE_ONCE},
	{"std::thread::*park*", LEVEL_RUNTIME, WAIT_TYPE_PARK},
	{"std::sys::*::Parker::park*", LEVEL_RUNTIME, WAIT_TYPE_PARK},
	/* Go: an idle thread waits for a note, a goroutine has no wait of its own. */
	{"runtime.notesleep*", LEVEL_RUNTIME, WAIT_TYPE_PARK},
	{"runtime.notetsleep*", LEVEL_RUNTIME, WAIT_TYPE_PARK},
	{"runtime.gopark*", LEVEL_RUNTIME, WAIT_TYPE_PARK},
	{"runtime.lock*", LEVEL_RUNTIME, WAIT_TYPE_MUTEX},
	{"runtime.futexsleep*", LEVEL_C, WAIT_TYPE_FUTEX},
	/* Java, by HotSpot's functions. */
	{"ObjectMonitor::*", LEVEL_RUNTIME, WAIT_TYPE_MONITOR},
	{"ObjectSynchronizer::*", LEVEL_RUNTIME, WAIT_TYPE_MONITOR},
	{"JVM_MonitorWait", LEVEL_RUNTIME, WAIT_TYPE_MONITOR},
	{"Unsafe_Park", LEVEL_RUNTIME, WAIT_TYPE_PARK},
	{"Parker::park", LEVEL_RUNTIME, WAIT_TYPE_PARK},
	/* Python's threads take turns. */
	{"take_gil", LEVEL_RUNTIME, WAIT_TYPE_GIL},
	{"PyEval_RestoreThread", LEVEL_RUNTIME, WAIT_TYPE_GIL},
	{"PyEval_AcquireThread", LEVEL_RUNTIME, WAIT_TYPE_GIL},
	{"PyCOND_*", LEVEL_PASSED, WAIT_TYPE_UNKNOWN},
	{"PyThread_*", LEVEL_PASSED, WAIT_TYPE_UNKNOWN},
	/* On the way to the kernel, or with a wake. */
	{"futex_*", LEVEL_PASSED, WAIT_TYPE_UNKNOWN},
	{"lll_*", LEVEL_PASSED, WAIT_TYPE_UNKNOWN},
	{"pthread_*", LEVEL_PASSED, WAIT_TYPE_UNKNOWN},
	{"sem_post*", LEVEL_PASSED, WAIT_TYPE_UNKNOWN},
	{"sem_init", LEVEL_PASSED, WAIT_TYPE_UNKNOWN},
	{"new_sem_*", LEVEL_PASSED, WAIT_TYPE_UNKNOWN},
	{"mtx_*", LEVEL_PASSED, WAIT_TYPE_UNKNOWN},
	{"cnd_*", LEVEL_PASSED, WAIT_TYPE_UNKNOWN},
	{"gomp_*", LEVEL_PASSED, WAIT_TYPE_UNKNOWN},
	{"GOMP_*", LEVEL_PASSED, WAIT_TYPE_UNKNOWN},
	{"gthread_*", LEVEL_PASSED, WAIT_TYPE_UNKNOWN},
	{"gthrw_*", LEVEL_PASSED, WAIT_TYPE_UNKNOWN},
	{"std::*", LEVEL_PASSED, WAIT_TYPE_UNKNOWN},
	{"core::*", LEVEL_PASSED, WAIT_TYPE_UNKNOWN},
	{"gnu_cxx::*", LEVEL_PASSED, WAIT_TYPE_UNKNOWN},
	{"runtime.*", LEVEL_PASSED, WAIT_TYPE_UNKNOWN},
	{"runtime/internal/*", LEVEL_PASSED, WAIT_TYPE_UNKNOWN},
	{"internal/runtime/*", LEVEL_PASSED, WAIT_TYPE_UNKNOWN},
	{"os::*", LEVEL_PASSED, WAIT_TYPE_UNKNOWN},
	{"PlatformMonitor::*", LEVEL_PASSED, WAIT_TYPE_UNKNOWN},
	{"PlatformEvent::*", LEVEL_PASSED, WAIT_TYPE_UNKNOWN},
	{"Monitor::*", LEVEL_PASSED, WAIT_TYPE_UNKNOWN},
	{"SharedRuntime::*", LEVEL_PASSED, WAIT_TYPE_UNKNOWN},
	/* The C library's in a static program, where nothing else tells them from its own. */
	{"libc_*", LEVEL_PASSED, WAIT_TYPE_UNKNOWN},
	{"syscall*", LEVEL_PASSED, WAIT_TYPE_UNKNOWN},
	{"internal_syscall*", LEVEL_PASSED, WAIT_TYPE_UNKNOWN},
	{"*nanosleep*", LEVEL_PASSED, WAIT_TYPE_UNKNOWN},
	{"read", LEVEL_PASSED, WAIT_TYPE_UNKNOWN},
	{"write", LEVEL_PASSED, WAIT_TYPE_UNKNOWN},
	{"poll", LEVEL_PASSED, WAIT_TYPE_UNKNOWN},
	{"select", LEVEL_PASSED, WAIT_TYPE_UNKNOWN},
	{"epoll_*wait*", LEVEL_PASSED, WAIT_TYPE_UNKNOWN},
	{"accept", LEVEL_PASSED, WAIT_TYPE_UNKNOWN},
	{"connect", LEVEL_PASSED, WAIT_TYPE_UNKNOWN},
	{"recv", LEVEL_PASSED, WAIT_TYPE_UNKNOWN},
	{"recvfrom", LEVEL_PASSED, WAIT_TYPE_UNKNOWN},
	{"recvmsg", LEVEL_PASSED, WAIT_TYPE_UNKNOWN},
	{"send", LEVEL_PASSED, WAIT_TYPE_UNKNOWN},
	{"sendto", LEVEL_PASSED, WAIT_TYPE_UNKNOWN},
	{"sendmsg", LEVEL_PASSED, WAIT_TYPE_UNKNOWN},
	{"wait4", LEVEL_PASSED, WAIT_TYPE_UNKNOWN},
	{"waitpid", LEVEL_PASSED, WAIT_TYPE_UNKNOWN},
	{"usleep", LEVEL_PASSED, WAIT_TYPE_UNKNOWN},
	{"sleep", LEVEL_PASSED, WAIT_TYPE_UNKNOWN},
};

#define KNOWN_COUNT (sizeof(known_functions) / sizeof(known_functions[0]))
_Static_assert(KNOWN_COUNT < 254, "a byte for each row");

/* In a byte for each function: not looked up yet, else the row + OF_ROW. */
enum { NOT_LOOKED_UP, NO_ROW, OF_ROW };

struct wait_functions {
	const struct profile_reader *reader;
	const struct functions *functions;
	uint8_t *rows;
};

struct wait_functions *wait_functions_create(const struct profile_reader *reader,
					     const struct functions *functions)
{
	struct wait_functions *known = xalloc_zeroed(1, sizeof(*known));
	known->reader = reader;
	known->functions = functions;
	known->rows = xalloc_zeroed(functions_count(functions), sizeof(*known->rows));
	return known;
}

void wait_functions_destroy(struct wait_functions *functions)
{
	if (!functions)
		return;
	free(functions->rows);
	free(functions);
}

static const char *skip_ornament(const char *name)
{
	name += strspn(name, "_");
	if (strncmp(name, "GI_", 3) == 0)
		name += 3;
	return name + strspn(name, "_");
}

/* NULL: no row of the table. */
static const struct known_function *look_up(struct wait_functions *known, uint32_t function)
{
	uint8_t *row = &known->rows[function];
	if (*row == NOT_LOOKED_UP) {
		const char *name = skip_ornament(functions_at(known->functions, function)->name);
		size_t i = 0;
		while (i < KNOWN_COUNT && fnmatch(known_functions[i].pattern, name, 0) != 0)
			i++;
		*row = (uint8_t)(i < KNOWN_COUNT ? OF_ROW + i : NO_ROW);
	}
	return *row == NO_ROW ? NULL : &known_functions[*row - OF_ROW];
}

/* Without a symbol: it can be anybody's. */
static bool is_nameless(const char *name)
{
	return name[0] == '[' || strncmp(name, "func@0x", 7) == 0;
}

static bool is_glibc(const char *dso)
{
	return strcmp(dso, "libc.so.6") == 0 || strncmp(dso, "libc-2.", 7) == 0 ||
	       strncmp(dso, "libpthread", 10) == 0;
}

/* A way up a stack. */
struct climb {
	struct wait_functions *known;
	struct wait_site site;
	enum level level; /* of the type so far */
	uint32_t typed_by;
	size_t depth;
	bool has_function;
	bool is_beyond; /* of the functions that can tell the type */
};

/* Returns whether to go on. */
static bool climb_over(struct climb *climb, uint32_t function)
{
	const struct functions *functions = climb->known->functions;
	const struct known_function *row = look_up(climb->known, function);
	bool is_library = row || functions_dso_of(functions, function)->is_system;
	if (!is_library && !climb->has_function) {
		climb->site.function = function;
		climb->has_function = true;
	}
	if (row && row->level == LEVEL_C && climb->site.inner == WAIT_TYPE_UNKNOWN &&
	    (row->type == WAIT_TYPE_CONDITION ||
	     is_glibc(functions_dso_of(functions, function)->name)))
		climb->site.inner = row->type;
	if (row && row->level > LEVEL_PASSED && row->level > climb->level) {
		climb->level = row->level;
		climb->site.type = row->type;
		climb->typed_by = function;
		/* What came before is the runtime's own. */
		climb->has_function = false;
	}
	climb->is_beyond = !is_library && !is_nameless(functions_at(functions, function)->name);
	return ++climb->depth < DEPTH_MAX && !(climb->is_beyond && climb->has_function);
}

/* Returns whether to go on. */
static bool climb_frame(struct climb *climb, uint32_t frame)
{
	uint32_t count = 0;
	const uint32_t *of_frame = functions_of_frame(climb->known->functions, frame, &count);
	while (count-- > 0) {
		if (!climb_over(climb, of_frame[count]))
			return false;
	}
	return true;
}

struct wait_site wait_site_of(struct wait_functions *functions, uint32_t node)
{
	struct climb climb = {.known = functions, .typed_by = FUNCTION_UNKNOWN};
	const struct profile_node *at = profile_reader_node(functions->reader, node);
	if (node != 0 && at->frame != PROFILE_NONE) {
		uint32_t count = 0;
		const uint32_t *leaf = functions_of_frame(functions->functions, at->frame, &count);
		climb.typed_by = leaf[count - 1];
	}
	while (node != 0 && node != PROFILE_NONE) {
		at = profile_reader_node(functions->reader, node);
		if (at->frame != PROFILE_NONE && !climb_frame(&climb, at->frame))
			break;
		node = at->parent;
	}
	if (!climb.has_function)
		climb.site.function = climb.typed_by;
	return climb.site;
}
