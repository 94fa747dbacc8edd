"""The error codes that tbrw.h and tbrw_errors.h promise, against the library's code and the tests.
Usage: error_codes.py SOURCE"""

import glob
import re
import sys

SOURCE = sys.argv[1]
GROUPS = ('HANDLE', 'READ', 'STORE', 'SET', 'NAMES', 'GET', 'LIST')
problems = []


def read(pattern):
  texts = []
  for path in sorted(glob.glob(f'{SOURCE}/{pattern}')):
    with open(path, encoding='utf-8') as file:
      texts.append(file.read())
  assert texts, pattern
  return '\n'.join(texts)


def codes(text):
  return set(re.findall(r'\bVT_[A-Z0-9_]+', text))


def check(condition, text):
  if not condition:
    problems.append(text)
    print(text)


def prototypes(header):
  """Name and comment of each function; the comment is the one that ends right above it."""
  for match in re.finditer(r'^TBRW_API TBRW_U32 (TBRW_\w+)\(', header, re.MULTILINE):
    comment = re.search(r'/\*(?:(?!\*/).)*\*/\n\Z', header[:match.start()], re.DOTALL)
    yield match.group(1), comment.group(0) if comment else ''


def expand_groups(header):
  """The codes that each name of the opening comment stands for."""
  text = header[:header.index('After an error in storing')]
  parts = re.split(r'^ \*   (' + '|'.join(GROUPS) + r')  ', text, flags=re.MULTILINE)[1:]
  found = dict(zip(parts[::2], parts[1::2]))
  check(sorted(found) == sorted(GROUPS), f'groups: {sorted(found)}')
  expanded = {}
  for name in GROUPS:
    expanded[name] = codes(found[name])
    for other in re.findall(r'\b(HANDLE|READ|STORE)\b', found[name]):
      if other != name:
        expanded[name] |= expanded[other]
  return expanded


def main():
  header = read('tbrw/tbrw.h')
  errors = read('tbrw/tbrw_errors.h')
  returned = codes(read('tbrw/*/*.c')) - {'VT_SUCCESS'}
  tested = codes(read('tests/tbrw/*.[ch]')) | codes(read('tests/tbrw/*/*.[ch]'))
  known = {'VT_' + name for name in re.findall(r'X\((\w+), \d+', errors)}
  never = codes(errors[errors.index('Never returned'):errors.index('#ifndef')])
  groups = expand_groups(header)
  listed = set()
  count = 0
  for name, comment in prototypes(header):
    count += 1
    check('Errors: ' in comment, f'{name}: its comment lists no errors')
    own = codes(comment)
    check(own <= known, f'{name}: no such codes: {own - known}')
    listed |= own
    for group in re.findall(r'\b(' + '|'.join(GROUPS) + r')\b', comment[comment.find('Errors: '):]):
      listed |= groups[group]
  check(count == header.count('TBRW_API TBRW_U32'), f'only {count} functions were found')
  listed.discard('VT_SUCCESS')
  check(listed == returned, f'listed, not returned: {listed - returned}; the reverse: {returned - listed}')
  check(returned <= tested, f'no test for {returned - tested}')
  check(never == (known | {'VT_FAILURE'}) - returned - {'VT_SUCCESS'},
        f'never returned: {never ^ ((known | {"VT_FAILURE"}) - returned - {"VT_SUCCESS"})}')
  print(f'{count} functions, {len(returned)} codes, {len(problems)} problems')
  return 1 if problems else 0


if __name__ == '__main__':
  sys.exit(main())
