"""What needs a large package or more time: deep stacks of a big compiler, a long run, the bench."""

import os
import subprocess

import support as s


def deep_stacks():
  """clang's stacks are tens of kilobytes deep: most are lost with copies of the usual 8 KB."""
  source = s.scratch('work.cc')
  with open(source, 'w', encoding='ascii') as file:
    file.write('#include <algorithm>\n#include <functional>\n#include <map>\n#include <regex>\n#include <string>\n'
               '#include <vector>\n')
    for i in range(12):
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
  for interval, least in (('10ms', 95), ('1ms', 60)):
    got = s.collect_well(['clang++', '-O2', '-c', source, '-o', s.scratch('work.o')], interval=interval)
    total = s.summary(got.result)
    complete = s.points(total['stacks']['complete'], total['samples'])
    s.check(total['samples'] >= 300 and complete >= least, f'clang++ -O2 at {interval}: complete stacks',
            f'{complete:.1f} % of {total["samples"]}: {total["stacks"]}')
    s.check(total['samples_lost'] == 0, f'clang++ -O2 at {interval}: nothing lost', total['samples_lost'])


def long_run():
  """A minute of two busy threads and of births: memory stays bounded, nothing is lost."""
  got = s.collect([s.target('serve'), '60'], interval='1ms', timeout=300)
  total = s.summary(got.result)
  s.check(got.status == 0 and total['complete'], 'a long run: complete', got.stderr.strip()[-300:])
  s.check_ratio('a long run: CPU time', total['cpu_time_s'],
                s.number(got.truth(), 'process_ns') / 1e9 + 0.02 * (s.number(got.truth(), 'ended') // 2), 2, got.steal)
  s.check(total['samples_lost'] == 0, 'a long run: nothing lost', total['samples_lost'])
  rss = total['collector']['peak_rss_bytes']
  s.check(rss < 200 << 20, 'a long run: memory of the collector', f'{rss / (1 << 20):.1f} MiB')


def bench():
  done = subprocess.run([os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'bench', 'overhead'), '-n', '3',
                         '--intervals', '10ms,1ms', s.Run.build], capture_output=True, text=True)
  print(done.stdout)
  s.check(done.returncode == 0 and 'python3' in done.stdout, 'bench/overhead', done.stderr.strip()[-300:])


s.start()
for part in (deep_stacks, long_run, bench):
  with s.section(part.__name__):
    part()
s.finish()
