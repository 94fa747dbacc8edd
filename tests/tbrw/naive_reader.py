"""Prints a tb5 file as print_tb5 does, by tbrw/FORMAT.md alone: slow, whole file in memory, no code
shared with libtbrw. Usage: naive_reader.py FILE [strict]

strict: for a file that nobody damaged. Its index says what its chunks say."""

import functools
import io
import re
import struct
import sys

NO_STREAM = 0xFFFFFFFF
GLOBAL_CONTENTS = {0: [16], 1: [17, 18, 19], 2: [20, 21], 3: [22], 4: [23], 5: [24]}
STREAM_CONTENTS = {0: [32, 33], 1: [34], 2: [35], 3: [36], 4: [37]}
SECTION_OF = {content: (scope, section)
              for scope, table in (('global', GLOBAL_CONTENTS), ('stream', STREAM_CONTENTS))
              for section, contents in table.items() for content in contents}


class Damaged(Exception):
  """The bytes are not what FORMAT.md says."""


class Unreadable(Exception):
  """Bytes that an index vouches for are not what they were."""


def _crc_tables():
  """Of one byte and of two."""
  one = []
  for byte in range(256):
    for _ in range(8):
      byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
    one.append(byte)
  return one, [one[(pair >> 8 ^ one[pair & 255]) & 255] ^ one[pair & 255] >> 8 for pair in range(65536)]


CRC_OF_BYTE, CRC_OF_PAIR = _crc_tables()


@functools.lru_cache(4096)  # damaged files share most chunks with others, and each chunk is looked at again
def crc32c(data):
  crc = 0xFFFFFFFF
  for pair, in struct.iter_unpack('<H', data[:len(data) & ~1]):
    crc = crc >> 16 ^ CRC_OF_PAIR[(crc ^ pair) & 65535]
  if len(data) & 1:
    crc = crc >> 8 ^ CRC_OF_BYTE[(crc ^ data[-1]) & 255]
  return crc ^ 0xFFFFFFFF


class Stream:
  def __init__(self):
    self.dropped = False
    self.done = False
    self.done_sections = set()
    self.sequences = {}


class File:
  def __init__(self, data, strict):
    self.data = data
    if len(data) < 64 or data[:8] != bytes.fromhex('89544235 0d0a1a0a'.replace(' ', '')):
      raise Damaged('magic')
    if crc32c(data[:60]) != struct.unpack_from('<I', data, 60)[0]:
      raise Damaged('file header')
    if struct.unpack_from('<HH', data, 8) != (2, 64):
      raise Damaged('version')
    chunks, whole = self._scan()
    self.damaged_lists = False
    whole = self.apply_all(chunks) and whole
    by_scan = self.summary()
    ends = [chunk[5] for chunk in chunks if chunk[0] == 7]
    at_end = self._end_at(len(data) - 64)
    self.complete = any(self._read_index_at(at) for at in ([len(data) - 64] if at_end else ends[-1:]))
    if self.complete and self.damaged_lists or not self.complete:
      self.apply_all(chunk for chunk in chunks if not self.complete or chunk[5] < max(ends, default=len(data)))
    elif strict and (not whole or self.summary() != by_scan):
      raise Damaged('the index says something else than the chunks')

  def apply_all(self, entries):
    """Up to the first that contradicts those before it. Whether there was none."""
    self.reset()
    for entry in entries:
      try:
        self.apply(*entry)
      except Damaged:
        return False
    return True

  def _read_index_at(self, at):
    index = self._index_at(at)
    return index is not None and self.apply_all(index)

  def reset(self):
    self.strings = b''
    self.sequences = {}
    self.done_sections = set()
    self.streams = []

  def summary(self):
    return (self.strings, self.sequences, self.done_sections,
            [None if s.dropped else (s.done, s.done_sections, s.sequences) for s in self.streams])

  def chunk_at(self, at):
    if len(self.data) - at < 32:
      raise Damaged('chunk header')
    magic, kind, content, stream, size, start, payload_crc, header_crc = struct.unpack_from(
        '<4sHHIIQII', self.data, at)
    space = 32 + (size + 7) // 8 * 8
    if magic != b'tb5c' or crc32c(self.data[at:at + 28]) != header_crc or size > 16 << 20 or at + space > len(self.data):
      raise Damaged('chunk header')
    payload = self.data[at + 32:at + 32 + size]
    if crc32c(payload) != payload_crc:
      raise Damaged('payload')
    return (kind, content, stream, start, payload, at, space)

  def _scan(self):
    """Every chunk up to the first that is not right."""
    chunks, at, sizes = [], 64, {}
    while at < len(self.data):
      try:
        chunk = self.chunk_at(at)
      except Damaged:
        return chunks, False
      kind, content, stream, start, payload = chunk[:5]
      if kind == 1 and (content == 1 or content in SECTION_OF):
        key = (content, stream if content >= 32 else NO_STREAM)
        if start != sizes.get(key, 0):
          return chunks, False
        sizes[key] = start + len(payload)
      chunks.append(chunk)
      at += chunk[6]
    return chunks, True

  def _end_at(self, at):
    try:
      end = self.chunk_at(at) if at >= 64 else None
    except Damaged:
      return None
    return end if end and end[0] == 7 and end[6] == 64 and struct.unpack_from('<Q', end[4], 16)[0] == at + 64 else None

  def _index_at(self, at):
    """What the index of the end chunk there says; None if it is not right."""
    try:
      end = self._end_at(at)
      return list(self._index(end)) if end else None
    except Damaged:
      return None

  def _index(self, end):
    first, size, file_size, _ = struct.unpack('<QQQQ', end[4])
    if file_size != end[5] + end[6]:
      raise Damaged('end')
    entries, at = b'', first
    while len(entries) < size:
      chunk = self.chunk_at(at)
      if chunk[0] != 6 or chunk[3] != len(entries):
        raise Damaged('index')
      entries += chunk[4]
      at += chunk[6]
    sizes, room = {}, end[5] + end[6]
    for offset, kind, content, stream, until, size, crc in struct.iter_unpack('<QHHIQII', entries):
      if kind == 1:
        raise Damaged('index entry')
      if kind != 8:
        yield (kind, content, stream, 0, b'', 0, 0)
        continue
      start = sizes.get((content, stream), 0)
      sizes[content, stream] = until
      if offset + size > len(self.data):
        raise Damaged('index entry')
      if content != 1 and content not in SECTION_OF:
        continue
      room -= size // 16 * 32 + until - start
      if (size == 0 or size % 16 or offset + size > len(self.data) or room < 0
          or not size // 16 <= until - start <= size // 16 << 24):
        raise Damaged('index entry')
      pieces = self._list(offset, size, crc, (content, stream, start))
      if pieces is None or start + sum(len(piece) for piece in pieces) != until:
        self.damaged_lists = True
        continue
      for piece in pieces:
        yield (1, content, stream, start, piece, 0, 0)
        start += len(piece)

  def _list(self, offset, size, crc, owner):
    data = self.data[offset:offset + size]
    pieces, last = [], 0
    if crc32c(data) != crc:
      return None
    for place, length, payload_crc in struct.iter_unpack('<QII', data):
      payload = self.data[place + 32:place + 32 + length]
      if len(payload) != length or place < last:
        return None
      try:
        chunk = self.chunk_at(place)
      except Damaged as error:
        raise Unreadable('payload') from error
      content, stream, start = owner
      if chunk[:2] != (1, content) or chunk[3] != start + sum(map(len, pieces)) or chunk[4] != payload or (
          content >= 32 and chunk[2] != stream) or crc32c(payload) != payload_crc:
        raise Unreadable('chunk of another')
      last = place + 32 + length
      pieces.append(payload)
    return pieces

  def stream_at(self, number, may_be_done):
    if number >= len(self.streams) or self.streams[number].dropped:
      raise Damaged('stream')
    if self.streams[number].done and not may_be_done:
      raise Damaged('stream is done')
    return self.streams[number]

  def owner(self, content, stream):
    if SECTION_OF[content][0] == 'global':
      return self
    return self.stream_at(stream, False)

  def apply(self, kind, content, stream, start, payload, *_):
    if kind == 1 and not payload and (content == 1 or content in SECTION_OF):
      raise Damaged('nothing')
    if kind == 1 and content == 1:
      if start != len(self.strings):
        raise Damaged('start')
      self.strings += payload
    elif kind == 1 and content in SECTION_OF:
      owner = self.owner(content, stream)
      before = owner.sequences.get(content, b'')
      if start != len(before) or SECTION_OF[content][1] in owner.done_sections:
        raise Damaged('start')
      owner.sequences[content] = before + payload
    elif kind == 2:
      owner = self if stream == NO_STREAM else self.stream_at(stream, False)
      if content in owner.done_sections:
        raise Damaged('done before')
      if content < (6 if stream == NO_STREAM else 5):
        owner.done_sections.add(content)
    elif kind == 3:
      if stream != len(self.streams) or stream >= 65536:
        raise Damaged('stream number')
      self.streams.append(Stream())
    elif kind == 4:
      self.stream_at(stream, False).done = True
    elif kind == 5:
      self.stream_at(stream, True).dropped = True

  def has_section(self, owner, section, contents):
    return section in owner.done_sections or any(c in owner.sequences for c in contents)

  def string(self, unique):
    offset = unique & ~(1 << 63)
    size, = struct.unpack_from('<I', self.strings, offset)
    return self.strings[offset + 4:offset + 4 + size].decode()


# What a terminal would obey or not show: Cc, Cf but for the soft hyphen, Zl and Zp of Unicode 15, the
# tags' whole block, and bytes that are no UTF-8.
UNSEEN = re.compile('[\\0-\x1f\x7f-\x9f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b-\u200f'
                    '\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f'
                    '\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e007f\udc80-\udcff]')


def seen(match):
  code = ord(match[0])
  return (f'\\x{code & 0xff:02x}' if code < 0x80 or 0xdc80 <= code <= 0xdcff
          else f'\\u{code:04x}' if code < 0x10000 else f'\\U{code:08x}')


def escaped(text):
  for c, escape in (('\\', '\\\\'), ('"', '\\"'), ('\n', '\\n'), ('\t', '\\t')):
    text = text.replace(c, escape)
  return UNSEEN.sub(seen, text)


class Printer:
  """What print_tb5 prints."""

  def __init__(self, file, out):
    self.file = file
    self.out = out

  def line(self, text):
    self.out.write(text + '\n')

  def named(self, *pairs):
    return ''.join(f' {name}=-' if unique == 0 else f' {name}="{escaped(self.file.string(unique))}"'
                   for name, unique in pairs)

  def hexed(self, data):
    self.line(f'  {len(data)} bytes')
    for at in range(0, len(data), 16):
      self.line(f'  {at // 16}:' + ''.join(f' {byte:02x}' for byte in data[at:at + 16]))

  def records(self, owner, content, layout):
    data = owner.sequences.get(content, b'')
    size = struct.calcsize(layout)
    for at in range(0, len(data) // size * size, size):
      fields = struct.unpack_from(layout, data, at)
      if fields[0] != size:
        raise Damaged('record size')
      yield fields

  def everything(self, name):
    file = self.file
    self.bound = self.bind_streams()
    self.line(f'file: {name}')
    self.line('complete: ' + ('yes' if file.complete else 'no, it was never closed'))
    self.line(f'streams: {len(file.streams)}')
    self.line('bound: ' + ('yes' if self.bound else 'no'))
    for title, section, function in (
        ('version information', 5, self.version), ('hardware', 0, self.hardware),
        ('software', 1, self.software), ('processes and threads', 2, self.processes),
        ('modules', 3, self.modules), ('user-defined', 4, self.user_global)):
      self.line(f'[{title}]')
      if file.has_section(file, section, GLOBAL_CONTENTS[section]) or (section == 2 and self.bound):
        function()
      else:
        self.line('  (none)')
    for number, stream in enumerate(file.streams):
      if not stream.dropped:
        self.line(f'[stream {number}]')
        self.stream(stream)

  def bind_streams(self):
    """The last complete and undropped stream of each bind type; nothing if one is missing."""
    found = {}
    for stream in self.file.streams:
      if stream.dropped or not stream.done:
        continue
      for info in self.records(stream, 37, '<IIIIIIIIQQQ'):
        if info[2] in (4, 5, 6, 7):
          found[info[2]] = stream
    return found if len(found) == 4 else {}

  def version(self):
    for _, driver, bind, sample in self.records(self.file, 24, '<IIII'):
      self.line(f'  driver={self.c_hex(driver)} bind={self.c_hex(bind)} sample_file={self.c_hex(sample)}')

  def hardware(self):
    data, at = self.file.sequences.get(16, b''), 0

    def take(layout):
      nonlocal at
      fields = struct.unpack_from(layout, data, at)
      at += struct.calcsize(layout)
      return fields

    for _ in range(take('<IIQ')[2]):
      _, kind, node, available, used, _, memory, cpus = take('<IIIIIIQQ')
      self.line(f'  node {node}: type={kind} cpus={available} used={used} memory_mb={memory}')
      for _ in range(cpus):
        (_, number, native, processor, mhz, fsb, l2, l3, offset, package, core, thread, per_core, _, archs
         ) = take('<IIIIIIIIqHHHHIxxxxQ')
        self.line(f'    cpu {number}: native_arch={native} processor_number={processor} mhz={mhz} '
                  f'fsb_mhz={fsb} l2_kb={l2} l3_kb={l3} tsc_offset={offset} package={package} '
                  f'core={core} thread={thread} threads_per_core={per_core}')
        for _ in range(archs):
          _, arch, count, leaves = take('<IHHQ')
          self.line(f'      architecture: type={arch} cpuid_entries={count}')
          for _ in range(leaves):
            if arch == 2:
              select, value, _ = take('<QQQ')
              self.line(f'        select={self.c_hex(select)} value={self.c_hex(value)}')
            else:
              leaf = [self.c_hex(field) for field in take('<IIIIII')]
              self.line('        input={} eax={} ebx={} ecx={} edx={}'.format(*leaf))

  @staticmethod
  def c_hex(value):
    """printf's %#x writes no 0x before a zero."""
    return f'{value:#x}' if value else '0'

  def software(self):
    for _, address, name in self.records(self.file, 17, '<IxxxxQQxxxxxxxx'):
      self.line('  host:' + self.named(('name', name), ('ip_address', address)))
    for _, platform, major, minor, build, extra, name, name_extra in self.records(self.file, 18, '<IIIIIIQQ'):
      self.line(f'  os: platform={self.c_hex(platform)} version={major}.{minor} build={build} extra={extra}'
                + self.named(('name', name), ('name_extra', name_extra)))
    for _, _, page, granularity, low, high in self.records(self.file, 19, '<IIIIQQ'):
      self.line(f'  application: page_size={page} granularity={granularity} '
                f'min_address={self.c_hex(low)} max_address={self.c_hex(high)}')

  def processes(self):
    pids = list(self.records(self.file, 20, '<IIIIQIIQQ'))
    tids = list(self.records(self.file, 21, '<IIIIQIIQ'))
    if self.bound:
      pids += list(self.records(self.bound[6], 35, '<IIIIQIIQQ'))
      stored = self.bound[7].sequences.get(35, b'')
      tids += [struct.unpack_from('<IIIIQIIQ', stored, at + 8)
               for at in range(48 * len(tids), len(stored), 48)]
    for number, (_, _, pid, flags, when, _, _, path, name) in enumerate(pids):
      self.line(f'  {number}: process pid={pid} flags={self.c_hex(flags)} when={when}'
                + self.named(('name', name), ('path', path)))
    for number, (_, pid, tid, flags, when, _, _, name) in enumerate(tids):
      self.line(f'  {number}: thread pid={pid} tid={tid} flags={self.c_hex(flags)} when={when}'
                + self.named(('name', name)))

  def modules(self):
    for number, record in enumerate(self.records(self.file, 22, '<IIIIQIIIxxxxQQIIIIQQQQ')):
      (_, _, pid, flags, when, _, mode, cs, length, address, _, _, _, _, unload, path, name, segment) = record
      unloaded = 'never' if unload == 2**64 - 1 else unload
      self.line(f'  {number}: module pid={pid} flags={self.c_hex(flags)} address={self.c_hex(address)} '
                f'length={self.c_hex(length)} when={when} unload={unloaded} mode={mode & 3} '
                f'cs={self.c_hex(cs)}' + self.named(('path', path), ('name', name), ('segment', segment)))

  def user_global(self):
    self.hexed(self.file.sequences.get(23, b''))

  def stream(self, stream):
    has = lambda section: self.file.has_section(stream, section, STREAM_CONTENTS[section])
    fields = []
    if has(4):
      self.info(stream)
    if has(0):
      self.line('  events:')
      self.events(stream)
    if has(1):
      fields = self.fields(stream)
    if has(2):
      self.line('  data:')
      self.values(stream, fields)
    if has(3):
      self.line('  user-defined:')
      self.hexed(stream.sequences.get(36, b''))

  def info(self, stream):
    types = ['?', 'sampling', 'aggregated', 'bookmark', 'bind data', 'bind module', 'bind process',
             'bind thread', 'custom']
    for record in self.records(stream, 37, '<IIIIIIIIQQQ'):
      _, duration, kind, interval, start_low, start_high, end_low, end_high, command, mask, comment = record
      self.line(f'  type={kind} ({types[kind] if kind < 9 else "?"}) duration_ms={duration} '
                f'interval_us={interval} start=0x{start_high:x}{start_low:08x} '
                f'end=0x{end_high:x}{end_low:08x}'
                + self.named(('comment', comment), ('command_line', command), ('cpu_mask', mask)))

  def events(self, stream):
    details = list(self.records(stream, 33, '<IHBBQQBBHI'))
    for number, record in enumerate(self.records(stream, 32, '<IIIIQQQQ')):
      _, event, count, flags, after, name, arch, first = record
      self.line(f'  {number}: event id={event} flags={self.c_hex(flags)} sample_after={after}'
                + self.named(('name', name), ('arch', arch)))
      if first + count > len(details):
        raise Damaged('event details')
      for _, bits, method, access, address, value, command, *_ in details[first:first + count]:
        self.line(f'      detail: method={method} access={access} bits={bits} '
                  f'address={self.c_hex(address)} value={self.c_hex(value)} command={command}')

  def fields(self, stream):
    fields = []
    for _, offset, kind, sub, size, _, _, _, _, _, _, name in self.records(stream, 34, '<IIHHIQBBBBIQ'):
      text = self.file.string(name) if name else ''
      fields.append((offset, size, kind, escaped(text) if text else f'@{offset}'))
      self.line(f'  field offset={offset} size={size} type={self.c_hex(kind)} subtype={self.c_hex(sub)}'
                + self.named(('name', name)))
    return fields

  def values(self, stream, fields):
    data = stream.sequences.get(35, b'')
    if not fields:
      self.line('  (its fields were not described)')
      return
    if len(fields) == 1 and fields[0][:2] == (0, 1):
      text = data.decode('utf-8', 'surrogateescape')
      self.line(f'  "{escaped(text)}"')
      return
    size = max(offset + length for offset, length, *_ in fields)
    for at in range(0, len(data) // size * size, size):
      self.line(f'  {at // size}:' + ''.join(self.value(data, at, *field) for field in fields))

  def value(self, data, at, offset, size, kind, name):
    value = data[at + offset:at + offset + size]
    if kind == 1 and size == 32:
      return self.sample(value)
    shown = str(int.from_bytes(value, 'little')) if size in (1, 2, 4, 8) else value.hex()
    return f' {name}={shown}'

  def sample(self, value):
    ip, flags, cs, cpu_and_os, tid, pid, bits = struct.unpack('<QQHHIII', value)
    if not bits >> 29 & 1:
      ip, flags = struct.unpack_from('<II', value)
    return (f' ip={self.c_hex(ip)} flags={self.c_hex(flags)} cs={self.c_hex(cs)} cpu={cpu_and_os & 4095} '
            f'mode={cpu_and_os >> 13 & 3} tid={tid} pid={pid}{"" if bits >> 30 & 1 else " (index)"} '
            f'event={bits >> 20 & 255}')


def read(path, strict):
  """(bytes that print_tb5 prints, None), or (None, why the file cannot be read)."""
  with open(path, 'rb') as file:
    data = file.read()
  out = io.StringIO()
  try:
    Printer(File(data, strict), out).everything(path)
  except (Damaged, Unreadable, struct.error, IndexError, UnicodeDecodeError) as error:
    return None, repr(error)
  return out.getvalue().encode('utf-8', 'surrogateescape'), None


def main():
  printed, error = read(sys.argv[1], sys.argv[2:] == ['strict'])
  if error:
    print(f'naive_reader: {sys.argv[1]}: {error}', file=sys.stderr)
    return 1
  sys.stdout.buffer.write(printed)
  return 0


if __name__ == '__main__':
  sys.exit(main())
