/*
 * Files that a tool writes into a folder, one after the other: they appear there together, once all
 * are whole. Until then they are in a folder of their own in it, which a failure removes.
 */
#ifndef TOOLS_CSV_EXPORT_OUTPUT_FOLDER_H
#define TOOLS_CSV_EXPORT_OUTPUT_FOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct output_folder {
	FILE *stream; /* of the present file; NULL: none */
	int error;    /* errno value of the first failure; 0: none */
	int folder;   /* descriptor */
	int partial;  /* of the folder in it */
	bool is_made; /* the folder was not there before */
	char *path;   /* of the folder */
	char *name;   /* of the folder in it */
	char **files; /* names of the files so far */
	size_t count;
	struct output_folder_exit *exit; /* abandons it if the program ends before */
};

/* Makes the folder, for its owner only, unless it is there. Returns 0 or an errno value. *folder
 * must stay at its address until finished or abandoned: exit() abandons it. */
int output_folder_open(struct output_folder *folder, const char *path);

/* Ends the present file and begins the next one, for its owner only: folder->stream. The name must
 * be new, and have no slash. After a failure the stream swallows what is written. */
void output_folder_begin(struct output_folder *folder, const char *name);

/* Whether a file of the name was begun. */
bool output_folder_has(const struct output_folder *folder, const char *name);

/* Moves all files into place, over older ones of their names. Returns 0 or the errno value of the
 * first failure. Closes the folder in any case. */
int output_folder_finish(struct output_folder *folder);

/* Removes the new files and closes the folder. */
void output_folder_abandon(struct output_folder *folder);

/* Removes the new files, for a program that ends at once by a signal, from any thread, while
 * another one may still begin files. */
void output_folder_clean(const struct output_folder *folder);

#endif
