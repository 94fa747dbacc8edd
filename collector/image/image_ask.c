#include "collector/image/image_ask.h"

#include "collector/image/image_memory.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* All that the answer takes is a copy: whoever asked may be gone. */
struct question {
	struct asker_question base;
	struct image_source source;
	struct profile_image record;
	struct image_file_found found;
	uint64_t budget;
	uint8_t build_id[IMAGE_BUILD_ID_MAX];
	struct uw_module *module;
	int error;
	char path[];
};

static void discard(struct asker_question *base)
{
	struct question *question = (struct question *)base;
	uw_module_unref(question->module);
	free(question);
}

static struct question *make(const struct image_source *source,
			     void (*answer)(struct asker_question *base))
{
	size_t size = strlen(source->path) + 1;
	struct question *question = calloc(1, sizeof(*question) + size);
	if (!question)
		return NULL;
	question->base = (struct asker_question){answer, discard};
	question->source = *source;
	memcpy(question->path, source->path, size);
	memcpy(question->build_id, source->build_id, source->build_id_size);
	question->source.path = question->path;
	question->source.build_id = question->build_id;
	return question;
}

/* Hands the module over, and the rest to whom it concerns; the question is gone. */
static struct uw_module *ask(struct asker *asker, struct question *question,
			     struct profile_image *record, struct image_file_found *found,
			     uint64_t *budget)
{
	if (!asker_ask(asker, question->source.pid, &question->base)) {
		errno = ETIMEDOUT;
		return NULL;
	}
	struct uw_module *module = question->module;
	int error = question->error;
	if (record)
		*record = question->record;
	if (found)
		*found = question->found;
	if (budget)
		*budget = question->budget;
	question->module = NULL;
	discard(&question->base);
	errno = error;
	return module;
}

static void answer_file(struct asker_question *base)
{
	struct question *question = (struct question *)base;
	question->module = image_file_open(&question->source, &question->record, &question->found);
	question->error = errno;
}

struct uw_module *image_ask_file(struct asker *asker, const struct image_source *source,
				 struct profile_image *record, struct image_file_found *found)
{
	struct question *question = make(source, answer_file);
	if (!question)
		return NULL;
	question->record = *record;
	question->found = *found;
	return ask(asker, question, record, found, NULL);
}

static void answer_memory(struct asker_question *base)
{
	struct question *question = (struct question *)base;
	question->module =
		image_memory_open(&question->source, &question->record, &question->budget);
}

struct uw_module *image_ask_memory(struct asker *asker, const struct image_source *source,
				   struct profile_image *record, uint64_t *budget)
{
	struct question *question = make(source, answer_memory);
	if (!question)
		return NULL;
	question->record = *record;
	question->budget = *budget;
	return ask(asker, question, record, NULL, budget);
}

static void answer_vdso(struct asker_question *base)
{
	struct question *question = (struct question *)base;
	question->module = image_memory_open_vdso(&question->source);
}

struct uw_module *image_ask_vdso(struct asker *asker, const struct image_source *source)
{
	struct question *question = make(source, answer_vdso);
	return question ? ask(asker, question, NULL, NULL, NULL) : NULL;
}
