/*
 * A result whose every name is hostile: to quotes, line ends, columns and lengths of other tools'
 * formats.
 */
#ifndef TESTS_TOOLS_EXPORT_HOSTILE_RESULT_H
#define TESTS_TOOLS_EXPORT_HOSTILE_RESULT_H

#define HOSTILE_NAMES  13u
#define HOSTILE_LONG   100000u /* bytes of a name that a result keeps whole */
#define HOSTILE_KEPT   131072u /* bytes of a longer one that a result keeps */
#define HOSTILE_CPU_MS 10u     /* each of the stacks; there is one for each name */
#define HOSTILE_PID    100u
#define HOSTILE_TID    200u /* of the thread of the first name; the others follow */

/* The i-th name: as given to the writer, and as the reader has it: cut, and UTF-8. */
const char *hostile_name(unsigned index);
const char *hostile_name_read(unsigned index);

/* Name i is that of a process, of its only thread, of a module, and of its function in a source
 * file of that name, which calls the function of name i + 1 (the last one calls the first). Fails
 * the test on any error. */
void hostile_result_write(const char *path);

#endif
