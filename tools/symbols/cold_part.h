/*
 * Where the functions begin that cold parts (names/cold_name.h) belong to.
 */
#ifndef TOOLS_SYMBOLS_COLD_PART_H
#define TOOLS_SYMBOLS_COLD_PART_H

#include "tools/image/image.h"
#include "tools/symbols/address.h"

/* Gives functions that are cold parts the start and the size of the function that they belong to,
 * if there is just one symbol of its name. The names stay. */
void cold_part_resolve(struct symbol_image *image, struct symbol_address *addresses, size_t count);

#endif
