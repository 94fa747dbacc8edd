"""Waits by BPF: counts, times, wakers and their stacks, against a program that knows them; signals, stops, ends in the midst of a
wait; who may use it."""

import collections
import json
import os
import re
import subprocess

import support as s

PAIRS = ['mutex=40x25', 'queue=10x25', 'rwlock=10x25', 'semaphore=10x25', 'barrier=10x25', 'pipe=10x25', 'signals=10x25']
BPF = ['-c', 'locks-and-waits', '--wait-source', 'bpf', '--waker-stacks', 'all']
COMPLETE, SKIPPED, BUDGET, NO_REGS = 0, 1, 1, 8  # PROFILE_STACK_..., PROFILE_SKIP_BUDGET
INTERRUPTED, STOPPED, UNENDED, BEFORE = 2, 4, 8, 16  # PROFILE_WAIT_... of profile.h
FUTEX, SLEEP = 202, 230

# Runs the program of its arguments until all three threads of a pair wait in their calls, then stops or kills it. Says for how
# long it was stopped.
HALTS = r"""
import os, signal, subprocess, sys, time
program = subprocess.Popen(sys.argv[2:])
def calls():
  tasks = '/proc/%d/task' % program.pid
  found = []
  for task in os.listdir(tasks):
    with open('%s/%s/syscall' % (tasks, task)) as file:
      found.append(file.read().split()[0])
  return sorted(found)
while calls() != ['202', '202', '230']:
  time.sleep(0.001)
if sys.argv[1] == 'kill':
  program.kill()
else:
  program.send_signal(signal.SIGSTOP)
  os.waitpid(program.pid, os.WUNTRACED)
  began = time.monotonic()
  time.sleep(0.4)
  print('stopped_s', time.monotonic() - began, flush=True)
  program.send_signal(signal.SIGCONT)
program.wait()
"""


def waits_of(result):
  """The records of tbcollect.waits, as dictionaries of numbers."""
  lines = s.run_tool('print_tb5', os.path.join(result, os.path.basename(result) + '.tb5')).stdout.splitlines()
  begin = next(i for i, line in enumerate(lines) if 'comment="tbcollect.waits"' in line)
  rows = []
  for line in lines[begin + 1:]:
    if line.startswith('[stream '):
      break
    if re.match(r' *\d+: start_tsc=', line):
      rows.append({name: int(value) for name, value in re.findall(r'(\w+)=(\d+)', line)})
  return rows


def lost(result):
  """Waits without a record, by the notes: the kernel need not trace all that runs."""
  lines = s.run_tool('print_tb5', os.path.join(result, os.path.basename(result) + '.tb5')).stdout
  return sum(int(value) for value in re.findall(r' value=(\d+) kind=55 ', lines))


def check_count(what, seen, expected, result):
  missing = lost(result)
  s.check(expected - missing <= seen <= expected, what, f'{seen} of {expected}, {missing} lost')


def facts_of(got):
  return [json.loads(line) for line in got.stdout.splitlines() if line.startswith('{')]


def seconds(rows):
  return sum(row['wait_ns'] + row['ready_ns'] for row in rows) / 1e9


def heaviest(waits, count):
  """The waits of the objects with most time, up to so many: what threads wait for besides takes them little."""
  by_object = collections.defaultdict(list)
  for wait in waits:
    if wait['syscall'] != SLEEP:
      by_object[wait['object']].append(wait)
  chosen = []
  for rows in sorted(by_object.values(), key=lambda rows: -seconds(rows)):
    if len(chosen) < count:
      chosen += rows
  return chosen


def check_wakers(mode, fact, waits):
  """By thread of all waits, and by function where the waker's stack says it."""
  right = sum(wait['waker_tid'] == fact['waker_tid'] for wait in waits)
  s.check(right >= 0.99 * len(waits), f'{mode}: the waking thread', f'{right} of {len(waits)}')


def table(got, fact):
  """The rows of the report about the object that the fact is of."""
  name = f'{fact["type"]} {fact["object"]}'.strip()
  functions = (fact['function'], 'await')  # semaphores are waited for in a function of their own
  return [row for row in s.report(got.result, 'waits') if row['Sync Object'].startswith(name) and row['Function'] in functions]


def pairs():
  """One mode a run: the threads also wait in other objects, of the same names."""
  for mode in PAIRS:
    got = s.collect_well([s.target('waiting'), mode], what=mode, options=BPF)
    fact = facts_of(got)[0]
    rows = table(got, fact)
    count = sum(int(row['Wait Count']) for row in rows)
    total = sum(float(row['Wait Time']) + float(row['Ready Time']) for row in rows)
    check_count(f'{mode}: waits', count, fact['count'], got.result)
    own = [wait for wait in waits_of(got.result) if wait['tid'] == fact['tid']]
    # What the handlers wait for is in the program's time, and not in the wait's.
    handlers = [wait for wait in own if wait['syscall'] == SLEEP]
    check_count(f'{mode}: other waits', len(handlers), 4 * fact['count'] if mode.startswith('signals') else 0, got.result)
    # Without those that are lost; they are alike.
    s.check_ratio(f'{mode}: time', total + seconds(handlers), fact['time_s'] * count / fact['count'], 2, got.steal)
    s.check(bool(rows) and all(row['Waker Function'] == fact['waker_function'] for row in rows), f'{mode}: the waking function',
            [row['Waker Function'] for row in rows])
    waits = heaviest(own, fact['count'] - lost(got.result))
    check_count(f'{mode}: records', len(waits), fact['count'], got.result)
    check_wakers(mode, fact, waits)
    # Where the kernel did not trace the way back, the registers are not those of the wait.
    traced = [wait for wait in waits if (wait['state'], wait['reason']) != (SKIPPED, NO_REGS)]
    complete = sum(wait['state'] == 0 and wait['waker_state'] == 0 for wait in traced)
    s.check(complete >= 0.99 * len(traced) and len(traced) >= 0.9 * len(waits) > 0, f'{mode}: stacks of both threads', f'{complete} of {len(traced)}, {len(waits) - len(traced)} not traced')
    if mode.startswith('signals'):
      s.check(all(wait['flags'] & INTERRUPTED and wait['blocks'] > 1 for wait in waits), f'{mode}: one wait though interrupted',
              [(wait['flags'], wait['blocks']) for wait in waits])


def addresses():
  """Objects that are no variables are named by where they begin, not by the word that is waited for."""
  modes = ['heap', 'mutex=5x12', 'queue=10x12', 'rwlock=5x12', 'semaphore=5x12', 'barrier=5x12']
  got = s.collect_well([s.target('waiting'), *modes], options=BPF)
  for fact in facts_of(got):
    count = sum(int(row['Wait Count']) for row in table(got, fact))
    check_count(f'addresses: {fact["type"]} {fact["object"]}', count, fact['count'], got.result)


def timers():
  """Timers wake in nobody's name."""
  for mode in ('sleep=10x25', 'poll=10x25'):
    got = s.collect_well([s.target('waiting'), mode], what=mode, options=BPF)
    fact = facts_of(got)[0]
    rows = table(got, fact)
    check_count(f'{mode}: waits', sum(int(row['Wait Count']) for row in rows), fact['count'], got.result)
    timed = [wait for wait in waits_of(got.result) if wait['tid'] == fact['tid'] and wait['wait_ns'] >= 15e6]
    check_count(f'{mode}: records', len(timed), fact['count'], got.result)
    s.check_ratio(f'{mode}: time', seconds(timed), fact['time_s'] * len(timed) / fact['count'], 2, got.steal)
    s.check(all(wait['waker_tid'] == 0 for wait in timed), f'{mode}: no waker', [wait['waker_tid'] for wait in timed])


def joins():
  """Joined threads wake by their end."""
  got = s.collect_well([s.target('waiting'), 'join=10x25'], what='join', options=BPF)
  fact = facts_of(got)[0]
  waits = [wait for wait in waits_of(got.result) if wait['tid'] == fact['tid'] and wait['wait_ns'] >= 15e6]
  check_count('join: waits', len(waits), fact['count'], got.result)
  s.check_ratio('join: time', seconds(waits), fact['time_s'] * len(waits) / fact['count'], 2, got.steal)
  s.check(all(wait['waker_tid'] not in (0, wait['tid']) for wait in waits), 'join: the ended thread is the waker',
          [wait['waker_tid'] for wait in waits])


def stops():
  """The time in which a process is stopped is not waited."""
  got = s.collect_well(['python3', '-c', HALTS, 'stop', s.target('waiting'), 'mutex=1x800'], what='stop', options=BPF)
  fact = facts_of(got)[0]
  stopped_s = float(re.search(r'^stopped_s (\S+)$', got.stdout, re.MULTILINE).group(1))
  waits = [wait for wait in waits_of(got.result) if wait['tid'] == fact['tid'] and wait['wait_ns'] >= 15e6]
  s.check(len(waits) == 1 and all(wait['flags'] & STOPPED for wait in waits), 'stop: one wait', waits)
  s.check_ratio('stop: time', seconds(waits), fact['time_s'] - stopped_s, 2, got.steal)


def kills():
  got = s.collect(['python3', '-c', HALTS, 'kill', s.target('waiting'), 'mutex=1x100000'], options=BPF)
  waits = [wait for wait in waits_of(got.result) if wait['flags'] & UNENDED]
  s.check(got.status == 0 and sorted(wait['syscall'] for wait in waits) == [FUTEX, FUTEX, SLEEP], 'kill: the waits of all threads',
          [wait['syscall'] for wait in waits])
  s.check(all(wait['state'] == 0 for wait in waits), 'kill: their stacks', [wait['state'] for wait in waits])


def many():
  """10,000 threads that one call wakes: stacks are left out, no waits."""
  got = s.collect_well([s.target('waiting'), 'idlers=10000x300'], what='many', options=BPF, interval='10ms')
  told = facts_of(got)[0]
  rows = s.report(got.result, 'waits')
  short = sum(int(row['Wait Count']) for row in rows if row['Sync Object'].startswith('[Short'))
  count = sum(int(row['Wait Count']) for row in rows) - short
  s.check(count >= 0.99 * (count + short), 'many: waits with a record', f'{count} of {count + short}, {lost(got.result)} lost')
  unseen = sum(float(row['Wait Time']) for row in rows if row['Sync Object'].startswith('[Short'))
  # Switches and waits are two programs' readings of the clock.
  s.check(lost(got.result) > 0 or unseen <= short * 1e-5 + count * 1e-7, 'many: the others are short, or lost', f'{short} take {unseen:.6f} s, {lost(got.result)} lost')
  named = sum(int(row['Wait Count']) for row in rows if row['Sync Object'] == 'Condition Variable queue_filled')
  s.check(named >= 0.99 * told['threads'], 'many: the object of all', f'{named} of {told["threads"]}')
  blocked = sum(float(row['Wait Time']) for row in s.report(got.result, 'threads'))
  s.check_ratio('many: time', sum(float(row['Wait Time']) for row in rows if not row['Sync Object'].startswith('[Short')), blocked, 1)
  waits = [wait for wait in waits_of(got.result) if wait['syscall'] == FUTEX]
  reasons = collections.Counter((wait['state'], wait['reason']) for wait in waits)
  known = reasons[COMPLETE, 0] + reasons[SKIPPED, BUDGET]
  s.check(known >= 0.99 * len(waits) > 0 and reasons[SKIPPED, BUDGET] > 0, 'many: stacks are whole, or left out', dict(reasons))


def calls(pid):
  """The numbers of the calls in which the threads wait."""
  found = []
  for task in os.listdir(f'/proc/{pid}/task'):
    with open(f'/proc/{pid}/task/{task}/syscall', encoding='ascii') as file:
      found.append(file.read().split()[0])
  return sorted(found)


def attached():
  """Waits that began before, and go on: with stacks, for as long as the collection."""
  with subprocess.Popen([s.target('waiting'), 'mutex=1x100000'], stdout=subprocess.DEVNULL) as program:
    try:
      s.wait_for(lambda: calls(program.pid) == [str(FUTEX), str(FUTEX), str(SLEEP)])
      result = s.new_result()
      done = subprocess.run([s.tool('tbcollect'), *BPF, '-d', '1', '-r', result, '-p', str(program.pid)], capture_output=True,
                            text=True, check=False)
    finally:
      program.kill()
  waits = waits_of(result)
  s.check(done.returncode == 0 and sorted(wait['syscall'] for wait in waits) == [FUTEX, FUTEX, SLEEP], 'attached: three waits',
          done.stderr or [wait['syscall'] for wait in waits])
  s.check(all(wait['flags'] == UNENDED | BEFORE and wait['state'] == 0 for wait in waits), 'attached: they go on, and have stacks', waits)
  elapsed_s = s.summary(result)['elapsed_s']
  for wait in waits:
    s.check_ratio('attached: time', seconds([wait]), elapsed_s, 2)


def attached_meanwhile():
  """Waits that began before, and end: as a part of what the program waited, with the stack of a program that is gone then."""
  with subprocess.Popen([s.target('waiting'), 'sleep=1x900'], stdout=subprocess.PIPE, text=True) as program:
    s.wait_for(lambda: calls(program.pid) == [str(FUTEX), str(SLEEP)])
    result = s.new_result()
    done = subprocess.run([s.tool('tbcollect'), *BPF, '-r', result, '-p', str(program.pid)], capture_output=True, text=True, check=False)
    told = json.loads(program.stdout.readline())
  waits = [wait for wait in waits_of(result) if wait['wait_ns'] >= 15e6]
  s.check(done.returncode == 0 and sorted(wait['syscall'] for wait in waits) == [FUTEX, SLEEP], 'attached meanwhile: both waits',
          done.stderr or [wait['syscall'] for wait in waits])
  s.check(all(wait['flags'] & BEFORE and not wait['flags'] & UNENDED and wait['state'] == 0 for wait in waits),
          'attached meanwhile: began before, have stacks', waits)
  elapsed_s = s.summary(result)['elapsed_s']
  for wait in waits:
    s.check(0.9 * min(elapsed_s, told['time_s']) <= seconds([wait]) <= told['time_s'], 'attached meanwhile: time',
            f'{seconds([wait]):.4f} s in {elapsed_s:.4f} s, {told["time_s"]:.4f} s by the program')
  rows = [row for row in s.report(result, 'waits') if row['Begun Before'] == '1']
  s.check(sorted(row['Type'] for row in rows) == ['Sleep', 'Thread join'] and sorted(row['Function'] for row in rows) == ['rest', 'run_timed'],
          'attached meanwhile: the report says so', rows)


def threshold():
  got = s.collect_well([s.target('waiting'), 'mutex=5x40', 'semaphore=5x5'], options=[*BPF, '--wait-threshold', '20ms'])
  counts = [sum(int(row['Wait Count']) for row in table(got, fact)) for fact in facts_of(got)]
  s.check(counts == [5, 0], 'threshold: longer waits only', counts)


def privileges():
  got = s.collect([s.target('waiting'), 'sleep=1x1'], uid=s.NOBODY, options=BPF)
  lines = got.stderr.strip().splitlines()
  s.check(got.status == 1 and len(lines) == 1 and 'CAP_BPF' in lines[0], 'an ordinary user is told why', got.stderr.strip())
  got = s.collect([s.target('waiting'), 'sleep=1x1'], uid=s.NOBODY, options=['-v', '-c', 'locks-and-waits'])
  s.check(got.status == 0 and 'by an observer, not by BPF: CAP_BPF' in got.stderr, 'an ordinary user gets the observer',
          [line for line in got.stderr.splitlines() if 'waits' in line])
  got = s.collect([s.target('waiting'), 'sleep=1x1'], uid=s.NOBODY, options=['-c', 'locks-and-waits', '--waker-stacks', 'all'])
  s.check(got.status == 0 and "no wakers' stacks: " in got.stderr, 'who asked for all wakers is told', got.stderr.strip())


def is_built():
  done = s.collect(['true'], options=BPF)
  return 'built without BPF' not in done.stderr, 'CAP_BPF' not in done.stderr


s.start()
built, permitted = is_built()
if not built or not permitted:
  s.skip('waits by BPF', 'built without BPF' if not built else 'not permitted')
  s.finish()
for part in (pairs, addresses, timers, joins, stops, kills, many, attached, attached_meanwhile, threshold, privileges):
  with s.section(part.__name__):
    part()
s.finish()
