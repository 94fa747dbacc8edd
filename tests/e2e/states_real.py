"""Real programs under -c concurrency, each thread's times on and off the CPUs beside those of `perf sched timehist`, which records
the same run; and under -c locks-and-waits. For root only, like perf's events. An argument chooses the programs of the suite long."""

import os
import shutil
import subprocess
import sys
import time

import support
from support import check, report, scratch, section, skip
from timehist import Timehist

BOUND = 0.03
# What the kernel's own bookkeeping of a thread's birth and end may differ in: timehist begins with the wake after the fork.
EACH_THREAD_S = 500e-6
# Moments of a switch: the kernel's account has the second thread begin at its start, perf's record comes after the choice of the thread,
# ours, without BPF, at the end, when perf has written its own.
ACCOUNT_S, SWITCH_S = 1.5e-6, 4e-6
# Beside timehist's times of which more is open nothing is compared.
OPEN = 0.25


def write_sources(folder, count):
  """A build of so many files that take a while each."""
  os.makedirs(folder)
  body = ''.join(f'int f{i}(int x) {{ int s = 0; for (int i = 0; i < x; i++) s += x * {i} ^ i; return s; }}\n' for i in range(150))
  for i in range(count):
    with open(os.path.join(folder, f'part{i}.c'), 'w', encoding='ascii') as file:
      file.write(body.replace('int f', f'int part{i}_'))
  with open(os.path.join(folder, 'Makefile'), 'w', encoding='ascii') as file:
    objects = ' '.join(f'part{i}.o' for i in range(count))
    file.write(f'all: {objects}\n%.o: %.c\n\tcc -O2 -c $< -o $@\n')
  return ['make', '-B', '-C', folder, '-j2', '-s']


def compress():
  data = scratch('random')
  with open(data, 'wb') as file:
    file.write(os.urandom(4_000_000))
  return ['xz', '-T2', '--block-size=1MiB', '-k', '-f', '-1', data]


def run_redis(socket):
  """What drives redis-server, from outside of the collection, and ends it."""
  def drive():
    support.wait_for(lambda: subprocess.run(['redis-cli', '-s', socket, 'ping'], capture_output=True, check=False).returncode == 0)
    subprocess.run(['redis-benchmark', '-s', socket, '-n', '100000', '-c', '8', '-P', '16', '-t', 'set,get', '-q'], check=True, capture_output=True)
    subprocess.run(['redis-cli', '-s', socket, 'shutdown', 'nosave'], check=True, capture_output=True)
  return drive


def seen_off(row):
  return float(row['Wait Time']) + float(row['Ready Time'])


def open_on(times):
  """(less, more) than timehist's time on CPUs."""
  return times.given, times.missed + ACCOUNT_S * times.switches


def open_off(times):
  return times.missed, times.given + SWITCH_S * times.switches


def compare_sum(what, seen, expected, less, more, threads):
  """less, more: how far timehist's own time is open."""
  room = max(BOUND * expected, EACH_THREAD_S * threads)
  check(expected - less - room <= seen <= expected + more + room, what,
        f'{seen:.4f} s, timehist {expected:.4f} s, within {room:.4f}, of which {less:.4f} may be less, and {more:.4f} more')


def compare_part(name, known, seen_of, time_of, open_of, stolen=0.0):
  """The sum over the threads, and each of the largest ones: what wakes seldom finds cold caches, and its few switches take 10 us more
  by either measure. stolen: by the host, which timehist counts as run."""
  whole = sum(time_of(times) for _, times in known)
  largest = [pair for pair in sorted(known, key=lambda pair: -time_of(pair[1]))[:3] if time_of(pair[1]) >= 0.1 * whole]
  for which, part in [('all threads', known)] + [(f'thread {row["TID"]}', [(row, times)]) for row, times in largest]:
    less, more = (sum(way) for way in zip(*(open_of(times) for _, times in part)))
    compare_sum(f'{name}: {which}', sum(seen_of(row) for row, _ in part), sum(time_of(times) for _, times in part), less + stolen, more,
                len(part))


def compare(name, result, hist, first, stolen):
  """Off the CPUs only the threads that timehist saw from their start to their end: it knows of no time after a thread's last switch,
  and the first thread was there before its program."""
  rows = [row for row in report(result, 'threads') if row['TID']]
  known = [(row, hist.threads[int(row['TID'])]) for row in rows if int(row['TID']) in hist.threads]
  check(len(known) >= 0.97 * len(rows), f'{name}: timehist knows the threads', f'{len(known)} of {len(rows)}')
  check(all(float(row[column]) >= 0 for row in rows for column in ('CPU Time', 'Wait Time', 'Ready Time')), f'{name}: no time is negative')
  ran, unknown = sum(times.run for _, times in known), sum(times.given + times.missed for _, times in known)
  if unknown > OPEN * ran:
    skip(f'{name} beside timehist', f'{unknown:.3f} s of {ran:.3f} s are open there: the kernel left out switches')
    return
  compare_part(f'{name}, on CPUs', known, lambda row: float(row['CPU Time']), lambda t: t.run, open_on, stolen)
  ended = [(row, times) for row, times in known if times.state in ('X', 'Z') and int(row['TID']) != first]
  check(ended, f'{name}: threads whose whole life timehist saw', len(ended))
  compare_part(f'{name}, off the CPUs', ended, seen_off, lambda t: t.ready + t.blocked + t.woken, open_off)


def collect_with(analysis, command, drive, options=()):
  """(the result, the collector's exit status, what it says); drive() works with the program meanwhile, and has it end."""
  result = support.new_result()
  # The shell is the first thread, of which timehist does not know when it began.
  arguments = [support.tool('tbcollect'), '-i', '10ms', '-c', analysis, *options, '-r', result, '--', 'sh', '-c', '"$@"; exit $?', 'sh', *command]
  with subprocess.Popen(arguments, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
    if drive:
      drive()
    _, errors = process.communicate(timeout=support.HANGS_S)
  return result, process.returncode, errors


def run_waits(name, command, drive, source):
  """What the threads waited for is what they were blocked for, and the program ends as without us."""
  what = f'{name}, waits by {source}'
  result, status, errors = collect_with('locks-and-waits', command, drive, ['--wait-source', source])
  check(status == 0, f'{what}: ends as without us', f'status {status} {errors[-300:].strip()}')
  rows, threads = report(result, 'waits'), report(result, 'threads')
  check(all(float(row[column]) >= 0 for row in rows for column in ('Wait Time', 'Ready Time') if row[column]), f'{what}: no time is negative')
  blocked = sum(float(row['Wait Time']) for row in threads if row['TID'])
  support.check_ratio(f'{what}: they add up to the blocked time', sum(float(row['Wait Time']) for row in rows), blocked, 3)
  named = sum(float(row['Wait Time']) for row in rows if not row['Sync Object'].startswith('['))
  check(named > 0.5 * blocked, f'{what}: most of the time has an object', f'{named:.3f} s of {blocked:.3f} s')


def run(name, command, drive=None, sources=('auto',)):
  if not shutil.which(command[0]):
    skip(name, f'{command[0]} is not installed')
    return
  with section(name):
    with Timehist(scratch('perf.data')) as hist, support.Stealing() as host:
      result, status, errors = collect_with('concurrency', command, drive, ['--no-finalize'])
    check(status == 0, f'{name}: ends as without us', f'status {status} {errors[-300:].strip()}')
    if hist.lost:
      skip(f'{name} beside timehist', 'perf lost records of the scheduler')
    else:
      compare(name, result, hist, support.summary(result)['target']['pid'], host.steal)
    for source in sources:
      run_waits(name, command, drive, source)


def run_short():
  socket = scratch('redis.sock')
  run('redis-server', ['redis-server', '--port', '0', '--unixsocket', socket, '--save', ''], run_redis(socket))
  run('xz', compress())
  run('make', write_sources(scratch('sources'), 4))


BOTH = ('bpf', 'observer')
NODE = """
const { Worker, isMainThread } = require('worker_threads');
function burn(ms) { const end = process.cpuUsage().user + ms * 1000; while (process.cpuUsage().user < end); }
if (isMainThread) { for (let i = 0; i < 2; i++) new Worker(__filename); setTimeout(() => burn(200), 100); }
else { for (let i = 0; i < 10; i++) { burn(20); Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10); } }
"""
JAVA = """
public class Contended {
  static final Object lock = new Object();
  static long sum;
  public static void main(String[] arguments) throws Exception {
    Thread[] threads = new Thread[4];
    for (int i = 0; i < threads.length; i++) {
      threads[i] = new Thread(() -> { for (int n = 0; n < 20; n++) synchronized (lock) { for (int k = 0; k < 5_000_000; k++) sum += k ^ n; } });
      threads[i].start();
    }
    for (Thread thread : threads) thread.join();
    System.out.println(sum);
  }
}
"""
GO = """
package main
import ("sync"; "time")
func main() {
  var lock sync.Mutex
  var all sync.WaitGroup
  sum := 0
  for i := 0; i < 8; i++ {
    all.Add(1)
    go func() { defer all.Done(); for n := 0; n < 10; n++ { lock.Lock(); for k := 0; k < 3000000; k++ { sum += k }; lock.Unlock(); time.Sleep(time.Millisecond) } }()
  }
  all.Wait()
}
"""


def write(name, text):
  path = scratch(name)
  with open(path, 'w', encoding='ascii') as file:
    file.write(text)
  return path


def run_postgres():
  """A server of its own, in the scratch directory: it refuses to run as root."""
  found = [folder for folder in ('/usr/lib/postgresql/15/bin', '/usr/lib/postgresql/17/bin') if os.path.isdir(folder)]
  if not found:
    skip('postgres', 'it is not installed')
    return
  place, nobody = scratch('postgres'), support.as_user(support.NOBODY)
  os.makedirs(place)
  os.chown(place, support.NOBODY, support.NOBODY)
  data = os.path.join(place, 'data')
  subprocess.run([f'{found[0]}/initdb', '-D', data, '-A', 'trust'], check=True, capture_output=True, **nobody)
  environment = {**os.environ, 'PGHOST': place, 'PGDATABASE': 'postgres', 'PGUSER': 'nobody'}

  def drive():
    support.wait_for(lambda: subprocess.run([f'{found[0]}/pg_isready', '-h', place], capture_output=True, check=False).returncode == 0)
    subprocess.run([f'{found[0]}/pgbench', '-i', '-s', '2', '-q'], check=True, capture_output=True, env=environment, **nobody)
    subprocess.run([f'{found[0]}/pgbench', '-c', '8', '-T', '3', '-n'], check=True, capture_output=True, env=environment, **nobody)
    subprocess.run([f'{found[0]}/pg_ctl', '-D', data, '-m', 'fast', 'stop'], check=True, capture_output=True, **nobody)
  server = ['setpriv', f'--reuid={support.NOBODY}', f'--regid={support.NOBODY}', '--clear-groups',
            f'{found[0]}/postgres', '-D', data, '-k', place, '-h', '']
  run('postgres', server, drive, BOTH)


def run_long():
  run('node', ['node', write('burn.js', NODE)], sources=BOTH)
  source = write('Contended.java', JAVA)
  if shutil.which('javac'):
    subprocess.run(['javac', '-d', os.path.dirname(source), source], check=True)
  run('java', ['java', '-cp', os.path.dirname(source), 'Contended'], sources=BOTH)
  source = write('contended.go', GO)
  if shutil.which('go'):
    environment = {**os.environ, 'GOCACHE': scratch('gocache'), 'HOME': scratch('')}
    subprocess.run(['go', 'build', '-o', scratch('contended'), source], check=True, env=environment)
  run('go', [scratch('contended')], sources=BOTH)
  run_postgres()


def main():
  support.start()
  if os.getuid() != 0:
    skip('real programs', 'perf needs root for the events of the scheduler')
  elif 'long' in sys.argv[2:]:
    run_long()
  else:
    run_short()
  support.finish()


main()
