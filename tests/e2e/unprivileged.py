"""All of it as an ordinary user at perf_event_paranoid 2: runs other tests of this folder as such a user.

Usage: unprivileged.py BUILD_DIRECTORY TEST.py...
As root it sets the level, drops to the user nobody, and shows that user the tree if it lies in a directory
that only root may enter. As anybody else it is the ordinary user itself.
"""

import contextlib
import os
import subprocess
import sys
import tempfile

NOBODY = 65534
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
  return subprocess.run(command, user=NOBODY, group=NOBODY, extra_groups=[], cwd='/',
                        env={**os.environ, 'HOME': '/nonexistent'}).returncode


@contextlib.contextmanager
def visible(path):
  """A path by which the user nobody reaches the directory."""
  if as_nobody(['test', '-x', path]) == 0:
    yield path
    return
  place = tempfile.mkdtemp(prefix='tbcollect-visible.')
  os.chmod(place, 0o755)
  subprocess.run(['mount', '--bind', path, place], check=True)
  try:
    yield place
  finally:
    subprocess.run(['umount', place], check=True)
    os.rmdir(place)


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
    with paranoid_level('2'), visible(ROOT) as root, visible(build) as shown_build:
      for test in tests:
        print(f'# {test} as uid {NOBODY}', flush=True)
        if as_nobody([sys.executable, os.path.join(root, 'tests/e2e', test), shown_build]) != 0:
          failed.append(test)
  print(f'{len(tests) - len(failed)} of {len(tests)} tests pass for an ordinary user; failed: {failed}')
  return 1 if failed or not tests else 0


if __name__ == '__main__':
  sys.exit(main(sys.argv[1], sys.argv[2:]))
