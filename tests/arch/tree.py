"""The project's source files, for the tests that look at them as text."""

import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def sources(*extensions):
  """Paths below the root with one of the extensions, sorted. What git tracks, so that files which
  somebody is still writing or generated do not count; without git, everything."""
  try:
    listed = subprocess.run(['git', '-c', 'safe.directory=*', 'ls-files', '-z'], cwd=ROOT,
                            check=True, capture_output=True).stdout.decode().split('\0')
  except (OSError, subprocess.CalledProcessError):
    listed = []
    for directory, names, files in os.walk(ROOT):
      names[:] = [name for name in names if not name.startswith(('.', 'build'))]
      listed += [os.path.relpath(os.path.join(directory, name), ROOT) for name in files]
  return sorted(path for path in listed
                if path.endswith(extensions) and os.path.isfile(os.path.join(ROOT, path)))


def read(path):
  with open(os.path.join(ROOT, path), encoding='utf-8') as file:
    return file.read()


_TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)


def without_comments(text):
  """C text with comments and literals blanked and the lines kept."""
  def blank(match):
    token = match.group(0)
    return token[0] + token[-1] if token[0] in '"\'' else '\n' * token.count('\n')
  return _TOKEN.sub(blank, text)


def report(what, problems, looked_at):
  """Prints the outcome and ends the test. Looking at nothing is a failure."""
  for problem in problems:
    print(problem)
  if not looked_at:
    print(f'{what}: nothing to look at')
  print(f'{what}: {looked_at} looked at, {len(problems)} problems')
  sys.exit(1 if problems or not looked_at else 0)
