/* libtbrw: reads and writes tb5 sampling files through the API of the TBRW User Guide 2.3.
 *
 * The names, structures and behaviour follow the public guide. The file's container is our own
 * (FORMAT.md): a tb5 file of another implementation is refused with VT_INVALID_SAMPLE_FILE.
 *
 * Every function returns VT_SUCCESS or an error of tbrw_errors.h, and leaves its outputs untouched
 * on failure unless it says otherwise. "Errors:" lists all errors of a function; sets of errors
 * shared by several functions have names there:
 *   HANDLE  VT_UNEXPECTED_NULL_PTR (a NULL pointer that is not OPTIONAL), VT_BAD_PARAMETER (not
 *           an open file)
 *   READ    HANDLE, VT_NO_MEMORY, VT_INVALID_SAMPLE_FILE (damaged), VT_SAMPLE_FILE_MAPPING_ERROR
 *           (reading failed)
 *   STORE   HANDLE, VT_NO_MEMORY, VT_INVALID_ACCESS_PERMS (not opened for writing), VT_NO_SPACE,
 *           VT_WRITE_ERROR
 *   SET     STORE, VT_SECTION_NOT_WRITEABLE (the section is not open for writing),
 *           VT_UNSUPPORTED_DATA_SIZE (a structure's size field)
 *   NAMES   READ, VT_INVALID_STRING (not Unicode), VT_UNEXPECTED_MISMATCH_IN_STRING_TYPES (an id
 *           instead of a pointer), VT_BUFFER_OVERFLOW (4 GB of UTF-8)
 *   GET     READ, VT_SECTION_NOT_READABLE (the section is not open for reading), VT_BUFFER_NULL,
 *           VT_BUFFER_TOO_SMALL, VT_BUFFER_OVERFLOW (4 GB and more)
 *   LIST    READ, VT_SECTION_NOT_READABLE, VT_INVALID_READ_START (start_index is past the number of
 *           entries), the callback's result other than TRUE and FALSE
 * After an error in storing (VT_NO_SPACE, VT_WRITE_ERROR, or no memory for it) the file takes no
 * more data: each further write returns the same error, all stored data stays readable.
 *
 * Sizes are in bytes, except in the two string conversions. The library copies its inputs; they
 * stay the caller's. One open file may be used by one thread at a time; different open files are
 * independent of each other. No function prints, exits or touches signal handlers. */
#ifndef TBRW_H
#define TBRW_H

#include "samprec_shared.h"
#include "tbrw_errors.h"
#include "tbrw_types.h"

#ifndef IN
#define IN
#endif
#ifndef OUT
#define OUT
#endif
#ifndef INOUT
#define INOUT
#endif
#ifndef OPTIONAL
#define OPTIONAL
#endif

#define TBRW_API __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Files (9.1) ---- */

/* Errors: VT_UNEXPECTED_NULL_PTR. */
TBRW_API TBRW_U32 TBRW_get_version(OUT TBRW_U32 *major, OUT TBRW_U32 *minor);

/* Opens `filename`. access_mode is one of
 *   READ          an existing file, complete or not; bind results go to a temporary file
 *   READ|WRITE or WRITE    an existing complete file, to add streams, missing sections, or bind
 *   CREATE_ALWAYS|WRITE, also with READ    a new file; an own regular file of that name is replaced
 * Writing never follows a symbolic link, and replaces nothing but a regular file of the user.
 * VT_EMPTY_SAMPLE_FILE_NAME, VT_INVALID_SAMPLE_FILE_NAME (not convertible to UTF-8, or not a
 * regular file), VT_INVALID_ACCESS_PERMS (no such mode), VT_FILE_OPEN_FAILED,
 * VT_NO_WRITE_PERMISSION, VT_SAMP_FILE_CREATE_FAILED, VT_TB5_IN_USE (open for writing elsewhere),
 * VT_INVALID_SAMPLE_FILE, VT_INCOMPATIBLE_VERSION, VT_INCOMPLETE_TB5_ENCOUNTERED (never closed, and
 * not opened with READ alone).
 * Errors: VT_UNEXPECTED_NULL_PTR, VT_NO_MEMORY, VT_SAMPLE_FILE_MAPPING_ERROR, VT_NO_SPACE,
 *   VT_WRITE_ERROR, and the above. */
TBRW_API TBRW_U32 TBRW_open(OUT TBRW_PTR *ptr, IN const TBRW_CHAR *filename,
			    IN TBRW_U32 access_mode);

/* Writes the buffers and the index, waits until the file's contents are on the disk, and frees
 * `ptr`. On any error `ptr` stays open (and the file incomplete): finish with
 * TBRW_abort_cleanup_and_close. VT_GLOBAL_SECTION_NOT_CLOSED, VT_STREAM_SECTION_NOT_CLOSED,
 * VT_STREAM_NOT_CLOSED, VT_NOT_ALL_SECTIONS_CLOSED (reading). Errors: STORE, and the above. */
TBRW_API TBRW_U32 TBRW_close(IN TBRW_PTR ptr);

/* Frees `ptr` whatever its state. A file created by this handle stays as an incomplete file,
 * readable up to the last flush, or is removed if nothing was stored yet; a file that existed
 * before is again as it was when opened.
 * Errors: HANDLE. */
TBRW_API TBRW_U32 TBRW_abort_cleanup_and_close(IN TBRW_PTR ptr);

/* The text for an error code: static, read-only. VT_INVALID_ERROR_CODE.
 * Errors: VT_UNEXPECTED_NULL_PTR, VT_INVALID_ERROR_CODE. */
TBRW_API TBRW_U32 TBRW_error_string(IN TBRW_U32 error_code, OUT const TBRW_CHAR **error_string);

/* VT_SUCCESS for a file with whole sections, VT_INCOMPLETE_TB5_ENCOUNTERED for a file that was
 * never closed, or with sections or streams still being written by this handle. Checks all of the
 * file but the data sections' contents: these are checked as they are read.
 * Errors: READ, VT_INCOMPLETE_TB5_ENCOUNTERED, the first error in storing. */
TBRW_API TBRW_U32 TBRW_verify(IN TBRW_PTR ptr);

/* The string for an id of this file, with its terminator. size_of_buffer is in bytes.
 * VT_INVALID_STRING (id 0, or not an id of this file), VT_BUFFER_TOO_SMALL,
 * VT_UNEXPECTED_MISMATCH_IN_STRING_TYPES (a pointer instead of an id).
 * Errors: READ, VT_BUFFER_NULL, VT_BUFFER_OVERFLOW (4 GB and more), and the above. */
TBRW_API TBRW_U32 TBRW_convert_uniqueid_to_string(IN TBRW_PTR ptr, IN TBRW_U32 size_of_buffer,
						  IN TBRW_STRING_OR_ID *string_id,
						  OUT TBRW_CHAR *buffer,
						  OPTIONAL OUT TBRW_U32 *size_buffer_needed);

/* ---- Opening and closing sections and streams (9.1.1 to 9.1.3) ----
 * A section or stream is open for reading or for writing, once. Different ones may be open at the
 * same time. Sections and streams that are done can be read again through the same handle, but
 * never written again. In an incomplete file, those never done are readable as far as they were
 * stored. The next stream to be written is the one whose number is the number of streams. */

/* Errors: READ, VT_UNKNOWN_SECTION_NUMBER, VT_SECTION_ALREADY_IN_USE (open),
 *   VT_SECTION_NOT_EXIST. */
TBRW_API TBRW_U32 TBRW_reading_section(IN TBRW_PTR ptr, IN TBRW_SECTION_IDENTIFIER section);
#define TBRW_read_section TBRW_reading_section /* as 5.5 calls it */
/* Errors: STORE, VT_UNKNOWN_SECTION_NUMBER, VT_SECTION_ALREADY_IN_USE (exists or is open). */
TBRW_API TBRW_U32 TBRW_writing_section(IN TBRW_PTR ptr, IN TBRW_SECTION_IDENTIFIER section);
/* A section for set_ calls has no data to write without one; it stays open.
 * Errors: STORE, VT_UNKNOWN_SECTION_NUMBER, VT_SECTION_NOT_EXIST, VT_SECTION_NOT_WRITEABLE (it
 *   is done), VT_NO_DATA_TO_WRITE. */
TBRW_API TBRW_U32 TBRW_done_section(IN TBRW_PTR ptr, IN TBRW_SECTION_IDENTIFIER section);

/* Counts streams of every type, those being written and those bind added.
 * Errors: HANDLE. */
TBRW_API TBRW_U32 TBRW_get_number_data_streams(IN TBRW_PTR ptr, OUT TBRW_U32 *numStreams);
/* Errors: HANDLE, VT_STREAM_NOT_EXIST, VT_STREAM_ALREADY_IN_USE (open). */
TBRW_API TBRW_U32 TBRW_reading_stream(IN TBRW_PTR ptr, IN TBRW_U32 stream);
/* Errors: STORE, VT_STREAM_ALREADY_IN_USE (exists), VT_INVALID_STREAM (not the next number,
 *   or too many). */
TBRW_API TBRW_U32 TBRW_writing_stream(IN TBRW_PTR ptr, IN TBRW_U32 stream);
/* For a written stream: VT_STREAM_SECTION_NOT_CLOSED, VT_SECTION_NOT_EXIST (no stream
 * information, or no events although a descriptor says ST_EVENT_ID), VT_DATA_DESC_NOT_EXIST,
 * VT_UNSUPPORTED_DATA_SIZE (data is not a whole number of entries); it stays open.
 * Errors: READ, STORE, VT_STREAM_NOT_EXIST, VT_INVALID_STREAM (not open), and the above. */
TBRW_API TBRW_U32 TBRW_done_stream(IN TBRW_PTR ptr, IN TBRW_U32 stream);

/* Errors: HANDLE, VT_STREAM_NOT_EXIST, VT_UNKNOWN_SECTION_NUMBER, VT_SECTION_NOT_READABLE
 *   (the stream is not open for reading), VT_SECTION_ALREADY_IN_USE (open),
 *   VT_SECTION_NOT_EXIST. */
TBRW_API TBRW_U32 TBRW_reading_stream_section(IN TBRW_PTR ptr, IN TBRW_U32 stream,
					      TBRW_STREAM_SECTION_IDENTIFIER section);
/* Errors: STORE, VT_STREAM_NOT_EXIST, VT_UNKNOWN_SECTION_NUMBER, VT_SECTION_NOT_WRITEABLE
 *   (the stream is not open for writing), VT_SECTION_ALREADY_IN_USE (exists). */
TBRW_API TBRW_U32 TBRW_writing_stream_section(IN TBRW_PTR ptr, IN TBRW_U32 stream,
					      TBRW_STREAM_SECTION_IDENTIFIER section);
/* Errors: STORE, VT_STREAM_NOT_EXIST, VT_UNKNOWN_SECTION_NUMBER, VT_SECTION_NOT_EXIST,
 *   VT_SECTION_NOT_WRITEABLE (it is done), VT_NO_DATA_TO_WRITE, VT_DATA_DESC_NOT_EXIST (no
 *   descriptors), VT_UNSUPPORTED_DATA_SIZE (a part of an entry). */
TBRW_API TBRW_U32 TBRW_done_stream_section(IN TBRW_PTR ptr, IN TBRW_U32 stream,
					   TBRW_STREAM_SECTION_IDENTIFIER section);

/* ---- Reading and writing: common rules ----
 * set_ and add_ need the section open for writing, check the structure's own size field and its
 * strings; set_ refuses to set twice. get_ and enumerate_ need it open for reading.
 * get_ fills `buf_ptr` if size_of_buffer suffices, else returns VT_BUFFER_TOO_SMALL; either way
 * the size goes to *size_buffer_used if that is not NULL (5.8). Nested arrays follow the structure
 * in the same buffer.
 * enumerate_ calls back with entries from start_index on (tbrw_types.h has the callbacks' rules).
 */

/* ---- Global sections (9.2) ---- */

/* Errors: SET, VT_SECTION_ALREADY_IN_USE (set). */
TBRW_API TBRW_U32 TBRW_set_system(IN TBRW_PTR ptr, IN TBRW_SYSTEM *system);
/* Errors: GET, VT_ENTRY_NOT_FOUND, VT_UNEXPECTED_NUM_CPUIDS (damaged). */
TBRW_API TBRW_U32 TBRW_get_system(IN TBRW_PTR ptr, IN TBRW_U32 size_of_buffer,
				  OUT TBRW_SYSTEM *buf_ptr,
				  OPTIONAL OUT TBRW_U32 *size_buffer_used);

/* Errors: SET, NAMES, VT_SECTION_ALREADY_IN_USE (set). */
TBRW_API TBRW_U32 TBRW_set_host(IN TBRW_PTR ptr, IN TBRW_HOST *host);
/* Errors: GET, VT_ENTRY_NOT_FOUND (not set). */
TBRW_API TBRW_U32 TBRW_get_host(IN TBRW_PTR ptr, IN TBRW_U32 size_of_buffer, IN void *buf_ptr,
				OPTIONAL OUT TBRW_U32 *size_buffer_used);
/* Errors: SET, NAMES, VT_SECTION_ALREADY_IN_USE (set). */
TBRW_API TBRW_U32 TBRW_set_os(IN TBRW_PTR ptr, IN TBRW_OS *os);
/* Errors: GET, VT_ENTRY_NOT_FOUND (not set). */
TBRW_API TBRW_U32 TBRW_get_os(IN TBRW_PTR ptr, IN TBRW_U32 size_of_buffer, IN void *buf_ptr,
			      OPTIONAL OUT TBRW_U32 *size_buffer_used);
/* Errors: SET, VT_SECTION_ALREADY_IN_USE (set). */
TBRW_API TBRW_U32 TBRW_set_application(IN TBRW_PTR ptr, IN TBRW_APPLICATION *application);
/* Errors: GET, VT_ENTRY_NOT_FOUND (not set). */
TBRW_API TBRW_U32 TBRW_get_application(IN TBRW_PTR ptr, IN TBRW_U32 size_of_buffer,
				       IN void *buf_ptr, OPTIONAL OUT TBRW_U32 *size_buffer_used);

/* Processes and threads are indexed in the order they were added, those deduced by bind follow.
 * get_one_ needs no open section, only one not being written, and gives a pointer into `ptr`, valid
 * until the next call of the same function. */

/* Errors: SET, NAMES. */
TBRW_API TBRW_U32 TBRW_add_process(IN TBRW_PTR ptr, IN TBRW_PID *process);
/* Errors: READ, VT_SECTION_NOT_READABLE (being written), VT_ENTRY_NOT_FOUND. */
TBRW_API TBRW_U32 TBRW_get_one_pid(IN TBRW_PTR ptr, IN TBRW_U64 pid_index,
				   OUT const TBRW_PID **p_pid);
/* Errors: LIST. */
TBRW_API TBRW_U32 TBRW_enumerate_processes(IN TBRW_PTR ptr, IN TBRW_PID_CALLBACK *callback_func,
					   IN void *user_ptr, IN TBRW_U64 start_index);
/* Errors: SET, NAMES. */
TBRW_API TBRW_U32 TBRW_add_thread(IN TBRW_PTR ptr, IN TBRW_TID *thread);
/* Errors: READ, VT_SECTION_NOT_READABLE (being written), VT_ENTRY_NOT_FOUND. */
TBRW_API TBRW_U32 TBRW_get_one_tid(IN TBRW_PTR ptr, IN TBRW_U64 tid_index,
				   OUT const TBRW_TID **p_tid);
/* Errors: LIST. */
TBRW_API TBRW_U32 TBRW_enumerate_threads(IN TBRW_PTR ptr, IN TBRW_TID_CALLBACK *callback_func,
					 IN void *user_ptr, IN TBRW_U64 start_index);
/* bind_enumerate_ functions need no open section.
 * Errors: READ, VT_TB5_IS_NOT_BOUND, VT_UNEXPECTED_BIND_MISMATCH, VT_INVALID_READ_START, the
 *   callback's. */
TBRW_API TBRW_U32 TBRW_bind_enumerate_threads(IN TBRW_PTR ptr, IN BIND_TID_CALLBACK *callback_func,
					      IN void *user_ptr, IN TBRW_U64 start_index);
/* Errors: READ, VT_STREAM_NOT_EXIST, VT_STREAM_NOT_BOUND. */
TBRW_API TBRW_U32 TBRW_get_size_of_tid_bind_entry(IN TBRW_PTR ptr, IN TBRW_U32 data_stream,
						  OUT TBRW_U32 *sizeof_tid_bind_entry);

/* Errors: SET, NAMES. */
TBRW_API TBRW_U32 TBRW_add_module(IN TBRW_PTR ptr, IN TBRW_MODULE *module);
/* Errors: READ, VT_SECTION_NOT_READABLE (being written), VT_ENTRY_NOT_FOUND. */
TBRW_API TBRW_U32 TBRW_get_one_module(IN TBRW_PTR ptr, IN TBRW_U64 module_index,
				      OUT const TBRW_MODULE **p_module);
/* Errors: LIST. */
TBRW_API TBRW_U32 TBRW_enumerate_modules(IN TBRW_PTR ptr, IN TBRW_MODULE_CALLBACK *callback_func,
					 IN void *user_ptr, IN TBRW_U64 start_index);
/* Errors: READ, VT_TB5_IS_NOT_BOUND, VT_UNEXPECTED_BIND_MISMATCH, VT_INVALID_READ_START, the
 *   callback's. */
TBRW_API TBRW_U32 TBRW_bind_enumerate_modules(IN TBRW_PTR ptr,
					      IN BIND_MODULE_CALLBACK *callback_func,
					      IN void *user_ptr, IN TBRW_U64 start_index);
/* Errors: READ, VT_STREAM_NOT_EXIST, VT_STREAM_NOT_BOUND. */
TBRW_API TBRW_U32 TBRW_get_size_of_module_bind_entry(IN TBRW_PTR ptr, IN TBRW_U32 data_stream,
						     OUT TBRW_U32 *sizeof_module_bind_entry);

/* Errors: SET, VT_SECTION_ALREADY_IN_USE (set). */
TBRW_API TBRW_U32 TBRW_set_version_info(IN TBRW_PTR tbrw_ptr, IN TBRW_VERSION_INFO *version_info);
/* Errors: GET, VT_ENTRY_NOT_FOUND (not set). */
TBRW_API TBRW_U32 TBRW_get_version_info(IN TBRW_PTR tbrw_ptr, IN TBRW_U32 size_of_buffer,
					IN void *buf_ptr, OPTIONAL OUT TBRW_U32 *size_buffer_used);

/* While the section is open for writing, a further call appends.
 * Errors: STORE, VT_SECTION_NOT_WRITEABLE, VT_BUFFER_NULL. */
TBRW_API TBRW_U32 TBRW_set_user_defined_global(IN TBRW_PTR ptr, IN TBRW_U32 size_of_data,
					       IN void *data_ptr);
/* Errors: GET. */
TBRW_API TBRW_U32 TBRW_get_user_defined_global(IN TBRW_PTR ptr, IN TBRW_U32 size_of_buffer,
					       IN void *buf_ptr,
					       OPTIONAL OUT TBRW_U32 *size_buffer_used);

/* ---- Stream sections (9.3) ---- */

/* Errors: GET, VT_STREAM_NOT_EXIST, VT_ENTRY_NOT_FOUND (not set). */
TBRW_API TBRW_U32 TBRW_get_stream_info(IN TBRW_PTR tbrw_ptr, IN TBRW_U32 stream,
				       IN TBRW_U32 size_of_buffer, IN void *buf_ptr,
				       OPTIONAL OUT TBRW_U32 *size_buffer_used);
/* VT_UNEXPECTED_VALUE: the stream type cannot be written.
 * Errors: SET, NAMES, VT_STREAM_NOT_EXIST, VT_SECTION_ALREADY_IN_USE (set). */
TBRW_API TBRW_U32 TBRW_set_stream_info(IN TBRW_PTR tbrw_ptr, IN TBRW_U32 stream,
				       IN TBRW_STREAM_INFO *stream_info);

/* Errors: SET, NAMES, VT_STREAM_NOT_EXIST. */
TBRW_API TBRW_U32 TBRW_add_event(IN TBRW_PTR ptr, IN TBRW_U32 stream,
				 IN TBRW_EVENT *event_descriptor_entry);
/* Errors: LIST, VT_STREAM_NOT_EXIST. */
TBRW_API TBRW_U32 TBRW_enumerate_events(IN TBRW_PTR ptr, IN TBRW_U32 stream,
					IN TBRW_EVENT_CALLBACK *callback_func, IN void *user_ptr,
					IN TBRW_U64 start_index);

/* A descriptor with desc_offset 0, but for the first, follows its predecessors (the guide's own
 * example, 6.9, needs this) and reads back with its real offset. The size of an entry is the end of
 * the furthest descriptor. VT_INVALID_STREAM (ST_LEGACY_SAMPLE_RECORD outside stream 0),
 * VT_UNEXPECTED_VALUE (reserved type), VT_UNSUPPORTED_DATA_SIZE (size 0, or entry over 1 MB).
 * Errors: SET, NAMES, VT_STREAM_NOT_EXIST, and the above. */
TBRW_API TBRW_U32 TBRW_add_data_descriptor_entry(IN TBRW_PTR ptr, IN TBRW_U32 stream,
						 IN TBRW_SAMPREC_DESC_ENTRY *data_descriptor_entry);
/* Errors: LIST but VT_INVALID_READ_START, VT_STREAM_NOT_EXIST. */
TBRW_API TBRW_U32 TBRW_enumerate_data_descriptor_entries(IN TBRW_PTR ptr, IN TBRW_U32 stream,
							 TBRW_DATA_DESC_CALLBACK *callback_func,
							 void *user_ptr);

/* Appends bytes of entries: a part of one, one, or many.
 * Errors: STORE, VT_STREAM_NOT_EXIST, VT_SECTION_NOT_WRITEABLE, VT_BUFFER_NULL. */
TBRW_API TBRW_U32 TBRW_add_data(IN TBRW_PTR ptr, IN TBRW_U32 stream, IN TBRW_U32 size_of_data_entry,
				IN void *data_entry);
/* Appends a file's whole content. Entries appended before an error stay. VT_FILE_OPEN_FAILED (also
 * if not a regular file, and for the file being written), VT_SAMPLE_FILE_MAPPING_ERROR (it cannot
 * be read).
 * Errors: STORE, VT_STREAM_NOT_EXIST, VT_SECTION_NOT_WRITEABLE, VT_INVALID_STRING (the name),
 *   and the above. */
TBRW_API TBRW_U32 TBRW_add_data_from_file(IN TBRW_PTR ptr, IN TBRW_U32 stream, TBRW_CHAR *filename);
/* Errors: LIST, VT_STREAM_NOT_EXIST, VT_DATA_DESC_NOT_EXIST (the size of an entry is not known). */
TBRW_API TBRW_U32 TBRW_enumerate_data(IN TBRW_PTR ptr, IN TBRW_U32 stream,
				      IN TBRW_DATA_CALLBACK *callback_func, IN void *user_ptr,
				      IN TBRW_U64 start_index);

/* Errors: STORE, VT_STREAM_NOT_EXIST, VT_SECTION_NOT_WRITEABLE, VT_BUFFER_NULL. */
TBRW_API TBRW_U32 TBRW_set_user_defined_stream(IN TBRW_PTR ptr, IN TBRW_U32 stream,
					       IN TBRW_U32 size_of_data, IN void *data_ptr);
/* Errors: GET, VT_STREAM_NOT_EXIST. */
TBRW_API TBRW_U32 TBRW_get_user_defined_stream(IN TBRW_PTR ptr, IN TBRW_U32 stream,
					       IN TBRW_U32 size_of_buffer, IN void *buf_ptr,
					       OPTIONAL OUT TBRW_U32 *size_buffer_used);

/* ---- Binding (3.3, 5.10, 9.3.4); FORMAT.md has its rules ----
 * Only stream 0, the sampling stream, can be bound. These need no stream or section to be open. */

/* VT_STREAM_NOT_BOUND; VT_UNEXPECTED_BIND_MISMATCH: the stored results do not fit the data.
 * Errors: READ, VT_STREAM_NOT_EXIST, VT_INVALID_STREAM (not 0), VT_INVALID_READ_START, the
 *   callback's, and the above. */
TBRW_API TBRW_U32 TBRW_bind_enumerate_data(IN TBRW_PTR ptr, IN TBRW_U32 data_stream,
					   IN BIND_DATA_CALLBACK *callback_func, IN void *user_ptr,
					   IN TBRW_U64 start_index);
/* Errors: READ, VT_STREAM_NOT_EXIST, VT_STREAM_NOT_BOUND. */
TBRW_API TBRW_U32 TBRW_get_size_of_data_bind_entry(IN TBRW_PTR ptr, IN TBRW_U32 data_stream,
						   OUT TBRW_U32 *sizeof_data_bind_entry);
/* *is_bound: 1 or 0.
 * Errors: READ, VT_STREAM_NOT_EXIST. */
TBRW_API TBRW_U32 TBRW_is_bound(IN TBRW_PTR ptr, IN TBRW_U32 data_stream, OUT TBRW_U32 *is_bound);
/* Success if it is bound already. On error nothing is bound. VT_INVALID_STREAM,
 * VT_LEGACY_DATA_NOT_EXIST (no sample records), VT_SECTION_ALREADY_IN_USE and
 * VT_STREAM_ALREADY_IN_USE (modules, processes or samples are open).
 * Errors: READ, VT_NO_SPACE, VT_WRITE_ERROR, VT_SAMP_FILE_CREATE_FAILED (no temporary file),
 *   VT_STREAM_NOT_EXIST, VT_DATA_DESC_NOT_EXIST, and the above. */
TBRW_API TBRW_U32 TBRW_dobind(IN TBRW_PTR ptr, IN TBRW_U32 data_stream);
/* Forgets the results; the space is not given back.
 * Errors: READ, VT_NO_SPACE, VT_WRITE_ERROR, VT_STREAM_NOT_EXIST, VT_INVALID_STREAM (not 0),
 *   VT_STREAM_NOT_BOUND, VT_STREAM_ALREADY_IN_USE (results are open). */
TBRW_API TBRW_U32 TBRW_unbind(IN TBRW_PTR ptr, IN TBRW_U32 data_stream);

/* ---- Strings (9.4) ----
 * Sizes are in characters with the terminator: in, the buffer's size; out, the size needed.
 * VT_BUFFER_TOO_SMALL sets the size too. VT_INVALID_STRING: not well-formed UTF-8, or not Unicode.
 * Errors: VT_UNEXPECTED_NULL_PTR, VT_INVALID_STRING, VT_BUFFER_TOO_SMALL, VT_BUFFER_NULL,
 *   VT_BUFFER_OVERFLOW. */
TBRW_API TBRW_U32 TBRW_convert_utf8_to_wcs(IN const char *utf8, OUT wchar_t *wcs,
					   INOUT TBRW_U32 *wcs_size);
/* Errors: VT_UNEXPECTED_NULL_PTR, VT_INVALID_STRING, VT_BUFFER_TOO_SMALL, VT_BUFFER_NULL,
 *   VT_BUFFER_OVERFLOW. */
TBRW_API TBRW_U32 TBRW_convert_wcs_to_utf8(IN const wchar_t *wcs, OUT char *utf8,
					   INOUT TBRW_U32 *utf8_size);

#ifdef __cplusplus
}
#endif

#endif
