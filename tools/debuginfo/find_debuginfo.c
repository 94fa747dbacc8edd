#include "tools/debuginfo/find_debuginfo.h"

#include "tools/debuginfo/small_elf.h"
#include "tools/debuginfo/snapshot.h"
#include "tools/memory/xalloc.h"
#include <elfutils/libdwelf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Limit of a file read for its checksum; a file of holes costs time, but no disk. */
#define CHECKED_SIZE_MAX ((off_t)4 << 30)

struct debug_copy {
	int fd;
	char **path;
};

static int take_copy(void *user, int fd, const struct stat *status, const char *path)
{
	struct debug_copy *copy = user;
	copy->fd = snapshot_of(fd, status);
	if (copy->fd < 0)
		return errno;
	*copy->path = xalloc_text(path);
	return 0;
}

/* Whether a server is configured. Merely to find none, libdwfl would load the client and its
 * libraries, some 30. */
static bool has_server(void)
{
	const char *servers = getenv("DEBUGINFOD_URLS");
	return servers && servers[0];
}

/* Servers know files by build-id. libdwfl gets neither directories (symbol_file.c) nor a name. */
static int ask_servers(Dwfl_Module *module, void **user, char **found)
{
	struct stat status;
	int fd = has_server()
			 ? dwfl_standard_find_debuginfo(module, user, NULL, 0, NULL, NULL, 0, found)
			 : -1;
	int copy = fd >= 0 && fstat(fd, &status) == 0 ? snapshot_of(fd, &status) : -1;
	if (fd >= 0)
		close(fd);
	return copy;
}

static int find_file(Dwfl_Module *module, void **user, const struct debug_file_search *search,
		     char **found)
{
	struct debug_copy copy = {-1, found};
	if (debug_file_open(search, take_copy, &copy))
		return copy.fd;
	return search->id_size > 0 ? ask_servers(module, user, found) : -1;
}

/* An empty file: without one libdw would search by itself at the first reference. */
static int make_nothing(void)
{
	static const struct small_elf_section sections[] = {{".debug_info", "", 1},
							    {".debug_line", "", 1},
							    {".debug_str", "", 1}};
	return small_elf(sections, sizeof(sections) / sizeof(sections[0]));
}

static int find_shared(Dwfl_Module *module, void **user, struct debug_file_search *search,
		       char **found)
{
	Dwarf_Addr bias;
	const char *name;
	const void *id = NULL;
	/* Open already: the DWARF with the link to the shared DWARF. */
	Dwarf *dwarf = dwfl_module_getdwarf(module, &bias);
	ssize_t size = dwarf ? dwelf_dwarf_gnu_debugaltlink(dwarf, &name, &id) : -1;
	int fd = -1;
	search->is_shared = true;
	search->id = id;
	search->id_size = size > 0 ? (size_t)size : 0;
	if (size > 0)
		fd = find_file(module, user, search, found);
	return fd < 0 ? make_nothing() : fd;
}

/* Whether the link asked for is the module's to shared DWARF, not its debug link. */
static bool is_shared_link(Dwfl_Module *module, const char *link)
{
	GElf_Addr bias;
	GElf_Word crc;
	Elf *elf = link ? dwfl_module_getelf(module, &bias) : NULL;
	return elf && link != dwelf_elf_gnu_debuglink(elf, &crc);
}

int find_debuginfo(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base,
		   const char *file, const char *link, GElf_Word crc, char **found)
{
	GElf_Addr address;
	struct debug_file_search search = *(const struct debug_file_search *)*user;
	(void)name;
	(void)base;
	*found = NULL;
	search.file = file ? file : "";
	search.name = link;
	if (is_shared_link(module, link))
		return find_shared(module, user, &search, found);
	int size = dwfl_module_build_id(module, &search.id, &address);
	search.id_size = size > 0 ? (size_t)size : 0;
	search.has_crc = link != NULL;
	search.crc = crc;
	search.checked_max = CHECKED_SIZE_MAX;
	return find_file(module, user, &search, found);
}
