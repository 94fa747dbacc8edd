"""tbconvert export --to pprof, read by go tool pprof: functions, stacks, labels and addresses are those of our reports."""

import html
import os
import re
import shutil
import socket
import subprocess
import urllib.request

import support as s

CPLUSPLUS = '''
#include <cstdint>
#include <cstdlib>
#include <thread>
#include <vector>
namespace shop {
template <typename T> struct basket {
  T sum = 1;
  [[gnu::noinline]] void add(T price) { for (int i = 0; i < 1000; i++) sum = sum * T(1664525) + step(price, i); }
  static inline T step(T price, int i) { T x = price; for (int k = 0; k < 8; k++) x = x * x + T(i); return x; }
};
}
template <typename T> [[gnu::noinline]] T work(long rounds) {
  shop::basket<T> basket;
  for (long i = 0; i < rounds; i++) basket.add(T(i));
  return basket.sum;
}
int main(int, char **arguments) {
  long rounds = std::atol(arguments[1]);
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; i++)
    threads.emplace_back([=] { if (i < 2 ? work<uint64_t>(rounds) == 0 : work<double>(rounds) == 0) std::abort(); });
  for (auto &thread : threads) thread.join();
}
'''
PYTHON = '''
import re, subprocess, sys
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)
def words():
    return re.sub("[aeiou]+x?", lambda m: m.group(0).upper(), "the quick brown fox jumps " * 20000)
if len(sys.argv) > 1:
    fib(25); words()
else:
    children = [subprocess.Popen([sys.executable, "-I", __file__, "child"]) for _ in range(3)]
    fib(25)
    assert all(child.wait() == 0 for child in children)
'''
NODE = '''
function inner(n) { let x = 1; for (let i = 0; i < n; i++) x = (x * 1664525 + i) >>> 0; return x; }
function outer(rounds) { let sum = 0; for (let i = 0; i < rounds; i++) sum += inner(20000) & 1; return sum; }
const end = Date.now() + 800;
while (Date.now() < end) outer(100);
'''


def pprof_program():
  return os.path.join(subprocess.run(['go', 'env', 'GOTOOLDIR'], check=True, capture_output=True, text=True,
                                     env=environment()).stdout.strip(), 'pprof')


def environment():
  return {**os.environ, 'HOME': s.Run.work, 'PPROF_TMPDIR': s.Run.work}


def pprof(profile, *options, cwd=None):
  """What go tool pprof prints; it must not complain."""
  done = subprocess.run(['go', 'tool', 'pprof', *options, profile], capture_output=True, text=True, timeout=120, errors='replace',
                        stdin=subprocess.DEVNULL, env=environment(), cwd=cwd)
  errors = re.sub(r"^tagfocus:Interpreted '\d+' as range, not regexp\n", '', done.stderr)
  if done.returncode != 0 or errors:
    s.check(False, f'go tool pprof {" ".join(options)}: no complaints', f'{done.returncode} {errors[-500:]}')
  return done.stdout


def export(result, *options):
  profile = s.scratch(os.path.basename(result) + '.pb.gz')
  s.run_tool('tbconvert', 'export', '--to', 'pprof', '-o', profile, *options, result)
  return profile


def top(profile, *options):
  """{function: (ns of its own, ns with what it calls)}"""
  text = pprof(profile, '-top', '-nodecount=0', '-nodefraction=0', '-unit=ns', *options)
  rows = re.findall(r'^\s*(\d+)(?:ns)?\s+\S+%\s+\S+%\s+(\d+)(?:ns)?\s+\S+%\s+(.*?)(?: \((?:partial-)?inline\))?$', text.replace(' 0 ', ' 0ns '),
                    re.MULTILINE)
  return {name: (int(own), int(total)) for own, total, name in rows}


class Raw:
  """What -raw shows: samples with labels and stacks, mappings."""

  def __init__(self, profile):
    text = pprof(profile, '-raw')
    self.head, _, rest = text.partition('\nSamples:\n')
    samples, _, rest = rest.partition('\nLocations\n')
    locations, _, mappings = rest.partition('\nMappings\n')
    self.locations = self.read_locations(locations)
    self.mappings = [line.split(': ', 1)[1] for line in mappings.splitlines()]
    self.samples = []
    for line in samples.splitlines()[1:]:
      match = re.match(r'\s*(\d+)\s+(\d+): ([\d ]+?) *$', line)
      if match:
        self.samples.append((int(match[1]), int(match[2]), [int(number) for number in match[3].split()], {}))
      else:
        self.samples[-1][3].update(re.findall(r'(\w+):\[(.*?)\](?= |$)', line))

  @staticmethod
  def read_locations(text):
    """{id: (address, mapping, [(function, file, line)], the innermost first)}"""
    found, current = {}, None
    for line in text.splitlines():
      match = re.match(r'\s*(\d+): 0x([0-9a-f]+) (?:M=(\d+) )?(.*)$', line)
      if match:
        current = found[int(match[1])] = (int(match[2], 16), int(match[3] or 0), [])
      function = re.match(r'\s*(.*) (\S*):(\d+) s=\d+', match[4] if match else line)
      current[2].append((function[1], function[2], int(function[3])))
    return found

  def stacks(self):
    """{(process, function, ..., leaf): samples} as folded stacks have them."""
    stacks = {}
    for count, _, ids, labels in self.samples:
      names = [line[0] for number in reversed(ids) for line in reversed(self.locations[number][2])]
      key = (labels.get('comm', ''), *(re.sub('[\x00-\x1f\x7f]', '?', name).replace(';', ':') for name in names))
      if count > 0:
        stacks[key] = stacks.get(key, 0) + count
    return stacks

  def ns_by(self, label):
    sums = {}
    for _, ns, _, labels in self.samples:
      sums[labels.get(label)] = sums.get(labels.get(label), 0) + ns
    return sums


def check_functions(what, result, profile, *options):
  """The same functions with the same time and samples, to the last digit of CSV. The options are tbreport's and tbconvert's."""
  ours, rows = {}, {}
  for row in s.report(result, 'hotspots', '--call-stack-mode', 'all', *options):
    ours[row['Function']] = ours.get(row['Function'], 0) + float(row['CPU Time'])
    rows[row['Function']] = rows.get(row['Function'], 0) + 1
  theirs = {name: own / 1e9 for name, (own, _) in top(profile).items()}
  # Rows that reports show from 0.05 % on, and time that only reports by thread have.
  if '[No sample]' not in ours:
    theirs.pop('[No sample]', None)
  theirs.pop('[No known thread]', None)
  wrong = [f'{name}: {ours.get(name, 0):.6f} {theirs.get(name, 0):.9f}' for name in {*ours, *theirs}
           if abs(ours.get(name, 0) - theirs.get(name, 0)) > 0.6e-6 * rows.get(name, 1)]
  s.check(ours and not wrong, f'{what}: functions have the time that hotspots shows', f'{len(ours)} functions {wrong[:5]}')


def check_sums(what, result, raw):
  total = s.summary(result)
  cpu_s = sum(ns for _, ns, _, _ in raw.samples) / 1e9
  all_s = total['cpu_time_s'] + total['of_no_known_thread_s']
  s.check(abs(cpu_s - all_s) < 2e-6, f'{what}: the sum is the summary\'s CPU time', f'{cpu_s:.6f} {all_s:.6f}')
  count = sum(count for count, _, _, _ in raw.samples)
  s.check(count == total['samples'] > 100, f'{what}: the number of samples', count)


def check_stacks(what, result, raw):
  ours = {tuple(frames): count for frames, count in s.folded(result) if frames[1:] != [s.KERNEL]}
  theirs = {frames: count for frames, count in raw.stacks().items() if frames[1:] != (s.KERNEL,)}
  wrong = [key for key in {*ours, *theirs} if ours.get(key) != theirs.get(key)]
  s.check(ours and not wrong, f'{what}: stacks and their samples are those of folded',
          f'{len(ours)} stacks, {len(wrong)} differ {wrong[:2]}')


def check_states(what, result, raw):
  states = {}
  for count, _, _, labels in raw.samples:
    if count > 0:
      key = labels['stack'] + (':' + labels['stack_reason'] if labels['stack'] == 'skipped' else '')
      states[key] = states.get(key, 0) + count
  stacks = s.summary(result)['stacks']
  wanted = {f'skipped:{reason}': count for reason, count in stacks['skipped'].items()}
  wanted.update({state: stacks[state] for state in ('complete', 'guessed', 'none')})
  wanted = {state: count for state, count in wanted.items() if count > 0}
  s.check(states == wanted, f'{what}: states of stacks', f'{states} {wanted}')


def check_threads(what, result, raw):
  """Threads with many samples have the time of their accounts; all of them are there."""
  tids, wrong = raw.ns_by('tid'), []
  rows = [row for row in s.report(result, 'threads') if row['TID']]
  for row in rows:
    if int(row['Samples']) >= 50 and abs(tids.get(row['TID'], 0) / 1e9 - float(row['CPU Time'])) > 1e-6:
      wrong.append((row['Thread'], row['CPU Time'], tids.get(row['TID'])))
  s.check(rows and not wrong, f'{what}: threads have their time', f'{len(rows)} threads {wrong[:3]}')
  pids = {pid for pid in raw.ns_by('pid') if pid}
  s.check({row['PID'] for row in rows if int(row['Samples'])} <= pids, f'{what}: processes', sorted(pids))


def check_all(what, result):
  profile = export(result)
  raw = Raw(profile)
  check_functions(what, result, profile)
  check_sums(what, result, raw)
  check_stacks(what, result, raw)
  check_states(what, result, raw)
  check_threads(what, result, raw)
  return profile, raw


def duration_of(profile):
  """Seconds; -raw shows but the first characters."""
  match = re.search(r'^Duration: ([\d.]+)(m?)s,', pprof(profile, '-top'), re.MULTILINE)
  return float(match[1]) / (1000 if match[2] else 1)


def build_id(path):
  notes = subprocess.run(['readelf', '-n', path], check=True, capture_output=True, text=True).stdout
  return re.search(r'Build ID: ([0-9a-f]+)', notes)[1]


def cplusplus():
  source, program = s.scratch('shop.cc'), s.scratch('shop')
  with open(source, 'w', encoding='ascii') as file:
    file.write(CPLUSPLUS)
  subprocess.run(['g++', '-O2', '-g', '-o', program, source, '-pthread'], check=True)
  got = s.collect_well([program, '35000'], what='c++')
  profile, raw = check_all('c++', got.result)
  total = s.summary(got.result)
  s.check('PeriodType: cpu nanoseconds\nPeriod: 1000000\n' in raw.head, 'c++: the period is the interval', raw.head.splitlines()[-4:])
  duration = duration_of(profile)
  s.check(abs(duration - total['elapsed_s']) <= 0.006, 'c++: the duration', f'{duration} {total["elapsed_s"]}')
  s.check(f'Comment: Command Line: {program} 35000' in raw.head, 'c++: the command line is a comment')
  s.check(raw.mappings[0].startswith(f'0x0/0xffffffffffffffff/0x0 {program} {build_id(program)} [FN][FL][LN][IN]'),
          'c++: the first mapping is the program, with its build-id', raw.mappings[0])
  seen = top(profile)
  name = 'shop::basket<unsigned long>::add'
  s.check(name in seen and 'work<double>' in seen, 'c++: names of templates are whole', sorted(seen)[:12])
  tree = pprof(profile, '-tree', '-nodecount=0', '-nodefraction=0', '-edgefraction=0')
  s.check(re.search(r'\|   work<unsigned long>\n.*\| ' + re.escape(name), tree), 'c++: -tree: the caller of a function')
  lines = pprof(profile, '-list', re.escape(name))
  s.check(re.search(r'[\d.]+m?s +[\d.]+m?s +\d+: +static inline T step|[\d.]+m?s +[\d.]+m?s +\d+: .*void add\(T price\)', lines),
          'c++: -list: times at lines of the source', lines.splitlines()[1:3])
  # Addresses are the file's: what pprof reads from the file there is the function's code.
  code = pprof(profile, '-disasm', 'basket.*add')
  match = re.search(r'^ *([\d.]+)(m?)s +[\d.]+m?s \(flat, cum\)', code, re.MULTILINE)
  own = float(match[1]) * (1 if match[2] else 1000) if match else 0
  s.check(own > 100, 'c++: -disasm: samples at the code of a function', f'{own} ms')
  for options in (['--inline', 'off'], ['--filter', 'function=~add|work']):
    check_functions(f'c++ {" ".join(options)}', got.result, export(got.result, *options), *options)
  with_pages(profile, name)
  part = export(got.result, '--from', '0.05s', '--to', '0.1s')  # to the same place
  s.check(duration_of(part) == 0.05, 'c++: the duration of a part', f'{duration_of(part)} s')


def with_pages(profile, name):
  """The pages of pprof's own server."""
  with socket.socket() as free:
    free.bind(('localhost', 0))
    place = f'localhost:{free.getsockname()[1]}'
  with subprocess.Popen([pprof_program(), '-http', place, '-no_browser', profile], stdin=subprocess.DEVNULL,
                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment()) as server:
    try:
      for page, wanted in (('top', name), ('flamegraph', name)):
        text = s.wait_for(lambda page=page: read_page(f'http://{place}/ui/{page}'))
        s.check(text and wanted in html.unescape(text).replace('\\u003c', '<').replace('\\u003e', '>'),
                f'c++: -http: the page {page}', len(text or ''))
    finally:
      server.kill()


def read_page(address):
  try:
    with urllib.request.urlopen(address, timeout=30) as page:
      return page.read().decode()
  except OSError:
    return None


def python3():
  script = s.scratch('children.py')
  with open(script, 'w', encoding='ascii') as file:
    file.write(PYTHON)
  got = s.collect_well(['/usr/bin/python3', '-I', script], what='python3')
  profile, raw = check_all('python3', got.result)
  pids = [pid for pid, ns in raw.ns_by('pid').items() if pid and ns > 10e6]
  s.check(len(pids) >= 4, 'python3: the children are processes of their own', pids)
  ns = sum(own for own, _ in top(profile, '-tagfocus', f'pid={pids[0]}').values())
  s.check(ns == raw.ns_by('pid')[pids[0]], 'python3: -tagfocus takes a process', f'{ns} {raw.ns_by("pid")[pids[0]]}')


def generated_code():
  got = s.collect_well([s.target('jit'), '400'], what='generated code')
  _, raw = check_all('generated code', got.result)
  found = [(address, raw.mappings[mapping - 1]) for address, mapping, lines in raw.locations.values() if lines[0][0] == 'jit_square root']
  s.check(found and all(mapping.startswith('0x0/0xffffffffffffffff/0x0 [jit] ') for _, mapping in found),
          'generated code: its name and its mapping', found[:2])


def node():
  if not shutil.which('node'):
    s.skip('node', 'not installed')
    return
  script = s.scratch('work.js')
  with open(script, 'w', encoding='ascii') as file:
    file.write(NODE)
  got = s.collect_well(['node', '--perf-basic-prof', '--interpreted-frames-native-stack', script], what='node', cwd=s.Run.work)
  profile, _ = check_all('node', got.result)
  s.check(any('inner' in name and script in name for name in top(profile)), 'node: names of generated code', sorted(top(profile))[:5])


def waits():
  """Time that threads waited, and all their time, as sample types."""
  result = s.collect_well([s.target('waiting'), 'mutex=20x12', 'poll=10x12'], options=('-c', 'locks-and-waits'), what='waits').result
  profile = export(result)
  for weight in ('wait', 'wall'):
    seen = {name: own for name, (own, _) in top(profile, f'-sample_index={weight}').items() if own > 0}
    lines = [(line.rpartition(' ')[0].rpartition(';')[2], int(line.rpartition(' ')[2]) * 1000)
             for line in s.run_tool('tbconvert', 'export', '--to', 'folded', '--weight', weight, result).stdout.splitlines()]
    expected = {}
    for name, ns in lines:
      expected[name] = expected.get(name, 0) + ns
    # A line in us is rounded, and one of less than half a us is left out.
    wrong = [(name, seen.get(name), ns) for name, ns in {**dict.fromkeys(seen, 0), **expected}.items()
             if abs(seen.get(name, 0) - expected.get(name, 0)) > 1000 * len(lines)]
    s.check(expected and not wrong, f'{weight}: functions as in folded', f'{len(expected)} {wrong[:2]}')
    s.check(any('[Mutex contended]' == name for name in seen), f'{weight}: the lock', sorted(seen)[:5])
  life = sum(float(row['Lifetime']) for row in s.report(result, 'threads') if row['TID'])
  s.check(abs(sum(seen.values()) / 1e9 - life) <= 1e-6 * len(seen) + 1e-6, 'wall: the sum of the threads\' lives', f'{life:.6f}')
  count = top(profile, '-sample_index=waits')['[Mutex contended]'][0]
  rows = [int(row['Wait Count']) for row in s.report(result, 'waits', '--group-by', 'object') if row['Sync Object'] == 'Mutex contended']
  s.check(count == sum(rows) > 0, 'waits: how often', count)
  for options, wanted in ((), 'cpu'), (('--weight', 'wait'), 'wait'):
    shown = pprof(export(result, *options), '-top', '-nodecount=1')
    s.check(f'\nType: {wanted}\n' in shown, f'{options or "without --weight"}: {wanted} is shown first', shown[:200])


def to_streams():
  """Standard output gets the same bytes as a file; a terminal gets none."""
  result = s.collect_well([s.target('jit'), '50'], what='streams').result
  with open(export(result), 'rb') as file:
    expected = file.read()
  piped = subprocess.run([s.tool('tbconvert'), 'export', '--to', 'pprof', '-o', '-', result], capture_output=True, check=True).stdout
  s.check(piped == expected and expected[:4] == b'\x1f\x8b\x08\x00', 'two exports are equal, byte by byte', len(piped))
  done = subprocess.run(['script', '-qec', f'{s.tool("tbconvert")} export --to pprof {result}', '/dev/null'], capture_output=True, text=True,
                        stdin=subprocess.DEVNULL)
  s.check(done.returncode == 2 and 'pprof is not for a terminal; name a file with -o' in done.stdout, 'nothing for a terminal', done.stdout)


s.start()
if shutil.which('go'):
  for part in (cplusplus, python3, generated_code, node, waits, to_streams):
    with s.section(part.__name__):
      part()
else:
  s.skip('go tool pprof', 'golang-go is not installed')
s.finish()
