/*
 * Reads a result. Everything bounded by modules and distinct stacks (texts, images, frames, nodes,
 * threads, notes, symbols, processes, modules) is loaded at open and checked: every index and text
 * reference from a getter is in range, every node's parent has a smaller index. Samples are
 * streamed.
 *
 * A file that was never closed opens too, with everything flushed: its samples are those with a
 * record in both stream 0 and tbcollect.stacks, and profile_reader_complete is false. The samples
 * of an unbound file are attributed here, by the same rules of time.
 *
 * A reference to a record that the file lacks (not flushed, or the file is damaged) becomes none:
 * image 0, no text, PROFILE_NONE. A node whose way to the root has a gap hangs below the root, and
 * its samples' stacks are PROFILE_STACK_SKIPPED for PROFILE_SKIP_BAD_INFO.
 *
 * Unrecorded processes and threads with samples or (processes) threads follow the recorded ones.
 * Such a process is named after its executable module, or "pid N", and one life ends when the
 * module changes to another path; such a thread is of one process and has its name.
 *
 * A plain file is a tb5 file with sample records of another program, and with none of the streams
 * of profile.h. Its samples have a stack of the leaf only (PROFILE_STACK_NONE); images are made of
 * the modules' paths, frames of the addresses hit by samples; rva is the address in the module, see
 * reader_plain.c. A sample weighs the sample after value of its event if the event is time-based,
 * or the stream's interval. There is no clock, and all threads are deduced.
 *
 * Returned pointers live until profile_reader_close. Functions return TBRW codes where they
 * return TBRW_U32. One thread at a time per reader.
 */
#ifndef TBRW_PROFILE_READER_H
#define TBRW_PROFILE_READER_H

#include "profile/profile.h"
#include "tbrw/tbrw.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct profile_reader;

/* *whole: bytes of a file before its first damaged chunk, all *size of them without one. Such a
 * part is a result by itself, one that did not end, or that is not finalized. Reads all of the
 * file. */
TBRW_U32 profile_reader_whole_size(const char *path, uint64_t *whole, uint64_t *size);

/* Follows symbolic links. Errors: those of TBRW_open; VT_STREAM_NOT_EXIST: a tb5 file without
 * samples; VT_INCOMPATIBLE_VERSION: streams with other fields than profile.h says. */
TBRW_U32 profile_reader_open(const char *path, struct profile_reader **reader);
void profile_reader_close(struct profile_reader *reader); /* accepts NULL */

bool profile_reader_complete(const struct profile_reader *reader);

/* Counts of records; indices run from 0. */
uint64_t profile_reader_sample_count(const struct profile_reader *reader); /* of all events */
uint32_t profile_reader_image_count(const struct profile_reader *reader);
uint32_t profile_reader_frame_count(const struct profile_reader *reader);
uint32_t profile_reader_node_count(const struct profile_reader *reader); /* at least 1: the root */
uint32_t profile_reader_thread_count(const struct profile_reader *reader);
uint32_t profile_reader_clock_count(const struct profile_reader *reader);
uint32_t profile_reader_note_count(const struct profile_reader *reader);
uint32_t profile_reader_unwinding_count(const struct profile_reader *reader); /* 0: older result */
uint32_t profile_reader_symbol_count(const struct profile_reader *reader);    /* 0: not finalized */
uint32_t profile_reader_process_count(const struct profile_reader *reader);
uint32_t profile_reader_module_count(const struct profile_reader *reader);

/* All used records of a stream in the order of the file, symbols by frame. None for the streams of
 * texts, and for stacks: these go with the samples. */
const void *profile_reader_records(const struct profile_reader *reader, enum profile_stream stream,
				   uint32_t *count);

/* index below the count. */
const struct profile_image *profile_reader_image(const struct profile_reader *r, uint32_t index);
const struct profile_frame *profile_reader_frame(const struct profile_reader *r, uint32_t index);
const struct profile_node *profile_reader_node(const struct profile_reader *r, uint32_t index);
const struct profile_clock *profile_reader_clock(const struct profile_reader *r, uint32_t index);
const struct profile_note *profile_reader_note(const struct profile_reader *r, uint32_t index);
/* Kind and subject are valid: subject is in range of the stream that kind stands for. */
const struct profile_unwinding *profile_reader_unwinding(const struct profile_reader *r,
							 uint32_t index);

/* When the samples were taken. Older results: PROFILE_SAMPLING_FIXED. */
enum profile_sampling profile_reader_sampling(const struct profile_reader *reader);
/* The event whose numbers stand in place of all CPU times (PROFILE_NOTE_EVENT); NULL: they are CPU
 * times. Lives as long as the reader. */
const char *profile_reader_counted_event(const struct profile_reader *reader);
/* How many events the result has samples of beside CPU time (PROFILE_NOTE_EVENT_ADDED), and their
 * names, from 1 on. */
uint32_t profile_reader_event_count(const struct profile_reader *reader);
const char *profile_reader_event_name(const struct profile_reader *reader, uint32_t event);
/* From now on gives the samples of this event alone, its numbers in place of CPU time (a counted
 * event), and the threads' as their accounts. Once, before the samples are read; reads all of them.
 * VT_BAD_PARAMETER: there is no such event. */
TBRW_U32 profile_reader_choose_event(struct profile_reader *reader, uint32_t event);
/* PROFILE_NOTE_INTERVAL, of a chosen event 1; 0: not known. */
uint64_t profile_reader_interval_ns(const struct profile_reader *reader);

/* CPU time left in no thread's account after the threads got their parts by unseen_ns. */
uint64_t profile_reader_unattributed_ns(const struct profile_reader *reader);

/* A text of a record of this reader as a well-formed UTF-8 string. "" for no text. */
const char *profile_reader_text(const struct profile_reader *reader, struct profile_text text);
const char *profile_reader_symtext(const struct profile_reader *reader, struct profile_text text);

/* The symbols of a frame, innermost first; NULL and *count 0 where there are none. */
const struct profile_symbol *profile_reader_symbols(const struct profile_reader *reader,
						    uint32_t frame, uint32_t *count);

/* Gives a reader without symbols (profile_reader_symbol_count 0) those that others found, of
 * profile_reader_frame_count frames at most; texts[i] are of symbols[i], NULL: no text. Copies
 * both. VT_BAD_PARAMETER: a frame is not one of the reader's, or the reader has symbols. */
TBRW_U32 profile_reader_name_frames(struct profile_reader *reader,
				    const struct profile_symbol *symbols,
				    const struct profile_symbol_text *texts, uint32_t count);

struct profile_process_info {
	uint32_t pid;
	uint64_t start_tsc; /* 0: before the collection */
	uint64_t end_tsc;   /* all ones: lived on */
	const char *path;
	const char *name;
};
struct profile_thread_info {
	uint32_t pid;
	uint32_t tid;
	uint32_t process; /* index, PROFILE_NONE: not known */
	uint32_t samples;
	uint32_t flags; /* PROFILE_THREAD_... */
	uint64_t start_tsc;
	uint64_t end_tsc;
	/* As in struct profile_thread, plus the thread's part of the time in no account: cpu_ns
	 * includes estimated_ns, and rest_ns estimated_rest_ns, the part in the kernel, unseen, or
	 * with samples of a fixed period all of estimated_ns. */
	uint64_t cpu_ns;
	uint64_t rest_ns;
	uint64_t sampled_ns;
	uint64_t kernel_ns;
	uint64_t unseen_ns;
	uint64_t estimated_ns;
	uint64_t estimated_rest_ns;
	const char *name;
};
struct profile_module_info {
	uint32_t pid;
	uint32_t image; /* index, PROFILE_NONE: not known */
	uint64_t start;
	uint64_t length;
	uint64_t pgoff;
	uint64_t rva; /* of start, in the terms of frames; older results, plain files: 0 */
	uint64_t load_tsc;
	uint64_t unload_tsc; /* all ones: still loaded */
	const char *path;
	uint16_t cs; /* code selector */
	bool is_32bit;
	bool is_executable;
	bool is_global; /* in every process: the kernel */
};
const struct profile_process_info *profile_reader_process(const struct profile_reader *r,
							  uint32_t i);
const struct profile_thread_info *profile_reader_thread(const struct profile_reader *r, uint32_t i);
const struct profile_module_info *profile_reader_module(const struct profile_reader *r, uint32_t i);

/* The host by the software and hardware sections; texts "" and numbers 0 where unknown. */
struct profile_host_info {
	const char *name;
	const char *os;
	const char *cpu;
	uint32_t logical_cpus;
};
void profile_reader_host(const struct profile_reader *reader, struct profile_host_info *host);

/* Turns TSC values of this result into CLOCK_MONOTONIC_RAW ns. 0 and all ones stay as they are. */
uint64_t profile_reader_raw_ns(const struct profile_reader *reader, uint64_t tsc);

/* When the collection began, CLOCK_MONOTONIC_RAW ns: the collector notes its analysis as it lets
 * the target run. Results are created earlier; of one without this note, the first sync point. 0:
 * without sync points. */
uint64_t profile_reader_start_ns(const struct profile_reader *reader);
/* The same in CLOCK_REALTIME ns, by the first sync point. 0: unknown. */
uint64_t profile_reader_start_date_ns(const struct profile_reader *reader);
/* ns from then to a time of CLOCK_MONOTONIC_RAW; 0 for earlier times. */
uint64_t profile_reader_since_start(const struct profile_reader *reader, uint64_t raw_ns);

struct profile_sample_info {
	uint64_t index;
	uint64_t tsc;
	uint64_t ip;
	uint64_t flags; /* processor flags, 0: not known */
	uint32_t pid;
	uint32_t tid;
	uint32_t cpu;
	uint16_t cs; /* code selector */
	bool is_32bit;
	uint8_t event;    /* 0: CPU time */
	uint32_t process; /* indices; PROFILE_NONE: not known */
	uint32_t thread;
	uint32_t module;
	struct profile_stack stack; /* node and guess checked */
};
/* Returns false to stop early. */
typedef bool profile_sample_callback(const struct profile_sample_info *sample, void *user);

/* From now on told of samples as they are read, some thousand at a time, in each reading of them:
 * for a progress bar. NULL: nobody is told. */
typedef void profile_reader_watcher(uint64_t samples, void *user);
void profile_reader_watch(struct profile_reader *reader, profile_reader_watcher *watcher,
			  void *user);

/* All samples of CPU time, or of the chosen event, in file order. VT_SUCCESS also after a stop by
 * the callback. */
TBRW_U32 profile_reader_each_sample(struct profile_reader *reader,
				    profile_sample_callback *callback, void *user);
/* Likewise, of all events. */
TBRW_U32 profile_reader_each_of_all(struct profile_reader *reader,
				    profile_sample_callback *callback, void *user);

#endif
