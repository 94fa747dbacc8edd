"""What the compiled objects show: libraries without mutable state that neither print nor exit, programs
without mutable globals. Usage: symbols.py BUILD_DIRECTORY"""

import os
import re
import subprocess
import sys

import tree

LIBRARIES = ('tbrw', 'profile', 'unwind', 'program')
PROGRAMS = ('collector', 'tools')

# Calls that print or end the process; fortified builds call __printf_chk and the like.
FORBIDDEN = re.compile(r'(__)?(v?f?printf|v?dprintf|puts|fputs|putchar|putc|fputc|perror|psignal|v?errx?|'
                       r'v?warnx?|v?syslog|exit|_exit|_Exit|quick_exit|stdout|stderr)(_chk)?$')
SYMBOL = re.compile(r'^[0-9a-f]+ (.{7}) (\S+)\s+[0-9a-f]+\s+(?:\.hidden )?(\S+)$')
WRITABLE = re.compile(r'\.(data(?!\.rel\.ro)|bss|tdata|tbss)(\.|$)|\*COM\*$')


# Where the C library calls, nobody can hand the library in the target its state.
AGENT = re.compile(r'collector/agent/libtbagent\.so\.p/agent\.c\.o$')
AGENT_STATE = {'agent', 'agent_thread'}


def objects(build, folder):
  for directory, _, names in os.walk(os.path.join(build, folder)):
    for name in sorted(names):
      # A BPF program's globals are maps of the kernel's, one for each time it is loaded.
      if name.endswith('.o') and not name.endswith('.bpf.o'):
        yield os.path.join(directory, name)


def symbols(path):
  """(is global, is data, section, name) of each symbol of an object."""
  done = subprocess.run(['objdump', '-t', path], check=True, capture_output=True, text=True)
  for line in done.stdout.splitlines():
    match = SYMBOL.match(line)
    if match:
      flags, section, name = match.groups()
      yield flags[0] == 'g', flags[6] == 'O', section, name


def check_object(path, library):
  problems = []
  for is_global, is_data, section, name in symbols(path):
    if AGENT.search(path) and name in AGENT_STATE:
      continue
    if (is_data or section == '*COM*') and WRITABLE.search(section) and (library or is_global):
      problems.append(f'{path}: {name} is mutable {"state of a library" if library else "and global"}')
    if library and section == '*UND*' and FORBIDDEN.match(name):
      problems.append(f'{path}: a library uses {name}')
  return problems


def main():
  build = sys.argv[1]
  problems, looked_at = [], 0
  for folder in LIBRARIES + PROGRAMS:
    found = list(objects(build, folder))
    if not found:
      problems.append(f'{folder}: no objects in {build}')
    looked_at += len(found)
    for path in found:
      problems += check_object(path, folder in LIBRARIES)
  tree.report('symbols', problems, looked_at)


if __name__ == '__main__':
  main()
