/*
 * What the bytes of a function without call frame information show of its frame. Bytes are searched
 * at every offset, without decoding instructions one after another: a hit may be no instruction,
 * and every answer errs on the side of claiming less. Code outside files shows nothing.
 */
#ifndef UNWIND_CONVENTION_FUNCTION_BYTES_H
#define UNWIND_CONVENTION_FUNCTION_BYTES_H

#include <stdbool.h>
#include <stdint.h>

struct uw_space;

/* Where a leaf has its return address, by the next instruction. */
enum uw_place {
	UW_PLACE_UNKNOWN,
	UW_PLACE_TOP,  /* on top of the stack: ret */
	UW_PLACE_NEXT, /* above the frame pointer that push %rbp just stored: mov %rsp, %rbp */
	UW_PLACE_ABOVE /* above the frame: add $room, %rsp; ret */
};

/* *room: of UW_PLACE_ABOVE, bytes. */
enum uw_place uw_bytes_place(struct uw_space *space, uint64_t ip, uint32_t *room);

/* Whether the function at start has made no room on its stack before ip; room would hold words of
 * older frames. Pushes are allowed. */
bool uw_bytes_make_no_room(struct uw_space *space, uint64_t start, uint64_t ip);

/* As above for code of unknown start before ip: an endbr instruction, or else the address limit. At
 * most 512 bytes are read: room made earlier by a larger function is missed. */
bool uw_bytes_make_no_room_before(struct uw_space *space, uint64_t limit, uint64_t ip);

/* Whether the function at start begins by pushing rbp and pointing rbp there, both before ip, and
 * no other function may start in between. Such a function keeps rbp between its own calls. */
bool uw_bytes_make_record(struct uw_space *space, uint64_t start, uint64_t ip);

/*
 * Go's functions begin with a check of the stack left, and end with a jump back to the check
 * (cmd/internal/obj/x86/obj6.go): the jump marks a function's end. Go functions call nothing by a
 * jump.
 */
enum uw_go_code {
	UW_GO_CODE_UNKNOWN,
	UW_GO_CODE_INSIDE,   /* ip is in the function at start, with its frame record made */
	UW_GO_CODE_ELSEWHERE /* ip is not in this function */
};

/* *effort grows by the bytes read. */
enum uw_go_code uw_bytes_go_code(struct uw_space *space, uint64_t start, uint64_t ip,
				 uint32_t *effort);

/* Whether the code at *target is a linkage stub, a jump through memory to anywhere. If it is a
 * direct jump instead, *target becomes the jump's destination. */
bool uw_bytes_are_stub(struct uw_space *space, uint64_t *target);

#endif
