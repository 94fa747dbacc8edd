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
  failed = []
  if os.getuid() != 0:
    with open(LEVEL, encoding='ascii') as file:
      print(f'# this user is an ordinary one, perf_event_paranoid is {file.read().strip()}', flush=True)
    for test in tests:
      if subprocess.run([sys.executable, os.path.join(ROOT, 'tests/e2e', test), build]).returncode != 0:
        failed.append(test)
  else:
    root, shown_build = support.visible(ROOT), support.visible(build)
    with paranoid_level('2'):
      for test in tests:
        print(f'# {test} as uid {support.NOBODY}', flush=True)
        if as_nobody([sys.executable, os.path.join(root, 'tests/e2e', test), shown_build]) != 0:
          failed.append(test)
  print(f'{len(tests) - len(failed)} of {len(tests)} tests pass for an ordinary user; failed: {failed}')
  return 1 if failed or not tests else 0


if __name__ == '__main__':
  sys.exit(main(sys.argv[1], sys.argv[2:]))
