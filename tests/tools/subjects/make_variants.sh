#!/bin/sh
# make_variants.sh PROGRAM OUTDIR: PROGRAM without symbols, in the ways distributions do it.
set -eu
program=$1
out=$2
name=subject

cp "$program" "$out/$name-stripped"
strip "$out/$name-stripped"

# symbols by debug link, in the same folder
objcopy --only-keep-debug "$program" "$out/$name-linked.debug"
cp "$program" "$out/$name-linked"
strip "$out/$name-linked"
# another build-id, or the system's debug directories might answer for the link
objcopy --remove-section .note.gnu.build-id "$out/$name-linked"
objcopy --remove-section .note.gnu.build-id "$out/$name-linked.debug"
(cd "$out" && objcopy --add-gnu-debuglink="$name-linked.debug" "$name-linked")

# symbols by build-id
id=$(readelf -n "$program" | sed -n 's/.*Build ID: //p')
directory="$out/$name-debug/.build-id/$(printf %.2s "$id")"
mkdir -p "$directory"
objcopy --only-keep-debug "$program" "$directory/${id#??}.debug"

# a minimal symbol table inside the file
objcopy -S --keep-symbol=subject_outer --keep-symbol=subject_local --keep-symbol=subject_alias \
	--keep-symbol=__subject_alias --keep-symbol=subject_assembly \
	--remove-section .gdb_index --remove-section .comment "$program" "$out/$name-mini.symbols"
xz --stdout "$out/$name-mini.symbols" >"$out/$name-mini.xz"
cp "$program" "$out/$name-mini"
strip "$out/$name-mini"
objcopy --remove-section .note.gnu.build-id "$out/$name-mini"
objcopy --add-section .gnu_debugdata="$out/$name-mini.xz" "$out/$name-mini"
touch "$out/$name-variants.stamp"
