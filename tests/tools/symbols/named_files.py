"""Files that a program's file names for its debug information: split DWARF, shared DWARF, debug links.

They are read where they are what they should be, and nothing else is opened, whatever a hostile file
says: every open is traced.
"""

import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib

SOURCE = '''
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
struct item { struct item *next; const char *name; struct timespec time; struct stat status; int value; };
static inline int twice(int x) { volatile int y = x; return y * 2 + 1; }
static inline int both(const struct item *one) { return twice(one->value) + twice((int)one->time.tv_sec); }
__attribute__((noinline)) int sum(const struct item *items) {
  int total = 0;
  for (const struct item *one = items; one; one = one->next) total += both(one);
  return total;
}
__attribute__((noinline, cold)) int never(int x) { return twice(x) - both(&(struct item){.value = x}); }
__attribute__((noinline, section(".text.other"))) int other(int x) { return x > 3 ? never(x) + twice(x) : x; }
static int compare(const void *a, const void *b) { return twice(((const struct item *)a)->value) - *(const int *)b; }
int main(int argc, char **argv) {
  struct item items[10] = {{.name = argv[0]}};
  for (int i = 0; i + 1 < 10; i++) { items[i].next = &items[i + 1]; items[i].value = i * argc; }
  qsort(items, 0, sizeof(items[0]), compare);
  printf("%d %d\\n", argc > 100 ? other(argc) : sum(items), both(items));
}
'''

checked = 0
failed = 0


def check(condition, what, seen=''):
  global checked, failed
  checked += 1
  failed += not condition
  print(f'{"ok" if condition else "not ok"} - {what}' + (f': {seen}' if seen != '' else ''), flush=True)


def run(*command, **options):
  return subprocess.run(command, check=True, capture_output=True, text=True, **options).stdout


def build(folder, output, *options, compiler='gcc', source='s.c'):
  run(compiler, '-O2', '-no-pie', *(() if '-Wl,--build-id' in options else ('-Wl,--build-id=none',)), '-o', output, source, *options, cwd=folder)
  return os.path.join(folder, output)


def code_addresses(program):
  """Every byte of the program's own functions."""
  found = set()
  for line in run('nm', '-S', program).splitlines():
    parts = line.split()
    if len(parts) == 4 and parts[2] in 'tTwW':
      found.update(range(int(parts[0], 16), int(parts[0], 16) + int(parts[1], 16)))
  return sorted(found)


def resolve(resolver, program, addresses, directories='-', tracer=()):
  # Leaks cannot be looked for in a traced program.
  options = os.environ.get('ASAN_OPTIONS', '') + (':detect_leaks=0' if tracer else '')
  done = subprocess.run([*tracer, resolver, program, directories], env={**os.environ, 'ASAN_OPTIONS': options}, input='\n'.join(f'{a:x}' for a in addresses),
                        capture_output=True, text=True, timeout=60)
  return done.stdout.splitlines()


def split_dwarf(resolver, folder):
  """The same code with and without split DWARF says the same."""
  with open(os.path.join(folder, 's.c'), 'w', encoding='ascii') as file:
    file.write(SOURCE)
  for compiler in ('gcc', 'clang'):
    for version in (4, 5):
      whole = build(folder, 'whole', '-g', f'-gdwarf-{version}', compiler=compiler)
      split = build(folder, 'split', '-g', f'-gdwarf-{version}', '-gsplit-dwarf', compiler=compiler)
      addresses = code_addresses(whole)
      check(addresses == code_addresses(split), f'{compiler}, DWARF {version}: the code is the same', len(addresses))
      expected = resolve(resolver, whole, addresses)
      found = resolve(resolver, split, addresses)
      inlined = sum(line.count('@') > 1 for line in expected)
      different = [pair for pair in zip(expected, found) if pair[0] != pair[1]]
      check(inlined > 20 and len(found) == len(expected) and not different,
            f'{compiler}, DWARF {version}: split units say what whole ones do',
            f'{inlined} of {len(expected)} inlined, {len(different)} differ {different[:1]}')
      moved = os.path.join(folder, 'moved')
      os.makedirs(moved, exist_ok=True)
      for name in os.listdir(folder):
        if name == 'split' or name.endswith('.dwo'):
          shutil.move(os.path.join(folder, name), os.path.join(moved, name))
      check(resolve(resolver, os.path.join(moved, 'split'), addresses) == expected,
            f'{compiler}, DWARF {version}: beside the program too')
      build(folder, 'split', '-g', f'-gdwarf-{version}', '-gsplit-dwarf', '-DOTHER', '-O1', compiler=compiler)
      for name in os.listdir(folder):
        if name.endswith('.dwo'):
          shutil.move(os.path.join(folder, name), os.path.join(moved, name))
      found = resolve(resolver, os.path.join(moved, 'split'), addresses)
      check(all(line.count('@') == 1 for line in found) and len(found) == len(expected),
            f'{compiler}, DWARF {version}: units of another build are not taken')


def shared_dwarf(resolver, folder):
  """What dwz put into a file for two programs is found below .dwz, and by its build-id."""
  first = build(folder, 'first', '-g', '-gdwarf-4')
  second = build(folder, 'second', '-g', '-gdwarf-4', '-DSECOND')
  addresses = code_addresses(first)
  expected = resolve(resolver, first, addresses)
  shared = os.path.join(folder, 'shared.debug')
  run('dwz', '-m', shared, '-M', '/nowhere/.dwz/some/shared.debug', first, second)
  without = resolve(resolver, first, addresses, folder)
  check(without != expected, 'names are in the shared file', f'{sum(a != b for a, b in zip(without, expected))} differ')
  os.makedirs(os.path.join(folder, '.dwz', 'some'))
  place = os.path.join(folder, '.dwz', 'some', 'shared.debug')
  shutil.copy(shared, place)
  check(resolve(resolver, first, addresses, folder) == expected, 'shared DWARF below .dwz')
  os.unlink(place)
  build_id = re.search('Build ID: ([0-9a-f]+)', run('readelf', '-n', shared)).group(1)
  by_id = os.path.join(folder, '.build-id', build_id[:2])
  os.makedirs(by_id)
  shutil.copy(shared, os.path.join(by_id, build_id[2:] + '.debug'))
  check(resolve(resolver, first, addresses, folder) == expected, 'shared DWARF by its build-id')
  return shared


SCOPES = """
#include <string>
namespace work {
struct item { std::string name; int value; };
static inline int twice(int x) { volatile int y = x; return y * 2 + 1; }
static inline int both(const item *one) { return twice(one->value) + twice(int(one->name.size())); }
}
__attribute__((noinline)) int UNIT(const work::item *one) { return work::both(one) + work::twice(one->value + 3); }
#ifdef MAIN
int other(const work::item *);
int main(int argc, char **argv) { work::item one{argv[0], argc}; return UNIT(&one) + other(&one); }
#endif
"""


def partial_units(resolver, folder):
  """What dwz takes out of several units of C++ keeps the names of its namespaces."""
  with open(os.path.join(folder, 's.cpp'), 'w', encoding='ascii') as file:
    file.write(SCOPES)
  for unit in ('first', 'other'):
    run('g++', '-O2', '-g', '-gdwarf-5', f'-DUNIT={unit}', *(('-DMAIN',) if unit == 'first' else ()),
        '-c', '-o', f'{unit}.o', 's.cpp', cwd=folder)
  run('g++', '-no-pie', '-o', 'units', 'first.o', 'other.o', cwd=folder)
  program = os.path.join(folder, 'units')
  addresses = code_addresses(program)
  expected = resolve(resolver, program, addresses)
  run('dwz', program)
  found = resolve(resolver, program, addresses)
  inlined = sum('work::twice@' in line for line in found)
  different = [pair for pair in zip(expected, found) if pair[0] != pair[1]]
  check('DW_TAG_partial_unit' in run('readelf', '--debug-dump=info', '--dwarf-depth=1', program) and inlined > 10
        and len(found) == len(expected) and not different,
        'partial units have the same names', f'{inlined} inlined, {len(different)} differ {different[:1]}')


OPENING = re.compile(r'open(?:at|at2)?\((.*)\) = \d+<(.*)>')


def opened(resolver, program, folder):
  """Every file that is really opened to resolve one address. None: it does not come to an end."""
  trace = os.path.join(folder, 'trace')
  try:
    resolve(resolver, program, code_addresses(program)[:1] or [0x401000], '-',
            ('strace', '-f', '-y', '-e', 'trace=open,openat,openat2,creat', '-o', trace, 'timeout', '20'))
  except subprocess.TimeoutExpired:
    return None
  with open(trace, encoding='utf-8') as file:
    lines = file.read()
  if 'exited with 124' in lines:
    return None
  return {match[1] for match in OPENING.findall(lines) if 'O_PATH' not in match[0]}


def is_expected(path, usual):
  """What the resolver opens for any file, and copies in memory."""
  return re.sub('/proc/[0-9]+/', '/proc/self/', path) in usual or path.startswith('/memfd:')


def hostile_names(folder):
  """Names, and what lies where they lead."""
  bait = os.path.join(folder, 'bait')
  os.makedirs(os.path.join(bait, '.debug'), exist_ok=True)
  for name, target in (('zero', '/dev/zero'), ('shadow', '/etc/shadow'), ('kmsg', '/proc/kmsg')):
    for place in (bait, os.path.join(bait, '.debug')):
      os.symlink(target, os.path.join(place, name))
  for place in (bait, os.path.join(bait, '.debug')):
    os.mkfifo(os.path.join(place, 'fifo'))
  with open(os.path.join(folder, 'secret'), 'wb') as file:
    file.write(b'\x7fELF secret')
  return bait, ('fifo', 'zero', 'kmsg', '../secret', '../../../../../../../../etc/shadow', '..', '.', '', './fifo',
                '.debug/../../secret', '/dev/zero', '/proc/kmsg', '/proc/self/environ', '/sys/kernel/notes',
                os.path.join(bait, 'fifo'))


def debug_link(program, name):
  data = name.encode() + b'\0'
  data += b'\0' * (-len(data) % 4) + struct.pack('<I', zlib.crc32(b'\x7fELF secret'))
  section = program + '.section'
  with open(section, 'wb') as file:
    file.write(data)
  run('objcopy', '--add-section', f'.gnu_debuglink={section}', program)
  os.unlink(section)


def replace_text(path, old, new):
  with open(path, 'r+b') as file:
    data = file.read()
    assert data.count(old) >= 1 and len(new) < len(old), (old, new)
    file.seek(0)
    file.write(data.replace(old, new + b'\0' * (len(old) - len(new))))


def hostile(resolver, folder):
  bait, names = hostile_names(folder)
  shutil.copy(os.path.join(folder, 's.c'), bait)
  plain = build(bait, 'plain')
  with_id = build(bait, 'with-id', '-Wl,--build-id')
  long_name = 'long' * 40
  built = {}
  for version in (4, 5):
    built[version] = build(bait, long_name, '-g', f'-gdwarf-{version}', '-gsplit-dwarf')
    os.rename(built[version], f'{bait}/split-{version}')
  unit = next(name for name in os.listdir(bait) if name.endswith('.dwo'))
  program = os.path.join(bait, 'program')
  usual = {re.sub('/proc/[0-9]+/', '/proc/self/', path) for path in opened(resolver, plain, folder)} - {plain} | {program}
  for name in names:
    for kind in ('link', 'link with a build-id', 'split unit 4', 'split unit 5', 'shared'):
      if kind.startswith('link'):
        shutil.copy(plain if kind == 'link' else with_id, program)
        debug_link(program, name)
      elif kind.startswith('split'):
        shutil.copy(f'{bait}/split-{kind[-1]}', program)
        replace_text(program, unit.encode(), name.encode())
      elif name:
        second = os.path.join(bait, 'second')
        for copy in (program, second):
          shutil.copy(os.path.join(folder, 'whole-for-dwz'), copy)
        run('dwz', '-m', os.path.join(folder, 'unused.debug'), '-M', name, program, second)
      found = opened(resolver, program, folder)
      others = None if found is None else sorted(path for path in found if not is_expected(path, usual))
      check(others == [] and program in found, f'{kind} named {name!r}: nothing else is opened',
            'no end' if others is None else others)


def main():
  resolver = os.path.abspath(sys.argv[1])
  folder = tempfile.mkdtemp(prefix='test-named-files.')
  os.environ.pop('DEBUGINFOD_URLS', None)
  os.environ['LC_ALL'] = 'C'
  try:
    split_dwarf(resolver, folder)
    shared_dwarf(resolver, folder)
    partial_units(resolver, folder)
    build(folder, 'whole-for-dwz', '-g', '-gdwarf-4')
    hostile(resolver, folder)
  finally:
    shutil.rmtree(folder)
  print(f'{checked - failed} of {checked} checks passed')
  sys.exit(0 if checked and not failed else 1)


if __name__ == '__main__':
  main()
