"""Random addresses looked up by tbconvert's resolvers, by GNU addr2line and by llvm-symbolizer: functions,
inlined ones too, files and lines must be the same, but for what a rule below says the cause of.

Usage: symbol_oracles.py PRINT_SYMBOLS WHAT...   WHAT is a built program, or a name of BUILDS: those are built
here. Exit status 77: nothing to compare with, which is a failure where the environment says
TESTS_NEED_ALL."""

import collections
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

ADDRESSES = 2000
MISSING = 77
HERE = os.path.dirname(os.path.abspath(__file__))
BUILDS = {
    'c++': [('g++', '-O2 -g'), ('clang++', '-O2 -g')],
    'c++ otherwise': [('g++', '-O2 -g -flto=1'), ('g++', '-O2 -g -gdwarf-4'), ('g++', '-O2 -g -gsplit-dwarf'),
                      ('g++', '-O3 -g -ffunction-sections -Wl,--gc-sections'), ('clang++', '-O2 -g -gdwarf-4')],
    'rust': [('/usr/bin/rustc', '-O -g')],
}
SOURCES = {'c++': 'oracle_subject.cpp', 'c++ otherwise': 'oracle_subject.cpp', 'rust': 'oracle_subject.rs'}
CLONE = re.compile(r'\.(constprop|isra|part|cold|lto_priv|llvm)(\.\d+)?')

Level = collections.namedtuple('Level', 'name file line')


def run(*command, data=''):
  return subprocess.run(command, input=data, capture_output=True, text=True, check=True).stdout


def code_ranges(program):
  """[(start, size)] of the section .text, and the symbols' [(start, size, name)], sorted."""
  sections = re.findall(r'\] \.text +PROGBITS +(\w+) \w+ (\w+)', run('readelf', '-SW', program))
  symbols = re.findall(r': (\w+) +(\w+) (?:FUNC|NOTYPE|IFUNC) +\w+ +\w+ +\d+ (\S+)', run('readelf', '-sW', program))
  return ([(int(start, 16), int(size, 16)) for start, size in sections],
          sorted((int(start, 16), int(size, 0), name) for start, size, name in symbols))


def level(name, place):
  file, line = place.split(' (discriminator')[0].rsplit(':', 1)
  return Level(name, os.path.basename(file), int(line) if line.isdigit() else 0)


def by_us(print_symbols, program, addresses):
  """Each function must say where it starts, inlined ones too."""
  found = {}
  for block in run(print_symbols, program, data='\n'.join(f'{at:x}' for at in addresses)).strip('\n').split('\n\n'):
    at, *lines = block.split('\n')
    found[int(at, 16)] = [level(*line.split('\t')[:2]) for line in lines]
    assert all(int(line.split('\t')[2], 16) > 0 for line in lines), block
  return found


def by_addr2line(program, addresses):
  found, at, name = {}, None, None
  for line in run('addr2line', '-a', '-i', '-f', '-e', program, data='\n'.join(f'{at:x}' for at in addresses)).splitlines():
    if name is None and re.fullmatch('0x[0-9a-f]+', line):
      at = int(line, 16)
      found[at] = []
    elif name is None:
      name = line
    else:
      found[at].append(level(name, line))
      name = None
  return found


def by_llvm(program, addresses):
  found = {}
  blocks = run('llvm-symbolizer', '--functions=linkage', '--no-demangle', '--inlines', '-e', program,
               data='\n'.join(f'{at:#x}' for at in addresses)).strip('\n').split('\n\n')
  for at, block in zip(addresses, blocks):
    lines = block.split('\n')
    found[at] = [level(name, place.rsplit(':', 1)[0]) for name, place in zip(lines[::2], lines[1::2])]
  return found


class Rules:
  """Why levels may differ. Each returns the rule's words, or None."""

  def __init__(self, program, symbols):
    abbreviations = run('readelf', '--debug-dump=abbrev', program)
    self.has_indexed_ranges = re.search(r'DW_AT_ranges +DW_FORM_rnglistx', abbreviations)
    self.is_split = 'DW_AT_dwo_name' in abbreviations
    self.symbols = [(start, size, name.split('@')[0]) for start, size, name in symbols]
    self.demangled = {}

  def demangle(self, name):
    if name not in self.demangled:
      self.demangled[name] = run('c++filt', '-p', data=name + '\n').strip('\n')
    return self.demangled[name]

  def names_at(self, at):
    return {name for start, size, name in self.symbols if start <= at < start + size}

  def same_name(self, at, ours, theirs):
    """Of one level."""
    if ours == theirs:
      return 'same'
    base = CLONE.sub('', ours)
    if base == theirs:
      return 'they leave out that it is a clone or a part'
    if 'C4' in theirs and re.fullmatch(re.escape(theirs).replace('C4', 'C[1-3]'), base):
      return 'they print the name that all variants of a constructor share'
    plain = self.demangle(base)
    if plain == theirs or plain.endswith('::' + theirs):
      return 'without a linkage name in DWARF they print the bare name, we the symbol or the scopes'
    if {ours, theirs} <= self.names_at(at):
      return 'two symbols at one address'
    return None

  def same_level(self, at, ours, theirs):
    why = {self.same_name(at, ours.name, theirs.name)}
    if ours[1:] != theirs[1:]:
      # ?? of ours: no line table covers the address.
      no_table = ours[1:] == ('??', 0) and theirs.line == 0
      why.add('where no unit has the address they print the file of a STT_FILE symbol' if no_table else None)
    return why

  def explain(self, at, ours, theirs):
    """The causes, of which None is none. 'same' alone: no difference."""
    if len(ours) != len(theirs):
      return {None}
    return set.union(*(self.same_level(at, one, other) for one, other in zip(ours, theirs)))

  def explain_addr2line(self, at, ours, theirs, llvm_agrees):
    """addr2line's own, each only where llvm-symbolizer and we agree."""
    why = self.explain(at, ours, theirs)
    if None not in why or not llvm_agrees:
      return why
    if [one.name for one in ours] == ['??'] and theirs[-1].name not in self.names_at(at):
      return {'padding, which it gives to the symbol before'}
    if self.is_split:
      return {'it does not read inlined functions of split DWARF'}
    places, their_places = [one[1:] for one in ours], [one[1:] for one in theirs]
    function = ours[-1].name
    if len(ours) == len(theirs) and [p[1] for p in places] == [p[1] for p in their_places] and \
       all(self.same_name(at, one.name, other.name) for one, other in zip(ours, theirs)):
      return {'it takes another file of the line table for the same line'}
    if places == their_places and all(one.name == other.name or other.name == function or
                                      self.same_name(at, one.name, other.name) for one, other in zip(ours, theirs)):
      return {'it calls an inlined function without a linkage name by the symbol around it'}
    cut = len(ours) - len(theirs)
    if cut > 0 and self.has_indexed_ranges and places[0] == their_places[0] and places[cut + 1:] == their_places[1:]:
      return {'it finds no inlined function whose ranges are indexed (DW_FORM_rnglistx)'}
    return why


def compare(print_symbols, program, what):
  """Number of unexplained differences."""
  ranges, symbols = code_ranges(program)
  assert len(ranges) == 1, ranges
  start, size = ranges[0]
  addresses = sorted(random.Random(1).sample(range(start, start + size), min(ADDRESSES, size)))
  rules = Rules(program, symbols)
  ours, gnu, llvm = by_us(print_symbols, program, addresses), by_addr2line(program, addresses), by_llvm(program, addresses)
  counts, bad = collections.Counter(), 0
  for at in addresses:
    why = {'llvm-symbolizer': rules.explain(at, ours[at], llvm[at])}
    why['addr2line'] = rules.explain_addr2line(at, ours[at], gnu[at], None not in why['llvm-symbolizer'])
    for oracle, theirs in (('llvm-symbolizer', llvm), ('addr2line', gnu)):
      for cause in why[oracle] - ({'same'} if len(why[oracle]) > 1 else set()):
        counts[oracle, cause or 'NOT EXPLAINED'] += 1
      if None in why[oracle]:
        bad += 1
        print(f'not ok: {what}: {at:#x}\n  ours   {ours[at]}\n  {oracle} {theirs[at]}')
  inlined = sum(len(levels) - 1 for levels in ours.values())
  print(f'{what}: {len(addresses)} addresses, {inlined} levels of inlining')
  for (oracle, cause), count in sorted(counts.items()):
    print(f'  {oracle}: {count} {cause}')
  # What agrees because nobody finds anything shows nothing.
  least = len(addresses) // 20
  if len(addresses) < ADDRESSES or inlined < least:
    print(f'not ok: {what}: fewer than {ADDRESSES} addresses or {least} levels of inlining')
    bad += 1
  return bad


def programs(what, work):
  """[(name, path)], building those that are built here; a compiler that is missing is an OSError."""
  if what not in BUILDS:
    return [(os.path.basename(what), what)]
  built = []
  for i, (compiler, options) in enumerate(BUILDS[what]):
    path = os.path.join(work, f'{what}-{i}')
    run(compiler, *options.split(), '-o', path, os.path.join(HERE, SOURCES[what]))
    built.append((f'{os.path.basename(compiler)} {options}', path))
  return built


def missing(what):
  needed = {'addr2line', 'llvm-symbolizer', 'c++filt', 'readelf'} | {compiler for compiler, _ in BUILDS.get(what, [])}
  return sorted(name for name in needed if not shutil.which(name))


def main():
  print_symbols, *whats = sys.argv[1:]
  bad, skipped = 0, 0
  with tempfile.TemporaryDirectory(prefix='symbol-oracles.') as work:
    for what in whats:
      if missing(what):
        print(f'skipped - {what}: not installed: {", ".join(missing(what))}')
        skipped += 1
        continue
      for name, path in programs(what, work):
        bad += compare(print_symbols, path, name)
  if bad or skipped and os.environ.get('TESTS_NEED_ALL'):
    sys.exit(1)
  sys.exit(MISSING if skipped else 0)


main()
