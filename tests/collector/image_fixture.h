/* A table of images, and files for them in a folder. */
#ifndef TESTS_COLLECTOR_IMAGE_FIXTURE_H
#define TESTS_COLLECTOR_IMAGE_FIXTURE_H

#include "collector/image/image.h"
#include <sys/stat.h>

enum { NO_PROCESS = 5000000 }; /* above what the kernel gives out */

extern const char *directory;
extern struct emit *emit;
extern struct image_table *table;

/* For tcase_add_checked_fixture. */
void image_fixture_setup(void);
void image_fixture_teardown(void);

/* A mapping at 400000-401000 without inode and build-id. */
struct image_source image_fixture_make_source(uint32_t pid, const char *path);

/* A copy of this program's first bytes, under the directory. The path is valid until the next call.
 */
const char *image_fixture_copy_program(const char *name, size_t most);

struct stat image_fixture_status_of(const char *path);

/* image_table_open through a process that maps the image at 400000-401000. */
uint32_t image_fixture_open_through(uint32_t image, uint32_t pid);

#endif
