/*
 * Names as people write them, from linkage names of C++ (Itanium ABI), Rust (legacy and v0), D,
 * Fortran modules (gfortran), OCaml, and of Ada (GNAT) if surely not C's.
 */
#ifndef TOOLS_NAMES_DEMANGLE_H
#define TOOLS_NAMES_DEMANGLE_H

/* Longest linkage name to demangle and longest result; a linkage name can be made to expand
 * exponentially. Names beyond either limit stay mangled. */
#define DEMANGLE_INPUT_MAX  16384u
#define DEMANGLE_OUTPUT_MAX 65536u

enum demangle_form {
	DEMANGLE_SHORT, /* without parameters and return type: a::b<int>::c */
	DEMANGLE_FULL,  /* a::b<int>::c(int, char const*) */
};

/* The demangled name, or a copy of a name that is not mangled; for the caller to free. */
char *demangle_name(const char *linkage_name, enum demangle_form form);

/* As demangle_name, of a name known to be Ada's: a__b is a.b. NULL: not an Ada name. */
char *demangle_ada_name(const char *linkage_name);

#endif
