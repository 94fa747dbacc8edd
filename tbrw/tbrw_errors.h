/* What TBRW functions return. The VT_ names and numbers are those of Intel's openly licensed
 * drivers (rise_errors.h, MIT); the equality of TBRW_ and VT_ names is our reading of the guide:
 * the guide uses TBRW_BUFFER_TOO_SMALL and VT_SUCCESS for results of the same functions.
 *
 * Never returned by this library: VT_INVALID_PATH, VT_INTERNAL_ERROR, VT_SAM_ERROR,
 * VT_SAMPLE_FILE_ALREADY_MAPPED, VT_SAMPLE_FILE_NOT_MAPPED, VT_NO_TB5_CREATED, VT_NOT_IMPLEMENTED,
 * VT_ERR_CONVERSION_FROM_STRING_2_NUMBER, VT_TBRW_INIT_FAILED, VT_BAD_MODULE,
 * VT_BIND_UNEXPECTED_1STMODREC, VT_BIND_MODULES_NOT_SORTED, VT_UNSUPPORTED_ARCH_TYPE, VT_FAILURE.
 */
#ifndef TBRW_ERRORS_H
#define TBRW_ERRORS_H

#define TBRW_ERROR_LIST(X)                                                                       \
	X(SUCCESS, 0, "success")                                                                 \
	X(INVALID_PATH, 4, "invalid path")                                                       \
	X(TB5_IN_USE, 5, "the tb5 file is in use by another writer")                             \
	X(INTERNAL_ERROR, 8, "internal error")                                                   \
	X(SAM_ERROR, 22, "error in the sample file library")                                     \
	X(SAMPLE_FILE_ALREADY_MAPPED, 23, "the sample file is already open")                     \
	X(INVALID_SAMPLE_FILE, 24, "not a valid sample file of this implementation, or damaged") \
	X(UNKNOWN_SECTION_NUMBER, 25, "unknown section number")                                  \
	X(NO_MEMORY, 26, "out of memory")                                                        \
	X(SAMPLE_FILE_NOT_MAPPED, 28, "the sample file is not open")                             \
	X(BUFFER_OVERFLOW, 29, "a value is too large")                                           \
	X(SAMPLE_FILE_MAPPING_ERROR, 34, "the sample file could not be read")                    \
	X(BUFFER_NULL, 35, "the buffer is null")                                                 \
	X(UNEXPECTED_NULL_PTR, 36, "unexpected null pointer")                                    \
	X(ENTRY_NOT_FOUND, 39, "no such entry")                                                  \
	X(FILE_OPEN_FAILED, 44, "the file could not be opened")                                  \
	X(NO_TB5_CREATED, 53, "no tb5 file was created")                                         \
	X(NO_WRITE_PERMISSION, 54, "no permission to write")                                     \
	X(BAD_PARAMETER, 63, "bad parameter")                                                    \
	X(EMPTY_SAMPLE_FILE_NAME, 71, "the file name is empty")                                  \
	X(UNEXPECTED_VALUE, 72, "unexpected value")                                              \
	X(NOT_IMPLEMENTED, 73, "not implemented")                                                \
	X(SECTION_ALREADY_IN_USE, 77, "the section exists or is in use already")                 \
	X(SECTION_NOT_EXIST, 78, "the section does not exist")                                   \
	X(STREAM_NOT_EXIST, 79, "the stream does not exist")                                     \
	X(INVALID_STREAM, 80, "the stream number or type is not valid here")                     \
	X(STREAM_ALREADY_IN_USE, 81, "the stream exists or is in use already")                   \
	X(DATA_DESC_NOT_EXIST, 82, "the stream has no data descriptor")                          \
	X(INVALID_ERROR_CODE, 83, "invalid error code")                                          \
	X(INCOMPATIBLE_VERSION, 84, "incompatible version")                                      \
	X(LEGACY_DATA_NOT_EXIST, 85, "there are no sample records")                              \
	X(INVALID_READ_START, 86, "the start index is past the end")                             \
	X(SAMP_FILE_CREATE_FAILED, 89, "the sample file could not be created")                   \
	X(INVALID_SAMPLE_FILE_NAME, 91, "invalid file name")                                     \
	X(UNEXPECTED_MISMATCH_IN_STRING_TYPES, 94,                                               \
	  "a string id was given for a string, or the reverse")                                  \
	X(INCOMPLETE_TB5_ENCOUNTERED, 95,                                                        \
	  "the tb5 file was never closed; what was stored is readable")                          \
	X(ERR_CONVERSION_FROM_STRING_2_NUMBER, 96, "not a number")                               \
	X(INVALID_STRING, 97, "invalid string")                                                  \
	X(UNSUPPORTED_DATA_SIZE, 98, "unsupported data size")                                    \
	X(TBRW_INIT_FAILED, 99, "the library could not be initialized")                          \
	X(BUFFER_TOO_SMALL, 103, "the buffer is too small")                                      \
	X(INVALID_ACCESS_PERMS, 111, "the access mode does not permit this")                     \
	X(TB5_IS_NOT_BOUND, 113, "the tb5 file is not bound")                                    \
	X(SECTION_NOT_READABLE, 124, "the section is not open for reading")                      \
	X(SECTION_NOT_WRITEABLE, 125, "the section is not open for writing")                     \
	X(GLOBAL_SECTION_NOT_CLOSED, 126, "a global section is still open for writing")          \
	X(STREAM_SECTION_NOT_CLOSED, 127, "a stream section is still open")                      \
	X(STREAM_NOT_CLOSED, 128, "a stream is still open for writing")                          \
	X(STREAM_NOT_BOUND, 129, "the stream is not bound")                                      \
	X(NOT_ALL_SECTIONS_CLOSED, 131, "a section or stream is still open for reading")         \
	X(UNEXPECTED_BIND_MISMATCH, 133, "the bind information does not fit the data")           \
	X(BAD_MODULE, 136, "bad module record")                                                  \
	X(BIND_UNEXPECTED_1STMODREC, 141, "unexpected first module record of a process")         \
	X(BIND_MODULES_NOT_SORTED, 142, "module records are not sorted")                         \
	X(UNEXPECTED_NUM_CPUIDS, 143, "unexpected number of CPUID entries")                      \
	X(UNSUPPORTED_ARCH_TYPE, 144, "unsupported architecture type")                           \
	X(NO_DATA_TO_WRITE, 145, "there is nothing to write")                                    \
	X(WRITE_ERROR, 194, "writing to the file failed")                                        \
	X(NO_SPACE, 195, "no space left on the device")

enum {
#define TBRW_ERROR_VT(name, number, text) VT_##name = (number),
	TBRW_ERROR_LIST(TBRW_ERROR_VT)
#undef TBRW_ERROR_VT
#define TBRW_ERROR_TBRW(name, number, text) TBRW_##name = (number),
		TBRW_ERROR_LIST(TBRW_ERROR_TBRW)
#undef TBRW_ERROR_TBRW
};

/* Never returned; here because the numbers' source has it. */
#define VT_FAILURE   0xFFFFFFFFu
#define TBRW_FAILURE VT_FAILURE

#endif
