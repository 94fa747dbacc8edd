"""No file over 700 lines, no function over 100, no header that lost its guard."""

import re

import tree

FILE_LINES = 700
FUNCTION_LINES = 100


def functions(text):
  """(name, first line, length) of each function. The formatter puts a function's braces, and no
  others but those of types and tables, in the first column."""
  lines = text.splitlines()
  start = None
  for number, line in enumerate(lines, 1):
    if line == '{':
      start = number
    elif line == '}' and start is not None:
      head = ' '.join(lines[max(0, start - 6):start - 1])
      name = re.findall(r'(\w+)\s*\(', head)
      yield (name[-1] if name else '?', start, number - start + 1)
      start = None


def main():
  problems = []
  paths = tree.sources('.c', '.h', '.cpp', '.py')
  count = 0
  for path in paths:
    text = tree.read(path)
    lines = text.count('\n')
    if lines > FILE_LINES:
      problems.append(f'{path}: {lines} lines, more than {FILE_LINES}')
    if path.endswith('.h') and not re.search(r'^#ifndef (\w+_H)\n#define \1$', text, re.MULTILINE):
      problems.append(f'{path}: no include guard')
    if path.endswith('.py'):
      continue
    for name, start, length in functions(text):
      count += 1
      if length > FUNCTION_LINES:
        problems.append(f'{path}:{start}: {name} has {length} lines, more than {FUNCTION_LINES}')
  if not count:
    problems.append('no function found: the formatting changed and this test does not see any')
  tree.report('lengths', problems, len(paths))


if __name__ == '__main__':
  main()
