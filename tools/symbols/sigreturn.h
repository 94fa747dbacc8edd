/*
 * Signal trampolines of C libraries, which no stripped file has a symbol for.
 */
#ifndef TOOLS_SYMBOLS_SIGRETURN_H
#define TOOLS_SYMBOLS_SIGRETURN_H

#include "tools/image/image.h"
#include "tools/symbols/address.h"

/* Names the function of each address without a name that lies in code which does nothing but the
 * system call sigreturn or rt_sigreturn, as C libraries name it: __restore, __restore_rt. The code
 * is that which unwinders and debuggers know it by; x86 only, as elsewhere the kernel's vdso has
 * it. */
void sigreturn_resolve(struct symbol_image *image, struct symbol_address *addresses, size_t count);

#endif
