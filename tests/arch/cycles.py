"""What the compiled objects show of the arrows between files: no ring of files that call one another, and none of
folders. Includes do not show it all: a header can declare what a file further up defines.
Usage: cycles.py BUILD_DIRECTORY"""

import collections
import json
import os
import subprocess
import sys

import tree

FOLDERS = ('tbrw/', 'profile/', 'unwind/', 'program/', 'collector/', 'tools/')

# Rings that are still there, by the names of their files, wherever these lie. The list only shrinks.
KNOWN_FILES = []
KNOWN_FOLDERS = []


def objects(build):
  """(source, object) of the product's files, as the build made them."""
  with open(os.path.join(build, 'compile_commands.json'), encoding='utf-8') as file:
    for command in json.load(file):
      source = os.path.relpath(os.path.join(command['directory'], command['file']), tree.ROOT)
      if source.startswith(FOLDERS):
        yield source, os.path.join(command['directory'], command['output'])


def read_symbols(pairs):
  """source -> names that it defines for others, source -> names that it needs. A source can be built into several objects."""
  defined, needed = collections.defaultdict(set), collections.defaultdict(set)
  source_of = {path: source for source, path in pairs}
  done = subprocess.run(['nm', '-A', '-P', *source_of], check=True, capture_output=True, text=True)
  for line in done.stdout.splitlines():
    path, name, kind = line.split()[:3]
    source = source_of[path.rstrip(':')]
    if kind == 'U':
      needed[source].add(name)
    elif kind.isupper():
      defined[source].add(name)
  return defined, needed


def arrows(defined, needed):
  """source -> sources that define what it needs. Programs may use one name each for themselves (main): then the nearest
  definition is meant."""
  owners = collections.defaultdict(list)
  for source, names in defined.items():
    for name in names:
      owners[name].append(source)
  graph = {source: set() for source in set(defined) | set(needed)}
  for source, names in needed.items():
    for name in names:
      found = owners.get(name, [])
      nearest = max((len(os.path.commonprefix([source, owner])) for owner in found), default=0)
      graph[source] |= {owner for owner in found if len(os.path.commonprefix([source, owner])) == nearest}
    graph[source].discard(source)
  return graph


def rings(graph):
  """Sets of two nodes or more that reach one another (Tarjan, SIAM J. Comput. 1972)."""
  order, low, stack, found = {}, {}, [], []

  def visit(node):
    order[node] = low[node] = len(order)
    stack.append(node)
    for other in sorted(graph[node]):
      if other not in order:
        visit(other)
        low[node] = min(low[node], low[other])
      elif other in stack:
        low[node] = min(low[node], order[other])
    if low[node] == order[node]:
      place = stack.index(node)
      ring = set(stack[place:])
      del stack[place:]
      if len(ring) > 1:
        found.append(ring)

  for node in sorted(graph):
    if node not in order:
      visit(node)
  return found


def folders_of(graph):
  folders = collections.defaultdict(set)
  for source, others in graph.items():
    folder = os.path.dirname(source)
    folders[folder] |= {os.path.dirname(other) for other in others} - {folder}
  for folder in list(folders):
    for other in folders[folder]:
      folders.setdefault(other, set())
  return folders


def check(graph, known, name_of):
  """Rings that are not known, and known ones that are gone."""
  problems, seen = [], []
  for ring in rings(graph):
    names = {name_of(node) for node in ring}
    seen += [entry for entry in known if names <= entry]
    if not any(names <= entry for entry in known):
      inside = [f'{node} -> {other}' for node in sorted(ring) for other in sorted(graph[node] & ring)]
      problems.append('a ring: ' + ', '.join(inside))
  problems += [f'no ring any more, delete it from the list: {" ".join(sorted(entry))}'
               for entry in known if entry not in seen]
  return problems


def self_test():
  graph = arrows({'a/x.c': {'x', 'main'}, 'a/y.c': {'y'}, 'b/z.c': {'z', 'main'}},
                 {'a/x.c': {'y', 'printf'}, 'a/y.c': {'x', 'main'}, 'b/z.c': {'main', 'y'}})
  problems = []
  if graph != {'a/x.c': {'a/y.c'}, 'a/y.c': {'a/x.c'}, 'b/z.c': {'a/y.c'}}:
    problems.append(f'self test: the arrows are {graph}')
  if rings(graph) != [{'a/x.c', 'a/y.c'}] or rings(folders_of(graph)):
    problems.append('self test: a ring of files is not found, or one of folders is')
  graph['a/x.c'].add('b/z.c')
  if rings(folders_of(graph)) != [{'a', 'b'}]:
    problems.append('self test: a ring of folders is not found')
  if not check(graph, [], str) or check(graph, [{'a/x.c', 'a/y.c', 'b/z.c'}], str):
    problems.append('self test: the list of known rings is not heeded')
  if not check({'a': set()}, [{'a', 'b'}], str):
    problems.append('self test: a ring that is gone stays in the list')
  return problems


def main():
  pairs = list(objects(sys.argv[1]))
  graph = arrows(*read_symbols(pairs))
  problems = self_test()
  problems += [f'{source}: no object' for source in {source for source, _ in pairs} - set(graph)]
  problems += check(graph, KNOWN_FILES, os.path.basename)
  problems += check(folders_of(graph), KNOWN_FOLDERS, str)
  tree.report('cycles', problems, len(graph))


if __name__ == '__main__':
  main()
