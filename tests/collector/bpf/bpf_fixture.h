/* What tests of sources by BPF share: programs on this machine's kernel, of which an ordinary user
 * sees only the refusal. */
#ifndef TESTS_COLLECTOR_BPF_BPF_FIXTURE_H
#define TESTS_COLLECTOR_BPF_BPF_FIXTURE_H

#include <check.h>
#include <stddef.h>

struct bpf_source {
	const char *name;
	const char *what; /* is skipped without root */
	/* As the source's own: 0, or -1 with errno and *source NULL. */
	int (*open)(void **source);
	void (*close)(void *source); /* accepts NULL */
	const TTest *const *tests;   /* for root, NULL-terminated */
};

/* The lowest free descriptor: it stays the same where none leaks. */
int bpf_free_descriptor(void);

/* Runs the source's tests, and those that others are refused and that nothing can be closed.
 * Returns the program's exit status. */
int bpf_run_source(const struct bpf_source *source);

#endif
