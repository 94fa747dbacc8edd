#!/bin/sh
# Builds the Go program in this folder: build.sh OUT CACHE CGO [ARGUMENT OF go build...]. CGO: 1 with C, 0 without.
set -e
out=$(realpath "$1") GOCACHE=$(realpath -m "$2") CGO_ENABLED=$3
shift 3
export GOCACHE CGO_ENABLED GO111MODULE=off GOFLAGS= GOTOOLCHAIN=local
cd "$(dirname "$0")"
exec go build -o "$out" "$@" .
