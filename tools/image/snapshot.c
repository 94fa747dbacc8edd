#include "tools/image/snapshot.h"

#include "tools/cli/xalloc.h"
#include "tools/image/expansion.h"
#include <errno.h>
#include <gelf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { GAPS_MAX = 16, PIECE = 1 << 20 };

/* Bytes that are left out, from start to end. */
struct gap {
	off_t start;
	off_t end;
};

struct copy {
	int from;
	int to;
	off_t size;
	off_t copied;
	time_t deadline;
	struct gap gaps[GAPS_MAX];
	size_t gap_count;
	char *piece;
};

bool snapshot_is_unread(const char *section_name)
{
	static const char *const names[] = {".debug_loc",          ".debug_loclists",
					    ".debug_aranges",      ".debug_macinfo",
					    ".debug_macro",        ".debug_pubnames",
					    ".debug_pubtypes",     ".debug_gnu_pubnames",
					    ".debug_gnu_pubtypes", ".debug_names",
					    ".gdb_index"};
	for (size_t i = 0; section_name && i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(section_name, names[i]) == 0)
			return true;
	return false;
}

static time_t now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec;
}

/* Reads the headers by pread: another's file is not mapped. */
static void find_gaps(struct copy *copy)
{
	size_t names;
	elf_version(EV_CURRENT);
	Elf *elf = elf_begin(copy->from, ELF_C_READ, NULL);
	if (elf && elf_getshdrstrndx(elf, &names) == 0) {
		for (Elf_Scn *section = NULL;
		     copy->gap_count < GAPS_MAX && (section = elf_nextscn(elf, section));) {
			GElf_Shdr header;
			if (!gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS ||
			    header.sh_offset > (uint64_t)copy->size ||
			    header.sh_size > (uint64_t)copy->size - header.sh_offset ||
			    !snapshot_is_unread(elf_strptr(elf, names, header.sh_name)))
				continue;
			copy->gaps[copy->gap_count++] =
				(struct gap){(off_t)header.sh_offset,
					     (off_t)(header.sh_offset + header.sh_size)};
		}
	}
	elf_end(elf);
}

/* Where the next piece starts, and *end where it must end; the size where there is none. */
static off_t next_piece(const struct copy *copy, off_t at, off_t *end)
{
	*end = copy->size;
	for (size_t i = 0; i < copy->gap_count; i++) {
		const struct gap *gap = &copy->gaps[i];
		if (at >= gap->start && at < gap->end) {
			at = gap->end;
			i = (size_t)-1; /* another may begin there */
		}
	}
	off_t data = lseek(copy->from, at, SEEK_DATA);
	if (data < 0 && errno == ENXIO)
		return copy->size;
	if (data > at)
		return next_piece(copy, data, end);
	for (size_t i = 0; i < copy->gap_count; i++)
		if (copy->gaps[i].start > at && copy->gaps[i].start < *end)
			*end = copy->gaps[i].start;
	return at;
}

static int copy_piece(struct copy *copy, off_t at, off_t end)
{
	size_t wanted = end - at < PIECE ? (size_t)(end - at) : PIECE;
	ssize_t got = pread(copy->from, copy->piece, wanted, at);
	if (got < 0)
		return -1;
	if (got == 0) {
		errno = ESTALE;
		return -1;
	}
	copy->copied += got;
	if (copy->copied > SNAPSHOT_BYTES_MAX || now() > copy->deadline) {
		errno = copy->copied > SNAPSHOT_BYTES_MAX ? EFBIG : ETIMEDOUT;
		return -1;
	}
	return pwrite(copy->to, copy->piece, (size_t)got, at) == got ? (int)got : -1;
}

static int copy_pieces(struct copy *copy)
{
	off_t end;
	off_t at = 0;
	while ((at = next_piece(copy, at, &end)) < copy->size) {
		int got = copy_piece(copy, at, end);
		if (got < 0)
			return -1;
		at += got;
	}
	return 0;
}

static bool is_elf(int fd)
{
	char magic[SELFMAG];
	return pread(fd, magic, SELFMAG, 0) == SELFMAG && memcmp(magic, ELFMAG, SELFMAG) == 0;
}

/* Whether nobody wrote to the file since. Times are set by who may write, but then to no use: the
 * copy is what counts. */
static bool is_unchanged(int fd, const struct stat *status)
{
	struct stat present;
	return fstat(fd, &present) == 0 && present.st_size == status->st_size &&
	       present.st_mtim.tv_sec == status->st_mtim.tv_sec &&
	       present.st_mtim.tv_nsec == status->st_mtim.tv_nsec;
}

int snapshot_of(int fd, const struct stat *status)
{
	struct copy copy = {.from = fd, .size = status->st_size};
	if (!is_elf(fd) || status->st_size > SNAPSHOT_SIZE_MAX) {
		errno = status->st_size > SNAPSHOT_SIZE_MAX ? EFBIG : ENOEXEC;
		return -1;
	}
	copy.to = memfd_create("file", MFD_CLOEXEC);
	if (copy.to < 0)
		return -1;
	copy.deadline = now() + SNAPSHOT_SECONDS_MAX;
	copy.piece = xalloc_zeroed(PIECE, 1);
	find_gaps(&copy);
	int result = ftruncate(copy.to, copy.size);
	if (result == 0)
		result = copy_pieces(&copy);
	if (result == 0 && !is_unchanged(fd, status)) {
		errno = ESTALE;
		result = -1;
	}
	free(copy.piece);
	if (result == 0) {
		expansion_limit(copy.to, (uint64_t)copy.copied);
		return copy.to;
	}
	int error = errno;
	close(copy.to);
	errno = error;
	return -1;
}
