#include "collector/image/image_ask.h"

#include "collector/proc/asker.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Copies of all the opener's input: the asking side may be gone. */
struct question {
	struct asker_question base;
	image_opener *opener;
	struct image_source source;
	struct image_opened opened;
	uint8_t build_id[IMAGE_BUILD_ID_MAX];
	char path[];
};

static void discard(struct asker_question *base)
{
	struct question *question = (struct question *)base;
	uw_module_unref(question->opened.module);
	free(question);
}

static void answer(struct asker_question *base)
{
	struct question *question = (struct question *)base;
	question->opener(&question->source, &question->opened);
}

static struct question *make_question(image_opener *opener, const struct image_source *source,
				      const struct image_opened *opened)
{
	size_t size = strlen(source->path) + 1;
	struct question *question = calloc(1, sizeof(*question) + size);
	if (!question)
		return NULL;
	question->base = (struct asker_question){answer, discard};
	question->opener = opener;
	question->source = *source;
	question->opened = *opened;
	memcpy(question->path, source->path, size);
	memcpy(question->build_id, source->build_id, source->build_id_size);
	question->source.path = question->path;
	question->source.build_id = question->build_id;
	return question;
}

void image_ask(struct asker *asker, image_opener *opener, const struct image_source *source,
	       struct image_opened *opened)
{
	opened->module = NULL;
	opened->error = ENOMEM;
	struct question *question = make_question(opener, source, opened);
	if (!question)
		return;
	opened->error = ETIMEDOUT;
	if (!asker_ask(asker, source->pid, &question->base))
		return;
	*opened = question->opened;
	question->opened.module = NULL;
	discard(&question->base);
}
