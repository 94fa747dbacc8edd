"""Each file of the product compiles without assertions too, as release builds have it. Usage: ndebug.py BUILD_DIRECTORY"""

import concurrent.futures
import json
import os
import shlex
import subprocess
import sys

import tree


def commands(build):
  """path -> words of its compilation; a file of several libraries once."""
  with open(os.path.join(build, 'compile_commands.json'), encoding='utf-8') as file:
    entries = json.load(file)
  paths = {os.path.normpath(os.path.join(entry['directory'], entry['file'])): entry for entry in entries}
  product = {os.path.join(tree.ROOT, path) for path in tree.sources('.c')
             if not path.startswith(('tests/', 'docs/', 'collector/bpf/'))}
  return {path: entry for path, entry in paths.items() if path in product}


def compile_without(path, entry):
  words = shlex.split(entry['command'])
  words = words[words[0].endswith('ccache'):]
  place = words.index('-o')
  del words[place:place + 2]
  done = subprocess.run([*words, '-DNDEBUG', '-Wunused', '-fsyntax-only'], cwd=entry['directory'], capture_output=True, text=True,
                        check=False)
  return None if done.returncode == 0 else f'{path}: does not compile with -DNDEBUG\n{done.stderr.strip()}'


def main():
  entries = commands(sys.argv[1])
  with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    problems = [problem for problem in pool.map(lambda item: compile_without(*item), entries.items()) if problem]
  # What is not looked at shows nothing.
  if len(entries) < 200:
    problems.append(f'only {len(entries)} files of the product were found in compile_commands.json')
  tree.report('ndebug', problems, len(entries))


if __name__ == '__main__':
  main()
