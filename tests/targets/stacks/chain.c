/* chain [MS]: burns in the last of 40 functions that call each other: chain_01 .. chain_40. */
#include "tests/targets/work.h"

WORK_FUNCTION(chain_40)

/* The barrier after the call keeps it a call: without it the compiler could jump to the callee. */
#define CHAIN(name, callee)                        \
	WORK_KEEP uint64_t name(uint64_t ns);      \
	WORK_KEEP uint64_t name(uint64_t ns)       \
	{                                          \
		uint64_t used = callee(ns);        \
		__asm__ volatile("" : "+r"(used)); \
		return used;                       \
	}

CHAIN(chain_39, chain_40)
CHAIN(chain_38, chain_39)
CHAIN(chain_37, chain_38)
CHAIN(chain_36, chain_37)
CHAIN(chain_35, chain_36)
CHAIN(chain_34, chain_35)
CHAIN(chain_33, chain_34)
CHAIN(chain_32, chain_33)
CHAIN(chain_31, chain_32)
CHAIN(chain_30, chain_31)
CHAIN(chain_29, chain_30)
CHAIN(chain_28, chain_29)
CHAIN(chain_27, chain_28)
CHAIN(chain_26, chain_27)
CHAIN(chain_25, chain_26)
CHAIN(chain_24, chain_25)
CHAIN(chain_23, chain_24)
CHAIN(chain_22, chain_23)
CHAIN(chain_21, chain_22)
CHAIN(chain_20, chain_21)
CHAIN(chain_19, chain_20)
CHAIN(chain_18, chain_19)
CHAIN(chain_17, chain_18)
CHAIN(chain_16, chain_17)
CHAIN(chain_15, chain_16)
CHAIN(chain_14, chain_15)
CHAIN(chain_13, chain_14)
CHAIN(chain_12, chain_13)
CHAIN(chain_11, chain_12)
CHAIN(chain_10, chain_11)
CHAIN(chain_09, chain_10)
CHAIN(chain_08, chain_09)
CHAIN(chain_07, chain_08)
CHAIN(chain_06, chain_07)
CHAIN(chain_05, chain_06)
CHAIN(chain_04, chain_05)
CHAIN(chain_03, chain_04)
CHAIN(chain_02, chain_03)
CHAIN(chain_01, chain_02)

int main(int argc, char **argv)
{
	uint64_t ms = work_argument(argc, argv, 1, 1000);

	work_print("chain_ns", chain_01(ms * WORK_MS));
	work_print("process_ns", work_process_ns());
	return 0;
}
