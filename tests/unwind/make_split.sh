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
touch "$out/$name.stamp"
