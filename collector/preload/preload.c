#include "collector/preload/preload.h"

#include "collector/agent/channel.h"
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define PRELOAD_VARIABLE "LD_PRELOAD"

enum { PATH_SIZE = 4096, HEADERS_MAX = 256 };

/* Beside us in a build directory; installed, by the way from the programs' directory, wherever
 * all was moved to. */
static int find_library(char *path, size_t size, struct failure *failure)
{
	static const char *const places[] = {"agent/libtbagent.so",
					     "../" TBCOLLECT_LIBRARIES "/tbcollect/libtbagent.so",
					     TBCOLLECT_LIBRARIES "/tbcollect/libtbagent.so"};
	char self[PATH_SIZE];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
	self[length > 0 ? length : 0] = '\0';
	char *slash = strrchr(self, '/');
	if (slash)
		slash[1] = '\0';
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		int written =
			snprintf(path, size, "%s%s", places[i][0] == '/' ? "" : self, places[i]);
		if (written > 0 && (size_t)written < size && access(path, R_OK) == 0)
			break;
		path[0] = '\0';
	}
	if (path[0] == '\0')
		return failure_set(failure, FAILURE_EXIT,
				   "cannot preload libtbagent.so: it is not where tbcollect was "
				   "installed; install tbcollect again, or leave out --preload");
	if (strpbrk(path, " :"))
		return failure_set(failure, FAILURE_EXIT,
				   "cannot preload %s: the loader takes no paths with spaces or "
				   "colons; install tbcollect elsewhere",
				   path);
	return 0;
}

static int make_channel(struct preload *preload, uint64_t key, struct failure *failure)
{
	preload->fd = memfd_create("tbcollect-channel", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (preload->fd < 0 || ftruncate(preload->fd, CHANNEL_SIZE) < 0 ||
	    fchmod(preload->fd, 0600) < 0 ||
	    fcntl(preload->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0)
		return failure_set_error(failure, errno, "cannot make memory for --preload");
	void *memory = mmap(NULL, CHANNEL_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, preload->fd, 0);
	if (memory == MAP_FAILED)
		return failure_set_error(failure, errno, "cannot map memory for --preload");
	preload->channel = memory;
	preload->channel->header.magic = CHANNEL_MAGIC;
	preload->channel->header.key = key;
	preload->channel->header.size = CHANNEL_SIZE;
	struct stat status;
	if (stat("/proc/self/ns/pid", &status) == 0)
		preload->channel->header.pid_namespace = status.st_ino;
	return 0;
}

/* Whether an environment's entry is of a variable. */
static bool is_of(const char *entry, const char *name)
{
	size_t length = strlen(name);
	return strncmp(entry, name, length) == 0 && entry[length] == '=';
}

/* Ours, without what is replaced. false: out of memory. */
static bool make_environment(struct preload *preload)
{
	size_t count = 0;
	while (environ[count])
		count++;
	char **made = calloc(count + 3, sizeof(*made));
	preload->environment = made;
	if (!made)
		return false;
	for (size_t i = 0; i < count; i++)
		if (!is_of(environ[i], CHANNEL_VARIABLE) && !is_of(environ[i], PRELOAD_VARIABLE))
			*made++ = environ[i];
	*made++ = preload->library;
	*made = preload->variable;
	return true;
}

/* Behind the user's own libraries. */
static bool make_variables(struct preload *preload, const char *library, uint64_t key)
{
	const char *others = getenv(PRELOAD_VARIABLE);
	bool has_others = others && others[0] != '\0';
	if (asprintf(&preload->library, PRELOAD_VARIABLE "=%s%s%s", has_others ? others : "",
		     has_others ? ":" : "", library) < 0)
		preload->library = NULL;
	if (asprintf(&preload->variable, CHANNEL_VARIABLE "=/proc/%d/fd/%d:%llx", (int)getpid(),
		     preload->fd, (unsigned long long)key) < 0)
		preload->variable = NULL;
	return preload->library && preload->variable && make_environment(preload);
}

/* As execvp looks. -1: the start will say why. */
static int open_program(const char *program)
{
	char path[PATH_SIZE];
	const char *list = getenv("PATH");
	if (strchr(program, '/') || !list)
		return open(program, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	while (*list != '\0') {
		size_t length = strcspn(list, ":");
		int written = snprintf(path, sizeof(path), "%.*s%s%s", (int)length, list,
				       length > 0 ? "/" : "", program);
		if (written > 0 && written < (int)sizeof(path) && access(path, X_OK) == 0)
			return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
		list += length + (list[length] == ':');
	}
	return -1;
}

static bool has_loader(int fd, const Elf64_Ehdr *header)
{
	Elf64_Phdr one;
	for (size_t i = 0; i < header->e_phnum && i < HEADERS_MAX; i++) {
		off_t at = (off_t)(header->e_phoff + i * sizeof(one));
		if (pread(fd, &one, sizeof(one), at) == sizeof(one) && one.p_type == PT_INTERP)
			return true;
	}
	return false;
}

static const char *find_obstacle(int fd)
{
	Elf64_Ehdr header;
	struct stat status;
	if (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode))
		return NULL;
	if ((status.st_mode & S_ISUID && status.st_uid != geteuid()) ||
	    (status.st_mode & S_ISGID && status.st_gid != getegid()))
		return "it runs with other rights than yours";
	if (pread(fd, &header, sizeof(header), 0) != sizeof(header) ||
	    memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
		return NULL;
	if (header.e_ident[EI_CLASS] != ELFCLASS64)
		return "it is no 64-bit program";
	return has_loader(fd, &header) ? NULL : "it is statically linked";
}

void preload_end(struct preload *preload)
{
	if (preload->channel)
		__atomic_store_n(&preload->channel->header.is_over, 1, __ATOMIC_RELAXED);
}

void preload_close(struct preload *preload)
{
	preload_end(preload);
	if (preload->channel)
		munmap(preload->channel, CHANNEL_SIZE);
	if (preload->fd >= 0)
		close(preload->fd);
	free(preload->environment);
	free(preload->library);
	free(preload->variable);
	*preload = (struct preload){.fd = -1};
}

static int open_all(struct preload *preload, uint64_t key, struct failure *failure)
{
	char library[PATH_SIZE];
	if (prctl(PR_GET_DUMPABLE) != 1)
		return failure_set(failure, FAILURE_EXIT,
				   "cannot preload a library: tbcollect has privileges of its own, "
				   "so no program can open its memory; use a copy of tbcollect "
				   "without file capabilities and set-user-ID");
	if (find_library(library, sizeof(library), failure) < 0 ||
	    make_channel(preload, key, failure) < 0)
		return -1;
	if (!make_variables(preload, library, key))
		return failure_set(failure, FAILURE_EXIT, "out of memory");
	return 0;
}

int preload_open(struct preload *preload, const char *program, uint64_t stack_ns,
		 uint64_t stack_bytes, struct failure *failure)
{
	uint64_t key;
	*preload = (struct preload){.fd = -1};
	if (getrandom(&key, sizeof(key), GRND_NONBLOCK) != sizeof(key))
		key = (uint64_t)getpid();
	if (open_all(preload, key, failure) < 0) {
		preload_close(preload);
		return -1;
	}
	preload->channel->header.record_ns = PRELOAD_RECORD_NS;
	preload->channel->header.stack_ns = stack_ns;
	preload->channel->header.stack_bytes = stack_bytes;
	int fd = open_program(program);
	if (fd >= 0) {
		preload->obstacle = find_obstacle(fd);
		close(fd);
	}
	return 0;
}
