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


def counted(results, tests=None, meson=0):
  """Exit status and lines of what counts a log of [(name, result, output)], where meson lists these tests."""
  with tempfile.TemporaryDirectory() as place:
    build = os.path.join(place, 'build')
    os.makedirs(os.path.join(build, 'meson-logs'))
    os.makedirs(os.path.join(build, 'meson-info'))
    with open(os.path.join(build, 'meson-logs', 'log.json'), 'w', encoding='utf-8') as file:
      for name, result, output in results:
        file.write(json.dumps({'name': f'p:e2e / {name}', 'result': result, 'stdout': output, 'duration': 2.4}) + '\n')
    with open(os.path.join(build, 'meson-info', 'intro-tests.json'), 'w', encoding='utf-8') as file:
      json.dump([{'name': name, 'suite': ['p:e2e']} for name in tests or [name for name, *_ in results]]
                + [{'name': 'other', 'suite': ['p:unit']}], file)
    done = run([os.path.join(TESTS, 'support', 'count_results.py'), f'{build}:log:e2e:{meson}'])
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
                           'SKIPPED build: p:e2e / c: no compiler',
                           'longest: build: p:e2e / c 2 s, build: p:e2e / b 2 s, build: p:e2e / a 2 s',
                           '1 passed, 0 failed, 3 skipped']))
code, lines = counted([('a', 'OK', text), ('b', 'FAIL', status(SKIP, FAIL)[1])], meson=1)
expect((code, lines[-1]), (1, '1 passed, 1 failed, 2 skipped'))
# A suite that is skipped as a whole, a log cut short, a test that never ran, an end of meson's that nothing explains.
for results, tests, meson, missing in (
    ([('b', 'SKIP', 'no')], ['b'], 0, 'a test of suite e2e that passes'),
    ([('a', 'OK', '')], ['a', 'b'], 0, 'a result of e2e / b'),
    ([('a', 'OK', '')], ['a', 'a'], 0, 'a result of e2e / a'),
    ([('a', 'OK', '')], ['a'], 2, 'a reason why meson test ended with status 2')):
  code, lines = counted(results, tests, meson)
  expect((code, lines[-2]), (1, f'  MISSING build: {missing}'))
expect(counted([], ['a'])[1][-1], '0 passed, 2 failed, 0 skipped')
