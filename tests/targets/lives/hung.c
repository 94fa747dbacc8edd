/*
 * hung DIRECTORY UID: mounts a file system (FUSE) there that never answers a read, becomes another
 * user, and from then on holds the lock of its own mappings while it burns: one thread reads its
 * own memory where a file of that file system is mapped, another wants to map something. Whoever
 * asks the kernel for its arguments waits for ever. Only root may run it. 4: there is no FUSE here.
 */
#include "tests/targets/work.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

WORK_FUNCTION(hung_burn)

enum { NO_FUSE = 4, PAGE = 4096 };

static int device;
static void *page;
static char request[1 << 18];

static void reply(uint64_t unique, int error, const void *body, size_t size)
{
	struct fuse_out_header header = {.len = (uint32_t)(sizeof(header) + size),
					 .error = error,
					 .unique = unique};
	char bytes[256];

	memcpy(bytes, &header, sizeof(header));
	if (size > 0)
		memcpy(bytes + sizeof(header), body, size);
	if (write(device, bytes, header.len) < 0)
		perror("cannot answer the kernel");
}

static void answer(const struct fuse_in_header *in)
{
	struct fuse_attr file = {.ino = 2, .size = PAGE, .mode = S_IFREG | 0755, .nlink = 1};
	struct fuse_attr directory = {.ino = 1, .mode = S_IFDIR | 0755, .nlink = 2};
	struct fuse_init_out init = {.major = FUSE_KERNEL_VERSION,
				     .minor = FUSE_KERNEL_MINOR_VERSION,
				     .max_write = PAGE};
	struct fuse_entry_out entry = {.nodeid = 2,
				       .entry_valid = 1000,
				       .attr_valid = 1000,
				       .attr = file};
	struct fuse_attr_out attr = {.attr_valid = 1000,
				     .attr = in->nodeid == 1 ? directory : file};
	struct fuse_open_out opened = {0};

	if (in->opcode == FUSE_INIT)
		reply(in->unique, 0, &init, sizeof(init));
	else if (in->opcode == FUSE_LOOKUP)
		reply(in->unique, 0, &entry, sizeof(entry));
	else if (in->opcode == FUSE_GETATTR)
		reply(in->unique, 0, &attr, sizeof(attr));
	else if (in->opcode == FUSE_OPEN)
		reply(in->unique, 0, &opened, sizeof(opened));
	else if (in->opcode != FUSE_READ && in->opcode != FUSE_FORGET)
		reply(in->unique, -ENOSYS, NULL, 0);
}

static void become(uid_t uid)
{
	if (setresgid(uid, uid, uid) != 0 || setresuid(uid, uid, uid) != 0 ||
	    prctl(PR_SET_DUMPABLE, 1) != 0)
		exit(3);
}

/* In a process of its own, which ends with the first thread: then the kernel lets go of those who
 * wait for it, and the other threads end too. */
static void serve(uid_t uid)
{
	pid_t child = fork();

	if (child < 0)
		exit(3);
	if (child > 0) {
		close(device);
		return;
	}
	become(uid);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (read(device, request, sizeof(request)) > 0)
		answer((const struct fuse_in_header *)request);
	exit(0);
}

static void *hold_lock(void *unused)
{
	char byte;
	int memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);

	if (pread(memory, &byte, 1, (off_t)page) < 0)
		perror("cannot read the own memory");
	return unused;
}

static void *burn(void *unused)
{
	for (;;)
		hung_burn(WORK_MS);
	return unused;
}

static void start(void *(*run)(void *))
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, run, NULL) != 0)
		exit(3);
}

static int mount_at(const char *directory)
{
	char options[80];

	device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other",
		 device);
	return device < 0 ? -1 : mount("hung", directory, "fuse", MS_NOSUID | MS_NODEV, options);
}

int main(int argc, char **argv)
{
	char path[4096];
	uid_t uid = argc == 3 ? (uid_t)atoi(argv[2]) : 0;

	if (uid == 0)
		return 2;
	if (mount_at(argv[1]) < 0)
		return NO_FUSE;
	serve(uid);
	snprintf(path, sizeof(path), "%s/file", argv[1]);
	int file = open(path, O_RDONLY | O_CLOEXEC);
	page = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, file, 0);
	if (page == MAP_FAILED)
		return 3;
	become(uid);
	work_print("ready", (uint64_t)getpid());
	start(burn);
	start(hold_lock);
	usleep(100000);
	/* Wants the lock, for good. */
	mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return 3;
}
