#include "collector/model/stack_pages.h"

#include "collector/image/maps.h"
#include "collector/machine/clock.h"
#include "collector/model/process.h"
#include "collector/proc/asker.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum {
	LEAST_PAGE = 4096,
	PAGES_MAX = 65536 / LEAST_PAGE + 1, /* of a copy; the kernel's sizes have 16 bits */
	PART_OF_TIME = 32                   /* at most this part of the time is for readings, */
};

#define SPARE_NS 100000000ull /* and so much at once: many threads may start together */

/* No new look at a thread's stack for so long, after one that could not mend it. */
#define VAIN_NS 1000000000ull

/* Bits of a page's entry in /proc/PID/pagemap (Documentation/admin-guide/mm/pagemap.rst). */
#define PAGE_PRESENT (UINT64_C(1) << 63)
#define PAGE_SWAPPED (UINT64_C(1) << 62)
#define PAGE_OWN     (UINT64_C(1) << 56) /* mapped once: the page of zeros never has it */

/* Of the stack's mapping, and of the pages that a copy lacks. */
struct question {
	struct asker_question base;
	uint32_t pid;
	uint64_t page_size;
	uint64_t start; /* of the first page */
	size_t count;
	uint64_t entries[PAGES_MAX]; /* as they were before the reading */
	size_t known;                /* of entries */
	bool is_free;                /* and wanted */
	size_t absent;               /* pages nowhere before, */
	size_t read;                 /* and of them */
};

static uint64_t page_size(void)
{
	return (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Returns the number of entries, from the address's page on. */
static size_t read_entries(uint32_t pid, uint64_t address, uint64_t *entries, size_t count)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/%u/pagemap", pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	off_t offset = (off_t)(address / page_size() * sizeof(*entries));
	ssize_t size = pread(fd, entries, count * sizeof(*entries), offset);
	close(fd);
	return size > 0 ? (size_t)size / sizeof(*entries) : 0;
}

enum stack_pages_price stack_pages_try(void)
{
	size_t size = (size_t)page_size();
	uint64_t entry = 0;
	void *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED)
		return STACK_PAGES_COST;
	bool is_read = *(volatile char *)page == 0 &&
		       read_entries((uint32_t)getpid(), (uintptr_t)page, &entry, 1) == 1;
	munmap(page, size);
	return is_read && (entry & (PAGE_PRESENT | PAGE_OWN)) == PAGE_PRESENT ? STACK_PAGES_FREE
									      : STACK_PAGES_COST;
}

/* A byte of each page that is nowhere yet. */
static void answer(struct asker_question *base)
{
	struct question *question = (struct question *)base;
	struct iovec remote[PAGES_MAX];
	char bytes[PAGES_MAX];
	size_t count = 0;
	question->known =
		read_entries(question->pid, question->start, question->entries, question->count);
	for (size_t i = 0; i < question->known; i++) {
		if ((question->entries[i] & (PAGE_PRESENT | PAGE_SWAPPED)) != 0)
			continue;
		uint64_t page = question->start + i * question->page_size;
		remote[count++] = (struct iovec){(void *)(uintptr_t)page, 1};
	}
	question->absent = count;
	if (count == 0 || !question->is_free)
		return;
	struct iovec local = {bytes, count};
	ssize_t size = process_vm_readv((pid_t)question->pid, &local, 1, remote, count, 0);
	question->read = size > 0 ? (size_t)size : 0;
}

/* Of a copy of the pages that are in memory. */
struct copying {
	struct asker_question base;
	uint32_t pid;
	uint64_t page_size;
	uint64_t start;
	size_t size;
	uint8_t absent;
	bool is_read; /* and permitted */
	uint8_t bytes[];
};

/* Reads a run of pages; one that came to lack since the look at the entries is brought in. */
static bool copy_run(struct copying *copying, size_t from, size_t to)
{
	struct iovec local = {copying->bytes + from, to - from};
	struct iovec remote = {(void *)(uintptr_t)(copying->start + from), to - from};
	return process_vm_readv((pid_t)copying->pid, &local, 1, &remote, 1, 0) ==
	       (ssize_t)(to - from);
}

/* Where the page that holds a byte ends, counted from the start. */
static size_t end_of_page(const struct copying *copying, size_t offset)
{
	uint64_t address = copying->start + offset;
	uint64_t end = offset + (copying->page_size - address % copying->page_size);
	return end < copying->size ? (size_t)end : copying->size;
}

static void answer_copying(struct asker_question *base)
{
	struct copying *copying = (struct copying *)base;
	uint64_t entries[PAGES_MAX];
	uint64_t first = copying->start - copying->start % copying->page_size;
	size_t count = (size_t)((copying->start + copying->size - first + copying->page_size - 1) /
				copying->page_size);
	if (count > PAGES_MAX || read_entries(copying->pid, first, entries, count) != count)
		return;
	memset(copying->bytes, copying->absent, copying->size);
	copying->is_read = true;
	size_t run = 0, at = 0;
	for (size_t i = 0; i < count; i++) {
		size_t end = end_of_page(copying, at);
		bool is_present = (entries[i] & PAGE_PRESENT) != 0;
		if (!is_present && run < at)
			copying->is_read &= copy_run(copying, run, at);
		if (!is_present)
			run = end;
		at = end;
	}
	if (run < at)
		copying->is_read &= copy_run(copying, run, at);
}

static void discard(struct asker_question *base)
{
	free(base);
}

/* The mapping around an address. */
struct search {
	uint64_t address;
	struct stack_mapping *found;
};

static bool look_at_mapping(const struct maps_entry *entry, void *user)
{
	struct search *search = user;
	if (search->address >= entry->end)
		return true;
	/* Files may be slow or without end, and the pages of shared memory are others' too. */
	if (search->address >= entry->start && entry->inode == 0) {
		search->found->low = entry->start;
		search->found->high = entry->end;
	}
	return false;
}

/* Whether the address lies in the stack's mapping, which is looked for if it is not known. */
static bool find_mapping(const struct process *process, uint64_t address,
			 struct stack_mapping *mapping)
{
	struct search search = {address, mapping};
	if (mapping->map_version == process->map_version && address >= mapping->low &&
	    address < mapping->high)
		return true;
	mapping->low = mapping->high = 0;
	mapping->map_version = process->map_version;
	maps_read(process->context->asker, (pid_t)process->pid, look_at_mapping, &search);
	return mapping->high > 0;
}

/* The question about the rest of a copy that ended at an address. NULL: there is none. */
static struct question *make_question(const struct process *process,
				      const struct stack_mapping *mapping, uint64_t start,
				      uint64_t end)
{
	struct question *question = malloc(sizeof(*question));
	if (!question)
		return NULL;
	*question = (struct question){.base = {answer, discard},
				      .pid = process->pid,
				      .page_size = page_size()};
	question->start = start - start % question->page_size;
	if (end > mapping->high)
		end = mapping->high;
	uint64_t count = (end - question->start + question->page_size - 1) / question->page_size;
	question->count = count < PAGES_MAX ? (size_t)count : PAGES_MAX;
	return question;
}

/* Whether the first page that a copy could not have is on disk. Pages that came since then had been
 * nowhere: nearly all of them by an earlier reading of ours. */
static bool is_on_disk(const struct question *question)
{
	for (size_t i = 0; i < question->known; i++)
		if ((question->entries[i] & PAGE_PRESENT) == 0)
			return (question->entries[i] & PAGE_SWAPPED) != 0;
	return false;
}

static enum profile_skip_reason read_pages(struct stack_pages *pages, const struct process *process,
					   struct stack_mapping *mapping,
					   const struct uw_stack *copy)
{
	uint64_t start = copy->base + copy->size;
	if (!find_mapping(process, start, mapping))
		return PROFILE_SKIP_NOT_RESIDENT;
	struct question *question =
		make_question(process, mapping, start, copy->base + copy->requested);
	if (!question)
		return PROFILE_SKIP_NOT_RESIDENT;
	if (pages->price == STACK_PAGES_UNKNOWN)
		pages->price = stack_pages_try();
	question->is_free = pages->price == STACK_PAGES_FREE;
	if (!asker_ask(process->context->asker, process->pid, &question->base))
		return PROFILE_SKIP_NOT_RESIDENT;
	bool is_untouched = question->known > 0 && !is_on_disk(question);
	pages->count += question->read;
	mapping->is_vain = question->known == 0 || question->read < question->absent;
	discard(&question->base);
	return is_untouched ? PROFILE_SKIP_UNTOUCHED : PROFILE_SKIP_NOT_RESIDENT;
}

/* CPU time of all our threads: perhaps the asker read. */
static void spend(struct stack_pages *pages, uint64_t now, uint64_t used_ns)
{
	uint64_t earliest = now - SPARE_NS * PART_OF_TIME;
	if (now >= SPARE_NS * PART_OF_TIME && pages->due_ns < earliest)
		pages->due_ns = earliest;
	pages->due_ns += used_ns * PART_OF_TIME;
}

/* A sample from before the last reading tells nothing of what that left. */
static bool is_due(const struct stack_pages *pages, const struct stack_mapping *mapping,
		   uint64_t sampled_ns, uint64_t now)
{
	return pages->due_ns <= now && sampled_ns > mapping->read_ns &&
	       (!mapping->is_vain || now - mapping->read_ns >= VAIN_NS);
}

enum profile_skip_reason stack_pages_read(struct stack_pages *pages, const struct process *process,
					  struct stack_mapping *mapping,
					  const struct uw_stack *copy, uint64_t sampled_ns)
{
	uint64_t now = clock_now();
	if (!process->context->is_recorded && copy->size < copy->requested &&
	    is_due(pages, mapping, sampled_ns, now)) {
		uint64_t used_ns = clock_read(CLOCK_PROCESS_CPUTIME_ID);
		mapping->is_vain = true;
		mapping->reason = (uint8_t)read_pages(pages, process, mapping, copy);
		mapping->read_ns = clock_now();
		spend(pages, now, clock_read(CLOCK_PROCESS_CPUTIME_ID) - used_ns);
	}
	return mapping->reason != PROFILE_SKIP_NOT_SKIPPED
		       ? (enum profile_skip_reason)mapping->reason
		       : PROFILE_SKIP_NOT_RESIDENT;
}

/* The part of the mapping from start on, of at most size bytes. */
static size_t copy_pages(const struct process *process, const struct stack_mapping *mapping,
			 uint64_t start, uint8_t *bytes, size_t size, uint8_t absent)
{
	if (size > mapping->high - start)
		size = (size_t)(mapping->high - start);
	struct copying *copying = malloc(sizeof(*copying) + size);
	if (!copying)
		return 0;
	*copying = (struct copying){.base = {answer_copying, discard},
				    .pid = process->pid,
				    .page_size = page_size(),
				    .start = start,
				    .size = size,
				    .absent = absent};
	/* A question given up is no longer ours. */
	if (!asker_ask(process->context->asker, process->pid, &copying->base))
		return 0;
	bool is_read = copying->is_read;
	if (is_read)
		memcpy(bytes, copying->bytes, size);
	free(copying);
	return is_read ? size : 0;
}

size_t stack_pages_copy(struct stack_pages *pages, const struct process *process,
			struct stack_mapping *mapping, uint64_t start, uint8_t *bytes, size_t size,
			uint8_t absent)
{
	uint64_t now = clock_now();
	if (process->context->is_recorded || pages->due_ns > now ||
	    (mapping->refused_ns != 0 && now - mapping->refused_ns < VAIN_NS))
		return 0;
	uint64_t used_ns = clock_read(CLOCK_PROCESS_CPUTIME_ID);
	size_t copied = find_mapping(process, start, mapping)
				? copy_pages(process, mapping, start, bytes, size, absent)
				: 0;
	mapping->refused_ns = copied > 0 ? 0 : now;
	spend(pages, now, clock_read(CLOCK_PROCESS_CPUTIME_ID) - used_ns);
	return copied;
}
