"""What tests of exports share: real results, and the CPU time of stacks that each export must show."""

import json
import os
import shutil
import subprocess

import support as s

CPLUSPLUS = '''
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>
static std::atomic<unsigned> sink;
static inline unsigned mix(unsigned x, unsigned i) { return x * 1664525 + (i ^ x >> 7); }
template <typename T> [[gnu::noinline]] unsigned work(long rounds) {
  unsigned sum = sizeof(T);
  for (long i = 0; i < rounds; i++) for (unsigned j = 0; j < 1000; j++) sum = mix(sum, j);
  return sum;
}
static void reads(long rounds) { for (long i = 0; i < rounds / 20; i++) { FILE *file = fopen("/proc/self/stat", "r"); if (file) fclose(file); } }
int main(int, char **arguments) {
  long rounds = std::atol(arguments[1]);
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; i++) threads.emplace_back([=] { sink += i < 2 ? work<int>(rounds) : work<char>(rounds / 2); });
  reads(rounds);
  for (auto &thread : threads) thread.join();
}
'''
PYTHON = '''
import subprocess, sys
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)
if len(sys.argv) > 1:
    fib(22)
else:
    children = [subprocess.Popen([sys.executable, "-I", __file__, "child"]) for _ in range(3)]
    fib(24)
    assert all(child.wait() == 0 for child in children)
'''
NODE = '''
function inner(n) { let x = 1; for (let i = 0; i < n; i++) x = (x * 1664525 + i) >>> 0; return x; }
const end = Date.now() + 800;
while (Date.now() < end) inner(20000);
console.log(process.pid);
'''


def collect_cplusplus():
  source, program = s.scratch('threads.cc'), s.scratch('threads')
  with open(source, 'w', encoding='ascii') as file:
    file.write(CPLUSPLUS)
  subprocess.run(['g++', '-O2', '-g', '-pthread', '-o', program, source], check=True)
  return s.collect_well([program, '100000'], what='threads').result


def collect_python():
  script = s.scratch('children.py')
  with open(script, 'w', encoding='ascii') as file:
    file.write(PYTHON)
  return s.collect_well(['/usr/bin/python3', '-I', script], what='children').result


def collect_node():
  got = s.collect_well(['node', '--perf-basic-prof', '-e', NODE], what='generated code', cwd=s.Run.work)
  os.remove(f'/tmp/perf-{got.stdout.split()[-1]}.map')
  return got.result


def programs():
  """{name: how to collect it}: threads of C++, python3 with children, and node with generated code."""
  found = {'threads': collect_cplusplus, 'children': collect_python, 'generated code': collect_node}
  if not shutil.which('node'):
    s.skip('generated code', 'node is not installed')
    del found['generated code']
  return found


def stacks_by_thread(result, *options):
  """{(process-PID, thread-TID): {(root, ..., leaf): ns}}, as the export for speedscope has them."""
  file = json.loads(s.run_tool('tbconvert', 'export', '--to', 'speedscope', '-o', '-', *options, result).stdout)
  names = [frame['name'] for frame in file['shared']['frames']]
  threads = {}
  for profile in file['profiles']:
    if profile['type'] != 'sampled':
      continue
    thread, _, process = profile['name'].partition(' (')
    times = threads.setdefault((process[:-1], thread), {})
    for stack, weight in zip(profile['samples'], profile['weights']):
      key = tuple(names[frame] for frame in stack)
      times[key] = times.get(key, 0) + weight
  return {thread: times for thread, times in threads.items() if times}


def check_stacks(what, seen, result, *options):
  """An export's times of stacks, in the form of stacks_by_thread, to the nanosecond."""
  expected = stacks_by_thread(result, *options)
  wrong = [(thread, stack, seen.get(thread, {}).get(stack), ns)
           for thread, times in expected.items() for stack, ns in times.items() if seen.get(thread, {}).get(stack) != ns]
  wrong += [(thread, stack, ns, None) for thread, times in seen.items() for stack, ns in times.items()
            if stack not in expected.get(thread, {})]
  count = sum(len(times) for times in expected.values())
  s.check(not wrong and count > 0, f'{what}: CPU times of {count} stacks in {len(expected)} threads', wrong[:2] or '')


def check_threads(what, cpu_ns, result):
  """CPU times of {TID: ns} against tbreport's."""
  rows = [row for row in s.report(result, 'threads') if row['TID']]
  off = [(row['TID'], row['CPU Time'], cpu_ns.get(int(row['TID']))) for row in rows
         if abs(cpu_ns.get(int(row['TID']), 0) / 1e9 - float(row['CPU Time'])) > 1e-6]
  s.check(not off and rows, f'{what}: CPU times of {len(rows)} threads as in tbreport', off[:3] or '')


def collect_waits(analysis):
  """(result, theft) of threads that wait for each other, with their states, and with locks-and-waits with their waits."""
  with s.Stealing() as host:
    got = s.collect_well([s.target('waiting'), 'mutex=20x12', 'queue=10x12', 'poll=10x12', 'join=3x12'], options=('-c', analysis), what=analysis)
  return got.result, host.steal


def running_ns(result):
  """{TID: ns that the thread ran}, to the us."""
  return {int(row['TID']): round(float(row['Running Time']) * 1e9) for row in s.report(result, 'threads') if row['TID']}


def waits_by_object(result):
  """{object: (count, seconds)}"""
  found = {}
  for row in s.report(result, 'waits', '--group-by', 'object'):
    count, seconds = found.get(row['Sync Object'], (0, 0.0))
    found[row['Sync Object']] = count + int(row['Wait Count']), seconds + float(row['Wait Time'])
  return found


def check_running(what, seen, result):
  """{TID: ns}"""
  expected = running_ns(result)
  off = [(tid, ns, seen.get(tid)) for tid, ns in expected.items() if abs(seen.get(tid, 0) - ns) > 1000]
  s.check(not off and expected, f'{what}: {len(expected)} threads ran as long as in tbreport', off[:3] or '')


def check_waits(what, seen, result, steal):
  """{object: seconds}, by the clock of switches where the report has that of waits. Waits of some time in all: of others their
  edges are no small part."""
  found = {name: seconds for name, (_, seconds) in waits_by_object(result).items() if seconds > 0.03}
  expected = {name: seconds for name, seconds in found.items() if name != '[Short waits]'}  # no object's
  s.check({'Sleep', 'poll'} & set(expected) and any('contended' in name for name in expected), f'{what}: objects', sorted(expected))
  for name, seconds in expected.items():
    s.check_ratio(f'{what}: {name}', seen.get(name, 0.0), seconds, 2, steal)
