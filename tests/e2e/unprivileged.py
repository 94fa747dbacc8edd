"""All of it as an ordinary user at perf_event_paranoid 2: runs other tests of this folder as such a user.

Usage: unprivileged.py BUILD_DIRECTORY TEST.py...
As root it sets the level, drops to the user nobody, and shows that user the tree if it lies in a directory
that only root may enter. As anybody else it is the ordinary user itself.
"""

import contextlib
import os
import subprocess
import sys

import support

LEVEL = '/proc/sys/kernel/perf_event_paranoid'
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


@contextlib.contextmanager
def paranoid_level(wanted):
  """The machine's level is set for the time of the test, where this process may do so."""
  with open(LEVEL, encoding='ascii') as file:
    before = file.read().strip()
  if before != wanted:
    with open(LEVEL, 'w', encoding='ascii') as file:
      file.write(wanted)
  try:
    yield
  finally:
    if before != wanted:
      with open(LEVEL, 'w', encoding='ascii') as file:
        file.write(before)


def as_nobody(command):
  return subprocess.run(command, **support.as_user(support.NOBODY), cwd='/',
                        env={**os.environ, 'HOME': '/nonexistent'}).returncode


def main(build, tests):
  build = os.path.abspath(build)
  statuses = {}
  if os.getuid() != 0:
    with open(LEVEL, encoding='ascii') as file:
      print(f'# this user is an ordinary one, perf_event_paranoid is {file.read().strip()}', flush=True)
    for test in tests:
      statuses[test] = subprocess.run([sys.executable, os.path.join(ROOT, 'tests/e2e', test), build]).returncode
  else:
    root, shown_build = support.visible(ROOT), support.visible(build)
    with paranoid_level('2'):
      for test in tests:
        print(f'# {test} as uid {support.NOBODY}', flush=True)
        statuses[test] = as_nobody([sys.executable, os.path.join(root, 'tests/e2e', test), shown_build])
  passed = [test for test in tests if statuses[test] == 0]
  skipped = [test for test in tests if statuses[test] == support.SKIPPED]
  failed = [test for test in tests if test not in passed + skipped]
  print(f'{len(passed)} of {len(tests)} tests pass for an ordinary user; skipped: {skipped}; failed: {failed}')
  if failed or not tests:
    return 1
  return 0 if passed else support.SKIPPED


if __name__ == '__main__':
  sys.exit(main(sys.argv[1], sys.argv[2:]))
