/*
 * Signal trampolines of C libraries; stripped files have no symbols for them.
 */
#ifndef TOOLS_SYMBOLS_SIGRETURN_H
#define TOOLS_SYMBOLS_SIGRETURN_H

#include "tools/debuginfo/symbol_file.h"
#include "tools/symbols/address.h"

/* Names each function whose code does nothing but the system call sigreturn or rt_sigreturn as C
 * libraries name it: __restore, __restore_rt, if no symbol covers it. A symbol without a size that
 * comes before does not: musl's assembly has such ones. Unwinders and debuggers know the
 * function by the same code; x86 only, as elsewhere the trampoline is in the kernel's vdso. */
void sigreturn_resolve(struct symbol_file *file, struct symbol_address *addresses, size_t count);

#endif
