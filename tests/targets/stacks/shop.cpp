// shop [MS]: C++ with templates, overloads, a lambda, virtual calls and exceptions thrown through
// several frames; almost all time is in Till<int>::ring and Till<double>::ring, 2:1.
extern "C" {
#include "tests/targets/work.h"
}

#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace shop
{

class Worker
{
      public:
	virtual ~Worker() = default;
	virtual uint64_t ring(uint64_t ns) = 0;
};

template <typename Coin> class Till : public Worker
{
      public:
	WORK_KEEP uint64_t ring(uint64_t ns) override
	{
		uint64_t start = work_thread_ns();
		uint64_t now = start;
		while (now - start < ns) {
			for (uint32_t i = 0; i < WORK_TURNS; i++)
				__asm__ volatile("" : "+r"(i));
			now = work_thread_ns();
		}
		used_ += now - start;
		return now - start;
	}
	uint64_t used() const
	{
		return used_;
	}

      private:
	uint64_t used_ = 0;
	Coin coin_{};
};

WORK_KEEP void refuse(const std::string &why, int depth)
{
	if (depth > 0)
		refuse(why, depth - 1);
	else
		throw std::runtime_error(why);
	__asm__ volatile("" ::: "memory");
}

template <typename Function> WORK_KEEP uint64_t with_refusal(Function serve)
{
	uint64_t used = serve();
	try {
		refuse("closed", 5);
	} catch (const std::runtime_error &error) {
		used += error.what()[0] == 'c' ? 0 : 1;
	}
	return used;
}

} // namespace shop

int main(int argc, char **argv)
{
	uint64_t total = work_argument(argc, argv, 1, 1500) * WORK_MS;
	shop::Till<int> whole;
	shop::Till<double> broken;
	std::vector<std::pair<shop::Worker *, uint64_t>> workers = {{&whole, 2 * WORK_MS},
								    {&broken, 1 * WORK_MS}};
	uint64_t used = 0;

	while (used < total)
		for (auto &[worker, ns] : workers)
			used += shop::with_refusal(
				[worker = worker, ns = ns] { return worker->ring(ns); });
	work_print("till_int", whole.used());
	work_print("till_double", broken.used());
	work_print("process_ns", work_process_ns());
	return 0;
}
