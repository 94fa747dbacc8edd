/* The collector's place among the runnable threads of the machine. */
#ifndef COLLECTOR_STREAM_PRIORITY_H
#define COLLECTOR_STREAM_PRIORITY_H

/*
 * Asks the scheduler to run the calling thread soon after it wakes: a short slice (free for
 * anybody, Linux 6.12), and the lowest nice value if permitted. Beside a thousand runnable threads
 * the rings would overflow while we wait for our turn. The collector uses little CPU; it asks for
 * no more of it, but no delay. Neither children nor new threads inherit it.
 */
void priority_raise(void);

#endif
