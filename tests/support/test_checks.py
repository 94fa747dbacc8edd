"""What the end-to-end tests' checks take for chance or for theft of the host, and what for a defect: figures as they were seen."""

import contextlib
import io
import os
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'e2e'))

import support as s  # after the path to it


def passes(check, *arguments, **options):
  """Whether a check passes."""
  failed = s.Run.failed
  with contextlib.redirect_stdout(io.StringIO()):
    check('seen', *arguments, **options)
  return s.Run.failed == failed


def expect(passed, check, *arguments, **options):
  if passes(check, *arguments, **options) != passed:
    sys.exit(f'{check.__name__}{arguments} {options}: {"fails" if passed else "passes"}')


def total(samples, where, kernel_s):
  """A summary of a second of CPU time at 1 ms."""
  return {'kernel_time': {'where': where, 'in_no_function_s': kernel_s},
          'samples': samples, 'samples_lost': 0, 'cpu_time_s': 1.0, 'interval_s': 0.001}


# The row of kernel time of an ordinary user on a host that stole 0.115 s of a thread's 1.117 s: all of it stands there. Without
# theft, or with a point too much beyond what was stolen and the bound, it is a defect; so is time that is missing.
STOLEN = 0.1153 / 1.1173
expect(True, s.check_share, 70.44, 67.05, 3, stolen=STOLEN)
expect(False, s.check_share, 70.44, 67.05, 3)
expect(False, s.check_share, 67.05 * (1 - STOLEN) + 100 * STOLEN + 3.1, 67.05, 3, stolen=STOLEN)
expect(False, s.check_share, 67.05 * (1 - STOLEN) - 3.1, 67.05, 3, stolen=STOLEN)
expect(True, s.check_share, 29.56, 32.95, 3, stolen=STOLEN)

# Six standard deviations of 900 and 90000 samples of which half are expected: 10 points and 1.
expect(True, s.check_share, 59, 50, 3, samples=900)
expect(False, s.check_share, 61, 50, 3, samples=900)
expect(False, s.check_share, 51.1, 50, 0, samples=90000)
expect(False, s.check_least, 48.9, 50, 0, samples=90000)
expect(True, s.check_least, 60, 50, 0, samples=90000)

# Numbers of samples: by chance and one for each theft; more than that is none.
expect(True, s.check_count, 459, 400, 0)
expect(False, s.check_count, 521, 400, 0)
expect(True, s.check_count, 521, 400, steal=0.05)
expect(False, s.check_count, 279, 400, 0)
expect(True, s.check_samples, total(600, 'apart', 0.4))
expect(False, s.check_samples, total(600, 'at_calls', 0))
expect(False, s.check_samples, total(790, 'apart', 0.0))

# CPU time may be more by what was stolen, never less.
expect(True, s.check_ratio, 1.1173, 1.0020, 1, steal=0.42)
expect(False, s.check_ratio, 1.1173, 1.0020, 1, steal=0.05)
expect(False, s.check_ratio, 0.98, 1.0, 1, steal=0.42)

# Lost samples and left out stacks: as many as there was counted theft for, none without it.
LOST = {**total(4000, 'at_calls', 0), 'samples_lost': 3, 'threads': 1000, 'stacks': {'skipped': {'budget': 3}}}
expect(True, s.check_none_lost, LOST, steal=2.3)
expect(True, s.check_none_lost, LOST, steal=s.UNCOUNTED_S + 0.0031)
expect(False, s.check_none_lost, LOST, steal=s.UNCOUNTED_S + 0.002)
expect(False, s.check_none_lost, LOST)
expect(True, s.check_no_budget, LOST, 0.2, steal=s.UNCOUNTED_S + 0.0011)
expect(False, s.check_no_budget, LOST, 0.2, steal=s.UNCOUNTED_S)
