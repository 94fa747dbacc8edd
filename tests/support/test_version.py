"""The version of tags, of a tree without tags, and of one without git. Usage: test_version.py SOURCE"""

import os
import shutil
import subprocess
import sys
import tempfile

SCRIPT = os.path.join(sys.argv[1], 'tools', 'version')


def version(tree):
  return subprocess.run([f'{tree}/tools/version'], capture_output=True, text=True, check=True, cwd='/').stdout


def git(tree, *arguments):
  who = ['-c', 'user.name=a', '-c', 'user.email=a@b', '-c', 'commit.gpgsign=false', '-c', 'tag.gpgsign=false']
  return subprocess.run(['git', '-C', tree, *who, *arguments], capture_output=True, text=True, check=True).stdout


def expect(seen, wanted):
  if seen != wanted:
    sys.exit(f'{seen!r}, not {wanted!r}')


with tempfile.TemporaryDirectory() as place:
  tree = f'{place}/tree'
  os.makedirs(f'{tree}/tools')
  shutil.copy(SCRIPT, f'{tree}/tools')
  base = version(tree)
  if not base[0].isdigit() or base.count('\n') != 1:
    sys.exit(f'{base!r} is no version')
  if not shutil.which('git'):
    print('skipped - versions of tags: no git here')
    sys.exit(0)
  git(place, 'init', '-q')
  git(place, 'commit', '-q', '--allow-empty', '-m', 'of another project')
  git(place, 'tag', 'v7.0.0')
  expect(version(tree), base)
  git(tree, 'init', '-q')
  git(tree, 'commit', '-q', '--allow-empty', '-m', 'first')
  git(tree, 'tag', 'other')
  expect(version(tree), base)
  git(tree, 'tag', 'v1.2.3')
  expect(version(tree), '1.2.3\n')
  git(tree, 'commit', '-q', '--allow-empty', '-m', 'second')
  expect(version(tree), f"1.2.3+1.g{git(tree, 'rev-parse', '--short', 'HEAD')}")
