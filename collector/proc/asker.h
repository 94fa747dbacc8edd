/*
 * Questions to the kernel about processes of other users. A process can keep whoever asks waiting
 * for ever: one thread of it holds the lock of its mappings while it waits for a file system that
 * does not answer (a read of /proc/self/mem where a file of FUSE is mapped), and a second one wants
 * to change them. From then on whoever reads its arguments, its memory or, before Linux 6.17, its
 * maps waits too, and only SIGKILL ends that. So these are asked in a thread of their own, and
 * given up. Processes of our own user, who could harm us in easier ways, are asked at once.
 */
#ifndef COLLECTOR_PROC_ASKER_H
#define COLLECTOR_PROC_ASKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ASKER_PATIENCE_NS 1000000000ull

struct asker;

/* A question has this at its start. */
struct asker_question {
	void (*answer)(struct asker_question *question);  /* asks the kernel; in any thread */
	void (*discard)(struct asker_question *question); /* frees the question, in any thread */
};

/* Waits so long for an answer, and a twentieth of that after the fourth that did not come. NULL:
 * out of memory. */
struct asker *asker_create(uint64_t patience_ns);

/* What was given up stays with a thread that ends when it is answered. Accepts NULL. */
void asker_destroy(struct asker *asker);

/*
 * Has the question answered, by which it does not change hands. false: given up, and the question
 * is gone: this process is not asked again, and when very many gave no answer, nor is any other of
 * another user. Without an asker (NULL), and where no thread can be made, we answer it ourselves.
 */
bool asker_ask(struct asker *asker, uint32_t pid, struct asker_question *question);

/* How many processes gave no answer; their ids in *pids, borrowed until the next question. */
size_t asker_silent(const struct asker *asker, const uint32_t **pids);

#endif
