/* The machine, as the hardware and software sections of the guide describe it (chapters 6.3, 6.4).
 * Unknown facts are 0 or an empty text. */
#ifndef COLLECTOR_HOST_HOST_H
#define COLLECTOR_HOST_HOST_H

#include "tbrw/tbrw.h"
#include <stdint.h>

enum { HOST_CPUID_MAX = 24, HOST_TEXT_MAX = 256 };

struct host {
	TBRW_SYSTEM system;
	TBRW_HOST host;
	TBRW_OS os;
	TBRW_APPLICATION application;
	TBRW_NODE *nodes;
	TBRW_CPU *cpus;
	TBRW_CPU_ARCH architecture; /* the same for all CPUs */
	TBRW_CPUID_IA32 cpuid[HOST_CPUID_MAX];
	TBRW_CHAR host_name[HOST_TEXT_MAX];
	TBRW_CHAR ip_address[HOST_TEXT_MAX];
	TBRW_CHAR os_name[HOST_TEXT_MAX];
	TBRW_CHAR os_release[HOST_TEXT_MAX];
};

/* What is known of another machine; texts "" and numbers 0: nothing. */
struct host_facts {
	const char *name;
	const char *release; /* of its Linux */
	const char *arch;    /* as uname -m says it */
	const char *cpu;
	uint32_t cpus;
	uint64_t memory_kb;
};

/* NULL: out of memory. */
struct host *host_create(void);
struct host *host_create_other(const struct host_facts *facts);
void host_destroy(struct host *host); /* accepts NULL */

#endif
