"""The documents name what is there: fails on a path that the tree has not, a name that no source (or not the file it stands behind)
has, and where ARCHITECTURE.md's rooms are not those of includes.py."""

import os
import re
import sys

import includes
import tree

# document -> folders that its short paths are below
DOCUMENTS = {'ARCHITECTURE.md': [''], 'README.md': [''], 'CONTRIBUTING.md': [''], 'unwind/rules/README.md': ['', 'unwind']}
EXTENSIONS = ('.c', '.h', '.py', '.md', '.build')
QUOTED = re.compile(r'`([^`\n]+)`')
# Names behind a file: `a/b.c` (`one`, some words `two`), or `a/b.c`: `one`, `two`.
NAMED = re.compile(r'`([\w./-]+\.[ch])`(?: \(([^()]*)\)|: ((?:`\w+`(?:, )?)+))')
NAME = re.compile(r'[a-z]\w*_\w+(\.\w+)?|(?:PROFILE|UW|TABLE|RECORD|TBRW|SAMPLER)_\w+|enum \w+|struct \w+')
# In the text without quotes.
CONSTANT = re.compile(r'(?<!`)\b(?:PROFILE|UW_STOP|TABLE|RECORD)_[A-Z_]*[A-Z]\b')
OF_OTHERS = {'prefix_noun_verb', 'perf_event', 'inherit_stat', 'perf_event_open', 'perf_event_paranoid'}


def find_path(text, folders, paths):
  """None: the text is no path; else whether the tree has it."""
  text = text.strip('"')
  if re.search(r'[\s<>*=$@]', text) or text.startswith(('/', '-', '.', '~')):
    return None
  if '/' not in text and not text.endswith(EXTENSIONS):
    return None
  if '/' in text and text.split('/')[0] in ('r000hs', 'PID'):
    return None
  names = {os.path.join(folder, text) for folder in folders}
  if any(name in paths or os.path.isdir(os.path.join(tree.ROOT, name)) or name + '.c' in paths or name + '.h' in paths
         or name + '.py' in paths or os.path.exists(os.path.join(tree.ROOT, name)) for name in names):
    return True
  if text.endswith('/'):
    return any(f'/{text}' in '/' + path for path in paths)
  return '/' not in text and any(path.endswith('/' + text) for path in paths)


def words_of(paths):
  words = set()
  for path in paths:
    words |= set(re.findall(r'\w+', tree.read(path)))
  return words


def check_names(document, text, words, paths):
  problems = []
  for path, listed, follow in NAMED.findall(text):
    if path not in paths:
      continue  # told as a path
    own = set(re.findall(r'\w+', tree.read(path)))
    for name in QUOTED.findall(listed or follow):
      if NAME.fullmatch(name) is None and not re.fullmatch(r'[a-z]\w*', name):
        continue
      if name not in own:
        problems.append(f'{document}: {path} has no {name}')
  for name in QUOTED.findall(text):
    if NAME.fullmatch(name) and name not in OF_OTHERS and not set(re.findall(r'\w+', name)) <= words:
      problems.append(f'{document}: no source has {name}')
  return problems + [f'{document}: no source has {name}' for name in CONSTANT.findall(QUOTED.sub('', text)) if name not in words]


def check_paths(document, text, folders, paths):
  return [f'{document}: there is no {name}' for name in QUOTED.findall(text) if find_path(name, folders, paths) is False]


def rooms_of(text):
  """area -> {room: those it may use} by the document's tables"""
  areas = {}
  for area, table in re.findall(r'^### Rooms of (\w+)/\n(.*?)(?=^#|\Z)', text, re.MULTILINE | re.DOTALL):
    rows = re.findall(r'^\| (`[^|]*`) \|[^\n]*\|([^|\n]*)\|$', table, re.MULTILINE)
    areas[area] = {room.strip('`').rstrip('/') if room.endswith('/`') else '': set(re.findall(r'\w+', used)) for room, used in rows}
  return areas


def check_rooms(areas):
  problems = [f'ARCHITECTURE.md: no rooms of {area}/' for area in includes.ROOMS if area not in areas]
  for area, rooms in areas.items():
    held = {room: set(used.split()) for room, used in includes.ROOMS.get(area, {}).items()}
    for room in sorted(rooms.keys() | held.keys()):
      one, other = rooms.get(room), held.get(room)
      if one != other and (room or (one or set()) != (other or set())):
        problems.append(f'ARCHITECTURE.md: {area}/{room} may use {one}, in includes.py {other}')
  return problems


def self_test(paths, words):
  wrong = 'See `collector/no_such.c`, `collector/perf/ring.c` (`no_such_name`), `profile_no_such` and PROFILE_NO_SUCH.'
  right = 'See `collector/perf/ring.c` (`ring_init`), `tests/e2e/`, `/proc/self`, `tbreport top-down` and PROFILE_SKIP_BUDGET.'
  rooms = {area: {room: set(used.split()) for room, used in held.items()} for area, held in includes.ROOMS.items()}
  problems = []
  if len(check_paths('-', wrong, [''], paths)) != 1 or len(check_names('-', wrong, words, paths)) != 4:
    problems.append('self test: names that are not there pass')
  if check_paths('-', right, [''], paths) + check_names('-', right, words, paths) + check_rooms(rooms):
    problems.append('self test: names that are there fail')
  rooms['unwind']['elf'] = {'walk'}
  if not check_rooms(rooms) or not rooms_of('### Rooms of a/\n| `b/` | text | c, d |\n')['a']['b'] == {'c', 'd'}:
    problems.append('self test: any rooms pass')
  return problems


def main():
  paths = set(tree.sources(''))
  words = words_of(path for path in paths if path.endswith(('.c', '.h')) and not path.startswith('tests/'))
  problems = self_test(paths, words) + check_rooms(rooms_of(tree.read('ARCHITECTURE.md')))
  for document, folders in DOCUMENTS.items():
    text = re.sub(r'```.*?```', '', tree.read(document), flags=re.DOTALL)
    problems += check_paths(document, text, folders, paths) + check_names(document, text, words, paths)
  tree.report('documents', problems, len(DOCUMENTS))


if __name__ == '__main__':
  sys.exit(main())
