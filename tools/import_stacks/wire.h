/*
 * The fields of a protobuf message, one by one: large messages are never made whole.
 */
#ifndef TOOLS_IMPORT_STACKS_WIRE_H
#define TOOLS_IMPORT_STACKS_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum wire_type { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_LENGTH = 2, WIRE_FIXED32 = 5 };

struct wire_field {
	uint64_t number;
	enum wire_type type;
	uint64_t value; /* but of WIRE_LENGTH */
	uint8_t *bytes; /* of WIRE_LENGTH */
	size_t size;
};

struct wire { /* begins with the message */
	uint8_t *at;
	uint8_t *end;
	bool is_damaged; /* what is left could not be read */
};

bool wire_next(struct wire *wire, struct wire_field *field);
bool wire_varint(struct wire *wire, uint64_t *value);

#endif
