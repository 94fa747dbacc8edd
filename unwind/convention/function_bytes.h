/*
 * What the bytes of a function without call frame information show of its frame. Instructions are
 * not followed from one to the next: bytes are looked for wherever they are, so that what is found
 * may be none, and every answer is made to err on the side that claims less. Nothing is shown where
 * the code is in no file.
 */
#ifndef UNWIND_CONVENTION_FUNCTION_BYTES_H
#define UNWIND_CONVENTION_FUNCTION_BYTES_H

#include <stdbool.h>
#include <stdint.h>

struct uw_space;

/* What the instruction that comes next says of where a leaf has its return address. */
enum uw_place {
	UW_PLACE_UNKNOWN,
	UW_PLACE_TOP,  /* on top of the stack: ret */
	UW_PLACE_NEXT, /* above it, where push %rbp just put the frame pointer: mov %rsp, %rbp */
	UW_PLACE_ABOVE /* above the frame: add $room, %rsp; ret */
};

/* *room: of UW_PLACE_ABOVE, bytes. */
enum uw_place uw_bytes_place(struct uw_space *space, uint64_t ip, uint32_t *room);

/* Whether a function from start on has not made room on its stack, which would then hold what older
 * frames left there, when it comes to ip. Pushes may have been made. */
bool uw_bytes_make_no_room(struct uw_space *space, uint64_t start, uint64_t ip);

/* As above for code that may start anywhere before ip: at an endbr instruction, or else at limit,
 * an address. No more than 512 bytes are looked at: room that a larger function made before is not
 * seen. */
bool uw_bytes_make_no_room_before(struct uw_space *space, uint64_t limit, uint64_t ip);

/* Whether start is a function that pushes rbp and points it there first of all, and no other one
 * may start between there and ip, which lies behind both. Between two calls of its own such a
 * function keeps rbp. */
bool uw_bytes_make_record(struct uw_space *space, uint64_t start, uint64_t ip);

/*
 * Go's functions begin with a look at how much stack is left, and end with a jump back to that
 * (cmd/internal/obj/x86/obj6.go), which shows where they end. They call nothing by a jump.
 */
enum uw_go_code {
	UW_GO_CODE_UNKNOWN,
	UW_GO_CODE_INSIDE,   /* ip is in the function at start, where that has its frame record */
	UW_GO_CODE_ELSEWHERE /* it is not in that function */
};

/* *effort grows by the bytes that are looked at. */
enum uw_go_code uw_bytes_go_code(struct uw_space *space, uint64_t start, uint64_t ip,
				 uint32_t *effort);

/* Whether start is a jump through memory, that leads anywhere: a linkage stub. *target: changed to
 * where a jump that it is instead leads. */
bool uw_bytes_are_stub(struct uw_space *space, uint64_t *target);

#endif
