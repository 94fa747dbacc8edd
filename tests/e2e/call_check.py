"""Whether the callers on a result's stacks called: each return address follows a call, and where the call names its target, the
frame inside lies in the function there, or in one that the function jumps to.

Independent of our unwinder: stacks by `tbconvert export --to pprof --inline off`, code and functions from the ELF files by the
formats' specifications (profile.proto; System V gABI; LSB's .eh_frame_hdr), jumps by objdump.
"""

import bisect
import collections
import functools
import gzip
import mmap
import os
import re
import struct
import subprocess

import support as s

SEAM = re.compile(r'^\[(Skipped|Guessed|Unknown) ')
# Returned to, but called by nobody: the kernel and the Go runtime write the return address.
UNCALLED = ('__restore_rt', '__restore', '[signal handler called]', '__kernel_rt_sigreturn', '__kernel_sigreturn', 'runtime.sigreturn',
            'runtime.sigreturn.abi0', 'runtime.sigreturn__sigaction', 'runtime.sigreturn__sigaction.abi0', 'runtime.goexit', 'runtime.goexit.abi0')
ENDS = ('ret', 'jmp', 'hlt', 'ud2', 'call', 'nop', 'nopw', 'nopl', 'data16', 'cs', 'xchg')
JUMPS_MAX = 6  # from a function's entry to the one that runs, each a tail call

STUB_MAX = 16
CHOSEN = -1  # an indirect function (R_X86_64_IRELATIVE, STT_GNU_IFUNC)

Frame = collections.namedtuple('Frame', 'path address name')


def varint(data, at):
  value = shift = 0
  while True:
    byte = data[at]
    at += 1
    value |= (byte & 0x7f) << shift
    if byte < 0x80:
      return value, at
    shift += 7


def fields(data):
  """(number, value) of a message's fields: numbers, or bytes."""
  at = 0
  while at < len(data):
    tag, at = varint(data, at)
    if tag & 7 == 0:
      value, at = varint(data, at)
    else:
      assert tag & 7 == 2, tag
      size, at = varint(data, at)
      value, at = data[at:at + size], at + size
    yield tag >> 3, value


def numbers(value):
  """Of a repeated field, packed or not."""
  if isinstance(value, int):
    return [value]
  found, at = [], 0
  while at < len(value):
    number, at = varint(value, at)
    found.append(number)
  return found


def read_stacks(result):
  """[(frames, innermost first; samples)]"""
  path = s.scratch(os.path.basename(result) + '.calls.pb.gz')
  s.run_tool('tbconvert', 'export', '--to', 'pprof', '--inline', 'off', '-o', path, result)
  with gzip.open(path) as file:
    message = list(fields(file.read()))
  os.unlink(path)
  texts = [value.decode(errors='replace') for number, value in message if number == 6]
  functions = {dict(fields(value))[1]: texts[dict(fields(value)).get(2, 0)] for number, value in message if number == 5}
  mappings = {dict(fields(value))[1]: texts[dict(fields(value)).get(5, 0)] for number, value in message if number == 3}
  frames = {}
  for number, value in message:
    if number == 4:
      location = dict(fields(value))
      line = dict(fields(location[4])) if 4 in location else {}
      frames[location[1]] = Frame(mappings.get(location.get(2, 0), ''), location.get(3, 0), functions.get(line.get(1, 0), ''))
  stacks = collections.Counter()
  for number, value in message:
    if number == 2:
      sample = list(fields(value))
      chain = tuple(one for field, part in sample if field == 1 for one in numbers(part))
      stacks[chain] += next(numbers(part)[0] for field, part in sample if field == 2)
  return [([frames[one] for one in chain], count) for chain, count in stacks.items()]


class File:
  """An ELF file of 64 bits: its code by address, functions by .eh_frame_hdr, linkage stubs by section names."""

  def __init__(self, path):
    self.path = path
    with open(path, 'rb') as file:
      self.data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    if self.data[:5] != b'\x7fELF\x02' or struct.unpack_from('<H', self.data, 18)[0] != 62:
      raise ValueError('no ELF file for x86-64')
    at, self.sections_at = struct.unpack_from('<QQ', self.data, 32)
    size, count, self.section_size, self.section_count, names = struct.unpack_from('<HHHHH', self.data, 54)
    headers = [struct.unpack_from('<IIQQQQQQ', self.data, at + i * size) for i in range(count)]
    self.loads = [(address, address + in_file, offset) for kind, _, offset, address, _, in_file, *_ in headers if kind == 1]
    self.starts, self.table = [], None
    for kind, _, offset, address, _, in_file, *_ in headers:
      if kind == 0x6474e550:
        self.read_table(offset, address, in_file)
    self.stubs = list(self.read_stubs(names))
    dynamic = next(((offset, in_file) for kind, _, offset, _, _, in_file, *_ in headers if kind == 2), None)
    self.slots = dict(self.read_slots(*dynamic)) if dynamic else {}

  def offset(self, address):
    return next((address - low + offset for low, high, offset in self.loads if low <= address < high), None)

  def code(self, address, size):
    at = self.offset(address)
    return b'' if at is None else self.data[at:at + size]

  def read_table(self, offset, address, size):
    if size < 12 or self.data[offset:offset + 4] != b'\x01\x1b\x03\x3b':
      return
    count = struct.unpack_from('<I', self.data, offset + 8)[0]
    rows = struct.unpack_from(f'<{2 * count}i', self.data, offset + 12)
    self.starts = [address + row for row in rows[0::2]]
    self.table = [address + row for row in rows[1::2]]

  def read_stubs(self, names):
    if self.section_count == 0:
      return
    def header(i):
      return struct.unpack_from('<IIQQQQ', self.data, self.sections_at + i * self.section_size)
    texts = header(names)[4]
    for i in range(self.section_count):
      name, _, _, address, _, size = header(i)
      if self.data[texts + name:texts + name + 4] == b'.plt':
        yield address, address + size

  def read_slots(self, offset, size):
    """(address of a pointer, the function of this file that it leads to; 0: another file's; CHOSEN: at run time)."""
    tags = dict(struct.unpack_from('<QQ', self.data, offset + i) for i in range(0, size - 15, 16))
    symbols = self.offset(tags.get(6, 0))
    for table, length in ((tags.get(23), tags.get(2, 0)), (tags.get(7), tags.get(8, 0))):
      at = self.offset(table) if table is not None else None
      for i in range(0, length if at is not None else 0, 24):
        slot, info, addend = struct.unpack_from('<QQq', self.data, at + i)
        kind, symbol = info & 0xffffffff, symbols + 24 * (info >> 32) if info >> 32 and symbols is not None else None
        value = addend if kind == 8 else CHOSEN if kind == 37 else 0
        if symbol is not None and self.data[symbol + 4] & 15 == 10:
          value = CHOSEN
        elif symbol is not None and self.data[symbol + 6:symbol + 8] != b'\0\0':
          value = struct.unpack_from('<Q', self.data, symbol + 8)[0]
        yield slot, value

  def is_stub(self, address):
    return any(low <= address < high for low, high in self.stubs)

  def behind_stub(self, address):
    """Where a stub of linkage jumps to, as read_slots says; 0 if that is not known."""
    code = self.code(address, 16)
    i = code.find(b'\xff\x25')
    return self.slots.get(address + i + 6 + struct.unpack_from('<i', code, i + 2)[0], 0) if 0 <= i <= 10 else 0

  @functools.lru_cache(maxsize=None)
  def function(self, address):
    """[start, end) of the function at the address, by its FDE with relative addresses of 4 bytes; None: nobody knows."""
    i = bisect.bisect_right(self.starts, address) - 1
    at = self.offset(self.table[i]) if i >= 0 else None
    if at is None:
      return None
    start, size = struct.unpack_from('<iI', self.data, at + 8)
    start += self.table[i] + 8
    return (start, start + size) if start == self.starts[i] and start <= address < start + size else None

  @functools.lru_cache(maxsize=None)
  def leads_to(self, start):
    """(targets of the function's jumps out of it, whether others cannot be told)."""
    low, high = self.function(start)
    code = s.scratch('function.bin')
    with open(code, 'wb') as file:
      file.write(self.code(low, high - low))
    text = subprocess.run(['objdump', '-D', '-b', 'binary', '-m', 'i386:x86-64', '--no-show-raw-insn', f'--adjust-vma={low}', code],
                          capture_output=True, text=True, check=True, errors='replace').stdout
    lines = re.findall(r'^\s*[0-9a-f]+:[ \t]+(?:(?:bnd|notrack|repz) )*(\w+)(?:,p[nt])?[ \t]*(.*)$', text, re.MULTILINE)
    targets = {int(match[1], 16) for name, rest in lines if name.startswith('j') and (match := re.match('([0-9a-f]+)', rest.removeprefix('0x')))}
    if lines and lines[-1][0] not in ENDS:
      targets.add(high)  # goes on in another FDE, or none
    return [target for target in targets if not low <= target < high], any(is_tail_call(lines, i) for i in range(len(lines)))

  def runs(self, start, address):
    """Whether the function at start may have another run in its place, that with the address: 'named', 'called' where a pointer
    decides; else ''. Address None: one of another file."""
    answer, seen, next_ones = '', set(), [start]
    for _ in range(JUMPS_MAX):
      starts, next_ones = next_ones, []
      for one in starts:
        if self.is_stub(one):
          behind = self.behind_stub(one)
          if address is None or behind == CHOSEN or (self.is_stub(address) and 0 <= address - one < STUB_MAX):
            return 'called'
          if behind == 0:
            continue
          one = behind
        known = self.function(one)
        if known is None:
          answer = 'called'
        elif address is not None and known[0] <= address < known[1]:
          return 'named'
        elif known not in seen:
          seen.add(known)
          targets, is_open = self.leads_to(known[0])
          answer = 'called' if is_open else answer
          next_ones += targets
    return answer


@functools.lru_cache(maxsize=None)
def open_file(path):
  try:
    return File(path)
  except (OSError, ValueError, struct.error):
    return None


def is_tail_call(lines, i):
  """Whether a jump by a pointer leaves the function: behind its epilogue, or where it has no frame."""
  if lines[i][0] != 'jmp' or not lines[i][1].startswith('*'):
    return False
  for name, rest in reversed(lines[max(0, i - 8):i]):
    if name in ('pop', 'leave') or (name == 'add' and rest.endswith(',%rsp')):
      return True
    if name in ('ret', 'jmp'):
      break
  return not any(name == 'push' or (name == 'sub' and rest.endswith(',%rsp')) for name, rest in lines[:i])


# call r/m64, by the length of what follows the opcode: ModRM, SIB, displacement (Intel SDM, volume 2, tables 2-2 and 2-3).
def is_indirect_call(code):
  for size in range(2, 8):
    if len(code) < size:
      continue
    text = code[-size:]
    text = text[1:] if 0x40 <= text[0] <= 0x4f else text
    if len(text) < 2 or text[0] != 0xff or text[1] & 0x38 != 0x10:
      continue
    mode, base = text[1] >> 6, text[1] & 7
    length = 2 + {0: 4 if base == 5 else 0, 1: 1, 2: 4, 3: 0}[mode]
    if mode != 3 and base == 4:
      length += 1
      if mode == 0 and len(text) > 2 and text[2] & 7 == 5:
        length += 4
    if length == len(text):
      return True
  return False


class Check:
  """What stacks say of calls."""

  def __init__(self, stacks):
    self.called = self.named = self.unknown = 0
    self.wrong = collections.Counter()
    self.judged = {}
    for frames, count in stacks:
      self.look_at_stack(frames, count)

  def look_at_stack(self, frames, count):
    for inner, outer in zip(frames, frames[1:]):
      if SEAM.match(outer.name):
        break  # what lies further out is not verified
      if SEAM.match(inner.name) or inner.name in UNCALLED or outer.name in UNCALLED:
        continue
      pair = (inner, outer)
      if pair not in self.judged:
        self.judged[pair] = self.judge(inner, outer)
      self.count(pair, self.judged[pair], count)

  def count(self, pair, answer, count):
    if answer == 'unknown':
      self.unknown += count
    elif answer in ('called', 'named'):
      self.called += count
      self.named += count if answer == 'named' else 0
    else:
      self.wrong[f'{answer}: {pair[0].name} ({pair[0].address:#x}) under {pair[1].name} ({pair[1].address:#x} of {pair[1].path})'] += count

  def judge(self, inner, outer):
    """'named': the call's target is the inner function; 'called': it may be; 'unknown': no file; else what is wrong."""
    file = open_file(outer.path) if outer.path.startswith('/') else None
    code = file.code(outer.address + 1 - 8, 8) if file else b''
    if len(code) < 8:
      return 'unknown'
    if code[-5] == 0xe8:
      target = (outer.address + 1 + struct.unpack('<i', code[-4:])[0]) & (1 << 64) - 1
      is_known = inner.path == outer.path and file.function(inner.address) is not None
      answer = file.runs(target, inner.address if is_known else None)
      if answer:
        return answer if is_known else 'called'
    if is_indirect_call(code):
      return 'called'
    return 'another was called' if code[-5] == 0xe8 else 'no call'


def check_calls(what, result, least=1):
  """Fails where a frame's caller did not call it, or fewer than `least` pairs could be looked at."""
  found = Check(read_stacks(result))
  # Of another function called, one in 10,000: not each tail call can be told from a jump (LLVM's, through pointers and stubs).
  uncalled = sum(count for text, count in found.wrong.items() if text.startswith('no call'))
  others = sum(found.wrong.values()) - uncalled
  s.check(uncalled == 0 and others <= max(3, found.called / 10000) and found.called >= least, f'{what}: callers called',
          f'{found.called} pairs of frames, {found.named} by name, {found.unknown} in no file'
          + ''.join(f'; {count} {text}' for text, count in found.wrong.most_common(6)))


def check_false_stacks(what, result):
  """The check itself: of stacks that lack a frame it finds nearly all."""
  whole = [(frames, count) for frames, count in read_stacks(result) if len(frames) >= 6 and not any(SEAM.match(frame.name) for frame in frames)]
  total = sum(count for _, count in whole)
  found = sum(count for frames, count in whole if Check([(frames[:2] + frames[3:], count)]).wrong)
  s.check(total > 0 and found >= 0.5 * total, f'{what}: stacks that lack a frame are found', f'{found} of {total}')
