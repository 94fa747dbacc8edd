"""Imports of perf.data files: the samples, stacks and shares that perf itself shows of the same file, and the result behind an export."""

import collections
import os
import pty
import re
import shutil
import struct
import subprocess

import support as s
import timehist

KERNEL_HALF = 1 << 63
# What an export writes in place of frames without an address.
NO_MORE = (1 << 64) - 1  # perf's own end of a stack that it cannot follow
SPECIAL = range(0xfffff00000000000, 0xfffff00000010000)

PYTHON = '''import json
for i in range(40): json.dumps([{'a': j, 'b': str(j)} for j in range(3000)])
'''
THREADS = '''#include <map>
#include <string>
#include <thread>
#include <vector>
volatile long sum;
__attribute__((noinline)) long descend(int depth) { return depth ? descend(depth - 1) + sum : sum; }
__attribute__((noinline)) void count(int number) {
  std::map<std::string, int> seen;
  for (int i = 0; i < 150000; i++) { seen[std::to_string(i % 3000)]++; sum = sum + descend(i % 20) + number; }
}
int main() {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; i++) threads.emplace_back(count, i);
  for (auto &thread : threads) thread.join();
}
'''


def script(data, fields='tid,time,period,ip,dso'):
  """[(tid, time, ns, [(address, module)] from the leaf)] as perf script shows them."""
  done = subprocess.run(['perf', 'script', '-i', data, '-F', fields, '--no-inline', '--ns', '--max-stack', '8000'], capture_output=True,
                        text=True, errors='replace', timeout=120, check=True)
  samples = []
  for line in done.stdout.splitlines():
    head = re.match(r'\s*(\d+)\s+(\d+\.\d+):\s+(\d+)\s*(.*)$', line)
    frame = re.match(r'\s*([0-9a-f]+)\s+\((.*)\)\s*$', head.group(4) if head else line)
    if head:
      samples.append((int(head.group(1)), head.group(2), int(head.group(3)), []))
    if frame:
      samples[-1][3].append((int(frame.group(1), 16), os.path.basename(frame.group(2))))
  return samples


def known(frames):
  """Their addresses, but for those in no mapping, of which frame pointers find some."""
  return [address for address, module in frames
          if address not in SPECIAL and address != NO_MORE and not (module == '[unknown]' and address < KERNEL_HALF)]


def is_stack_of(seen, expected):
  """Whether the frames are the expected ones and perhaps more callers. A caller's address lies inside its call, one byte before the
  return; the first one of user code in the kernel at its instruction of two bytes."""
  entered = next((i for i, address in enumerate(expected) if address < KERNEL_HALF), -1) if expected and expected[0] >= KERNEL_HALF else -1
  return len(seen) >= len(expected) and all(
      own == other or (i > 0 and own == other - 1) or (i == entered and own in (other - 2, other - 3))
      for i, (own, other) in enumerate(zip(seen, expected)))


def bring_in(data, *options, check_status=True):
  result = s.new_result()
  done = s.run_tool('tbconvert', 'import', '-r', result, *options, data, check_status=check_status)
  return result, done.stderr


def compare(what, data, all_alike):
  """One recording as perf shows it, and as perf shows our import of it."""
  result, told = bring_in(data, '--no-collapse')
  again = s.scratch(f'{what}.perf')
  s.run_tool('tbconvert', 'export', '--to', 'perf', '-o', again, result)
  theirs, ours = script(data), script(again)
  keys = [collections.Counter(sample[:3] for sample in samples) for samples in (theirs, ours)]
  s.check(theirs and keys[0] == keys[1], f'{what}: threads, times and periods of the samples', f'{len(theirs)} and {len(ours)}')
  stacks = collections.defaultdict(list)
  for sample in ours:
    stacks[sample[:3]].append(known(sample[3]))
  wrong = [(sample[:3], known(sample[3]), stacks[sample[:3]]) for sample in theirs
           if not any(is_stack_of(stack, known(sample[3])) for stack in stacks[sample[:3]])]
  share = s.points(len(theirs) - len(wrong), len(theirs))
  if all_alike:
    s.check(not wrong, f'{what}: stacks are at least perf\'s', f'{share:.1f} % {wrong[:1]}')
  else:
    s.check_least(f'{what}: stacks are at least perf\'s', share, 100, 5)
  modules = collections.Counter()
  for _, _, period, frames in theirs:
    module = frames[0][1] if frames else ''
    modules['[kernel]' if module.startswith('[kernel') or (frames and frames[0][0] >= KERNEL_HALF) else module] += period
  rows = {row['Module']: float(row['CPU Time']) for row in s.report(result, 'modules', '--call-stack-mode', 'all')}
  off = max(abs(rows.get(module, 0) - ns / 1e9) for module, ns in modules.items() if module.endswith(('.so', '.6', '.11', '.2')) or '[' not in module)
  s.check(off < 2e-6, f'{what}: CPU time of modules', f'{sorted(modules.items(), key=lambda item: -item[1])[:3]} off by {1e6 * off:.1f} us')
  total = sum(float(row['CPU Time']) for row in s.report(result, 'threads'))
  s.check(abs(total - sum(modules.values()) / 1e9) < 1e-5, f'{what}: all CPU time', f'{total:.6f} s')
  s.note(f'{what}: {told.strip()}; {len(theirs)} samples; stacks: {s.summary(result)["stacks"]}')
  return result


def record(name, command, *options, **more):
  data = s.scratch(name + '.data')
  subprocess.run(['perf', 'record', '-q', '-o', data, *options, '--', *command], check=True, stdout=subprocess.DEVNULL,
                 stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, timeout=120, **more)
  return data


def cxx_program():
  path = s.scratch('cxx_threads')
  subprocess.run(['g++', '-x', 'c++', '-', '-O1', '-g', '-fno-omit-frame-pointer', '-pthread', '-o', path], input=THREADS, text=True, check=True)
  return path


def recordings():
  """Frame pointers, copies of stacks, and the compressed form."""
  source = s.scratch('large.c')
  with open(source, 'w', encoding='utf-8') as file:
    file.write('#include <stdio.h>\n' + ''.join(f'int f{i}(int x) {{ for (int j = 0; j < x; j++) x += j * {i}; return printf("%d", x); }}\n'
                                                for i in range(400)))
  program = cxx_program()
  compare('threads, frame pointers', record('fp', [program], '-e', 'cpu-clock', '-F', '499', '-g'), True)
  compare('threads, compressed copies', record('dwarf_z', [program], '-e', 'cpu-clock', '-F', '199', '-z', '--call-graph', 'dwarf,16384'), False)
  compare('python3', record('python', ['/usr/bin/python3', '-c', PYTHON], '-e', 'task-clock', '-F', '299', '--call-graph', 'dwarf,32768'), False)
  compare('gcc', record('gcc', ['gcc', '-O2', '-c', '-o', s.scratch('large.o'), source], '-e', 'cpu-clock', '-F', '199', '--call-graph',
                        'dwarf,32768'), False)


def forms():
  """A pipe's form says the same as a file's; what is cut, damaged or no recording at all."""
  data = record('simple', ['/usr/bin/python3', '-c', PYTHON], '-e', 'cpu-clock', '-F', '499', '-g')
  piped = s.scratch('pipe.data')
  with open(piped, 'wb') as out:
    subprocess.run(['perf', 'inject', '-i', data, '-o', '-'], check=True, stdout=out, stderr=subprocess.DEVNULL)
  first, _ = bring_in(data)
  second, _ = bring_in(piped)
  s.check(s.folded(first, '--threads') == s.folded(second, '--threads'), 'a pipe\'s form', f'{len(s.folded(first))} stacks')
  with open(data, 'rb') as file:
    content = file.read()
  start, size = struct.unpack_from('<QQ', content, 40)  # of the data, by the header
  middle = start + size // 2
  cut = s.scratch('cut.data')
  with open(cut, 'wb') as file:
    file.write(content[:middle])
  result, told = bring_in(cut)
  samples = s.summary(result)['samples']
  s.check(0 < samples < s.summary(first)['samples'] and 'the file is cut' in told, 'a cut file: the samples that are there',
          f'{samples} {told.strip()}')
  broken = s.scratch('broken.data')
  with open(broken, 'wb') as file:
    # Whatever it hits, the next header is found to be none.
    file.write(content[:middle] + bytes(4096) + content[middle + 4096:])
  result, told = bring_in(broken)
  s.check('could not be read: it is damaged' in told, 'a damaged file', told.strip())
  for name, start in (('other order', b'2ELIFREP'), ('no events', b'PERFILE2')):
    path = s.scratch(name + '.data')
    with open(path, 'wb') as file:
      file.write(start + bytes(200))
    result, told = bring_in(path, check_status=False)
    s.check(told.startswith(f'tbconvert: cannot import {path}: ') and told.count('\n') == 1 and not os.path.exists(result),
            f'{name}: one line, no result', told.strip())


def shown(data):
  """{event: {function: share in percent}} by perf report, of a function's own samples; all of the kernel is one."""
  done = subprocess.run(['perf', 'report', '-i', data, '--stdio', '--no-children', '-g', 'none', '-F', 'period,sym', '--no-group'],
                        capture_output=True, text=True, errors='replace', timeout=120, check=True)
  events, event = {}, None
  for line in done.stdout.splitlines():
    head = re.match(r"# Samples: .* of events? '(.*)'", line)
    row = re.match(r'\s*(\d+)\s+\[(.)\] (.*?)\s*$', line)
    if head:
      event = events.setdefault(head.group(1), collections.Counter())
    elif row:
      event['[kernel]' if row.group(2) == 'k' else row.group(3)] += int(row.group(1))
  return events


def compare_events(what, data, expected, *options):
  """Each event's result has the numbers of perf report's table of that event, under its name."""
  base, told = bring_in(data, *options)
  tables = shown(data)
  s.check(sorted(tables) == sorted(expected), f'{what}: events of perf report', f'{list(tables)}')
  ranked = [re.search(r'the event (\S+) of .* is now the result (\S+)', line) for line in told.splitlines()]
  results = {match.group(1): match.group(2) for match in ranked if match}
  s.check(sorted(results) == sorted(expected) and base in results.values(), f'{what}: a result for each event', told.strip())
  for event, result in results.items():
    is_time = event.startswith(('cpu-clock', 'task-clock'))
    column = 'CPU Time' if is_time else event
    ours, rows = collections.Counter(), collections.Counter()
    for row in s.report(result, 'hotspots', '--call-stack-mode', 'all', '--inline', 'off'):
      name = '[kernel]' if row['Module'] == '[kernel]' else row['Function']
      ours[name] += round(float(row[column]) * (1e9 if is_time else 1))
      rows[name] += 1
    total = sum(tables[event].values())
    # Of several names of one function each tool takes its own. Times have 6 digits in each row of ours.
    known_to_both = [name for name in tables[event] if name in ours]
    off = max(abs(ours[name] - tables[event][name]) - (500 * rows[name] if is_time else 0) for name in known_to_both)
    known = sum(tables[event][name] for name in known_to_both)
    s.check(known >= 0.9 * total, f'{what}: functions of {event} that both know', f'{known} of {total}')
    s.check(abs(sum(ours.values()) - total) <= (1000 * len(ours) if is_time else 0), f'{what}: all of {event}', f'{sum(ours.values())} and {total}')
    s.check(off <= 0, f'{what}: functions of {event}', f'{tables[event].most_common(3)} off by {off} beyond rounding')
    s.check(s.summary(result)['event']['count'] == (None if is_time else total), f'{what}: the summary of {event}')
  return results


FAULTS = '''#include <sys/mman.h>
#include <unistd.h>
__attribute__((noinline)) void touch(long pages) {
  char *at = mmap(0, pages * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  for (long i = 0; i < pages; i++) at[i * 4096] = 1;
  munmap(at, pages * 4096);
}
__attribute__((noinline)) long spin(long n) { volatile long sum = 0; for (long i = 0; i < n; i++) sum += i; return sum; }
int main(void) {
  for (int i = 0; i < 40; i++) { touch(500); spin(3000000); usleep(1000); }
  return 0;
}
'''


def events():
  """Each event of a recording is a result with that event's numbers, also the members of a group that the leader's samples read."""
  program = s.scratch('faults')
  subprocess.run(['gcc', '-x', 'c', '-', '-O1', '-g', '-fno-omit-frame-pointer', '-o', program], input=FAULTS, text=True, check=True)
  data = record('three', [program], '-e', 'cpu-clock:u,page-faults:u,context-switches', '-F', '499', '-g')
  names = ['cpu-clock', 'page-faults', 'context-switches']
  compare_events('several events', record('all', [program], '-e', ','.join(names), '-F', '999', '-g'), names)
  results = compare_events('a group', record('group', [program], '-e', '{cpu-clock,page-faults}:S', '-F', '999', '-g'), ['cpu-clock', 'page-faults'])
  again = s.scratch('faults.perf')
  s.run_tool('tbconvert', 'export', '--to', 'perf', '-o', again, results['page-faults'])
  numbers = shown(again)
  s.check(list(numbers) == ['page-faults'] and sum(numbers['page-faults'].values()) == s.summary(results['page-faults'])['event']['count'],
          'an export of an event: perf shows its name and numbers', f'{list(numbers)}')
  done = s.run_tool('tbconvert', 'export', '--to', 'chrome', '-o', s.scratch('faults.json'), results['page-faults'], check_status=False)
  s.check(done.returncode == 1 and 'its samples are of the event page-faults, and chrome shows times' in done.stderr, 'a format of times', done.stderr.strip())
  faults, told = bring_in(data, '--event', 'page-faults')
  s.check(told.count('is now the result') == 1 and s.summary(faults)['event']['name'] == 'page-faults:u', 'one event of several', told.strip())
  _, told = bring_in(data, '--event', 'cycles', check_status=False)
  s.check('--event cycles: the recording has no such event' in told, 'an event that is not there', told.strip())


TURNS = '''#include <pthread.h>
#include <time.h>
#include <unistd.h>
static void spin(double seconds) {
  struct timespec from, now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
  do clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  while (now.tv_sec - from.tv_sec + (now.tv_nsec - from.tv_nsec) / 1e9 < seconds);
}
static void *turn(void *user) { for (int i = 0; i < 10; i++) { spin(0.01); usleep(10000); } return user; }
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, turn, 0);
  turn(0);
  pthread_join(thread, 0);
  return 0;
}
'''


def blocked_times(data):
  """{tid: seconds blocked} and {tid: how often} by the switches that perf script shows."""
  done = subprocess.run(['perf', 'script', '-i', data, '--show-switch-events', '--ns', '-F', 'tid,time'], capture_output=True, text=True,
                        timeout=120, check=True)
  since, times, blocks = {}, collections.Counter(), collections.Counter()
  for line in done.stdout.splitlines():
    found = re.match(r'\s*(\d+)\s+(\d+)\.(\d+):\s+PERF_RECORD_SWITCH(?:_CPU_WIDE)?\s+(IN|OUT)(\s+preempt)?', line)
    if not found:
      continue
    tid, now = int(found.group(1)), int(found.group(2) + found.group(3))
    if found.group(4) == 'OUT' and not found.group(5):
      since[tid] = now
    elif found.group(4) == 'IN' and tid in since:
      times[tid] += (now - since.pop(tid)) / 1e9
      blocks[tid] += 1
  return times, blocks


def switches():
  """perf record --switch-events: the threads' states, with or without the processors of the records."""
  program = s.scratch('turns')
  subprocess.run(['gcc', '-x', 'c', '-', '-O1', '-g', '-pthread', '-o', program], input=TURNS, text=True, check=True)
  for options in ([], ['-a']):
    data = record('turns', [program], '-e', 'cpu-clock', '-F', '199', '-g', '--switch-events', *options)
    result, _ = bring_in(data)
    times, blocks = blocked_times(data)
    tids = [int(row['TID']) for row in s.report(result, 'threads', '--filter', 'process=turns')]
    rows = s.report(result, 'wall', '--filter', 'process=turns')
    # The tree's first level has the threads, the second the states.
    blocked, tid = collections.Counter(), None
    for row in rows:
      name = row['Function Stack']
      found = re.match(r' \S.*\(TID (\d+)\)$', name)
      tid = int(found.group(1)) if found else tid
      if re.match(r'  \[(?!Ready|Running|Unknown)', name):
        blocked[tid] += float(row['Wall Time:Total'])
    off = [abs(blocked[tid] - times[tid]) for tid in tids]
    # From one of the threads to the other, the time of the switch is the second one's in a result, 40 us at most (states.c).
    s.check(len(tids) == 2 and all(off[i] < 1e-6 + 40e-6 * blocks[tid] for i, tid in enumerate(tids)), f'switches {options}: blocked times as in perf script', f'{dict(blocked)} off by {off}')
    s.check(min(blocked[tid] for tid in tids) >= 0.1, f'switches {options}: at least what the program slept')


class Traced:
  """What a thread did by the tracepoints that perf script shows, in ns."""

  def __init__(self):
    self.runs, self.blocked, self.ready = [], 0, 0
    self.state, self.since, self.woken = None, 0, None
    self.is_told = True  # all switches, as far as they follow from each other

  def enter(self, state, now):
    passed = now - self.since
    if self.state == 'running':
      self.runs.append(passed)
    elif self.state == 'ready':
      self.ready += passed
    elif self.state == 'blocked':
      until = self.woken or now
      self.blocked += until - self.since
      self.ready += now - until
    if self.state != 'ended':
      self.state, self.since, self.woken = state, now, None


def traced_times(data):
  """{tid: Traced}"""
  threads = collections.defaultdict(Traced)
  text = subprocess.run(['perf', 'script', '-i', data, '--ns', '--show-task-events', '-F', 'comm,tid,time,event,trace'], capture_output=True,
                        text=True, errors='replace', timeout=120, check=True).stdout
  for line in text.splitlines():
    found = re.match(r'.*?\s(\d+)\.(\d{9}):\s+(sched:sched_(switch|waking)|PERF_RECORD_(FORK|EXIT)):?\s*(.*)', line)
    if not found:
      continue
    now, rest = int(found.group(1) + found.group(2)), found.group(6)
    if found.group(5):
      tid = int(re.match(r'\(\d+:(\d+)\)', rest).group(1))
      if found.group(5) == 'FORK':
        threads[tid] = Traced()  # an id used again
      # Of a thread from before, nobody knows what it does.
      threads[tid].enter('ended' if found.group(5) == 'EXIT' else 'ready' if now > 0 else None, now)
    elif found.group(4) == 'waking':
      thread = threads[int(re.search(r' pid=(\d+) ', rest).group(1))]
      thread.woken = thread.woken or now
    else:
      switch = re.search(r' prev_pid=(\d+) .*? prev_state=(\S+) ==> .* next_pid=(\d+) ', rest)
      before, after = threads[int(switch.group(1))], threads[int(switch.group(3))]
      before.is_told &= before.state in ('running', 'ended', None)
      after.is_told &= after.state != 'running'
      before.enter('ready' if switch.group(2)[0] == 'R' else 'blocked', now)
      after.enter('running', now)
  return threads


def tracepoints():
  """perf sched record: the threads' states and CPU time by the scheduler's tracepoints, as perf script shows them; perf sched timehist has
  the same time on the CPUs."""
  program = s.scratch('traced')
  subprocess.run(['gcc', '-x', 'c', '-', '-O1', '-g', '-pthread', '-o', program], input=TURNS, text=True, check=True)
  data = s.scratch('sched.data')
  done = subprocess.run(['perf', 'sched', 'record', '-q', '-m', '8M', '-o', data, '--', program], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                        text=True, timeout=120, check=False)
  if done.returncode != 0:
    s.skip('tracepoints', done.stderr.strip()[-100:])
    return
  result, told = bring_in(data)
  s.check('the event sched:sched_switch of ' in told.splitlines()[0], 'tracepoints: the first result is of the states', told.splitlines()[:1])
  shown = subprocess.run(['perf', 'sched', 'timehist', '-f', '-i', data, '--state'], check=True, capture_output=True, text=True, errors='replace')
  if 'lost' in (done.stderr + shown.stderr).lower():
    # Each tool guesses in its own way what a thread did meanwhile.
    s.skip('tracepoints: times', 'perf lost records')
    return
  theirs, expected = timehist.parse(shown.stdout), traced_times(data)
  timehist.add_open(theirs, timehist.switches_of(data))
  rows = s.report(result, 'threads', '--filter', 'process=traced')
  s.check(len(rows) == 2, 'tracepoints: threads', [row['TID'] for row in rows])
  s.check(any(expected[int(row['TID'])].runs for row in rows), 'tracepoints: the kernel told of the runs of one of them', len(rows))
  for row in rows:
    tid = int(row['TID'])
    times = expected[tid]
    if not times.runs:
      s.skip(f'tracepoints: times of {tid}', 'the kernel told perf of none of its runs')
      continue
    if not times.is_told:
      # Off a CPU without having come on one: each reader guesses in its own way.
      s.skip(f'tracepoints: times of {tid}', 'the kernel did not tell perf of a switch')
      continue
    for column, ns in (('CPU Time', sum(times.runs)), ('Wait Time', times.blocked), ('Ready Time', times.ready)):
      s.check(ns > 0 and abs(float(row[column]) - ns / 1e9) <= 1e-6, f'tracepoints: {column}', f'{row[column]} s, {ns / 1e9:.6f} expected')
    # The first stretch has no begin to timehist, and the last one goes on behind the thread's end. Each row is rounded to us.
    bound = (times.runs[0] + times.runs[-1]) / 1e9 + 1e-3 + 1e-6 * theirs[tid].switches + theirs[tid].given + theirs[tid].missed
    s.check(abs(theirs[tid].run - float(row['CPU Time'])) <= bound, 'tracepoints: CPU time by timehist',
            f'{theirs[tid].run:.6f} s, at most {bound:.6f} apart')
  numbers, _ = bring_in(data, '--event', 'sched:sched_switch')
  s.check(s.summary(numbers)['event']['name'] == 'sched:sched_switch' and s.summary(numbers)['samples'] > 0, 'tracepoints: an event by its name')


def progress():
  """A terminal shows a bar for each format, a pipe none."""
  got = s.collect_well([cxx_program()])
  for number, name in enumerate(('perf', 'pprof', 'folded')):
    data = s.scratch('shown.' + name)
    s.run_tool('tbconvert', 'export', '--to', name, '-o', data, got.result)
    controller, terminal = pty.openpty()
    subprocess.run([s.tool('tbconvert'), 'import', '-r', s.scratch(f'shown{number}'), data], stderr=terminal, check=True)
    os.close(terminal)
    shown = s.read_to_end(controller)
    s.check(b'Importing [' in shown and b'\r\x1b[K' in shown, f'{name}: a bar on a terminal', shown[-60:])
    _, told = bring_in(data)
    s.check('Importing' not in told, f'{name}: none in a pipe', told.strip())


def build_ids():
  """A program that is gone is found below ~/.debug; another one in its place is not taken for it."""
  home = s.scratch('home')
  os.mkdir(home)
  program = s.scratch('gone')
  shutil.copy(cxx_program(), program)
  data = record('gone', [program], '-e', 'cpu-clock:u', '-F', '199', '--call-graph', 'dwarf,16384', env={**os.environ, 'HOME': home})
  os.remove(program)  # perf's cache may have a link to it
  shutil.copy('/usr/bin/true', program)

  def named():
    result, _ = bring_in(data)
    return [count for frames, count in s.folded(result) if any('descend' in frame for frame in frames)]

  before = os.environ.get('HOME')
  os.environ['HOME'] = home
  try:
    s.check(os.path.isdir(os.path.join(home, '.debug')) and named(), 'a file below ~/.debug')
    shutil.rmtree(os.path.join(home, '.debug'))
    s.check(not named(), 'another file in its place')
  finally:
    os.environ['HOME'] = before or '/'


def round_trip():
  """Export and import give the same tree, threads, times and modules."""
  got = s.collect_well([cxx_program()], options=['--no-collapse'])
  data = s.scratch('round.perf')
  s.run_tool('tbconvert', 'export', '--to', 'perf', '-o', data, got.result)
  result, told = bring_in(data, '--no-collapse')
  trees = [collections.Counter({tuple(frames): count for frames, count in s.folded(path, '--threads') if frames[-1] != s.KERNEL})
           for path in (got.result, result)]
  s.check(trees[0] == trees[1], 'the tree', f'{len(trees[0])} stacks {list((trees[0] - trees[1]).items())[:1]} {list((trees[1] - trees[0]).items())[:1]}')
  for kind, columns in (('threads', ('Thread', 'TID', 'Process', 'PID', 'CPU Time')), ('modules', ('Module', 'Path', 'CPU Time', 'Samples'))):
    # Time of no known thread is in no record of perf.data.
    rows = [sorted(tuple(row[column] for column in columns) for row in s.report(path, kind) if row.get('Thread') != '[No known thread]')
            for path in (got.result, result)]
    s.check(rows[0] == rows[1], kind, f'{len(rows[0])} rows {set(rows[0]) ^ set(rows[1])}')
  again = s.scratch('again.perf')
  s.run_tool('tbconvert', 'export', '--to', 'perf', '-o', again, result)
  # Time in no sample is at the end of its thread, or of all samples: the same moment.
  s.check(sorted(script(data)) == sorted(script(again)), 'samples with times, periods and stacks', told.strip())


def can_record():
  done = subprocess.run(['perf', 'record', '-q', '-o', s.scratch('try.data'), '-e', 'cpu-clock:u', 'true'], capture_output=True, check=False)
  return done.returncode == 0


s.start()
if can_record():
  for part in (recordings, forms, events, switches, tracepoints, build_ids):
    with s.section(part.__name__):
      part()
else:
  s.skip('recordings', 'perf may not record')
for part in (round_trip, progress):
  with s.section(part.__name__):
    part()
s.finish()
