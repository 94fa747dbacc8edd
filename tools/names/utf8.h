/*
 * Names from symbol tables and perf maps can hold any bytes; results and reports hold UTF-8.
 */
#ifndef TOOLS_NAMES_UTF8_H
#define TOOLS_NAMES_UTF8_H

/* Replaces each byte that is no part of a well-formed sequence (Unicode 15, table 3-7) by '?'. */
void utf8_replace_invalid(char *text);

#endif
