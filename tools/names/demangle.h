/*
 * Names as people write them, from linkage names of C++ (Itanium ABI), Rust (legacy and v0), D,
 * Fortran modules (gfortran), OCaml, and what can be told from C of Ada (GNAT).
 */
#ifndef TOOLS_NAMES_DEMANGLE_H
#define TOOLS_NAMES_DEMANGLE_H

/* Longest linkage name that is demangled and longest text that comes out; a linkage name can be
 * made to expand exponentially. Names beyond either stay mangled. */
#define DEMANGLE_INPUT_MAX  16384u
#define DEMANGLE_OUTPUT_MAX 65536u

enum demangle_form {
	DEMANGLE_SHORT, /* without parameters and return type: a::b<int>::c */
	DEMANGLE_FULL,  /* a::b<int>::c(int, char const*) */
};

/* A copy for the caller to free; of the linkage name itself where it is not a mangled one. */
char *demangle_name(const char *linkage_name, enum demangle_form form);

/* As demangle_name, of a name that is known to be Ada's: a__b is a.b. NULL where it is none. */
char *demangle_ada_name(const char *linkage_name);

#endif
