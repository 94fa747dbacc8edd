package main

/*
static unsigned long long in_c(unsigned long long n)
{
	unsigned long long sum = 1;
	for (unsigned long long i = 0; i < n; i++)
		sum = sum * 31 + (i ^ sum >> 7);
	return sum;
}
*/
import "C"

func viaC(n int) uint64 { return uint64(C.in_c(C.ulonglong(n))) }
