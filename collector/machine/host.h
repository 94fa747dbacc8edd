/* The machine, as the hardware and software sections of the guide describe it (chapters 6.3, 6.4).
 * What cannot be found out is 0 or an empty text. */
#ifndef COLLECTOR_MACHINE_HOST_H
#define COLLECTOR_MACHINE_HOST_H

#include "tbrw/tbrw.h"

struct host;

/* NULL: out of memory. */
struct host *host_create(void);
void host_destroy(struct host *host); /* accepts NULL */

/* All live as long as host. */
TBRW_SYSTEM *host_system(struct host *host);
TBRW_HOST *host_host(struct host *host);
TBRW_OS *host_os(struct host *host);
TBRW_APPLICATION *host_application(struct host *host);

#endif
