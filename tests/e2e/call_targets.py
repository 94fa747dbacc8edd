"""What a call in an ELF file of x86-64 may have run: the function that it names, or one that runs in its place by tail calls.

Independent of our unwinder: code, functions and linkage by the formats' specifications (System V gABI and psABI; LSB's .eh_frame_hdr;
DWARF 5, 6.4), instructions by objdump.
"""

import bisect
import functools
import mmap
import re
import struct
import subprocess
import tempfile

ENDS = ('ret', 'jmp', 'hlt', 'ud2', 'call', 'nop', 'nopw', 'nopl', 'data16', 'cs', 'xchg')
LINE = re.compile(r'^ *([0-9a-f]+):[ \t]+(?:(?:bnd|notrack|repz) )*(\w+)(?:,p[nt])?[ \t]*(.*)$', re.MULTILINE)

ENTRY_CFA = (7, 8)  # of a function's entry: rsp + 8
HEADER = b'\x01\x1b\x03\x3b'  # .eh_frame_hdr: addresses of 4 bytes, relative to it
RELATIVE = 0x1b  # DW_EH_PE_pcrel | DW_EH_PE_sdata4

# What a call may have run, where it is not the function with the address.
NOT = ''
NAMED = 'by name'
POINTER = 'by a pointer'  # the call itself, or a tail call of what it names
CHOSEN = 'by the loader'  # R_X86_64_IRELATIVE, STT_GNU_IFUNC, linkage without relocations
ELSEWHERE = 'through another file'
NO_FUNCTION = 'in no function'

# Operands of call frame instructions: u LEB128, b block, 1, 2, 4 bytes.
OPERANDS = {0x00: '', 0x02: '1', 0x03: '2', 0x04: '4', 0x05: 'uu', 0x06: 'u', 0x07: 'u', 0x08: 'u', 0x09: 'uu', 0x0a: '', 0x0b: '', 0x0c: 'uu',
            0x0d: 'u', 0x0e: 'u', 0x0f: 'b', 0x10: 'ub', 0x11: 'uu', 0x14: 'uu', 0x15: 'uu', 0x16: 'ub', 0x2e: 'u'}


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
    self.lazy = 0
    self.stubs = list(self.read_stubs(names))
    dynamic = next(((offset, in_file) for kind, _, offset, _, _, in_file, *_ in headers if kind == 2), None)
    self.slots = dict(self.read_slots(*dynamic)) if dynamic else {}

  def offset(self, address):
    return next((address - low + offset for low, high, offset in self.loads if low <= address < high), None)

  def code(self, address, size):
    at = self.offset(address)
    return b'' if at is None else self.data[at:at + size]

  def read_table(self, offset, address, size):
    if size < 12 or self.data[offset:offset + 4] != HEADER:
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
      if self.data[texts + name:texts + name + 5] == b'.plt\0':
        self.lazy = address
      if self.data[texts + name:texts + name + 4] == b'.plt':
        yield address, address + size

  def read_slots(self, offset, size):
    """(address of a pointer, the function of this file that it leads to, ELSEWHERE or CHOSEN)."""
    tags = dict(struct.unpack_from('<QQ', self.data, offset + i) for i in range(0, size - 15, 16))
    symbols = self.offset(tags.get(6, 0))
    for table, length in ((tags.get(23), tags.get(2, 0)), (tags.get(7), tags.get(8, 0))):
      at = self.offset(table) if table is not None else None
      for i in range(0, length if at is not None else 0, 24):
        slot, info, addend = struct.unpack_from('<QQq', self.data, at + i)
        kind, symbol = info & 0xffffffff, symbols + 24 * (info >> 32) if info >> 32 and symbols is not None else None
        value = addend if kind == 8 else CHOSEN if kind == 37 else ELSEWHERE
        if symbol is not None and self.data[symbol + 4] & 15 == 10:
          value = CHOSEN
        elif symbol is not None and self.data[symbol + 6:symbol + 8] != b'\0\0':
          value = struct.unpack_from('<Q', self.data, symbol + 8)[0]
        yield slot, value

  def is_stub(self, address):
    return any(low <= address < high for low, high in self.stubs)

  def stub(self, address):
    """(end of a stub's jump, its slot); None: another kind of stub."""
    code = self.code(address, 16)
    i = code.find(b'\xff\x25')
    return (address + i + 6, address + i + 6 + struct.unpack_from('<i', code, i + 2)[0]) if 0 <= i <= 10 else None

  def is_in_stub(self, stub, address):
    """Whether a stub's code has the address: its jump, the rest that the slot points to until the function is found, or the section's
    begin, where each such rest leads."""
    if not self.is_stub(address):
      return False
    end, slot = self.stub(stub) or (stub + 16, None)
    rest = self.code(slot, 8) if slot else b''
    rest = struct.unpack('<Q', rest)[0] & ~15 if len(rest) == 8 else 0
    return stub <= address < end or rest <= address < rest + 16 or self.lazy <= address < self.lazy + 16

  @functools.lru_cache(maxsize=None)
  def function(self, address):
    """[start, end) of the function at the address, by its FDE with relative addresses of 4 bytes; None: nobody knows."""
    i = bisect.bisect_right(self.starts, address) - 1
    at = self.offset(self.table[i]) if i >= 0 else None
    if at is None or self.cie(at) is None:
      return None
    start, size = struct.unpack_from('<iI', self.data, at + 8)
    start += self.table[i] + 8
    return (start, start + size) if start == self.starts[i] and start <= address < start + size else None

  def cie(self, fde):
    """Of the FDE at an offset in the file: (place of its CIE's instructions, their end, code's alignment); None: its addresses are not
    relative ones of 4 bytes."""
    size, back = struct.unpack_from('<II', self.data, fde)
    cie = fde + 4 - back
    if size == 0xffffffff or back == 0 or cie < 0:
      return None
    end = cie + 4 + struct.unpack_from('<I', self.data, cie)[0]
    text_end = self.data.find(b'\0', cie + 9, end)
    text = self.data[cie + 9:text_end]
    if self.data[cie + 8] != 1 or not text.startswith(b'z'):
      return None
    code_alignment, at = varint(self.data, text_end + 1)
    _, at = varint(self.data, at)
    length, at = varint(self.data, at + 1)
    rest, encoding = at + length, None
    for letter in text[1:].decode():
      if letter == 'P':
        at += {2: 2, 3: 4, 4: 8, 0: 8}[self.data[at] & 7]
      elif letter == 'R':
        encoding = self.data[at]
      at += letter in 'PLR'
    return (rest, end, code_alignment) if encoding == RELATIVE else None

  @functools.lru_cache(maxsize=None)
  def frames(self, start):
    """[(address from which, (register, offset) of the CFA, None: an expression)] of the function at its start, ascending."""
    fde = self.offset(self.table[bisect.bisect_right(self.starts, start) - 1])
    at, cie_end, alignment = self.cie(fde)
    rows, saved = [(start, None)], []
    rest, end = varint(self.data, fde + 16)
    for at, end in ((at, cie_end), (end + rest, fde + 4 + struct.unpack_from('<I', self.data, fde)[0])):
      while at < end:
        (place, cfa), (code, at) = rows[-1], (self.data[at], at + 1)
        values, at = operands(self.data, at, code)
        if code >> 6 == 1 or code in (2, 3, 4):
          place += alignment * (values[0] if values else code & 63)
        elif code == 0x0a:
          saved.append(cfa)
        else:
          cfa = saved.pop() if code == 0x0b else changed(cfa, code, values)
        rows.append((place, cfa))
    return rows

  def has_no_frame(self, start, address):
    """Whether the frame of the function at start is gone at the address, or nobody knows."""
    try:
      rows = self.frames(start)
    except (TypeError, IndexError):
      return True
    return rows[bisect.bisect_right([place for place, _ in rows], address) - 1][1] in (None, ENTRY_CFA)

  @functools.lru_cache(maxsize=None)
  def leads_to(self, start):
    """(targets of the function's jumps out of it, whether it may go on by a pointer)."""
    low, high = self.function(start)
    with tempfile.NamedTemporaryFile() as code:
      code.write(self.code(low, high - low))
      code.flush()
      text = subprocess.run(['objdump', '-D', '-b', 'binary', '-m', 'i386:x86-64', '--no-show-raw-insn', f'--adjust-vma={low}', code.name],
                            capture_output=True, text=True, check=True, errors='replace').stdout
    lines = LINE.findall(text)
    targets = {int(match[1], 16) for _, name, rest in lines if name.startswith('j') and (match := re.match('(?:0x)?([0-9a-f]+)', rest))}
    if lines and lines[-1][1] not in ENDS:
      targets.add(high)  # goes on in another FDE, or none
    is_open = any(name == 'jmp' and rest.startswith('*') and self.has_no_frame(low, int(address, 16)) for address, name, rest in lines)
    return [target for target in targets if not low <= target < high], is_open

  def runs(self, start, address):
    """Whether the function at start may have another run in its place, that with the address, by any number of tail calls: NOT, NAMED,
    or why nobody knows. Address None: one of another file."""
    answer, seen, next_ones = NOT, set(), {start}
    while next_ones:
      ways = [self.way(one, address) for one in next_ones]
      if NAMED in ways:
        return NAMED
      seen |= next_ones
      next_ones = {target for way in ways if not isinstance(way, str) for target in way[0]} - seen
      answer = next((way for way in ways if isinstance(way, str)), answer)
      answer = POINTER if any(way[1] for way in ways if not isinstance(way, str)) else answer
    return answer

  def way(self, one, address):
    """Of a call or tail call: (where its function goes on, whether by a pointer too), or as runs."""
    if self.is_stub(one):
      if address is not None and self.is_in_stub(one, address):
        return NAMED
      behind = self.slots.get((self.stub(one) or (0, 0))[1], CHOSEN)
      return behind if isinstance(behind, str) else ELSEWHERE if address is None else ([behind], False)
    known = self.function(one)
    if known is None:
      return NO_FUNCTION
    return NAMED if address is not None and known[0] <= address < known[1] else self.leads_to(known[0])


def varint(data, at):
  value = shift = 0
  while True:
    byte = data[at]
    at += 1
    value |= (byte & 0x7f) << shift
    if byte < 0x80:
      return value, at
    shift += 7


def operands(data, at, code):
  """([numbers] of a call frame instruction, where the next one is). TypeError: an unknown one."""
  values = []
  for kind in {0: OPERANDS.get(code), 1: '', 2: 'u', 3: ''}[code >> 6]:
    if kind in '124':
      values.append(int.from_bytes(data[at:at + int(kind)], 'little'))
      at += int(kind)
    else:
      value, at = varint(data, at)
      values.append(value)
      at += value if kind == 'b' else 0
  return values, at


def changed(cfa, code, values):
  """The CFA after a call frame instruction."""
  if code == 0x0c:
    return tuple(values)
  if code == 0x0d:
    return (values[0], cfa[1]) if cfa else None
  if code == 0x0e:
    return (cfa[0], values[0]) if cfa else None
  return None if code == 0x0f else cfa


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
