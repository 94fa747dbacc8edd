"""Compares every row of every FDE with `readelf --debug-dump=frames-interp`, in .eh_frame and in .debug_frame.

Usage: readelf_rows.py [--debug-rows N] [--go] ROWS_DUMP FILE_OR_FOLDER...
Folders stand for the ELF files under them. --debug-rows: at least so many rows are in .debug_frame. --go: a
program of the Go compiler, where there is one, is compared too: it has nothing else.

What readelf prints and this test cannot read is counted, and is a failure."""

import getopt
import os
import re
import shutil
import subprocess
import sys
import tempfile

import agreement

X86_64, I386 = 62, 3  # e_machine
REGISTERS = {
    X86_64: 'rax rdx rcx rbx rsi rdi rbp rsp r8 r9 r10 r11 r12 r13 r14 r15 ra'.split(),
    I386: 'eax ecx edx ebx esp ebp esi edi ra'.split(),
}
FDE = re.compile(r'^[0-9a-f]{8,16} (?:[0-9a-f]{8}){1,2} [0-9a-f]{8,16} (FDE|CIE) .*?(?:pc=[0-9a-f]+\.\.([0-9a-f]+))?$')


ROW = re.compile(r'(?:[0-9a-f]{8}){1,2} ')
SHOWN = 5


class Tally:
  """What was seen: rows by section, rows that start at their FDE's end and hold nowhere, lines that were not read."""

  def __init__(self):
    self.rows = {'.eh_frame': 0, '.debug_frame': 0}
    self.outside = self.unread = self.differences = 0

  def note_unread(self, path, line):
    self.unread += 1
    if self.unread <= SHOWN:
      print(f'{path}: not read: {line}')


def section_rows(path, lines, tally):
  """Yields (address, CFA, {register: rule}) of each row inside its FDE."""
  end, columns = 0, []
  for line in lines:
    if not line.strip() or line.endswith('ZERO terminator'):
      continue
    if line.startswith('   LOC'):
      columns = line.split()[2:]
    elif match := FDE.match(line):
      end = int(match[2], 16) if match[1] == 'FDE' and match[2] else 0
    elif not ROW.match(line):
      tally.note_unread(path, line)
    elif end:  # the rows of a CIE are in those of its FDEs
      fields = re.sub(r'r\d+ \((\w+)\)', r'\1', line).split()
      if len(fields) != len(columns) + 2:
        tally.note_unread(path, line)
      elif int(fields[0], 16) >= end:
        tally.outside += 1
      else:
        yield fields[0], fields[1], dict(zip(columns, fields[2:]))


def readelf_sections(path):
  """{section: lines}; of this file alone, not of debug files that readelf finds for it."""
  out = subprocess.run(['readelf', '--debug-dump=frames-interp', '--debug-dump=no-follow-links', '-W', path],
                       stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, errors='replace', check=False).stdout
  sections, lines = {}, []
  for line in out.splitlines():
    if match := re.match(r"Contents of the (\S+) section", line):
      lines = sections.setdefault(match[1], [])
    # A debug file has the headers of the sections that are in the program.
    elif 'has the NOBITS type' not in line and 'has no debugging information' not in line:
      lines.append(line)
  return sections


def compare(dump, path, machine, tally):
  for section, lines in readelf_sections(path).items():
    if section not in tally.rows:
      continue
    rows = list(section_rows(path, lines, tally))
    if not rows:
      continue
    command = [dump] + (['-d'] if section == '.debug_frame' else []) + [path]
    ours = subprocess.run(command, input='\n'.join(row[0] for row in rows), stdout=subprocess.PIPE, text=True,
                          check=False).stdout.splitlines()
    differences = abs(len(rows) - len(ours))
    for i, ((address, cfa, rules), line) in enumerate(zip(rows, ours)):
      # A row that the next one replaces at the same address holds for no instruction.
      if i + 1 < len(rows) and rows[i + 1][0] == address:
        continue
      expected = [cfa] + [rules.get(register, 'u') for register in REGISTERS[machine]]
      if line.split() != expected:
        differences += 1
        if differences <= SHOWN:
          print(f'{path}: {section}: {address}: readelf {" ".join(expected)}; libuw {line}')
    tally.rows[section] += len(rows)
    tally.differences += differences


def elf_files(arguments):
  """Yields (path, machine) of the programs and libraries for x86."""
  seen = set()
  for argument in arguments:
    paths = [argument]
    if os.path.isdir(argument):
      paths = sorted(os.path.join(folder, name) for folder, _, names in os.walk(argument) for name in names)
    for path in paths:
      real = os.path.realpath(path)
      if real in seen or not os.path.isfile(real):
        continue
      seen.add(real)
      with open(real, 'rb') as file:
        head = file.read(20)
      if len(head) == 20 and head[16] in (2, 3) and (head[:6], head[18]) in (
          (b'\x7fELF\x02\x01', X86_64), (b'\x7fELF\x01\x01', I386)):
        yield real, head[18]


def go_program(folder):
  """[path] of a Go program; [] without a compiler."""
  if not shutil.which('go'):
    return []
  with open(f'{folder}/g.go', 'w', encoding='ascii') as file:
    file.write(agreement.GO)
  subprocess.run(['go', 'build', 'g.go'], cwd=folder, check=True, env={**os.environ, 'GOCACHE': f'{folder}/cache'})
  return [f'{folder}/g']


def main():
  options, arguments = getopt.getopt(sys.argv[1:], '', ['debug-rows=', 'go'])
  options = dict(options)
  dump, *paths = arguments
  files, tally = 0, Tally()
  with tempfile.TemporaryDirectory() as folder:
    for path, machine in elf_files(paths + (go_program(folder) if '--go' in options else [])):
      compare(dump, path, machine, tally)
      files += 1
  print(f'{files} files, rows: {tally.rows}, {tally.outside} more at the end of their FDE; {tally.unread} lines not read; '
        f'{tally.differences} differences')
  enough = tally.rows['.eh_frame'] > 0 and tally.rows['.debug_frame'] >= int(options.get('--debug-rows', 0))
  return 0 if enough and not tally.differences and not tally.unread else 1


if __name__ == '__main__':
  sys.exit(main())
