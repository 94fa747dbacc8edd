"""Counts what meson's test logs say.

Usage: count_results.py DIRECTORY:LOG:SUITE[,SUITE...]:STATUS...

DIRECTORY is a build directory, LOG the base name of its log, STATUS the exit status of the `meson test` that wrote it. Every test
of the suites that meson lists must have a result, in each suite one must have passed, and a status that no failure in the log
explains is a failure of its own. Names what was skipped, tests and parts of tests ("skipped - PART: WHY"), prints the output of
every test that failed, and as its last line "N passed, N failed, N skipped". The exit status is 0 only if something passed and
nothing failed.
"""

import collections
import json
import os
import sys

PASSED = {'OK', 'EXPECTEDFAIL'}
SKIPPED = {'SKIP'}
PART = 'skipped - '


def read_json(path, lines=False):
  """What a file holds, or each of its lines; nothing if it cannot be read."""
  try:
    with open(path, encoding='utf-8', errors='replace') as file:
      return [json.loads(line) for line in file if line.strip()] if lines else json.load(file)
  except (OSError, ValueError) as error:
    print(f'{path}: {error}')
    return []


def suites_of(name):
  """meson names a test "project:suite+suite / name" in its logs."""
  return set(name.split(' / ')[0].split(':')[-1].split('+')) if ' / ' in name else set()


def listed(directory, suites):
  """{suite: names of its tests} as meson has set them up."""
  tests = {suite: [] for suite in suites}
  for test in read_json(os.path.join(directory, 'meson-info', 'intro-tests.json')):
    for suite in {name.split(':')[-1] for name in test['suite']} & set(suites):
      tests[suite].append(test['name'])
  return tests


def skipped_parts(result):
  """The parts of a test that it says it skipped."""
  return [line[len(PART):] for line in (result.get('stdout') or '').splitlines() if line.startswith(PART)]


class Count:
  def __init__(self):
    self.passed = 0
    self.failed = []  # [(label, result)]
    self.skipped = []  # [(label, why)]
    self.durations = []  # [(seconds, label)]

  def add(self, label, result):
    self.durations.append((result.get('duration') or 0, label))
    self.skipped += [(label, part) for part in skipped_parts(result)]
    if result['result'] in PASSED:
      self.passed += 1
    elif result['result'] not in SKIPPED:
      self.failed.append((label, result))
    elif not skipped_parts(result):  # those that say why were named above
      self.skipped.append((label, (result.get('stdout') or '').strip()[-300:]))

  def miss(self, label):
    self.failed.append((label, {'result': 'MISSING'}))

  def add_log(self, directory, log, suites, status):
    name = os.path.basename(os.path.abspath(directory))
    results = read_json(os.path.join(directory, 'meson-logs', log + '.json'), lines=True)
    failed = len(self.failed)
    for result in results:
      self.add(f"{name}: {result['name']}", result)
    if status != '0' and len(self.failed) == failed:
      self.miss(f'{name}: a reason why meson test ended with status {status}')
    for suite, tests in listed(directory, suites).items():
      of_suite = [result for result in results if suite in suites_of(result['name'])]
      if not any(result['result'] in PASSED for result in of_suite):
        self.miss(f'{name}: a test of suite {suite} that passes')
      seen = collections.Counter(result['name'].split(' / ', 1)[1] for result in of_suite)
      for test in (collections.Counter(tests) - seen).elements():
        self.miss(f'{name}: a result of {suite} / {test}')

  def show(self):
    for label, why in self.skipped:
      print(f'SKIPPED {label}: {why}')
    for label, result in self.failed:
      print(f'{"=" * 20} {result["result"]} {label}')
      for stream in ('stdout', 'stderr'):
        text = (result.get(stream) or '').rstrip()
        if text:
          print(text[-20000:])
    print('longest:', ', '.join(f'{label} {seconds:.0f} s' for seconds, label in sorted(self.durations)[:-9:-1]))
    if self.failed:
      print('failed:')
      for label, result in self.failed:
        print(f'  {result["result"]} {label}')
    print(f'{self.passed} passed, {len(self.failed)} failed, {len(self.skipped)} skipped', flush=True)


def main(arguments):
  count = Count()
  for argument in arguments:
    directory, log, suites, status = argument.rsplit(':', 3)
    count.add_log(directory, log, suites.split(','), status)
  count.show()
  return 0 if count.passed and not count.failed else 1


if __name__ == '__main__':
  sys.exit(main(sys.argv[1:]))
