/*
 * A program of the user's that collects data beside tbcollect, by VTune's rules: a command line,
 * run for each step of the collection with the step in its environment. It is to return soon; what
 * goes on collecting, it leaves in the background. Its data are CSV files in the result directory,
 * which finalization imports.
 *
 * It runs in a session and process group of its own, with no terminal, and none of our files. What
 * it prints is in RESULT_CUSTOM_LOG (result.h).
 */
#ifndef COLLECTOR_SESSION_CUSTOM_COLLECTOR_H
#define COLLECTOR_SESSION_CUSTOM_COLLECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum custom_step { CUSTOM_START, CUSTOM_STOP, CUSTOM_PAUSE, CUSTOM_RESUME };

struct custom_collector {
	const char *command; /* for the shell; NULL: there is none */
	bool is_started;     /* start went well, stop is to come */
	pid_t running;       /* the step's leader; 0: no step is running */
	pid_t first;         /* start's leader, not waited for, so that its id stays ours; or 0 */
	uint64_t asked_ns;   /* when the running step was first asked to end; 0: it was not */
	uint64_t failed;     /* steps */
};

/* How a step ended. */
struct custom_end {
	bool by_signal;
	int status; /* the signal's number, or the exit status; -1: nobody knows */
};

/* Where it collects. */
struct custom_place {
	int directory;     /* descriptor of the result's */
	const pid_t *pids; /* processes to profile */
	size_t pid_count;
};

/* The word of a step, as its environment has it. */
const char *custom_collector_word(enum custom_step step);

/* Runs a step, in our directory and with the signal mask none. Returns 0, or -1 with errno. */
int custom_collector_run(struct custom_collector *collector, enum custom_step step,
			 const struct custom_place *place);

/* Whether the running step ended, and how. */
bool custom_collector_has_ended(struct custom_collector *collector, enum custom_step step,
				struct custom_end *end);

/* Sends a signal to what the running step started; nothing if none runs. */
void custom_collector_signal(const struct custom_collector *collector, int number);

/* Hands the user's signal on to what the running step started. The second one, if it comes a moment
 * after the first, is SIGKILL: the step did not listen. */
void custom_collector_ask(struct custom_collector *collector, int number, uint64_t now_ns);

/* Asks what start left running to end. */
void custom_collector_ask_left(const struct custom_collector *collector);

/* Whether anything that start left runs, as /proc has it; zombies do not run. */
bool custom_collector_has_left(const struct custom_collector *collector);

/* Kills what start left running. */
void custom_collector_end(struct custom_collector *collector);

/* Removes the log from the result's directory, if nothing was printed. */
void custom_collector_tidy(int directory);

#endif
