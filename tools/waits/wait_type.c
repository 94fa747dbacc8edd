#include "tools/waits/wait_type.h"

#include "profile/read/reader.h"
#include "tools/waits/wait_call.h"
#include "tools/waits/wait_functions.h"
#include <string.h>

static const char *const type_names[WAIT_TYPE_COUNT] = {
	[WAIT_TYPE_UNKNOWN] = "Unknown",
	[WAIT_TYPE_MUTEX] = "Mutex",
	[WAIT_TYPE_RWLOCK] = "Read/Write Lock",
	[WAIT_TYPE_CONDITION] = "Condition Variable",
	[WAIT_TYPE_BARRIER] = "Barrier",
	[WAIT_TYPE_SEMAPHORE] = "Semaphore",
	[WAIT_TYPE_JOIN] = "Thread join",
	[WAIT_TYPE_SPIN] = "Spin Lock",
	[WAIT_TYPE_ONCE] = "Once",
	[WAIT_TYPE_PARK] = "Thread park",
	[WAIT_TYPE_MONITOR] = "Monitor",
	[WAIT_TYPE_GIL] = "Interpreter Lock",
	[WAIT_TYPE_FUTEX] = "Futex",
	[WAIT_TYPE_SLEEP] = "Sleep",
	[WAIT_TYPE_POLL] = "poll",
	[WAIT_TYPE_STREAM] = "Stream",
	[WAIT_TYPE_SOCKET] = "Socket",
	[WAIT_TYPE_PIPE] = "Pipe",
	[WAIT_TYPE_TERMINAL] = "Terminal",
	[WAIT_TYPE_DEVICE] = "Event",
	[WAIT_TYPE_FILE_LOCK] = "File Lock",
	[WAIT_TYPE_IPC] = "IPC",
	[WAIT_TYPE_SIGNAL] = "Signal",
	[WAIT_TYPE_CHILD] = "Child process",
	[WAIT_TYPE_FAULT] = "Page fault",
	[WAIT_TYPE_CALL] = "System call",
};

const char *wait_type_name(enum wait_type type)
{
	return type_names[type];
}

static bool begins_with(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

/* name: as /proc gives it. */
static enum wait_type type_of_file(const char *name, uint32_t syscall)
{
	enum wait_type called = wait_call_type(syscall);
	if (called == WAIT_TYPE_FILE_LOCK || called == WAIT_TYPE_POLL)
		return called;
	if (begins_with(name, "socket:"))
		return WAIT_TYPE_SOCKET;
	if (begins_with(name, "pipe:"))
		return WAIT_TYPE_PIPE;
	if (begins_with(name, "anon_inode:"))
		return WAIT_TYPE_DEVICE;
	if (begins_with(name, "/dev/pts/") || begins_with(name, "/dev/tty"))
		return WAIT_TYPE_TERMINAL;
	return called == WAIT_TYPE_SOCKET ? WAIT_TYPE_SOCKET : WAIT_TYPE_STREAM;
}

static enum wait_type type_of_sync(uint32_t type)
{
	static const enum wait_type types[] = {
		[PROFILE_SYNC_UNKNOWN] = WAIT_TYPE_UNKNOWN,
		[PROFILE_SYNC_MUTEX] = WAIT_TYPE_MUTEX,
		[PROFILE_SYNC_RWLOCK] = WAIT_TYPE_RWLOCK,
		[PROFILE_SYNC_CONDITION] = WAIT_TYPE_CONDITION,
		[PROFILE_SYNC_BARRIER] = WAIT_TYPE_BARRIER,
		[PROFILE_SYNC_SEMAPHORE] = WAIT_TYPE_SEMAPHORE,
		[PROFILE_SYNC_JOIN] = WAIT_TYPE_JOIN,
		[PROFILE_SYNC_SPIN] = WAIT_TYPE_SPIN,
		[PROFILE_SYNC_ONCE] = WAIT_TYPE_ONCE,
	};
	return types[type];
}

enum wait_type wait_type_of(const struct profile_reader *reader,
			    const struct profile_object *object, uint32_t syscall,
			    const struct wait_site *site)
{
	enum wait_type known = type_of_sync(object->type);
	if (known != WAIT_TYPE_UNKNOWN)
		return known;
	switch (object->kind) {
	case PROFILE_OBJECT_FILE:
		return type_of_file(profile_reader_text(reader, object->name), syscall);
	case PROFILE_OBJECT_CALL:
		return wait_call_type(object->number);
	case PROFILE_OBJECT_FAULT:
		return WAIT_TYPE_FAULT;
	case PROFILE_OBJECT_CHILD:
		return WAIT_TYPE_CHILD;
	case PROFILE_OBJECT_FUTEX:
	case PROFILE_OBJECT_SYNC:
		return site->type != WAIT_TYPE_UNKNOWN ? site->type : WAIT_TYPE_FUTEX;
	default:
		if (site->type != WAIT_TYPE_UNKNOWN || syscall == PROFILE_NO_SYSCALL)
			return site->type;
		return wait_call_type(syscall);
	}
}
