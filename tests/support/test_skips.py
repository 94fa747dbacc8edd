"""What is skipped passes nowhere: an end-to-end test's status, and what is counted of meson's logs.

Usage: test_skips.py TESTS_DIRECTORY
"""

import json
import os
import subprocess
import sys
import tempfile

TESTS = os.path.abspath(sys.argv[1])
SKIP, PASS, FAIL = "s.skip('a part', 'a reason')", "s.check(True, 'a check')", "s.check(False, 'a check')"


def run(arguments, **options):
  return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=False, **options)


def status(*calls):
  """Exit status and output of an end-to-end test that makes these calls."""
  with tempfile.TemporaryDirectory() as place:  # a failed test leaves files behind
    done = run(['-c', '; '.join(['import support as s', 's.start()', *calls, 's.finish()']), '/'],
               env={**os.environ, 'PYTHONPATH': os.path.join(TESTS, 'e2e'), 'TMPDIR': place})
  return done.returncode, done.stdout


def counted(results):
  """Exit status and lines of what counts a log of [(name, result, output)]."""
  with tempfile.TemporaryDirectory() as place:
    log = os.path.join(place, 'build', 'meson-logs', 'log.json')
    os.makedirs(os.path.dirname(log))
    with open(log, 'w', encoding='utf-8') as file:
      for name, result, output in results:
        file.write(json.dumps({'name': f'p:e2e / {name}', 'result': result, 'stdout': output}) + '\n')
    done = run([os.path.join(TESTS, 'support', 'count_results.py'), log + ':e2e'])
    return done.returncode, done.stdout.splitlines()


def expect(seen, wanted):
  if seen != wanted:
    sys.exit(f'{seen}, not {wanted}')


for calls, wanted in (([SKIP], 77), ([SKIP, PASS], 0), ([SKIP, FAIL], 1), ([PASS], 0), ([], 1)):
  expect(status(*calls)[0], wanted)
code, text = status(SKIP, PASS)
expect(text.splitlines(), ['skipped - a part: a reason', 'ok - a check', '1 of 1 checks passed, 1 skipped'])

code, lines = counted([('a', 'OK', text), ('b', 'SKIP', status(SKIP)[1]), ('c', 'SKIP', 'no compiler')])
expect((code, lines), (0, ['SKIPPED build: p:e2e / a: a part: a reason', 'SKIPPED build: p:e2e / b: a part: a reason',
                           'SKIPPED build: p:e2e / c: no compiler', '1 passed, 0 failed']))
code, lines = counted([('b', 'SKIP', status(SKIP)[1])])
expect((code, lines[-1]), (1, '0 passed, 0 failed'))
code, lines = counted([('a', 'OK', text), ('b', 'FAIL', status(SKIP, FAIL)[1])])
expect((code, lines[-1]), (1, '1 passed, 1 failed'))
