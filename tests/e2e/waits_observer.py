"""What threads wait for, looked at while they wait: by an ordinary user, against the program's own clocks.

Every wait of target-waiting lasts longer than the threshold. Where the machine takes a looker's time away, waits may
be lost: they are counted as such, and never more are missing.
"""

import csv
import io
import json
import os
import re
import signal
import subprocess
import sys
import time

import support
from support import check, section

# Those who wake sleep, too: sleep goes alone.
WAITS = ['mutex=40x25', 'queue=20x12', 'semaphore=20x12', 'barrier=10x12', 'pipe=20x12', 'poll=10x12', 'join=5x12', 'forks=10x12']
# Little longer than the threshold, with which the observer has to come in time.
SHORT = ['semaphore=25x5', 'poll=25x6', 'queue=20x8', 'pipe=20x10', 'mutex=20x12']
# Objects without a name, by their addresses.
HEAP = ['heap', 'queue=10x12', 'rwlock=5x12', 'semaphore=5x12', 'barrier=5x12']
OBSERVED = ('-c', 'locks-and-waits', '--wait-source', 'observer')
CPU_SHARE = 0.02  # of one CPU, the observer's thread


def waits_below(result):
  """{function: {'count', 'time', 'objects'}} of the waits with the function on their stack."""
  text = support.run_tool('tbreport', 'waits', result, '--format', 'csv', '--stacks').stdout
  found, title = {}, None
  for row in csv.DictReader(io.StringIO(text)):
    name = row['Sync Object / Function Stack']
    if not name.startswith(' '):
      title = name
      continue
    entry = found.setdefault(name.strip(), {'count': 0, 'time': 0.0, 'objects': set()})
    entry['count'] += int(row['Wait Count'])
    entry['time'] += float(row['Wait Time'])
    entry['objects'].add(title)
  return found


def lost_waits(result):
  """Waits that the observer did not come to see, and those whose ends were lost."""
  text = support.run_tool('tbreport', 'waits', result).stdout
  words = [line.split() for line in text.splitlines() if re.match(r'\d+ waits? lost', line)]
  unseen = [int(row['Wait Count']) for row in support.report(result, 'waits') if row['Sync Object'] == '[Not looked at]']
  return sum(unseen) + (int(words[0][0]) if words else 0)


def said(text):
  return [json.loads(line) for line in text.splitlines() if line.startswith('{')]


def check_wait(what, fact, found, lost, steal):
  """A kind of wait: none twice, none missing but the lost ones, and as long as the program says."""
  seen = found.get(fact['function'], {'count': 0, 'time': 0.0, 'objects': set()})
  missing = fact['count'] - seen['count']
  check(0 <= missing <= lost, f'{what}: {fact["mode"]} waits', f'{seen["count"]} of {fact["count"]}, {lost} lost in all')
  if missing == 0:
    # The program's clock also has the way to a CPU and back, twice for each wait.
    support.check_ratio(f'{what}: time of {fact["mode"]}', seen['time'], fact['time_s'], 2, steal)
  wanted = f'{fact["type"]} {fact["object"]}'.strip()
  check(any(name.startswith(wanted) for name in seen['objects']), f'{what}: object of {fact["mode"]}', sorted(seen['objects']))
  return max(missing, 0)


def check_result(what, result, facts, steal=0.0):
  found, lost = waits_below(result), lost_waits(result)
  missing = sum(check_wait(what, fact, found, lost, steal) for fact in facts)
  total = sum(fact['count'] for fact in facts)
  check(missing <= 0.05 * total, f'{what}: waits with their stack', f'{total - missing} of {total}, {lost} lost in all')


def observer_cost(stderr):
  """What tbcollect -v says of its observer: (reads, looks, CPU seconds)."""
  lines = [line for line in stderr.splitlines() if 'threads read while they waited' in line]
  words = lines[0].split()
  return int(words[1]), float(words[words.index('s') - 1])


def launch(what, program, waits, uid):
  with support.Stealing() as host:
    got = support.collect([support.target(program), *waits], options=(*OBSERVED, '-v'), uid=uid, interval='10ms')
  if not check(got.status == 0, f'{what}: collects', got.stderr.strip()[-300:] if got.status else ''):
    return
  check_result(what, got.result, said(got.stdout), host.steal)
  reads, cpu_s = observer_cost(got.stderr)
  elapsed = support.summary(got.result)['elapsed_s']
  # BURST_NS of CPU time may be used at once.
  check(cpu_s <= CPU_SHARE * elapsed + 0.05, f'{what}: CPU time of the observer', f'{cpu_s:.4f} s of {elapsed:.2f} s, {reads} reads')


def attach(uid):
  """The program waits for its input before it begins: it is attached to meanwhile."""
  result = support.new_result()
  shell = f'read line; exec "{support.target("waiting")}" mutex=40x25 pipe=20x12'
  with subprocess.Popen(['sh', '-c', shell], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, **support.as_user(uid)) as target:
    collector = subprocess.Popen([support.tool('tbcollect'), *OBSERVED, '-v', '-r', result, '-p', str(target.pid)], stdout=subprocess.DEVNULL,
                                 stderr=subprocess.PIPE, text=True, **support.as_user(uid))
    started = next((line for line in collector.stderr if line.startswith(support.COLLECTS)), None)
    check(started is not None, 'attach: begins')
    # The first look is due once the observer runs, and the shell has waited as long as the threshold.
    time.sleep(0.2)
    with support.Stealing() as host:
      stdout, _ = target.communicate('go\n', timeout=support.HANGS_S)
      errors = collector.stderr.read()
    collector.wait(support.HANGS_S)
  check(collector.returncode == 0 and target.returncode == 0, 'attach: both end well', errors.strip()[-300:] if collector.returncode else '')
  check_result('attach', result, said(stdout), host.steal)
  before = waits_below(result)
  check(any('read' in name for name in before), 'attach: the wait of before it', sorted(before)[:12])
  marked = [row for row in support.report(result, 'waits') if row['Begun Before'] == '1']
  check(len(marked) == 1 and marked[0]['Type'] == 'Pipe', 'attach: it is marked', [(row['Sync Object'], row['Begun Before']) for row in marked])


def many(uid):
  """10,000 threads that wait at once are too many to be looked at: the times of all are known, and what has no object says so."""
  got = support.collect([support.target('waiting'), 'idlers=10000x300'], options=OBSERVED, uid=uid, interval='10ms')
  check(got.status == 0, 'many: collects', got.stderr.strip()[-300:] if got.status else '')
  rows = support.report(got.result, 'waits')
  count = {row['Sync Object']: int(row['Wait Count']) for row in rows}
  seen, unseen = count.get('Condition Variable queue_filled', 0), count.get('[Not looked at]', 0)
  check(seen > 0 and unseen > 0, 'many: some are looked at', f'{seen} looked at, {unseen} not')
  short = sum(number for name, number in count.items() if name.startswith('[Short'))
  lost = lost_waits(got.result) - unseen
  check(short <= 0.01 * said(got.stdout)[0]['threads'] + lost, 'many: no long wait is among the short ones', f'{short} short ones, {lost} lost')
  total = sum(float(row['Wait Time']) for row in rows)
  blocked = sum(float(row['Wait Time']) for row in support.report(got.result, 'threads'))
  support.check_ratio('many: time', total, blocked, 1)


def hidden(uid):
  """A program that forbids to be looked at: its times remain."""
  script = 'import ctypes, time; ctypes.CDLL(None).prctl(4, 0, 0, 0, 0); [time.sleep(0.02) for _ in range(20)]'
  got = support.collect(['/usr/bin/python3', '-c', script], options=OBSERVED, uid=uid, interval='10ms')
  check(got.status == 0, 'hidden: collects', got.stderr.strip()[-300:] if got.status else '')
  text = support.run_tool('tbreport', 'waits', got.result).stdout
  slept = sum(float(row['Wait Time'] or 0) for row in support.report(got.result, 'threads'))
  check(slept >= 0.4, 'hidden: its blocked time', f'{slept:.3f} s')
  said_so = [line for line in text.splitlines() if 'hides what it waits for' in line]
  check(len(said_so) == 1 and 'PR_SET_DUMPABLE' in said_so[0], 'hidden: is said once', said_so)


def stopped(uid):
  """Stopped in the midst of a wait: still one wait."""
  result = support.new_result()
  with subprocess.Popen([support.tool('tbcollect'), *OBSERVED, '-v', '-r', result, '--', 'sleep', '1'], stdout=subprocess.DEVNULL,
                        stderr=subprocess.PIPE, text=True, **support.as_user(uid)) as collector:
    next((line for line in collector.stderr if line.startswith(support.COLLECTS)), None)
    pid = support.child_of(collector)
    support.wait_for(lambda: state_of(pid) == 'S' and name_of(pid) == 'sleep')
    os.kill(pid, signal.SIGSTOP)
    support.wait_for(lambda: state_of(pid) == 'T')
    with subprocess.Popen(['sleep', '0.2']) as pause:
      pause.wait()
    os.kill(pid, signal.SIGCONT)
    collector.stderr.read()
  rows = [row for row in support.report(result, 'waits') if row['Type'] == 'Sleep']
  count = sum(int(row['Wait Count']) for row in rows)
  time = sum(float(row['Wait Time'] or 0) for row in rows)
  check(count == 1, 'stopped: one wait', count)
  states = support.summary(result)['states']
  check(states['stopped_s'] >= 0.2, 'stopped: the time of the stop is the thread\'s', f'{states["stopped_s"]:.3f} s')
  # nanosleep goes on until the time that it was to end at.
  check(time + states['stopped_s'] >= 0.98, 'stopped: its time', f'{time:.3f} s, stopped {states["stopped_s"]:.3f} s')


def killed(uid):
  """Killed in the midst of a wait: it lasts until then."""
  got = support.collect(['timeout', '-s', 'KILL', '1', 'sleep', '5'], options=OBSERVED, uid=uid, interval='10ms')
  rows = [row for row in support.report(got.result, 'waits') if row['Type'] == 'Sleep']
  time, elapsed = sum(float(row['Wait Time']) for row in rows), support.summary(got.result)['elapsed_s']
  check(len(rows) == 1 and int(rows[0]['Wait Count']) == 1, 'killed: one wait', [row['Wait Count'] for row in rows])
  # timeout sets its timer before sleep begins, and that one has to be loaded.
  check(0.5 - got.steal <= time <= elapsed, 'killed: its time', f'{time:.4f} s of {elapsed:.4f} s')


def state_of(pid):
  with open(f'/proc/{pid}/stat', encoding='utf-8', errors='replace') as file:
    return file.read().rpartition(')')[2].split()[0]


def name_of(pid):
  with open(f'/proc/{pid}/comm', encoding='utf-8', errors='replace') as file:
    return file.read().strip()


def main():
  support.start()
  uid = support.NOBODY if os.getuid() == 0 else None
  for what, program, waits in (('launch', 'waiting', WAITS), ('heap', 'waiting', HEAP), ('short', 'waiting', SHORT), ('static', 'waiting-static', WAITS), ('sleep', 'waiting', ['sleep=40x12'])):
    with section(what):
      launch(what, program, waits, uid)
  with section('attach'):
    attach(uid)
  with section('many'):
    many(uid)
  with section('hidden'):
    hidden(uid)
  with section('stopped'):
    stopped(uid)
  with section('killed'):
    killed(uid)
  support.finish()


if __name__ == '__main__':
  main()
