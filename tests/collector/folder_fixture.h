/* A folder for the files of a test: its working directory, and gone with all that is in it. */
#ifndef TESTS_COLLECTOR_FOLDER_FIXTURE_H
#define TESTS_COLLECTOR_FOLDER_FIXTURE_H

/* Makes the folder under /tmp and enters it. Returns its path, valid until it is removed. */
const char *folder_fixture_make(void);

/* Leaves the folder and removes it. */
void folder_fixture_remove(void);

#endif
