#include "collector/waits/looks.h"

#include "collector/machine/registers.h"
#include "collector/stream/drain.h"
#include <stdlib.h>
#include <string.h>

enum { BYTES_MAX = 16 * 1024 * 1024 }; /* in memory at once */

struct looks_entry {
	struct looks_entry *next;
	uint64_t time_ns;
	uint32_t pid;
	uint32_t tid;
	struct look look;
	uint8_t bytes[]; /* the stack, then the name */
};

void looks_finish(struct looks *looks)
{
	while (looks->first) {
		struct looks_entry *next = looks->first->next;
		free(looks->first);
		looks->first = next;
	}
	*looks = (struct looks){0};
}

static size_t entry_size(const struct look *look)
{
	return sizeof(struct looks_entry) + look->stack_size + look->name_size;
}

struct looks_entry *looks_entry_create(uint32_t pid, uint32_t tid, const struct look *look,
				       const char *name, const uint8_t *stack)
{
	struct looks_entry *entry = malloc(entry_size(look));
	if (!entry)
		return NULL;
	*entry = (struct looks_entry){.pid = pid, .tid = tid, .look = *look};
	memcpy(entry->bytes, stack, look->stack_size);
	memcpy(entry->bytes + look->stack_size, name, look->name_size);
	return entry;
}

bool looks_put(struct looks *looks, struct looks_entry *entry, uint64_t time_ns)
{
	size_t size = entry_size(&entry->look);
	if (looks->bytes + size > BYTES_MAX) {
		free(entry);
		return false;
	}
	entry->time_ns = time_ns;
	if (looks->last)
		looks->last->next = entry;
	else
		looks->first = entry;
	looks->last = entry;
	looks->bytes += size;
	looks->count++;
	return true;
}

/* Later looks are for the next round: older records of the rings may not be seen yet. */
static void refresh_looks(const struct source *source)
{
	struct looks *looks = source->state;
	looks->visible = looks->count;
}

static bool peek_looks(const struct source *source, const void **bytes, size_t *size)
{
	const struct looks *looks = source->state;
	if (looks->visible == 0)
		return false;
	*bytes = looks->first;
	*size = entry_size(&looks->first->look);
	return true;
}

static void consume_looks(const struct source *source, size_t size)
{
	struct looks *looks = source->state;
	struct looks_entry *entry = looks->first;
	looks->first = entry->next;
	if (!looks->first)
		looks->last = NULL;
	looks->bytes -= size;
	looks->count--;
	looks->visible--;
	free(entry);
}

static bool time_look(const struct source *source, const void *bytes, size_t size,
		      uint64_t *time_ns)
{
	(void)source;
	(void)size; /* our own entries are whole */
	*time_ns = ((const struct looks_entry *)bytes)->time_ns;
	return true;
}

static void fill_sample(const struct looks_entry *entry, struct record_sample *sample)
{
	const struct look_pointers *pointers = &entry->look.pointers;
	registers_from_pointers(pointers->sp, pointers->pc, pointers->is_32bit,
				pointers->call.number != PROFILE_NO_SYSCALL, &sample->regs);
	sample->abi = pointers->is_32bit ? RECORD_REGISTERS_32 : RECORD_REGISTERS_64;
	sample->stack = (struct uw_stack){
		.base = pointers->sp,
		.bytes = entry->bytes,
		.size = entry->look.stack_size,
		.requested = entry->look.stack_size,
		.ends = entry->look.stack_size < LOOK_STACK_MAX,
	};
}

static bool decode_look(const struct source *source, const void *bytes, size_t size,
			struct record *record)
{
	const struct looks_entry *entry = bytes;
	const struct look *look = &entry->look;
	(void)source;
	(void)size;
	*record = (struct record){.kind = RECORD_LOOK,
				  .time_ns = entry->time_ns,
				  .pid = entry->pid,
				  .tid = entry->tid};
	record->look.call = look->pointers.call;
	record->look.call.begin_ns = look->begin_ns;
	record->look.error = look->error;
	record->look.is_stopped = look->is_stopped;
	if (look->name_size > 0)
		record->look.file = (const char *)entry->bytes + look->stack_size;
	if (look->error == 0)
		fill_sample(entry, &record->look.sample);
	return true;
}

static const struct source_kind looks_kind = {
	.refresh = refresh_looks,
	.peek = peek_looks,
	.consume = consume_looks,
	.time = time_look,
	.decode = decode_look,
};

struct source looks_source(struct looks *looks)
{
	return (struct source){&looks_kind, looks, NULL};
}
