"""Sampling does not lock to programs that do the same again and again. The long form, with perf beside it and tighter
limits, is tests/bench/resonance.

tests/targets/lives/cycle.c does a, b, c for 50, 30 and 20 % of each cycle of CPU time and says what each used. Shares of n
independent samples have a chi-square distance from the truth, n * sum((shown - true)^2 / true), that is distributed with
two degrees of freedom, and the sum over runs with twice as many as there are runs; how fast the machine is does not enter.
The limit is where ideal sampling is beyond it once in ten million, with errors 1.15 times the ideal's, which is what
the bench allows: with one limit for each user, a test fails by chance less than once in a million times. A sampler
that locks is beyond it by a factor of ten and more: see with --sampling fixed.

Usage: resonance.py BUILD_DIRECTORY [OPTION OF TBCOLLECT...]
"""

import math
import os
import shutil
import sys

import support as s
import unprivileged

FUNCTIONS = ('cycle_a', 'cycle_b', 'cycle_c')
CHANCE, RMS = 1e-7, 1.15
# Interval and cycle in us, CPU time in ms: cycles of an interval and of exact parts and multiples of it.
RUNS = ((1000, 1000, 800), (1000, 500, 800), (1000, 1500, 800), (1000, 2000, 800), (10000, 10000, 2000))


def chance_beyond(distance, runs):
  """That two degrees of freedom for each run are further from the truth (chi-square, even degrees: a finite sum)."""
  half = distance / 2
  return math.exp(-half) * sum(half ** i / math.factorial(i) for i in range(runs))


def limit(runs):
  low, high = 0.0, 10000.0
  while high - low > 0.01:
    middle = (low + high) / 2
    low, high = (middle, high) if chance_beyond(middle, runs) > CHANCE else (low, middle)
  return RMS ** 2 * high


def distance(interval_us, cycle_us, run_ms, uid, options):
  """One run, on one CPU: where nothing but the sampler itself disturbs its phase."""
  cpu = max(os.sched_getaffinity(0))
  command = [s.target('cycle'), str(1000 * cycle_us), str(run_ms), '1', str(cpu)]
  got = s.collect_well(command, what='cycle', interval=f'{interval_us}us', options=options, uid=uid)
  facts = got.truth()
  rows = [row for row in s.report(got.result, 'hotspots') if row['Function'] in FUNCTIONS]
  shutil.rmtree(got.result)
  count, whole = sum(int(row['Samples']) for row in rows), s.seconds(rows)
  true = {name: s.number(facts, name) for name in FUNCTIONS}
  pairs = [(s.seconds(rows, Function=name) / whole, true[name] / sum(true.values())) for name in FUNCTIONS]
  found = count * sum((shown - share) ** 2 / share for shown, share in pairs)
  s.note(f'T {interval_us / 1000:g} ms, L {cycle_us / 1000:g} ms: {"/".join(f"{100 * shown:.1f}" for shown, _ in pairs)} shown, '
         f'{"/".join(f"{100 * share:.1f}" for _, share in pairs)} true, {count} samples, distance {found:.1f}')
  expected = 1000 * run_ms / interval_us
  s.check(0.5 * expected <= count <= 1.5 * expected, 'as many samples as the interval says', f'{count} of {expected:.0f}')
  return found


def sweep(user, uid, options):
  found = sum(distance(*run, uid, options) for run in RUNS)
  most = limit(len(RUNS))
  s.check(found <= most, f'{user}: samples are independent of the program', f'distance {found:.1f}, at most {most:.1f}')


s.start()
given = sys.argv[2:]
if os.getuid() != 0:
  sweep('ordinary user', None, given)
else:
  with unprivileged.paranoid_level('2'):
    for name, who in (('root', None), ('ordinary user', s.NOBODY)):
      with s.section(name):
        sweep(name, who, given)
s.finish()
