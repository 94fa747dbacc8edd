/*
 * Prints where its own functions are, "name rva" a line: what symbol lookup must find in whatever
 * form this program is built (position independent, static, stripped, ...).
 */
#include <inttypes.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

/* clang copies no functions and has no word against it. */
#ifdef __clang__
#define ALONE __attribute__((noinline))
#else
#define ALONE __attribute__((noinline, noclone))
#endif

#if defined(__x86_64__)
#define CALL "call"
#elif defined(__i386__)
#define CALL   "call"
#define CALLED "getppid@PLT"
/* Position-independent stubs take the address of the global offset table from ebx. */
#define CALL_SETUP                  \
	"call subject_here\n"       \
	"subject_here: pop %%ebx\n" \
	"add $_GLOBAL_OFFSET_TABLE_ + (. - subject_here), %%ebx\n"
#else
#define CALL "bl"
#endif

#ifndef CALL_SETUP
#define CALL_SETUP ""
#define CALLED     "getppid"
#endif

extern const char subject_inlined_place[];
extern const char subject_import_call[];
extern const char subject_assembly[];
extern const char subject_assembly_end[];
volatile int subject_value;

/* No size and no type, as in hand-written assembly. */
__asm__(".text\n"
	".balign 16\n"
	".globl subject_assembly\n"
	"subject_assembly:\n"
	".skip 32, 0x90\n"
	".globl subject_assembly_end\n"
	".hidden subject_assembly_end\n"
	"subject_assembly_end:\n"
	".balign 16\n");

static inline __attribute__((always_inline)) int subject_inner(int value)
{
	__asm__ volatile(".globl subject_inlined_place\n"
			 "subject_inlined_place:\n"
			 "nop\nnop\nnop\nnop\n");
	subject_value += value; /* INNER */
	return subject_value;
}

static inline __attribute__((always_inline)) int subject_middle(int value)
{
	return subject_inner(value + 1) * 3; /* MIDDLE */
}

ALONE int subject_outer(int value);
int subject_outer(int value)
{
	int sum = subject_middle(value); /* OUTER */
	return sum + 1;
}

ALONE static int subject_local(int value)
{
	__asm__ volatile("");
	return value + subject_value;
}

int __subject_alias(int value);
ALONE int __subject_alias(int value)
{
	__asm__ volatile("");
	return value * 3 + subject_value;
}
__attribute__((weak, alias("__subject_alias"))) int subject_alias(int value);

#ifndef SUBJECT_STATIC
/* The stub's address is what the call at a known place goes to. */
static const char *import_stub(void)
{
	int32_t displacement;
#if defined(__x86_64__) || defined(__i386__)
	memcpy(&displacement, subject_import_call + 1, sizeof(displacement));
	return subject_import_call + 5 + displacement;
#else
	memcpy(&displacement, subject_import_call, sizeof(displacement));
	return subject_import_call + ((displacement << 6 >> 6) * 4);
#endif
}

ALONE static int call_import(void)
{
	int result;
	__asm__ volatile(CALL_SETUP ".globl subject_import_call\n"
				    "subject_import_call:\n" CALL " " CALLED "\n"
			 : "=a"(result)
			 :
#if defined(__i386__)
			 : "ebx", "ecx", "edx", "memory", "cc");
#else
			 : "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory", "cc");
#endif
	return result;
}
#endif

/* What the kernel added to the addresses in the file. */
static uintptr_t load_bias(void)
{
	const ElfW(Phdr) *segments = (const ElfW(Phdr) *)getauxval(AT_PHDR);
	for (unsigned long i = 0; i < getauxval(AT_PHNUM); i++) {
		if (segments[i].p_type == PT_PHDR)
			return (uintptr_t)segments - segments[i].p_vaddr;
	}
	return 0;
}

static void print(const char *name, const void *address)
{
	printf("%s %" PRIxPTR "\n", name, (uintptr_t)address - load_bias());
}

int main(void)
{
	subject_value = subject_outer(subject_local((int)getpid())) + subject_alias(1);
	print("subject_outer", (const void *)(uintptr_t)subject_outer);
	print("subject_local", (const void *)(uintptr_t)subject_local);
	print("subject_alias", (const void *)(uintptr_t)__subject_alias);
	print("subject_inlined_place", subject_inlined_place);
	print("subject_assembly", subject_assembly);
#ifndef SUBJECT_STATIC
	subject_value += call_import();
	print("getppid", import_stub());
#endif
	return 0;
}
