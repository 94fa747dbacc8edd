/*
 * libuw: registers + a copy of the stack + an address space -> frames.
 *
 * Three nouns. A module is an ELF image (file or memory) whose unwind information can be read. An
 * address space is the set of executable mappings of one process image, each backed by a module or
 * by none (JIT code). A walk turns one sample's registers and stack bytes into frames, and always
 * says why it ended.
 *
 * The library reads only what its caller hands over: it never touches the target, prints, exits or
 * keeps global state. All input is taken as hostile; every loop has a bound.
 *
 * Threads: there are no locks. A module belongs to one thread at a time; so does an address space,
 * together with its siblings and the modules mapped in them.
 */
#ifndef UNWIND_UNWIND_H
#define UNWIND_UNWIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct uw_module;
struct uw_space;
struct uw_history;

enum {
	UW_DEPTH_MAX = 1024, /* frames of one walk, at most */
	UW_REGS_MAX = 34     /* room for the DWARF registers of any supported machine */
};

/* Instruction set of the sampled code; also the numbering of struct uw_regs. */
enum uw_arch {
	/* DWARF numbers, System V x86-64 psABI fig. 3.36: 0 rax .. 6 rbp, 7 rsp, 16 rip. */
	UW_ARCH_X86_64,
	/* DWARF for the Arm 64-bit Architecture 4.1: 0..30 x0..x30, 31 sp, 32 pc. */
	UW_ARCH_AARCH64,
	/* 32-bit x86. DWARF numbers, System V i386 psABI table 2.14: 0 eax, 1 ecx, 2 edx, 3 ebx,
	 * 4 esp, 5 ebp, 6 esi, 7 edi, 8 eip. */
	UW_ARCH_I386
};

/* User registers at the sample, indexed by DWARF register number; 32-bit ones are zero-extended. */
struct uw_regs {
	uint64_t value[UW_REGS_MAX];
	/* Bit n: register n is not known, and value[n] says nothing. The stack pointer and the
	 * program counter always are. A walk that depends on another one ends there
	 * (UW_STOP_NO_INFO), and neither uses nor makes history. */
	uint64_t unknown;
};

/* A copy of the target's stack from its stack pointer up or, with the red zone of leaf functions,
 * from below. */
struct uw_stack {
	uint64_t base;        /* target address of bytes[0] */
	const uint8_t *bytes; /* borrowed during the walk */
	size_t size;          /* bytes copied */
	size_t requested;     /* bytes asked for; more than size: a page was absent */
	bool ends;            /* the stack's memory is known to end with the copy */
	/* A copy of the stack that a signal interrupted, where the handler runs on another one;
	 * borrowed likewise. The walk goes on there from the signal's frame. NULL: none. */
	const struct uw_stack *outer;
};

/* Why a walk ended. */
enum uw_stop {
	UW_STOP_ROOT,         /* complete: the outermost frame was reached */
	UW_STOP_TRUNCATED,    /* the stack is longer than the requested copy */
	UW_STOP_NOT_RESIDENT, /* the copy ended early, at an absent page */
	UW_STOP_NO_INFO,      /* no unwind information, and no convention passed its checks */
	UW_STOP_OTHER_STACK,  /* the next frame is on a stack that was not copied */
	UW_STOP_SWITCHED,     /* as before, known from code that loaded the stack pointer: a larger
				 copy would not help */
	UW_STOP_DEPTH,        /* max_frames reached */
	UW_STOP_BAD_INFO,     /* unwind information or memory contradicts itself */
	UW_STOP_RED_ZONE,     /* the way to the leaf's caller is saved below its stack pointer,
				 where nothing was copied */
	UW_STOP_COUNT
};

/* How the walk got from the previous (inner) frame to this one. */
enum uw_source {
	UW_SOURCE_SAMPLE,        /* the sampled registers: the leaf */
	UW_SOURCE_CFI,           /* call frame information, or Go's table */
	UW_SOURCE_FRAME_POINTER, /* by convention: a frame pointer, or for a leaf without CFI the
				    return address on top of the stack, each strictly checked */
	UW_SOURCE_ANALYSIS, /* by analysis of code without CFI; the call before the return address
			       led to it */
	UW_SOURCE_COUNT
};

struct uw_frame {
	uint64_t ip;       /* address of the next instruction to run in this frame */
	uint64_t rva;      /* the lookup address as an ELF virtual address of the mapping's module;
			      without a module, the lookup address itself. The lookup address is ip
			      in an exact frame and in a signal trampoline (nobody calls one), else
			      ip - 1, inside the call */
	uint64_t function; /* start of the frame's function by its FDE, or by what analysis found,
			      in the terms of rva; 0: unknown. A function split in hot and cold
			      parts has two */
	uint64_t sp;       /* stack pointer in this frame; identifies the frame within its stack */
	uint32_t tag;      /* of the mapping (uw_space_map); UW_TAG_NONE: ip is in no mapping */
	uint8_t source;    /* enum uw_source */
	bool exact;        /* ip is exact: the leaf, or a frame interrupted by a signal */
};

#define UW_TAG_NONE UINT32_MAX

/* Counts over the life of an address space. */
struct uw_counts {
	uint64_t walks;
	uint64_t frames;
	uint64_t frames_by_source[UW_SOURCE_COUNT];
	uint64_t frames_reused; /* of frames: taken over from a history */
	uint64_t cache_misses;  /* frames with rules that had to be looked up */
	uint64_t effort;        /* call frame instructions run for these lookups, and the like: each
				   walk has a limit */
};

/*
 * Opens the ELF file behind fd for unwinding. The caller keeps fd; the module holds a duplicate
 * (close-on-exec): one descriptor a module. Opening reads only headers; walks read the unwind
 * information they need with pread(2): deleting, truncating or overwriting the file later does no
 * harm.
 * Returns 0 and one reference in *module, or -1 with errno: ENOEXEC not an ELF file of a supported
 * machine (64-bit x86-64 and aarch64, 32-bit i386; not x32), EINVAL malformed, ENOMEM, or the errno
 * of fstat and fcntl.
 */
int uw_module_open(int fd, struct uw_module **module);

/* As uw_module_open, for an image in memory (the vdso); the bytes are copied. */
int uw_module_from_memory(const void *bytes, size_t size, struct uw_module **module);

struct uw_module *uw_module_ref(struct uw_module *module);
void uw_module_unref(struct uw_module *module); /* accepts NULL */

/* Whether anyone but the caller uses the module: an address space, or the owner of a reference. */
bool uw_module_is_used(const struct uw_module *module);

/* Whether the file's size or time of modification changed after the module was opened. From then on
 * the file is not read: only the unwind information already read is known. */
bool uw_module_has_changed(const struct uw_module *module);

/* Copies up to size bytes of the module's GNU build-id; returns its length, 0 for none. */
size_t uw_module_build_id(const struct uw_module *module, uint8_t *id, size_t size);

/*
 * Separate debug files. A module "lacks info" when hardly any of its code has unwind information
 * (no .eh_frame but for the C library's start files, no .debug_frame, no table of Go's). Such a
 * module may be given the .debug_frame of its separate debug file. The caller finds the debug file:
 * by convention, by a name made of the build-id, or by the debug link's, which is a file name,
 * never a path. uw_module_debug_link returns the name's length without the NUL, and the link's
 * CRC-32 of the whole debug file; 0: there is no link, or the name does not fit. Both calls read
 * from the module's file: ask only when the answer is needed.
 */
bool uw_module_lacks_info(struct uw_module *module);
size_t uw_module_debug_link(struct uw_module *module, char *name, size_t size, uint32_t *crc);

/* Whether a .debug_frame, the module's own or an added debug file's, was left out because this
 * libelf cannot inflate its compression, or not correctly. */
bool uw_module_has_refused(const struct uw_module *module);

/*
 * Takes the unwind information of the debug file behind fd. The caller keeps fd, and has checked
 * that the file is of the module's build. Only before the module is shared or mapped. Returns 0, or
 * -1 with errno and the module unchanged: EEXIST the module lacks none, ESTALE the file is of
 * another machine, ENOENT the file has none either, or as uw_module_open.
 */
int uw_module_add_debug(struct uw_module *module, int fd);

enum uw_arch uw_module_arch(const struct uw_module *module);

/*
 * The ELF virtual address of file offset pgoff in an executable mapping. If no segment holds pgoff:
 * the offset itself, an address without unwind information.
 */
uint64_t uw_module_rva(const struct uw_module *module, uint64_t pgoff);

/* Whether rva lies in the module's variables: its writable segments, as loaded. */
bool uw_module_has_data(const struct uw_module *module, uint64_t rva);

/* Reads the target's memory, for code in no file. */
struct uw_code_reader {
	void *context; /* first argument of the call */
	/* Copies size bytes at address, or as many of the first ones as can be read; returns their
	 * number. Called in walks, a few times for a page with code at most. */
	size_t (*read)(void *context, uint64_t address, void *bytes, size_t size);
};

/* An empty address space for code of the given machine. NULL: out of memory. */
struct uw_space *uw_space_create(enum uw_arch arch);

/*
 * An empty address space that shares the rule cache of the given space (some 380 KB): many
 * processes take as much memory as one. Siblings and clones, taken together, belong to one thread
 * at a time. NULL: out of memory.
 */
struct uw_space *uw_space_sibling(const struct uw_space *space, enum uw_arch arch);
void uw_space_destroy(struct uw_space *space); /* accepts NULL */

/* A sibling with the same mappings and zero counts, as after fork(2): the two share cached rules
 * until their mappings differ. NULL: out of memory. */
struct uw_space *uw_space_clone(struct uw_space *space);

/*
 * Records that [start, end) is mapped executable from file offset pgoff of module (NULL: code
 * outside any ELF file), replacing earlier mappings of the range. The space takes its own
 * reference.
 * tag is the caller's name for the mapping. Where nothing else was mapped, cached rules stay valid
 * at no cost; mappings that continue each other become one. Returns 0, or -1 with errno EINVAL
 * (empty or wrapping range) or ENOMEM (the space is unchanged).
 */
int uw_space_map(struct uw_space *space, uint64_t start, uint64_t end, uint64_t pgoff,
		 struct uw_module *module, uint32_t tag);

/* Removes [start, end) from the space, splitting mappings as needed. Same errors. */
int uw_space_unmap(struct uw_space *space, uint64_t start, uint64_t end);

/* Has code of mappings without a module read from the target, which lives as long as the space, or
 * until reads fail; its bytes may change at any time. NULL: such code is not read. Clones and
 * siblings do not inherit the reader. Out of memory: code is not read. */
void uw_space_set_reader(struct uw_space *space, const struct uw_code_reader *reader);

/* Looks ip up; false: ip is in no mapping. */
bool uw_space_find(const struct uw_space *space, uint64_t ip, uint32_t *tag, uint64_t *rva);

/*
 * Unwinds one sample, leaf first. frames has room for max_frames (<= UW_DEPTH_MAX) entries.
 * Returns the number of frames written, at least 1 (the leaf) when max_frames >= 1; *stop says why
 * the walk ended. All frames written are verified, whatever the stop.
 */
size_t uw_walk(struct uw_space *space, const struct uw_regs *regs, const struct uw_stack *stack,
	       struct uw_frame *frames, size_t max_frames, enum uw_stop *stop);

/*
 * A history keeps one thread's last complete stack, at 64 bytes a frame; the next walk takes over
 * the outer frames that did not change. A history works with any space, and forgets its frames when
 * the space differs from theirs, or a mapping was replaced or removed since. NULL: out of memory.
 */
struct uw_history *uw_history_create(void);
void uw_history_destroy(struct uw_history *history); /* accepts NULL */

/*
 * As uw_walk, with the same result, but takes over from history the frames that the new copy of the
 * stack confirms word by word. The last *reused frames equal as many last frames of the latest
 * complete walk with this history. *reused is 0 if the walk is not complete, and for code of other
 * machines than x86, for which no history is kept. history may be NULL.
 * One result differs: no word below a frame record could be a return address when the frame was
 * found, but one could now. uw_walk then ends (UW_STOP_NO_INFO); with a history the known frames
 * are taken over, because the frame and its return address are unchanged.
 */
size_t uw_walk_reuse(struct uw_space *space, struct uw_history *history, const struct uw_regs *regs,
		     const struct uw_stack *stack, struct uw_frame *frames, size_t max_frames,
		     enum uw_stop *stop, size_t *reused);

/*
 * Whether the call before a caller's return address can have led to the frame inside it: the call
 * names no target, the callee's function, or code that comes there by jumps (tail calls, linkage
 * stubs). Both frames are of one walk in this space, the callee right before the caller. false:
 * there is no such call, or nobody can tell, as for signals' frames, generated code, functions
 * whose start is not known, and machines other than x86-64.
 */
bool uw_space_has_call(struct uw_space *space, const struct uw_frame *callee,
		       const struct uw_frame *caller);

void uw_space_counts(const struct uw_space *space, struct uw_counts *counts);

/* Short English words for a stop reason: "complete", "truncated", "not resident", ... */
const char *uw_stop_name(enum uw_stop stop);

#endif
