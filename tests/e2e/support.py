"""What the end-to-end tests share: running the tools, reading what they print, counting checks.

Each test is a program: support.start() with the build directory as argument, checks, then
support.finish(). A check prints "ok" or "not ok" with the figures it saw. What cannot be tried here is a line
"skipped", which is counted and is no check.
"""

import atexit
import contextlib
import csv
import errno
import fcntl
import io
import json
import math
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import time

NOBODY = 65534
HANGS_S = 500  # nothing here takes so long on any machine
SKIPPED = 77  # the exit status that meson takes for it
KERNEL = '[System calls and faults]'
COLLECTS = 'tbcollect: time in system calls and faults'  # tbcollect -v says this once all events run


class Run:
  """State of this test program."""
  build = None
  work = None
  failed = 0
  checked = 0
  skipped = 0


def visible(path):
  """A path by which the user nobody reaches the directory too: a tree below /root is shown elsewhere
  until this program ends. Only root can do that; for others the path is as it is."""
  path = os.path.abspath(path)
  if os.getuid() != 0 or subprocess.run(['test', '-x', path], **as_user(NOBODY), cwd='/').returncode == 0:
    return path
  place = tempfile.mkdtemp(prefix='tbcollect-visible.')
  os.chmod(place, 0o755)
  subprocess.run(['mount', '--bind', path, place], check=True)
  atexit.register(hide, place)
  return place


def hide(place):
  subprocess.run(['umount', '--lazy', place], check=True)
  os.rmdir(place)


def start(build=None):
  """Takes the build directory, or that of the command line; makes a scratch directory that others may use."""
  Run.build = visible(build or sys.argv[1])
  Run.work = tempfile.mkdtemp(prefix='tbcollect-e2e.')
  os.chmod(Run.work, 0o777)
  return Run.work


def finish():
  """Ends the test program: status 0 if something was checked and nothing failed, SKIPPED if all was skipped."""
  if Run.failed:
    print(f'scratch files are left in {Run.work}')
  elif Run.work is not None:
    shutil.rmtree(Run.work, ignore_errors=True)
  print(f'{Run.checked - Run.failed} of {Run.checked} checks passed, {Run.skipped} skipped')
  if Run.skipped and not Run.checked:
    sys.exit(SKIPPED)
  sys.exit(0 if Run.checked and not Run.failed else 1)


def skip(what, why):
  """Counts something that cannot be tried here: no check, and named wherever results are counted."""
  Run.skipped += 1
  print(f'skipped - {what}: {why}', flush=True)


def check(condition, what, seen=''):
  """Counts one check and prints what was seen, whether it passed or not."""
  Run.checked += 1
  if not condition:
    Run.failed += 1
  print(f'{"ok" if condition else "not ok"} - {what}' + (f': {seen}' if seen != '' else ''), flush=True)
  return bool(condition)


def note(text):
  print(f'# {text}', flush=True)


@contextlib.contextmanager
def section(name):
  """A part of a test: what goes wrong inside fails this part and not the ones after it."""
  began = time.monotonic()
  try:
    yield
  except Exception as error:  # the next part must run whatever this one met
    check(False, name, f'{type(error).__name__}: {error}')
  note(f'{name} took {time.monotonic() - began:.1f} s')


def tool(name):
  """Path of one of the project's commands in the build directory."""
  for folder in ('collector', 'tools', 'tools/report', 'tools/convert'):
    path = os.path.join(Run.build, folder, name)
    if os.path.isfile(path):
      return path
  raise FileNotFoundError(f'{name} is not in {Run.build}')


def target(name):
  return os.path.join(Run.build, 'tests', 'targets', 'target-' + name)


def library(name):
  return os.path.join(Run.build, 'tests', 'targets', f'lib{name}.so')


def scratch(name):
  return os.path.join(Run.work, name)


def new_result():
  """A result directory that does not exist yet."""
  number = 0
  while os.path.exists(scratch(f'r{number:03}hs')):
    number += 1
  return scratch(f'r{number:03}hs')


class Collection:
  """What one run of tbcollect left: its result directory, exit status and output."""

  def __init__(self, result, done, steal=0.0):
    self.result = result
    self.steal = steal
    self.status = done.returncode
    self.stdout = done.stdout
    self.stderr = done.stderr

  def truth(self):
    return truth(self.stdout)


def as_user(uid):
  """Options of subprocess that drop to another user; none for uid None."""
  return {} if uid is None else {'user': uid, 'group': uid, 'extra_groups': []}


def steal_seconds():
  """Time that the hypervisor took from this machine's CPUs since its start. The scheduler's account of
  a thread leaves it out, the event that counts a thread's time cannot."""
  with open('/proc/stat', encoding='ascii') as file:
    return int(file.readline().split()[8]) / os.sysconf('SC_CLK_TCK')


# What the kernel counts as whole ticks of each CPU may be so much short.
UNCOUNTED_S = os.cpu_count() / os.sysconf('SC_CLK_TCK')


def stolen_since(before):
  """At most this much, also where the kernel shows nothing, on a machine that time is stolen from at all."""
  after = steal_seconds()
  return after - before + UNCOUNTED_S if after > 0 else 0.0


class Stealing:
  """What the host may have stolen while this was entered: seconds of all CPUs, as stolen_since."""

  def __enter__(self):
    self.before, self.steal = steal_seconds(), 0.0
    return self

  def __exit__(self, *_):
    self.steal = stolen_since(self.before)


def collect(command, interval='1ms', options=(), uid=None, result=None, timeout=HANGS_S, **popen):
  """Runs tbcollect on a command and waits for it. The target's output comes with it. Which stacks are
  whole must not depend on how fast the machine is, so there is no limit but what options give."""
  result = result or new_result()
  arguments = [tool('tbcollect'), '-i', interval, '-r', result, '--overhead-limit', '0', *options, '--', *command]
  with Stealing() as host:
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=timeout, errors='replace',
                          stdin=popen.pop('stdin', subprocess.DEVNULL), **as_user(uid), **popen)
  return Collection(result, done, host.steal)


def collect_well(command, what=None, **options):
  """As collect, and checks that the target and the collection went well."""
  got = collect(command, **options)
  name = what or os.path.basename(command[0])
  if got.status != 0:
    check(False, f'{name}: collects', f'status {got.status}: {got.stderr.strip()[-500:]}')
  return got


def run_tool(name, *arguments, check_status=True, uid=None, timeout=HANGS_S):
  done = subprocess.run([tool(name), *arguments], capture_output=True, text=True, timeout=timeout,
                        errors='replace', stdin=subprocess.DEVNULL, **as_user(uid))
  if check_status and done.returncode != 0:
    raise RuntimeError(f'{name} {" ".join(arguments)}: status {done.returncode}: {done.stderr.strip()[-500:]}')
  return done


def own_terminal():
  fcntl.ioctl(1, termios.TIOCSCTTY, 0)


def start_on_terminal(arguments, lines=24, environment=None):
  """(process, descriptor of what it shows and of its keys) of a program on a terminal of its own, with 100 columns, without a user's pagers."""
  leader, follower = pty.openpty()
  fcntl.ioctl(leader, termios.TIOCSWINSZ, struct.pack('HHHH', lines, 100, 0, 0))
  plain = {key: value for key, value in os.environ.items() if key not in ('PAGER', 'TBREPORT_PAGER', 'LESS', 'COLUMNS')}
  child = subprocess.Popen(arguments, stdin=follower, stdout=follower, stderr=follower, start_new_session=True,
                           env={**plain, 'TERM': 'xterm', **(environment or {})}, preexec_fn=own_terminal)
  os.close(follower)
  return child, leader


def is_blocked_in_write(pid):
  """Whether a process sleeps in write(2), as to a full pipe."""
  with open(f'/proc/{pid}/wchan', encoding='ascii') as file:
    return 'pipe_write' in file.read()


def report(result, kind, *options):
  """Rows of a report as dictionaries by column name."""
  text = run_tool('tbreport', kind, result, '--format', 'csv', *options).stdout
  return list(csv.DictReader(io.StringIO(text)))


def summary(result, *options):
  return json.loads(run_tool('tbreport', 'summary', result, '--format', 'json', *options).stdout)


def unattributed(result):
  """Seconds of CPU time that the summary says belong to no known thread."""
  return summary(result)['of_no_known_thread_s']


def folded(result, *options):
  """[(frames from the root, samples)], the process being the first frame."""
  stacks = []
  for line in run_tool('tbconvert', 'export', '--to', 'folded', '-o', '-', *options, result).stdout.splitlines():
    frames, _, count = line.rpartition(' ')
    stacks.append((frames.split(';'), int(count)))
  return stacks


def marked(frames):
  """Whether a stack says that something of it is left out or is a guess."""
  return '[Skipped frame(s)]' in frames or '[Guessed frame(s)]' in frames


def root_seconds(result):
  """{(function, module): CPU time of the samples that have it as their outermost frame}."""
  roots, root = {}, None
  for row in report(result, 'top-down', '--call-stack-mode', 'all')[1:]:
    name = row['Function Stack']
    if not name.startswith('  '):
      root = (name.strip(), row['Module'])
    if root == ('[No sample]', '[Unknown]'):
      continue
    roots[root] = roots.get(root, 0.0) + float(row['CPU Time:Self'])
  return roots


def total_seconds(result, function):
  """CPU time of a function that never calls itself, with what it calls: system calls stand at these calls."""
  return sum(float(row['CPU Time:Total']) for row in report(result, 'top-down') if row['Function Stack'].strip() == function)


def seconds_in(result, function):
  """CPU time of the samples that have the function on their stack."""
  total, inside = 0.0, None
  for row in report(result, 'top-down', '--call-stack-mode', 'all'):
    name = row['Function Stack']
    depth = len(name) - len(name.lstrip())
    if inside is not None and depth <= inside:
      inside = None
    if inside is None and name.strip() == function:
      inside = depth
    if inside is not None:
      total += float(row['CPU Time:Self'])
  return total


def false_roots(result, program):
  """As root_seconds, those that are no root of a program of one thread: it starts in the loader or at its own entry.
  What stacks without a root start with says so, and time in the kernel that no code stands for has no stack."""
  module = os.path.basename(program)
  return {(function, place): time for (function, place), time in root_seconds(result).items()
          if (function, place) != ('_start', module) and not place.startswith('ld-') and not marked([function])
          and function != KERNEL}


def samples_of(stacks, function=None):
  """Samples of all stacks, or of those with a frame that the predicate or the name picks."""
  if function is None:
    return sum(count for _, count in stacks)
  picks = function if callable(function) else lambda frame: frame == function
  return sum(count for frames, count in stacks if any(picks(frame) for frame in frames[1:]))


def seconds(rows, **where):
  """Sum of CPU Time of the rows whose columns have the given values; _ in a name stands for a space."""
  return sum(float(row['CPU Time']) for row in rows
             if all(row[name.replace('_', ' ')] == str(value) for name, value in where.items()))


def known_seconds(rows):
  """Sum of CPU Time of all rows but that of time in the kernel that no function or module stands for."""
  return seconds(rows) - seconds(rows, Module=KERNEL)


def truth(text):
  """A target's "key value ..." lines: {key: [[value, ...], ...]}."""
  facts = {}
  for line in text.splitlines():
    words = line.split()
    if len(words) >= 2:
      facts.setdefault(words[0], []).append(words[1:])
  return facts


def number(facts, key):
  """The one value of a key."""
  return int(facts[key][0][0])


def points(part, whole):
  return 100 * part / whole if whole else 0.0


# Samples are drawn: what is counted of them may be off by so many standard deviations, which it is in
# one of 500 million checks (a normal distribution's both tails).
DEVIATIONS = 6


def by_chance(expected, steal=0.0, interval_s=0.001):
  """How far a number of samples may be from the mean. After each theft of the host a tick that was due meanwhile comes at once:
  instead of those that the time without the theft has, or beside them."""
  return DEVIATIONS * math.sqrt(max(expected, 0)) + steal / interval_s


def check_count(what, seen, expected, steal=0.0, interval_s=0.001):
  """A number of samples, each of an interval of CPU time."""
  bound = by_chance(expected, steal, interval_s)
  check(abs(seen - expected) <= bound, what, f'{seen} samples, {expected:.0f} expected, within {bound:.0f}')


def points_by_chance(share, *counts):
  """The same of a share in percent, or of the difference of two in as many samples."""
  part = min(max(share / 100, 0), 1)
  return round(100 * DEVIATIONS * math.sqrt(part * (1 - part) * sum(1 / count for count in counts if count)), 2)


def check_share(what, seen, expected, bound, samples=None, stolen=0.0):
  """Shares in percent; the difference must stay within bound points, or within what drawing so many samples makes it. stolen: the part of
  seen's whole that the host took, which expected does not have, and which may stand anywhere."""
  bound = max(bound, points_by_chance(expected, samples)) if samples else bound
  stolen = min(max(stolen, 0), 1)
  low, high = expected * (1 - stolen), expected * (1 - stolen) + 100 * stolen
  off = seen - min(max(seen, low), high)
  check(abs(off) <= bound, what, f'{seen:.2f} % seen, {expected:.2f} % expected, {seen - expected:+.2f} points of {bound}'
        + (f', {100 * stolen:.2f} % stolen' if stolen else ''))


def check_samples(what, total, bound_percent=5, steal=0.0):
  """One sample for each interval of CPU time, in the mean, but where no tick came to be drawn from: in the kernel, where it is not
  sampled (timers that come late look alike), and in samples that the rings had no room for."""
  kernel = total['kernel_time']
  missing_s = total['samples_lost'] * total['interval_s'] + (kernel['in_no_function_s'] if kernel['where'] == 'apart' else 0)
  expected = (total['cpu_time_s'] - missing_s) / total['interval_s']
  bound = max(0.01 * bound_percent * expected, by_chance(expected)) + steal / total['interval_s']
  check(abs(total['samples'] - expected) <= bound, what, f'{total["samples"]} of {expected:.0f}, within {bound:.0f}')


def check_none_lost(what, total, steal=0.0):
  """No sample is lost, but while the host has the collector's CPU: the program runs on another one, and its ring fills. What a ring
  holds outlasts what no tick counted."""
  bound = max(steal - UNCOUNTED_S, 0) / total['interval_s']
  check(total['samples_lost'] <= bound, what, f'{total["samples_lost"]} lost, of {bound:.0f} by theft')


def check_no_budget(what, total, limit, steal=0.0):
  """No stack is left out for the budget, the share of the program's CPU time that collecting may take, but while what the host stole
  of the collector stands in its account: until the program has used that much over the limit."""
  skipped, bound = total['stacks']['skipped']['budget'], max(steal - UNCOUNTED_S, 0) / limit / total['interval_s']
  check(skipped <= bound, what, f'{skipped} left out, of {bound:.0f} by theft; {total["threads"]} threads, {total["stacks"]}')


def with_stack(total):
  """Samples that can have a stack: threads in their ends have none, as long as large processes take to end."""
  return total['samples'] - total['stacks']['none']


def check_least(what, seen, least, bound, samples=None):
  """A share in percent must be at most bound points below the least that is to be expected, or what drawing so many samples makes it."""
  bound = max(bound, points_by_chance(least, samples)) if samples else bound
  check(seen >= least - bound, what, f'{seen:.2f} % seen, {least:.2f} % at least, less {bound} points')


def check_ratio(what, seen, expected, bound_percent, steal=0.0):
  """seen must be within the bound of expected, or more than that by no more than was stolen."""
  excess = max(0.0, min(steal, seen - expected))
  off = 100 * ((seen - excess) / expected - 1) if expected else float('inf')
  check(abs(off) <= bound_percent, what,
        f'{seen:.4f} seen, {expected:.4f} expected, {steal:.2f} stolen, {off:+.2f} % of {bound_percent}')


def check_cpu_time(what, seen, process_s, ends, steal=0.0):
  """CPU time beside what a process says of itself, within 1 %. The kernel adds a thread's time to its process's before the thread is
  switched out for good; exact accounts hold what it does after that, at most 2 us of each of the ends."""
  most = process_s + ends * 2e-6 + steal
  check(0.99 * process_s <= seen <= 1.01 * most, what, f'{seen:.4f} seen, {process_s:.4f} to {most:.4f} expected, within 1 %')


def cpu_seconds(pid):
  """CPU time of a process, with its ended threads."""
  with open(f'/proc/{pid}/stat', encoding='ascii') as file:
    fields = file.read().rpartition(')')[2].split()
  return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


def child_of(process):
  """The pid of a process's first child, once it has one."""
  def first():
    with open(f'/proc/{process.pid}/task/{process.pid}/children', encoding='ascii') as file:
      return file.read().split()[:1]
  return int(wait_for(first)[0])


def wait_for(condition, timeout=20, step=0.02):
  """Waits until condition() is true; returns its value, or None when the time is over."""
  end = time.monotonic() + timeout
  while time.monotonic() < end:
    value = condition()
    if value:
      return value
    time.sleep(step)
  return None


def read_to_end(controller):
  """All that a terminal shows: one that nobody holds any more ends in EIO, and what was written to it may come in parts."""
  shown = b''
  try:
    while part := os.read(controller, 1 << 16):
      shown += part
  except OSError as error:
    if error.errno != errno.EIO:
      raise
  os.close(controller)
  return shown


def read_line_with(stream, word):
  """Reads lines until one begins with the word; returns it."""
  for line in stream:
    if line.startswith(word):
      return line
  raise EOFError(f'the program ended before it said {word!r}')


def perf_event(kernel):
  """Options of perf record for a program's CPU time: of user code, or of kernel mode too, with the way into it."""
  return ['-e', 'cpu-clock', '-g'] if kernel else ['-e', 'cpu-clock:u']


def perf_record(command, options=(), uid=None, interval_us=1000, stdout=subprocess.DEVNULL, **popen):
  """Samples a command with perf; returns the data file's path. For root, kernel mode too."""
  data = scratch(f'perf-{time.monotonic_ns()}.data')
  event = perf_event(os.getuid() == 0 and uid is None)
  subprocess.run(['perf', 'record', '-q', *event, '-c', str(1000 * interval_us), *options, '-o', data,
                  '--', *command], check=True, stdout=stdout, stderr=subprocess.DEVNULL,
                 stdin=subprocess.DEVNULL, **as_user(uid), **popen)
  return data


def perf_stacks(data):
  """[[(address, function, module name)]] of each sample, the innermost frame first."""
  text = subprocess.run(['perf', 'script', '-i', data, '-F', 'comm,ip,sym,dso', '--no-inline'],
                        check=True, capture_output=True, text=True, errors='replace').stdout
  stacks = []
  for line in text.splitlines():
    # A sample with a callchain is a line with the name and one for each frame; without, all is one line.
    match = re.match(r'\s*(.*?)\s*\b([0-9a-f]+)\s+(.*?)\s+\((.*)\)\s*$', line)
    if not line.startswith((' ' * 16, '\t')):
      stacks.append([])
    if match:
      module = os.path.basename(match.group(4).replace(' (deleted)', ''))
      stacks[-1].append((int(match.group(2), 16), match.group(3), module))
  return [frames for frames in stacks if frames]


def perf_samples(data, apart=False):
  """[(function, module name)] of the user code of each sample, as tbcollect names it where there is none; apart: and
  for each sample that hit the kernel."""
  samples = []
  for frames in perf_stacks(data):
    # Callers without a frame pointer may be any number: it is the first user frame that counts.
    user = next((frame[1:] for frame in frames if frame[0] < 1 << 63), None)
    samples.append((KERNEL, KERNEL) if user is None or (apart and frames[0][0] >= 1 << 63) else user)
  return samples
