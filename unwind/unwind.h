/*
 * libuw: registers + a copy of the stack + an address space -> frames.
 *
 * Three nouns. A module is an ELF image (file or memory) whose unwind information can be read. An
 * address space is the set of executable mappings of one process image, each backed by a module or
 * by none (JIT code). A walk turns one sample's registers and stack bytes into frames, and always
 * says why it ended.
 *
 * The library only reads what it is handed: it never touches the target, prints, exits or keeps
 * global state. Everything it reads is taken as hostile; every loop has a bound.
 *
 * Threads: nothing is guarded. A module belongs to one thread at a time, and so does an address
 * space, with its siblings and the modules that are mapped in them.
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
	UW_DEPTH_MAX = 1024, /* frames that one walk may produce */
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
};

/* A copy of the target's stack, starting at its stack pointer or, with what leaf functions keep in
 * the red zone, below it. */
struct uw_stack {
	uint64_t base;        /* target address of bytes[0] */
	const uint8_t *bytes; /* borrowed during the walk */
	size_t size;          /* bytes that were copied */
	size_t requested;     /* bytes asked for; more than size: the copy met an absent page */
	bool ends;            /* the memory of the stack is known to end with the copy */
};

/* Why a walk ended. */
enum uw_stop {
	UW_STOP_ROOT,         /* complete: the outermost frame was reached */
	UW_STOP_TRUNCATED,    /* the stack goes on beyond the bytes that were asked for */
	UW_STOP_NOT_RESIDENT, /* the copy ended early at a page that was not there */
	UW_STOP_NO_INFO,      /* no unwind information, and no convention that passes the checks */
	UW_STOP_OTHER_STACK,  /* the next frame lies on a stack that was not copied */
	UW_STOP_SWITCHED,     /* as before, and it is the code that shows it, which loaded the stack
				 pointer: no other copy would hold more */
	UW_STOP_DEPTH,        /* max_frames reached */
	UW_STOP_BAD_INFO,     /* unwind information or memory contradicts itself */
	UW_STOP_RED_ZONE,     /* the leaf keeps what leads to its caller below its stack pointer,
				 where nothing was copied */
	UW_STOP_COUNT
};

/* How the walk got from the previous (inner) frame to this one. */
enum uw_source {
	UW_SOURCE_SAMPLE, /* the sampled registers: the leaf */
	UW_SOURCE_CFI,
	UW_SOURCE_FRAME_POINTER, /* by convention: a frame pointer, or for a leaf without CFI the
				    return address on top of the stack, each strictly checked */
	UW_SOURCE_COUNT
};

struct uw_frame {
	uint64_t ip;       /* address of the next instruction to run in this frame */
	uint64_t rva;      /* the lookup address in the mapping's module, as an ELF virtual address,
			      or itself where no module backs the mapping. The lookup address is ip
			      if exact or that of a signal trampoline, which nobody calls, else
			      ip - 1, which lies inside the call */
	uint64_t function; /* where the frame's function starts by its FDE, in the terms of rva;
			      0: not known. A function split in hot and cold parts has two */
	uint64_t sp;       /* stack pointer in this frame; identifies the frame within its stack */
	uint32_t tag;   /* of the mapping (uw_space_map); UW_TAG_NONE where ip is in no mapping */
	uint8_t source; /* enum uw_source */
	bool exact;     /* ip is exact: the leaf, or a frame that a signal interrupted */
};

#define UW_TAG_NONE UINT32_MAX

/* Counts over the life of an address space. */
struct uw_counts {
	uint64_t walks;
	uint64_t frames;
	uint64_t frames_by_source[UW_SOURCE_COUNT];
	uint64_t frames_reused; /* of frames: taken over from a history */
	uint64_t cache_misses;  /* frames whose rules had to be looked up */
	uint64_t effort;        /* call frame instructions that were run for that, and the like:
				   each walk has a limit */
};

/*
 * Opens the ELF file behind fd for unwinding. The caller keeps fd; the module holds a duplicate of
 * it (close-on-exec), so that it costs one descriptor. Only headers are read; unwind information is
 * read with pread(2), as little of it as can be, when walks need it: a file that is
 * deleted, truncated or overwritten later is harmless.
 * Returns 0 and one reference in *module, or -1 with errno: ENOEXEC not an ELF file of a supported
 * machine (64-bit x86-64 and aarch64, 32-bit i386; not x32), EINVAL malformed, ENOMEM, or what
 * fstat and fcntl set.
 */
int uw_module_open(int fd, struct uw_module **module);

/* As uw_module_open, for an image in memory (the vdso); the bytes are copied. */
int uw_module_from_memory(const void *bytes, size_t size, struct uw_module **module);

struct uw_module *uw_module_ref(struct uw_module *module);
void uw_module_unref(struct uw_module *module); /* accepts NULL */

/* Whether more than the caller uses the module: address spaces, whoever took a reference. What
 * walks keep of its functions does not count, nor does it need the file. */
bool uw_module_is_used(const struct uw_module *module);

/* Whether the module's file was written to since it was opened, by its size and time of
 * modification. Nothing more is read of it then: what walks have not needed before is not known. */
bool uw_module_has_changed(const struct uw_module *module);

/* Closes the file of a module that nobody else uses (uw_module_is_used), and frees what was read of
 * its unwind information, which is not known then: what walks keep of its functions can hold the
 * module itself for long. */
void uw_module_close(struct uw_module *module);

/* Copies up to size bytes of the module's GNU build-id; returns its length, 0 when it has none. */
size_t uw_module_build_id(const struct uw_module *module, uint8_t *id, size_t size);

/*
 * Separate debug files. A module that has hardly any unwind information for its code (no .eh_frame
 * but for the C library's start files, no .debug_frame) lacks it, and may be given the .debug_frame
 * of the file that its debug information was split off to. Where that is, is the caller's business:
 * by convention a name made of the build-id, or the debug link's, which is a file name, never a
 * path. uw_module_debug_link returns its length without the NUL, and the link's CRC-32 of the whole
 * debug file; 0 where there is none or it does not fit. Both read what they have to of the module:
 * ask when it is to be used.
 */
bool uw_module_lacks_info(struct uw_module *module);
size_t uw_module_debug_link(struct uw_module *module, char *name, size_t size, uint32_t *crc);

/* Whether a .debug_frame was left out, the module's own or that of a file it was given, because it
 * is compressed in a way that this libelf cannot inflate, or not rightly. */
bool uw_module_has_refused(const struct uw_module *module);

/*
 * Takes the unwind information of the debug file behind fd, which the caller keeps and knows to be
 * of the module's build. Only before the module is shared or mapped. Returns 0, or -1 with errno
 * and the module as it was: EEXIST it lacks none, ESTALE the file is of another machine, ENOENT the
 * file has none either, or as uw_module_open.
 */
int uw_module_add_debug(struct uw_module *module, int fd);

enum uw_arch uw_module_arch(const struct uw_module *module);

/* An empty address space for code of the given machine. NULL: out of memory. */
struct uw_space *uw_space_create(enum uw_arch arch);

/*
 * An empty one that shares what is remembered of code with the given space (some 380 KB, and up to
 * 1 MB of decoded functions): for many processes it is as much as for one. Siblings, and clones,
 * are one thread's at a time all together. NULL: out of memory.
 */
struct uw_space *uw_space_sibling(const struct uw_space *space, enum uw_arch arch);
void uw_space_destroy(struct uw_space *space); /* accepts NULL */

/* A sibling with the same mappings and zero counts, as fork(2) makes one: what is known of code in
 * the one is known in the other, until their mappings differ. NULL: out of memory. */
struct uw_space *uw_space_clone(struct uw_space *space);

/*
 * Records that [start, end) is mapped executable from file offset pgoff of module (NULL: code that
 * no ELF file holds), replacing whatever was mapped there. The space takes its own reference.
 * tag is the caller's name for the mapping. What is remembered of code stays, and costs nothing,
 * where nothing else was mapped; mappings that go on in each other are one. Returns 0, or -1 with
 * errno EINVAL (empty or wrapping range) or ENOMEM (the space is unchanged).
 */
int uw_space_map(struct uw_space *space, uint64_t start, uint64_t end, uint64_t pgoff,
		 struct uw_module *module, uint32_t tag);

/* Removes [start, end) from the space, splitting mappings as needed. Same errors. */
int uw_space_unmap(struct uw_space *space, uint64_t start, uint64_t end);

/* Looks ip up; false when it lies in no mapping. */
bool uw_space_find(const struct uw_space *space, uint64_t ip, uint32_t *tag, uint64_t *rva);

/*
 * Unwinds one sample, leaf first. frames has room for max_frames (<= UW_DEPTH_MAX) entries.
 * Returns the number of frames written, at least 1 (the leaf) when max_frames >= 1; *stop says why
 * the walk ended. Frames that were written are always verified ones, whatever the stop.
 */
size_t uw_walk(struct uw_space *space, const struct uw_regs *regs, const struct uw_stack *stack,
	       struct uw_frame *frames, size_t max_frames, enum uw_stop *stop);

/*
 * What is remembered of one thread's last complete stack, so that the next walk takes over the
 * outer frames that did not change: 64 bytes a frame. It may be used with any space, and forgets
 * what was found in another one, or before something that was mapped was replaced or removed. NULL:
 * out of memory.
 */
struct uw_history *uw_history_create(void);
void uw_history_destroy(struct uw_history *history); /* accepts NULL */

/*
 * As uw_walk, and with the same result, but takes over from history what it can verify word by word
 * in the new copy of the stack. *reused says how many: the last *reused frames equal as many last
 * frames of the latest complete walk with this history. It is 0 where the walk is not complete, and
 * for other than x86 code, of which nothing is remembered. history NULL: there is none.
 * One thing differs: where no word below a frame record could be a return address when its frame
 * was found, and one could now, uw_walk ends (UW_STOP_NO_INFO), and the known frames are taken
 * over: the frame is where it was, and so is what it returns to.
 */
size_t uw_walk_reuse(struct uw_space *space, struct uw_history *history, const struct uw_regs *regs,
		     const struct uw_stack *stack, struct uw_frame *frames, size_t max_frames,
		     enum uw_stop *stop, size_t *reused);

void uw_space_counts(const struct uw_space *space, struct uw_counts *counts);

/* Short English words for a stop reason: "complete", "truncated", "not resident", ... */
const char *uw_stop_name(enum uw_stop stop);

#endif
