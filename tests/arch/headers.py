"""Each header compiles on its own, twice in a row. Usage: headers.py BUILD_DIRECTORY"""

import concurrent.futures
import json
import os
import shlex
import subprocess
import sys

import tree


def include_paths(build):
  """The -I and -isystem options that the build uses for libraries."""
  with open(os.path.join(build, 'compile_commands.json'), encoding='utf-8') as file:
    commands = json.load(file)
  options = set()
  for command in commands:
    for word in shlex.split(command['command']):
      if word.startswith('-I') and os.path.isabs(word[2:]):
        options.add(word)
      elif word.startswith('-isystem') and os.path.isabs(word[8:]):
        options.add(word)
  return sorted(options)


def compile_alone(path, options):
  source = f'#include "{path}"\n#include "{path}"\n'
  done = subprocess.run(
      ['cc', '-std=gnu11', '-D_GNU_SOURCE', '-Wall', '-Wextra', '-Werror', '-fsyntax-only', '-x', 'c',
       '-I', tree.ROOT, *options, '-'], input=source, capture_output=True, text=True)
  return None if done.returncode == 0 else f'{path}: does not compile alone\n{done.stderr.strip()}'


def main():
  options = include_paths(sys.argv[1])
  # BPF programs are compiled by clang against the kernel's types, not by the host's compiler.
  paths = [path for path in tree.sources('.h') if not path.startswith('collector/bpf/')]
  with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    problems = [problem for problem in pool.map(lambda path: compile_alone(path, options), paths) if problem]
  tree.report('headers', problems, len(paths))


if __name__ == '__main__':
  main()
