//go:build !cgo

package main

func viaC(n int) uint64 { return uint64(n) }
