/* The result directory and its tb5 file. */
#ifndef COLLECTOR_RESULT_H
#define COLLECTOR_RESULT_H

#include "collector/failure.h"
#include <stdbool.h>

struct result {
	char directory[4096];
	char file[4352]; /* directory/NAME.tb5, NAME the directory's last component */
	bool created;    /* the directory was made by us */
};

/* Makes the directory: the given one (NULL: the next free r@@@hs here). One that exists is taken if
 * no result is in it. */
int result_create(struct result *result, const char *directory, struct failure *failure);

/* Takes everything back that result_create and the collection made so far. */
void result_remove(const struct result *result);

#endif
