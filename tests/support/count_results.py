"""Counts what meson's test logs say.

Usage: count_results.py LOG.json:SUITE[,SUITE...]...

Each log must hold a result of each suite named with it. Names what was skipped, tests and parts of tests
("skipped - PART: WHY"), prints the output of every test that failed, and as its last line "N passed,
N failed". The exit status is 0 only if something passed and nothing failed.
"""

import json
import os
import sys

PASSED = {'OK', 'EXPECTEDFAIL'}
SKIPPED = {'SKIP'}
PART = 'skipped - '


def read_log(path):
  """The results of one log; meson writes one JSON object per line."""
  try:
    with open(path, encoding='utf-8', errors='replace') as log:
      return [json.loads(line) for line in log if line.strip()]
  except (OSError, ValueError) as error:
    print(f'{path}: {error}')
    return []


def suites_of(name):
  """meson names a test "project:suite+suite / name"."""
  if ' / ' not in name:
    return set()
  return set(name.split(' / ')[0].split(':')[-1].split('+'))


def skipped_parts(result):
  """The parts of a test that it says it skipped."""
  return [line[len(PART):] for line in (result.get('stdout') or '').splitlines() if line.startswith(PART)]


def main(arguments):
  passed, failed, skipped = 0, [], []  # skipped: [(label, why)]
  for argument in arguments:
    path, _, wanted = argument.rpartition(':')
    directory = os.path.basename(os.path.dirname(os.path.dirname(os.path.abspath(path))))
    results = read_log(path)
    seen = set()
    for result in results:
      seen |= suites_of(result['name'])
      label = f"{directory}: {result['name']}"
      skipped += [(label, part) for part in skipped_parts(result)]
      if result['result'] in PASSED:
        passed += 1
      elif result['result'] in SKIPPED:
        # Those that say why were named above.
        if not skipped_parts(result):
          skipped.append((label, (result.get('stdout') or '').strip()[-300:]))
      else:
        failed.append((label, result))
    for suite in wanted.split(','):
      if suite not in seen:
        failed.append((f'{directory}: no test of suite {suite} ran', {'result': 'MISSING'}))

  for label, why in skipped:
    print(f'SKIPPED {label}: {why}')
  for label, result in failed:
    print(f'{"=" * 20} {result["result"]} {label}')
    for stream in ('stdout', 'stderr'):
      text = (result.get(stream) or '').rstrip()
      if text:
        print(text[-20000:])
  if failed:
    print('failed:')
    for label, result in failed:
      print(f'  {result["result"]} {label}')
  print(f'{passed} passed, {len(failed)} failed', flush=True)
  return 0 if passed and not failed else 1


if __name__ == '__main__':
  sys.exit(main(sys.argv[1:]))
