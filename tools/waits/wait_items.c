#include "tools/waits/wait_items.h"

#include "containers/compare.h"
#include "profile/read/reader.h"
#include "profile/read/states.h"
#include "tools/functions/functions.h"
#include "tools/memory/index_map.h"
#include "tools/memory/xalloc.h"
#include "tools/text/path.h"
#include "tools/waits/wait_call.h"
#include "tools/waits/wait_functions.h"
#include "tools/waits/wait_type.h"
#include "tools/waits/wait_word.h"
#include "tools/waits/waits.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct naming {
	struct waits *waits;
	const struct profile_reader *reader;
	struct wait_site *sites; /* of the entries */
	struct index_map map;    /* of the items */
	struct wait_functions *known;
};

/* Of glibc, whatever its version. */
#define CONDITION_SIZE 48u

/* "NAME+0xOFFSET" */
static char *name_with_offset(const char *name, uint64_t offset)
{
	return offset == 0 ? xalloc_text(name) : xalloc_printf("%s+0x%" PRIx64, name, offset);
}

/* The place of an object `distance` bytes before its address, as a variable if it is one. The
 * caller frees the text. */
static char *name_place(const struct naming *naming, const struct profile_object *object,
			uint64_t distance, bool is_condition)
{
	const struct profile_reader *reader = naming->reader;
	uint32_t index = profile_reader_node(reader, object->variable)->frame;
	uint32_t count = 0;
	if (distance > object->address)
		distance = 0;
	if (object->variable == 0 || index == PROFILE_NONE)
		return xalloc_printf("0x%" PRIx64, object->address - distance);
	const struct profile_frame *frame = profile_reader_frame(reader, index);
	const struct profile_symbol *symbol = profile_reader_symbols(reader, index, &count);
	if (count == 0 || symbol->start > frame->rva) {
		const char *path =
			profile_reader_text(reader,
					    profile_reader_image(reader, frame->image)->path);
		return name_with_offset(path_base_name(path), frame->rva - distance);
	}
	uint64_t offset = frame->rva - symbol->start;
	if (is_condition && symbol->size == CONDITION_SIZE)
		offset = 0;
	else if (offset >= distance)
		offset -= distance;
	return name_with_offset(profile_reader_symtext(reader, symbol->name), offset);
}

static char *name_lock(const struct naming *naming, const struct profile_object *object,
		       enum wait_type type, enum wait_type inner)
{
	bool is_word = object->kind == PROFILE_OBJECT_FUTEX && type != WAIT_TYPE_MUTEX;
	uint64_t distance = is_word ? wait_word_distance(inner, object->address) : 0;
	char *place = name_place(naming, object, distance, is_word && inner == WAIT_TYPE_CONDITION);
	char *name = xalloc_printf("%s %s", wait_type_name(type), place);
	free(place);
	return name;
}

/* "socket:[123]" is "[123]". */
static const char *skip_prefix(const char *name)
{
	const char *colon = name[0] == '/' ? NULL : strchr(name, ':');
	return colon ? colon + 1 : name;
}

static char *name_file(const struct naming *naming, const struct profile_object *object,
		       enum wait_type type, uint32_t syscall)
{
	const char *link = profile_reader_text(naming->reader, object->name);
	const char *call = wait_call_name(syscall);
	const char *what = wait_type_name(type);
	if (type == WAIT_TYPE_POLL && call)
		what = call;
	if (link[0] == '\0' || type == WAIT_TYPE_POLL || type == WAIT_TYPE_DEVICE) {
		const char *kind = type == WAIT_TYPE_DEVICE && link[0] ? skip_prefix(link) : what;
		return xalloc_printf("%s (fd %" PRIu32 ")", kind, object->number);
	}
	return xalloc_printf("%s %s", what, skip_prefix(link));
}

static char *name_call(enum wait_type type, uint32_t syscall)
{
	const char *call = wait_call_name(syscall);
	if (type == WAIT_TYPE_SLEEP || type == WAIT_TYPE_CHILD || type == WAIT_TYPE_SIGNAL)
		return xalloc_text(wait_type_name(type));
	return call ? xalloc_text(call)
		    : xalloc_printf("%s %" PRIu32, wait_type_name(WAIT_TYPE_CALL), syscall);
}

static char *name_item(const struct naming *naming, const struct profile_object *object,
		       enum wait_type type, enum wait_type inner, uint32_t syscall)
{
	switch (object->kind) {
	case PROFILE_OBJECT_FUTEX:
	case PROFILE_OBJECT_SYNC:
		return name_lock(naming, object, type, inner);
	case PROFILE_OBJECT_FILE:
		return name_file(naming, object, type, syscall);
	case PROFILE_OBJECT_CALL:
		return name_call(type, object->number);
	case PROFILE_OBJECT_UNSEEN:
		return xalloc_text("[Not looked at]");
	case PROFILE_OBJECT_FAULT:
	case PROFILE_OBJECT_CHILD:
		return xalloc_text(wait_type_name(type));
	default:
		return type == WAIT_TYPE_UNKNOWN ? xalloc_text("[Unknown]")
						 : xalloc_text(wait_type_name(type));
	}
}

/* Whether the name means something in one process only. */
static bool is_of_process(const struct profile_object *object, enum wait_type type)
{
	switch (object->kind) {
	case PROFILE_OBJECT_FUTEX:
	case PROFILE_OBJECT_SYNC:
		return true;
	case PROFILE_OBJECT_FILE:
		return object->name.length == 0 || type == WAIT_TYPE_POLL ||
		       type == WAIT_TYPE_DEVICE;
	default:
		return false;
	}
}

static bool is_item(const void *item, const void *wanted)
{
	const struct waits_item *one = item;
	const struct waits_item *other = wanted;
	return one->type == other->type && one->pid == other->pid &&
	       strcmp(one->name, other->name) == 0;
}

static uint32_t enter_item(struct naming *naming, const struct profile_object *object,
			   enum wait_type type, enum wait_type inner, uint32_t syscall)
{
	struct waits *waits = naming->waits;
	struct waits_item item = {
		.name = name_item(naming, object, type, inner, syscall),
		.type = type,
		.pid = is_of_process(object, type) ? object->pid : 0,
		.created = object->created != 0
				   ? wait_site_of(naming->known, object->created).function
				   : FUNCTION_UNKNOWN,
	};
	const uint64_t key[] = {type, item.pid, index_map_hash_text(&naming->map, item.name)};
	uint32_t index = index_map_enter(&naming->map, &waits->items, &item, sizeof(item),
					 index_map_hash(&naming->map, key, sizeof(key)), is_item);
	waits->item_count = index_map_count(&naming->map);
	if (waits->items[index].name != item.name)
		free(item.name);
	if (waits->items[index].created == FUNCTION_UNKNOWN)
		waits->items[index].created = item.created;
	return index;
}

static int compare_objects(const void *a, const void *b, void *user)
{
	const struct waits_entry *entries = user;
	uint32_t left = *(const uint32_t *)a;
	uint32_t right = *(const uint32_t *)b;
	int order = compare_numbers(entries[left].object, entries[right].object);
	return order ? order : compare_numbers(left, right);
}

static enum wait_type type_of_entry(const struct naming *naming, uint32_t index)
{
	const struct waits_entry *entry = &naming->waits->entries[index];
	return wait_type_of(naming->reader, profile_reader_object(naming->reader, entry->object),
			    entry->syscall, &naming->sites[index]);
}

/* Whether stacks told the type. */
static bool is_told(enum wait_type type)
{
	return type != WAIT_TYPE_UNKNOWN && type != WAIT_TYPE_FUTEX;
}

/* Of the waits of an object: the entry that gives it its type. Those whose stacks were left out
 * have no say. */
static uint32_t choose_entry(const struct naming *naming, const uint32_t *order, size_t count)
{
	uint64_t votes[WAIT_TYPE_COUNT] = {0};
	enum wait_type best = WAIT_TYPE_UNKNOWN;
	for (size_t i = 0; i < count; i++) {
		enum wait_type type = type_of_entry(naming, order[i]);
		votes[type] += naming->waits->entries[order[i]].sum.count;
		bool is_first = best == WAIT_TYPE_UNKNOWN || (is_told(type) && !is_told(best));
		bool is_equal = is_told(type) == is_told(best);
		if (is_first || (is_equal && votes[type] > votes[best]))
			best = type;
	}
	if (best == WAIT_TYPE_CONDITION && votes[WAIT_TYPE_MUTEX] > 0)
		best = WAIT_TYPE_MUTEX;
	for (size_t i = 0; i < count; i++) {
		if (type_of_entry(naming, order[i]) == best)
			return order[i];
	}
	return order[0];
}

static void enter_object(struct naming *naming, const uint32_t *order, size_t count)
{
	struct waits_entry *entries = naming->waits->entries;
	uint32_t chosen = choose_entry(naming, order, count);
	const struct profile_object *object =
		profile_reader_object(naming->reader, entries[chosen].object);
	uint32_t item = enter_item(naming, object, type_of_entry(naming, chosen),
				   naming->sites[chosen].inner, entries[chosen].syscall);
	for (size_t i = 0; i < count; i++)
		entries[order[i]].item = item;
}

static void enter_all(struct naming *naming)
{
	const struct waits *waits = naming->waits;
	uint32_t *order = xalloc_zeroed(waits->count, sizeof(*order));
	for (uint32_t i = 0; i < waits->count; i++)
		order[i] = i;
	if (waits->count > 1)
		qsort_r(order, waits->count, sizeof(*order), compare_objects, waits->entries);
	for (size_t first = 0, end; first < waits->count; first = end) {
		uint32_t object = waits->entries[order[first]].object;
		/* The unknown object is many. */
		for (end = first + 1; end < waits->count && object > 0 &&
				      waits->entries[order[end]].object == object;
		     end++)
			;
		enter_object(naming, order + first, end - first);
	}
	free(order);
}

void wait_items_name(struct waits *waits, const struct profile_reader *reader,
		     const struct functions *functions)
{
	struct naming naming = {
		.waits = waits,
		.reader = reader,
		.sites = xalloc_zeroed(waits->count, sizeof(*naming.sites)),
		.known = wait_functions_create(reader, functions),
	};
	for (size_t i = 0; i < waits->count; i++) {
		struct waits_entry *entry = &waits->entries[i];
		naming.sites[i] = wait_site_of(naming.known, entry->node);
		entry->function = naming.sites[i].function;
		entry->waker_function = wait_site_of(naming.known, entry->waker_node).function;
	}
	enter_all(&naming);
	wait_functions_destroy(naming.known);
	index_map_finish(&naming.map);
	free(naming.sites);
}
