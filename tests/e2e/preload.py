"""--preload: what the library in the program says of locks, against what the program itself knows; and programs of all kinds,
which do and print the same with it."""

import json
import os
import shutil
import stat
import subprocess
import sys

import support
from support import check, section, skip

OPTIONS = ('-c', 'locks-and-waits', '--preload')
EXACT = 0.02

# Two threads that hand a token to and fro by two semaphores: each waits some 20 us for the other's work, many times.
SHORT_ROUNDS = 2000


def collect(command, **options):
  return support.collect_well(command, options=OPTIONS, **options)


def waits(got, *options):
  return support.report(got.result, 'waits', *options)


def warnings(got):
  return support.run_tool('tbreport', 'summary', got.result).stdout


def of_object(rows, kind, name):
  found = [row for row in rows if row['Type'] == kind and row['Sync Object'].endswith(' ' + name)]
  return found[0] if found else None


def check_truth(*modes):
  """Some of the target's modes: counts exact, times within 2 %, waiting and waking functions right."""
  got = collect([support.target('waiting'), *modes])
  said = [json.loads(line) for line in got.stdout.splitlines() if line.startswith('{')]
  for fact in said:
    mode = fact['mode']
    row = of_object(waits(got), fact['type'], fact['object'])
    if not check(row is not None, f'{mode}: {fact["object"]} is in the report'):
      continue
    check(int(row['Wait Count']) == fact['count'], f'{mode}: count', f'{row["Wait Count"]} of {fact["count"]}')
    # The program's clock runs on while the thread waits for a CPU, and while its host has none.
    # The wait's own time ends with the wake, where BPF tells that.
    seen = float(row['Wait Time']) + float(row['Ready Time'])
    support.check_ratio(f'{mode}: time', seen, fact['time_s'], 100 * EXACT, got.steal)
    check(row['Waker Function'] == fact['waker_function'], f'{mode}: waker', row['Waker Function'])
    # sem_wait and its like are called by a function of the target's own.
    check(row['Function'] in (fact['function'], 'await'), f'{mode}: function', row['Function'])


def truth():
  for mode in ('mutex', 'queue', 'rwlock', 'semaphore', 'barrier'):
    with section(mode):
      check_truth(mode)
  with section('heap'):
    check_truth('heap', 'queue=10x12', 'rwlock=5x12', 'barrier=5x12')


def spinning():
  got = collect([support.target('waiting'), 'spin'])
  fact = json.loads(got.stdout.splitlines()[0])
  row = of_object(waits(got), 'Spin Lock', 'spinning')
  if check(row is not None, 'spin: the lock is in the report'):
    support.check_ratio('spin: time', float(row['Spin Time']), fact['cpu_s'], 100 * EXACT, got.steal)
    check(float(row['Wait Time']) == 0, 'spin: no wait', row['Wait Time'])
    check(row['Function'] == fact['function'], 'spin: function', row['Function'])


def short_waits():
  """Far below what an observer sees; each is there."""
  got = collect([support.target('handover'), str(SHORT_ROUNDS)])
  facts = got.truth()
  for name in ('first', 'second'):
    row = of_object(waits(got), 'Semaphore', name)
    if check(row is not None, f'short waits: {name} is in the report'):
      count, total = int(row['Wait Count']), support.number(facts, name + '_ns') / 1e9
      # Between the program's look and its call the token may come; and waits of less than 1 us have no record.
      most, least = support.number(facts, name + '_empty'), support.number(facts, name + '_waits')
      check(0.99 * least <= count <= most, f'short waits: count of {name}', f'{count} seen, {least} to {most} by the program')
      # Where BPF tells when a thread was woken, what it waits for a CPU is apart.
      seen = float(row['Wait Time']) + float(row['Spin Time']) + float(row['Ready Time'])
      check(0.5 * total <= seen <= total, f'short waits: time of {name}', f'{seen:.6f} s of {total:.6f} s around the calls')
      check(row['Created In'] == 'main', f'short waits: {name} made in', row['Created In'])


def same_without():
  """Programs say and answer the same with the library and without."""
  programs = {
      'primitives': [support.target('primitives')],
      'python': ['/usr/bin/python3', '-c',
                 'import threading, queue\nq = queue.Queue(5)\n'
                 't = [threading.Thread(target=lambda: [q.get() for _ in range(300)]) for _ in "123"]\n'
                 '[x.start() for x in t]\n[q.put(i) for i in range(900)]\n[x.join() for x in t]\nprint("left", q.qsize())\n'
                 'raise SystemExit(7)'],
      'shell': ['/bin/sh', '-c', 'echo one; /bin/sh -c "exec /bin/echo two"; (echo three); kill -9 $$'],
      'xz': ['/bin/sh', '-c', 'head -c 3000000 /dev/zero | xz -T2 -c | xz -dc | md5sum'],
  }
  java = shutil.which('java')
  if java:
    programs['java'] = [java, '-Xint', '-version']
  else:
    skip('java with the library', 'there is no java')
  for name, command in programs.items():
    bare = subprocess.run(command, capture_output=True, text=True, check=False)
    with_it = support.collect(command, options=('-q', '--no-finalize', *OPTIONS))
    status = bare.returncode if bare.returncode >= 0 else 128 - bare.returncode
    check(with_it.status == status, f'{name}: exit status', f'{with_it.status}, {status} without')
    check(with_it.stdout == bare.stdout, f'{name}: output', with_it.stdout[:60] if with_it.stdout != bare.stdout else '')
    check(with_it.stderr == bare.stderr, f'{name}: errors', with_it.stderr[:200] if with_it.stderr != bare.stderr else '')


def killed():
  """kill -9 during a wait: the waits before it are there."""
  got = support.collect(['/bin/sh', '-c', f'{support.target("waiting")} mutex=8x25 idlers=4x60000 & '
                         'pid=$!; while [ $(ls /proc/$pid/task | wc -l) -lt 5 ]; do :; done; kill -9 $pid; wait $pid'], options=OPTIONS)
  check(got.status == 137, 'killed: exit status', got.status)
  row = of_object(waits(got), 'Mutex', 'contended')
  check(row is not None and int(row['Wait Count']) == 8, 'killed: its waits', row and row['Wait Count'])


def without_effect():
  """What cannot load the library runs as ever, and the summary says why."""
  got = support.collect([support.target('waiting-static'), 'mutex=2x5'], options=OPTIONS)
  check(got.status == 0, 'static: runs', got.stderr[-200:])
  check('statically linked' in warnings(got), 'static: the summary says so')
  path = support.scratch('set-user-id')
  shutil.copy('/bin/echo', path)
  if os.getuid() == 0:
    os.chown(path, support.NOBODY, support.NOBODY)
    os.chmod(path, 0o4755)
    if os.stat(path).st_mode & stat.S_ISUID:
      got = support.collect([path, 'text'], options=OPTIONS)
      check(got.stdout == 'text\n' and got.stderr.count('ERROR') == 0, 'set-user-ID: runs', got.stderr[-200:])
      check('other rights' in warnings(got), 'set-user-ID: the summary says so')
  else:
    skip('a set-user-ID program', 'only root can make one of another user')


def usage():
  done = subprocess.run([support.tool('tbcollect'), '--preload', '--', '/bin/true'], capture_output=True, text=True, check=False)
  check(done.returncode == 2 and 'locks-and-waits' in done.stderr, 'an analysis without waits is refused', done.stderr.strip())


def main():
  support.start()
  for part in (truth, spinning, short_waits, same_without, killed, without_effect, usage):
    with section(part.__name__):
      part()
  support.finish()


if __name__ == '__main__':
  sys.exit(main())
