"""clang-tidy over the product's C files, with .clang-tidy. Usage: tidy.py BUILD_DIRECTORY [thorough] [FILE...]

The analyzer gives a function up after so many nodes of its graph: with thorough after its own limit, otherwise after an eighth
of it, which takes a third of the time."""

import concurrent.futures
import json
import os
import subprocess
import sys

import tree

NODES = {False: 30000, True: 225000}
FOLDERS = ('tbrw/', 'profile/', 'unwind/', 'program/', 'collector/', 'tools/')


def sources_of(build):
  """The product's files that the build compiles, once each."""
  with open(os.path.join(build, 'compile_commands.json'), encoding='utf-8') as file:
    commands = json.load(file)
  tracked = set(tree.sources('.c'))
  found = set()
  for command in commands:
    path = os.path.relpath(os.path.join(command['directory'], command['file']), tree.ROOT)
    if path.startswith(FOLDERS) and path in tracked:
      found.add(path)
  return sorted(found)


def tidy(build, path, thorough):
  done = subprocess.run(
      # Options that gcc has and clang has not are no finding.
      ['clang-tidy', '--quiet', '-p', build, '--extra-arg=-Wno-unknown-warning-option',
       '--extra-arg=-Wno-ignored-optimization-argument',
       *(f'--extra-arg={word}' for word in ('-Xclang', '-analyzer-config', '-Xclang', f'max-nodes={NODES[thorough]}')),
       path],
      cwd=tree.ROOT, capture_output=True, text=True)
  return None if done.returncode == 0 else f'{path}:\n{(done.stdout or done.stderr).strip()}'


def main():
  build, only = sys.argv[1], sys.argv[2:]
  thorough = only[:1] == ['thorough']
  only = only[thorough:]
  # Of files that are named, those that this machine compiles.
  paths = [path for path in sources_of(build) if not only or path in only]
  with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    problems = [problem for problem in pool.map(lambda path: tidy(build, path, thorough), paths) if problem]
  tree.report('clang-tidy', problems, len(paths) or len(only))


if __name__ == '__main__':
  main()
