/* CRC-32C (Castagnoli), the checksum of the tb5 container. */
#ifndef TBRW_CRC32C_H
#define TBRW_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* The CRC of `size` bytes; `crc` is 0, or the CRC of the bytes before them. */
uint32_t tb5_crc32c(uint32_t crc, const void *data, size_t size);

/* The same without the processor's CRC instruction. */
uint32_t tb5_crc32c_portable(uint32_t crc, const void *data, size_t size);

#endif
