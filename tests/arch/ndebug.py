"""Each file of the product that asserts compiles without assertions too, as release builds have it. Usage: ndebug.py BUILD_DIRECTORY"""

import concurrent.futures
import json
import os
import re
import shlex
import subprocess
import sys

import tree


def asserting():
  """Files with an assertion of their own or in a header that they include: the others are the same without."""
  texts = {path: tree.read(path) for path in tree.sources('.c', '.h')
           if not path.startswith(('tests/', 'docs/', 'collector/bpf/'))}
  own = {path for path, text in texts.items() if re.search(r'\bassert\(', text)}
  return {path for path, text in texts.items()
          if path.endswith('.c') and (path in own or own & set(re.findall(r'#include "([^"]+)"', text)))}


def commands(build):
  """path -> words of its compilation; a file of several libraries once."""
  with open(os.path.join(build, 'compile_commands.json'), encoding='utf-8') as file:
    entries = json.load(file)
  paths = {os.path.normpath(os.path.join(entry['directory'], entry['file'])): entry for entry in entries}
  product = {os.path.join(tree.ROOT, path) for path in asserting()}
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
  if len(entries) < 150:
    problems.append(f'only {len(entries)} asserting files of the product were found in compile_commands.json')
  tree.report('ndebug', problems, len(entries))


if __name__ == '__main__':
  main()
