// Prints where the body of an inlined lambda and of a local class's member is, "name rva" a line:
// GCC gives neither a linkage name.
#include <cinttypes>
#include <cstdio>
#include <elf.h>
#include <sys/auxv.h>

extern "C" const char subject_lambda_place[];
extern "C" const char subject_local_place[];

static uintptr_t load_bias()
{
	auto segments = reinterpret_cast<const Elf64_Phdr *>(getauxval(AT_PHDR));
	for (unsigned long i = 0; i < getauxval(AT_PHNUM); i++) {
		if (segments[i].p_type == PT_PHDR)
			return reinterpret_cast<uintptr_t>(segments) - segments[i].p_vaddr;
	}
	return 0;
}

namespace subject
{
template <typename Action> __attribute__((noinline)) int apply(Action action, int value)
{
	return action(value) + 1;
}

int run(int value)
{
	struct Local {
		__attribute__((always_inline)) static inline int get(int x)
		{
			asm volatile(".globl subject_local_place\nsubject_local_place:\nnop\nnop");
			volatile int y = x;
			return y;
		}
	};
	return apply(
		[value](int x) __attribute__((always_inline)) {
			asm volatile(
				".globl subject_lambda_place\nsubject_lambda_place:\nnop\nnop");
			return Local::get(x) * value;
		},
		value);
}
} // namespace subject

int main(int argc, char **)
{
	volatile int sink = subject::run(argc);
	(void)sink;
	std::printf("lambda %" PRIxPTR "\n",
		    reinterpret_cast<uintptr_t>(subject_lambda_place) - load_bias());
	std::printf("local %" PRIxPTR "\n",
		    reinterpret_cast<uintptr_t>(subject_local_place) - load_bias());
	return 0;
}
