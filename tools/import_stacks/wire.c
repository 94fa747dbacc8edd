#include "tools/import_stacks/wire.h"

bool wire_varint(struct wire *wire, uint64_t *value)
{
	*value = 0;
	for (unsigned shift = 0; shift < 64 && wire->at < wire->end; shift += 7) {
		uint8_t byte = *wire->at++;
		*value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return true;
	}
	return false;
}

static bool take_fixed(struct wire *wire, size_t size, uint64_t *value)
{
	if ((size_t)(wire->end - wire->at) < size)
		return false;
	*value = 0;
	for (size_t i = 0; i < size; i++)
		*value |= (uint64_t)*wire->at++ << (8 * i);
	return true;
}

static bool take_bytes(struct wire *wire, struct wire_field *field)
{
	uint64_t size;
	if (!wire_varint(wire, &size) || size > (size_t)(wire->end - wire->at))
		return false;
	field->bytes = wire->at;
	field->size = (size_t)size;
	wire->at += size;
	return true;
}

static bool take_field(struct wire *wire, struct wire_field *field)
{
	uint64_t key;
	if (!wire_varint(wire, &key))
		return false;
	field->number = key >> 3;
	field->type = (enum wire_type)(key & 7);
	switch (field->type) {
	case WIRE_VARINT:
		return wire_varint(wire, &field->value);
	case WIRE_FIXED64:
		return take_fixed(wire, 8, &field->value);
	case WIRE_LENGTH:
		return take_bytes(wire, field);
	case WIRE_FIXED32:
		return take_fixed(wire, 4, &field->value);
	default:
		return false;
	}
}

bool wire_next(struct wire *wire, struct wire_field *field)
{
	*field = (struct wire_field){0};
	if (wire->at == wire->end)
		return false;
	wire->is_damaged = !take_field(wire, field);
	return !wire->is_damaged;
}
