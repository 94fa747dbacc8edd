#!/bin/sh
# make_split.sh PROGRAM OUTDIR NAME: PROGRAM's debug information in a file of its own, named by a link.
set -eu
program=$1
out=$2
name=$3

objcopy --only-keep-debug "$program" "$out/$name.debug"
cp "$program" "$out/$name"
strip "$out/$name"
(cd "$out" && objcopy --add-gnu-debuglink="$name.debug" "$name")
# Compressed in the other two ways; an old objcopy may not know the second.
objcopy --compress-debug-sections=zlib-gnu "$out/$name.debug" "$out/$name.zdebug"
objcopy --compress-debug-sections=zstd "$out/$name.debug" "$out/$name.zstd" || rm -f "$out/$name.zstd"
touch "$out/$name.stamp"
