/*
 * Names composed of a module's and a function's: gfortran's and OCaml's.
 */
#ifndef TOOLS_NAMES_DEMANGLE_MODULE_H
#define TOOLS_NAMES_DEMANGLE_MODULE_H

#include "tools/names/demangle.h"

/* gfortran (gcc/fortran/trans-decl.cc): __module_MOD_procedure is module::procedure. Clone suffixes
 * stay. For the caller to free; NULL: no such name. */
char *demangle_fortran_name(const char *linkage_name);

/* OCaml: camlModule__function_123, camlModule.function_123 since 5.1; modules in modules are
 * separated by two underscores, other characters than letters and digits are $XX. Module.function,
 * in full with the number that tells functions of one name apart. For the caller to free; NULL: no
 * such name. */
char *demangle_ocaml_name(const char *linkage_name, enum demangle_form form);

#endif
