"""Threads and processes that live less than an interval are in the profile, and in accounts that name their programs. The
long form, with tighter limits, is tests/bench/short_lives.

What samples show of n intervals of CPU time is known to one part in the root of n where samples are independent. A limit is
what the bench allows and 5.5 times that: one check in ten million fails by chance. Where threads of a name share
their account it is known better, never worse. Nothing depends on how fast the machine is: times are CPU times, and
compared with what the programs, wait4 and the scheduler say of them.
"""

import collections
import math
import os
import shutil

import scheduler
import support as s
import unprivileged

SIGMAS = 5.5
ALLOWED = {'root': 5, 'ordinary user': 10}  # percent
# With privileges accounts are the kernel's. Without, what a task used after its last tick in user code is an estimate, and
# what that leaves over is said to be of no known thread: then only sums are exact. Percent.
ACCOUNT = {'root': 1, 'ordinary user': 20}
# Kind of life and its length, interval, CPU time in ms; an ordinary user's are of half an interval or more.
LIVES = {'root': (('thread', 100, '1ms', 600), ('thread', 5000, '10ms', 1500), ('fork', 1600, '1ms', 600)),
         'ordinary user': (('thread', 1000, '1ms', 800), ('thread', 5000, '10ms', 1500), ('fork', 1600, '1ms', 600))}

MAKEFILE = '''all: part0.o part1.o part2.o part3.o
\t@set -e; $(CC) -r part*.o -o whole.o; test -s whole.o
%.o: %.c
\t@set -e; $(CC) -c $< -o $@; test -s $@
'''


def interval_ms(interval):
  return float(interval.removesuffix('ms'))


def accounts(result):
  """{program: CPU time} of the threads."""
  found = collections.Counter()
  for row in s.report(result, 'threads'):
    if row['PID']:  # time of no known thread has none
      found[row['Process']] += float(row['CPU Time'])
  return found


def lives(user, uid, kind, life_us, interval, ms):
  what = f'{user}: {kind}s of {life_us / 1000:g} ms at {interval}'
  got = s.collect_well([s.target('brief'), str(ms), str(life_us), kind], what=what, interval=interval, uid=uid)
  facts = got.truth()
  burn = s.number(facts, 'burn_ns') / 1e9
  bound = round(ALLOWED[user] + SIGMAS * 100 / math.sqrt(1000 * burn / interval_ms(interval)), 1)
  s.check_ratio(f'{what}: in brief_burn', s.seconds_in(got.result, 'brief_burn'), burn, bound, got.steal)
  account, whole = accounts(got.result)['target-brief'], s.number(facts, 'all_ns') / 1e9
  s.check_ratio(f'{what}: in accounts', account, whole, ACCOUNT[user], got.steal)
  s.check_ratio(f'{what}: with what is of no known thread', account + s.unattributed(got.result), whole, 1, got.steal)
  shutil.rmtree(got.result)


def write_project(folder):
  os.makedirs(folder)
  os.chmod(folder, 0o777)
  files = {'Makefile': MAKEFILE}
  for i in range(4):
    files[f'part{i}.c'] = ''.join(f'int part{i}_{j}(int n) {{ return n * {j}; }}\n' for j in range(200))
  for name, text in files.items():
    with open(os.path.join(folder, name), 'w', encoding='ascii') as file:
      file.write(text)


def make(user, uid):
  """Each program that make starts has its time, also what lives a fraction of an interval."""
  what, folder = f'{user}: make -j2 at 10ms', s.scratch(user.replace(' ', '-'))
  write_project(folder)
  with scheduler.Account(s.scratch('sched.data')) as account:
    got = s.collect_well([s.target('brief'), '1', '0', 'exec', 'make', '-s', '-j2', '-C', folder], what=what, interval='10ms', uid=uid)
  true = account.used(s.summary(got.result)['target']['pid'])
  seen = accounts(got.result)
  # From switch to switch is time on the wall: interrupts and what the host took are in it, and in nobody's account.
  whole, wall = s.number(got.truth(), 'all_ns') / 1e9, sum(seconds for seconds, _ in true.values())
  others = max(0.0, wall - whole)
  for name in ('make', 'sh', 'cc1', 'as'):
    seconds, tasks = true.get(name, (0.0, 0))
    s.check(tasks > 0, f'{what}: {name} ran', tasks)
    figures = f'{seen[name]:.4f} s in accounts, {seconds:.4f} s true, {tasks} tasks'
    if user == 'root':
      # A switch takes some us that belong to the one task for perf and to the other for the kernel.
      bound = 0.01 * seconds + 0.0001 * tasks
      s.check(-bound - others <= seen[name] - seconds <= bound, f'{what}: {name} has its time',
              f'{figures}, {others:.4f} s of others in all')
    else:
      s.check(seen[name] > 0, f'{what}: {name} has an account', figures)
  # What the program's process did before it became the program is in no account.
  known = sum(seen.values()) + s.unattributed(got.result)
  s.check(abs(known - whole) <= 0.02 * whole + 0.005 + got.steal, f'{what}: in accounts, with what is of no known thread',
          f'{known:.4f} seen, {whole:.4f} by wait4, {got.steal:.2f} stolen')


s.start()
if os.getuid() != 0:
  for part in LIVES['ordinary user']:
    lives('ordinary user', None, *part)
  s.skip('make', 'the scheduler tells only root what each program used')
else:
  with unprivileged.paranoid_level('2'):
    for name, who in (('root', None), ('ordinary user', s.NOBODY)):
      with s.section(name):
        for part in LIVES[name]:
          lives(name, who, *part)
        make(name, who)
s.finish()
