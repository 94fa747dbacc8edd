// Code as compilers split and nest it: static constructors (.text.startup), cold parts of functions
// that throw, templates (COMDAT), lambdas and local classes in member functions, inlined or not.
#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

namespace shop
{
struct Item {
	std::string name;
	double price = 0;
};

class Basket
{
      public:
	void add(const std::string &name, double price)
	{
		if (price < 0)
			throw std::invalid_argument("negative: " + name);
		items.push_back({name, price});
		index[name] += price;
	}

	double total() const
	{
		auto add_price = [this](double sum, const Item &item) {
			auto check = [&](double x) { return x > limit ? limit : x; };
			return check(sum + item.price);
		};
		return std::accumulate(items.begin(), items.end(), 0.0, add_price);
	}

	void sort()
	{
		struct ByPrice {
			bool operator()(const Item &a, const Item &b) const
			{
				return a.price < b.price || (a.price == b.price && a.name < b.name);
			}
		};
		std::sort(items.begin(), items.end(), ByPrice());
		std::stable_sort(items.begin(), items.end(), [](const Item &a, const Item &b) {
			return a.name.size() < b.name.size();
		});
	}

	template <typename Visit> void each(Visit visit) const
	{
		for (const auto &item : items)
			visit(item);
	}

	std::function<double(double)> discount(double rate) const
	{
		return [this, rate](double price) {
			double left = price * (1 - rate);
			for (const auto &entry : index)
				left += entry.second * 1e-9;
			return left;
		};
	}

      private:
	std::vector<Item> items;
	std::map<std::string, double> index;
	double limit = 1e12;
};
} // namespace shop

static std::map<std::string, shop::Basket> baskets = {{"a", {}}, {"b", {}}};

int main(int argc, char **argv)
{
	auto &basket = baskets[argv[0]];
	for (int i = 0; i < 1000 * argc; i++)
		basket.add("item" + std::to_string(i * 7919 % 1000), i * 31 % 97);
	basket.sort();
	double sum = 0;
	basket.each([&sum, &basket](const shop::Item &item) {
		sum += basket.discount(0.1)(item.price);
	});
	std::printf("%f %f\n", basket.total(), sum);
	return 0;
}
