"""Source files that keep a compiler busy."""


def write_cplusplus(path, units):
  """The library's templates are what takes the time: seconds, however few units there are."""
  with open(path, 'w', encoding='ascii') as file:
    file.write('#include <algorithm>\n#include <functional>\n#include <map>\n#include <regex>\n#include <string>\n'
               '#include <vector>\n')
    for i in range(units):
      file.write(f'''
std::map<std::string, std::vector<double>> table{i};
double work{i}(const std::string &text) {{
  std::regex pattern("([a-z]+){i}");
  std::vector<std::function<double(double)>> steps;
  for (auto match = std::sregex_iterator(text.begin(), text.end(), pattern); match != std::sregex_iterator(); ++match)
    steps.push_back([match](double x) {{ return x + match->length(); }});
  for (auto &step : steps) table{i}[text].push_back(step({i}));
  std::sort(table{i}[text].begin(), table{i}[text].end());
  return table{i}[text].front();
}}
''')
