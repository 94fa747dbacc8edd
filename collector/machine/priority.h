/* The collector's place among the runnable threads of the machine. */
#ifndef COLLECTOR_MACHINE_PRIORITY_H
#define COLLECTOR_MACHINE_PRIORITY_H

/*
 * Asks the scheduler to run the calling thread soon after it wakes: a short slice (which anybody
 * may ask for, Linux 6.12), and the lowest nice value where that is allowed. Beside a thousand
 * runnable threads the rings would overflow while we wait for our turn. The collector's use of
 * CPU is small; what it asks for is not more of it, but no delay. Neither children nor new threads
 * inherit it.
 */
void priority_raise(void);

#endif
