/*
 * Questions to the kernel about processes of other users. A process can keep readers waiting for
 * ever: one of its threads holds the lock of its mappings while waiting for a silent file system (a
 * read of /proc/self/mem where a file of FUSE is mapped), and a second one wants to change the
 * mappings. From then on every reader of its arguments, its memory or, before Linux 6.17, its maps
 * waits too, until SIGKILL. Such questions are asked in a thread of their own, and given up.
 * Processes of our own user, who could harm us in easier ways, are asked at once.
 */
#ifndef COLLECTOR_PROC_ASKER_H
#define COLLECTOR_PROC_ASKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ASKER_PATIENCE_NS 1000000000ull

struct asker;

/* The start of every question. */
struct asker_question {
	void (*answer)(struct asker_question *question);  /* asks the kernel; in any thread */
	void (*discard)(struct asker_question *question); /* frees the question, in any thread */
};

#define ASKER_NO_OWNER UINT32_MAX

/* The effective user of a process; ASKER_NO_OWNER when it is gone. Never waits. */
uint32_t asker_find_owner(uint32_t pid);

/* Waits patience_ns for an answer, and a twentieth of it after the fourth silence. NULL: out of
 * memory. */
struct asker *asker_create(uint64_t patience_ns);

/* A question given up stays with its thread, which ends when the kernel answers. Accepts NULL. */
void asker_destroy(struct asker *asker);

/*
 * Has the question answered; it stays the caller's. false: given up, and the question is gone: its
 * process is not asked again, and after very many silent processes no other one of another user is.
 * Without an asker (NULL), or if no thread can be made, we answer it ourselves.
 */
bool asker_ask(struct asker *asker, uint32_t pid, struct asker_question *question);

/* Returns the number of silent processes; their ids in *pids, borrowed until the next question. */
size_t asker_silent(const struct asker *asker, const uint32_t **pids);

#endif
