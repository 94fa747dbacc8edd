#include "tools/spool/thread_spool.h"

#include "tools/memory/xalloc.h"
#include "tools/terminal/diagnose.h"
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NONE UINT32_MAX

#define READ_MAX  1024u /* records read from the file at a time */
#define BLOCK_MAX 32u   /* records of a block: of one thread, and so of few cache lines */

/* Blocks of records in memory are linked by thread. When the memory is full, each thread's go to
 * the file as an extent, which knows the thread's extent before. */
struct spooled_thread {
	uint64_t extent; /* place of the last extent behind the file's start, plus 1; 0: none */
	uint32_t first;  /* blocks in memory, NONE: none */
	uint32_t last;   /* not full, or all of them are */
	uint32_t count;  /* of records in them */
};

struct extent {
	uint64_t before; /* as spooled_thread.extent */
	uint64_t count;  /* records behind this header */
};

struct thread_spool {
	size_t record_size;
	struct spooled_thread *threads;
	size_t thread_count;
	size_t thread_capacity;

	char *blocks; /* in memory */
	uint32_t *next;
	uint32_t count;
	uint32_t capacity;
	uint32_t block_records;

	FILE *file;   /* NULL: not needed yet */
	uint64_t end; /* of the file */

	/* reading */
	uint64_t *extents; /* of the thread, as spooled_thread.extent, the last one first */
	size_t extent_count;
	size_t extent_capacity;
	uint64_t left;  /* records of the current extent, not read yet */
	uint32_t block; /* in memory */
	uint32_t block_next;
	uint32_t block_left; /* records of this block and those behind */
	char *ahead;         /* records read; NULL: none yet */
	size_t ahead_next;
	size_t ahead_count;
};

static const char *choose_directory(void)
{
	const char *directory = getenv("TMPDIR");
	return directory && directory[0] ? directory : "/var/tmp";
}

static _Noreturn void fail(const char *what)
{
	diagnose("cannot %s a temporary file in %s: %s; set TMPDIR to a directory with room", what,
		 choose_directory(), strerror(errno));
	exit(EXIT_FAILURE);
}

struct thread_spool *thread_spool_create(size_t record_size, uint32_t bytes)
{
	struct thread_spool *spool = xalloc_zeroed(1, sizeof(*spool));
	spool->record_size = record_size;
	uint32_t records = bytes > record_size ? (uint32_t)(bytes / record_size) : 1;
	spool->block_records = records < BLOCK_MAX ? records : BLOCK_MAX;
	spool->capacity = records / spool->block_records;
	/* untouched pages take no memory */
	spool->blocks = xalloc_zeroed(spool->capacity, spool->block_records * record_size);
	spool->next = xalloc_zeroed(spool->capacity, sizeof(*spool->next));
	return spool;
}

void thread_spool_destroy(struct thread_spool *spool)
{
	if (!spool)
		return;
	if (spool->file)
		fclose(spool->file);
	free(spool->threads);
	free(spool->blocks);
	free(spool->next);
	free(spool->extents);
	free(spool->ahead);
	free(spool);
}

static void open_file(struct thread_spool *spool)
{
	char *path = xalloc_printf("%s/tbconvert.XXXXXX", choose_directory());
	int fd = mkstemp(path);
	if (fd < 0)
		fail("create");
	unlink(path);
	free(path);
	spool->file = fdopen(fd, "w+");
	if (!spool->file)
		fail("open");
}

static void write_bytes(struct thread_spool *spool, const void *bytes, size_t size)
{
	if (fwrite_unlocked(bytes, size, 1, spool->file) != 1)
		fail("write");
	spool->end += size;
}

static char *record_at(const struct thread_spool *spool, uint32_t block, uint32_t index)
{
	return spool->blocks + ((size_t)block * spool->block_records + index) * spool->record_size;
}

static void write_extent(struct thread_spool *spool, struct spooled_thread *thread)
{
	const struct extent extent = {.before = thread->extent, .count = thread->count};
	thread->extent = spool->end + 1;
	write_bytes(spool, &extent, sizeof(extent));
	for (uint32_t i = thread->first; i != NONE; i = spool->next[i]) {
		uint32_t count =
			thread->count < spool->block_records ? thread->count : spool->block_records;
		write_bytes(spool, record_at(spool, i, 0), count * spool->record_size);
		thread->count -= count;
	}
	thread->first = thread->last = NONE;
}

static void write_extents(struct thread_spool *spool)
{
	if (!spool->file)
		open_file(spool);
	if (fseeko(spool->file, (off_t)spool->end, SEEK_SET) != 0)
		fail("write");
	for (size_t i = 0; i < spool->thread_count; i++) {
		if (spool->threads[i].count > 0)
			write_extent(spool, &spool->threads[i]);
	}
	if (fflush(spool->file) != 0)
		fail("write");
	spool->count = 0;
}

static struct spooled_thread *find_thread(struct thread_spool *spool, uint32_t thread)
{
	xalloc_room(&spool->threads, &spool->thread_capacity, (size_t)thread + 1,
		    sizeof(*spool->threads));
	for (; spool->thread_count <= thread; spool->thread_count++)
		spool->threads[spool->thread_count] =
			(struct spooled_thread){.first = NONE, .last = NONE};
	return &spool->threads[thread];
}

static void add_block(struct thread_spool *spool, struct spooled_thread *thread)
{
	if (spool->count == spool->capacity)
		write_extents(spool);
	uint32_t block = spool->count++;
	spool->next[block] = NONE;
	if (thread->last == NONE)
		thread->first = block;
	else
		spool->next[thread->last] = block;
	thread->last = block;
}

void thread_spool_add(struct thread_spool *spool, uint32_t thread, const void *record)
{
	struct spooled_thread *spooled = find_thread(spool, thread);
	if (spooled->count % spool->block_records == 0)
		add_block(spool, spooled);
	memcpy(record_at(spool, spooled->last, spooled->count++ % spool->block_records), record,
	       spool->record_size);
}

static void read_bytes(struct thread_spool *spool, void *bytes, size_t size)
{
	errno = 0;
	/* In parentheses: the macro of the C library has a conversion that warns. */
	if ((fread_unlocked)(bytes, size, 1, spool->file) != 1)
		fail("read");
}

static struct extent read_extent(struct thread_spool *spool, uint64_t place)
{
	struct extent extent;
	if (fseeko(spool->file, (off_t)(place - 1), SEEK_SET) != 0)
		fail("read");
	read_bytes(spool, &extent, sizeof(extent));
	return extent;
}

void thread_spool_rewind(struct thread_spool *spool, uint32_t thread)
{
	const struct spooled_thread *spooled = find_thread(spool, thread);
	spool->block = spooled->first;
	spool->block_next = 0;
	spool->block_left = spooled->count;
	spool->left = 0;
	spool->ahead_next = spool->ahead_count = 0;
	spool->extent_count = 0;
	for (uint64_t place = spooled->extent; place > 0;
	     place = read_extent(spool, place).before) {
		xalloc_room(&spool->extents, &spool->extent_capacity, spool->extent_count + 1,
			    sizeof(*spool->extents));
		spool->extents[spool->extent_count++] = place;
	}
}

/* False: the file has no more records of the thread. */
static bool read_ahead(struct thread_spool *spool)
{
	if (spool->left == 0 && spool->extent_count > 0)
		spool->left = read_extent(spool, spool->extents[--spool->extent_count]).count;
	if (spool->left == 0)
		return false;
	if (!spool->ahead)
		spool->ahead = xalloc_zeroed(READ_MAX, spool->record_size);
	spool->ahead_next = 0;
	spool->ahead_count = spool->left < READ_MAX ? spool->left : READ_MAX;
	spool->left -= spool->ahead_count;
	read_bytes(spool, spool->ahead, spool->ahead_count * spool->record_size);
	return true;
}

const void *thread_spool_next(struct thread_spool *spool)
{
	if (spool->ahead_next < spool->ahead_count || read_ahead(spool))
		return spool->ahead + spool->ahead_next++ * spool->record_size;
	if (spool->block_left == 0)
		return NULL;
	if (spool->block_next == spool->block_records) {
		spool->block = spool->next[spool->block];
		spool->block_next = 0;
	}
	spool->block_left--;
	return record_at(spool, spool->block, spool->block_next++);
}
