"""Compares every row of every FDE with `readelf --debug-dump=frames-interp`.

Usage: readelf_rows.py ROWS_DUMP FILE_OR_FOLDER...   Folders stand for the ELF files under them."""

import os
import re
import subprocess
import sys

X86_64, I386 = 62, 3  # e_machine
REGISTERS = {
    X86_64: 'rax rdx rcx rbx rsi rdi rbp rsp r8 r9 r10 r11 r12 r13 r14 r15 ra'.split(),
    I386: 'eax ecx edx ebx esp ebp esi edi ra'.split(),
}
FDE = re.compile(r'^[0-9a-f]{8,16} (?:[0-9a-f]{8}){1,2} [0-9a-f]{8,16} (FDE|CIE) .*?(?:pc=[0-9a-f]+\.\.([0-9a-f]+))?$')


def readelf_rows(path):
  """Yields (address, CFA, {register: rule}) of each row inside its FDE."""
  out = subprocess.run(['readelf', '--debug-dump=frames-interp', '-W', path], stdout=subprocess.PIPE,
                       stderr=subprocess.DEVNULL, text=True, errors='replace', check=False).stdout
  end, columns = 0, []
  in_eh_frame = False
  for line in out.splitlines():
    if line.startswith('Contents of the'):
      in_eh_frame = '.eh_frame ' in line
    elif not in_eh_frame:
      continue
    elif line.startswith('   LOC'):
      columns = line.split()[2:]
    elif match := FDE.match(line):
      end = int(match[2], 16) if match[1] == 'FDE' and match[2] else 0
    elif end and re.match(r'(?:[0-9a-f]{8}){1,2} (?!ZERO terminator)', line):
      fields = re.sub(r'r\d+ \((\w+)\)', r'\1', line).split()
      if int(fields[0], 16) < end and len(fields) == len(columns) + 2:
        yield fields[0], fields[1], dict(zip(columns, fields[2:]))


def compare(dump, path, machine):
  """Returns (rows, differences)."""
  rows = list(readelf_rows(path))
  if not rows:
    return 0, 0
  ours = subprocess.run([dump, path], input='\n'.join(row[0] for row in rows), stdout=subprocess.PIPE, text=True,
                        check=False).stdout.splitlines()
  # A row that the next one replaces at the same address holds for no instruction.
  differences = 0
  for i, ((address, cfa, rules), line) in enumerate(zip(rows, ours)):
    if i + 1 < len(rows) and rows[i + 1][0] == address:
      continue
    fields = line.split()
    expected = [cfa] + [rules.get(register, 'u') for register in REGISTERS[machine]]
    if fields != expected:
      differences += 1
      if differences <= 5:
        print(f'{path}: {address}: readelf {" ".join(expected)}; libuw {line}')
  return len(rows), differences + abs(len(rows) - len(ours))


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


def main():
  dump, *arguments = sys.argv[1:]
  files = rows = differences = 0
  for path, machine in elf_files(arguments):
    file_rows, file_differences = compare(dump, path, machine)
    files, rows, differences = files + 1, rows + file_rows, differences + file_differences
  print(f'{files} files, {rows} rows, {differences} differences')
  sys.exit(1 if differences or not rows else 0)


if __name__ == '__main__':
  main()
