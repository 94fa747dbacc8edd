"""Who may know what: fails on an include, a name or a call that ARCHITECTURE.md's table forbids."""

import collections
import os
import re
import sys

import tree

TBRW_PUBLIC = {'tbrw/tbrw.h', 'tbrw/tbrw_types.h', 'tbrw/tbrw_errors.h', 'tbrw/samprec_shared.h'}
# What the tools may use of the collector: a result's directory.
RESULT_PUBLIC = {'collector/result/result.h', 'collector/message/failure.h'}
# The collector's chain behind a recording, and its failures.
RECORDING_PUBLIC = {'collector/recording/recording.h', 'collector/message/failure.h'}
# What the project's own libraries may use of libtbrw beside what it installs.
TBRW_INTERNAL = {'tbrw/utf8.h'}
PROFILE_PUBLIC = {'profile/base/build_id.h', 'profile/base/external_name.h', 'profile/base/gap.h', 'profile/base/place.h', 'profile/base/stack_size.h', 'profile/base/visible.h',
                  'profile/copy.h', 'profile/profile.h', 'profile/read/external.h', 'profile/read/reader.h', 'profile/read/states.h', 'profile/write/records.h', 'profile/write/writer.h'}

# Headers from outside the project by the library they belong to; each library is a right that a
# folder has or has not.
LIBRARIES = {
    'elf': r'elf\.h|link\.h',
    'libelf': r'(libelf|gelf)\.h',
    'libdw': r'dwarf\.h|elfutils/.*',
    'libunwind': r'libunwind.*\.h',
    'libbpf': r'bpf/.*|linux/bpf\.h|(stack|switches|waits)_bpf\.skel\.h',
    'libiberty': r'libiberty/.*|demangle\.h|libiberty\.h',
    'json': r'json-c/.*|json\.h|jansson\.h',
    'zlib': r'zlib\.h',
    'protobuf': r'protobuf-c/.*|.*\.pb-c\.h',
    'zstd': r'zstd.*\.h',
    'libdeflate': r'libdeflate\.h',
    'lzma': r'lzma\.h',
    'check': r'check\.h',
    'zydis': r'Zydis/.*',
    'perf_event': r'linux/perf_event\.h',
    'libc': r'(sys|linux|asm|arpa|netinet|net)/.*|'
            r'(alloca|argp|assert|byteswap|ctype|cpuid|dirent|dlfcn|endian|err|errno|error|fcntl|features|'
            r'fenv|float|fnmatch|ftw|getopt|glob|grp|immintrin|inttypes|iso646|langinfo|libgen|limits|'
            r'locale|malloc|math|memory|mntent|netdb|paths|poll|pthread|pty|pwd|regex|sched|search|'
            r'semaphore|setjmp|signal|spawn|stdalign|stdarg|stdatomic|stdbool|stddef|stdint|stdio|'
            r'stdio_ext|stdlib|stdnoreturn|string|strings|sysexits|syslog|termios|time|uchar|'
            r'ucontext|unistd|utime|utmp|wait|wchar|wctype|wordexp|x86intrin)\.h',
}

# folder -> (project headers it may include, libraries it may use). The longest prefix counts. All but collector/bpf, whose
# programs run in the kernel, and collector/agent, which runs in targets, may use the containers too.
RULES = {
    'containers': (lambda h: h.startswith('containers/'), {'libc'}),
    'tbrw': (lambda h: h.startswith('tbrw/'), {'libc'}),
    'profile': (lambda h: h.startswith('profile/') or h in TBRW_PUBLIC | TBRW_INTERNAL, {'libc'}),
    'profile/read': (lambda h: h.startswith('profile/') or h in TBRW_PUBLIC | TBRW_INTERNAL | {'tbrw/bind/binder.h'}, {'libc'}),
    'unwind': (lambda h: h.startswith('unwind/'), {'libc'}),
    'unwind/analysis': (lambda h: h.startswith('unwind/'), {'libc', 'zydis'}),
    'unwind/elf': (lambda h: h.startswith('unwind/'), {'libc', 'elf'}),
    'unwind/module': (lambda h: h.startswith('unwind/'), {'libc', 'libelf'}),
    'program': (lambda h: h.startswith('program/'), {'libc', 'elf', 'zlib'}),
    'collector/agent': (lambda h: h.startswith('collector/agent/'), {'libc'}),
    'collector/bpf': (lambda h: h.startswith('collector/bpf/') or h == 'vmlinux.h',
                      {'libc', 'libbpf', 'perf_event'}),
    'collector/recording': (lambda h: h.startswith(('collector/', 'program/')) or h in TBRW_PUBLIC | PROFILE_PUBLIC,
                            {'libc', 'perf_event', 'zstd'}),
    'collector': (lambda h: h.startswith(('collector/', 'program/')) or h in TBRW_PUBLIC | PROFILE_PUBLIC or h == 'unwind/unwind.h',
                  {'libc', 'libbpf', 'elf', 'perf_event'}),
    'tools/convert': (lambda h: h.startswith(('tools/', 'program/')) or h in TBRW_PUBLIC | PROFILE_PUBLIC | RESULT_PUBLIC, {'libc'}),
    'tools/perf_import': (lambda h: h.startswith('tools/') or h in TBRW_PUBLIC | PROFILE_PUBLIC | RECORDING_PUBLIC, {'libc'}),
    'tools/names': (lambda h: h.startswith('tools/'), {'libc', 'libiberty'}),
    'tools/debuginfo': (lambda h: h.startswith(('tools/', 'program/')), {'libc', 'elf', 'libelf', 'libdw', 'libdeflate', 'lzma'}),
    'tools/symbols': (lambda h: h.startswith(('tools/', 'program/')) or h == 'unwind/go/source.h', {'libc', 'elf', 'libelf', 'libdw'}),
    'tools/perf_data': (lambda h: h.startswith('tools/'), {'libc', 'perf_event'}),
    'tools/code': (lambda h: h.startswith(('tools/', 'program/')) or h in TBRW_PUBLIC | PROFILE_PUBLIC, {'libc', 'zydis'}),
    'tools/table': (lambda h: h.startswith('tools/'), {'libc', 'json'}),
    'tools/otlp': (lambda h: h.startswith('tools/'), {'libc', 'protobuf'}),
    'tools/import_stacks': (lambda h: h.startswith('tools/') or h in TBRW_PUBLIC | PROFILE_PUBLIC, {'libc', 'protobuf', 'zlib'}),
    'tools/pprof': (lambda h: h.startswith('tools/'), {'libc', 'protobuf', 'zlib'}),
    'tools': (lambda h: h.startswith(('tools/', 'program/')) or h in TBRW_PUBLIC | PROFILE_PUBLIC, {'libc', 'json'}),
}

# area -> its rooms, and the other rooms that each may know: ones above it, so that arrows go one way. '' is the area's
# own folder, with the programs' main files.
ROOMS = {
    'tbrw': {
        '': '',
        'store': '',
        'file': 'store',
        'bind': 'file',
        'api': 'file bind',
    },
    'profile': {
        'base': '',
        'write': 'base',
        'read': 'base',
        '': 'base write read',
    },
    'collector': {
        'agent': '',
        'bpf': '',
        'message': '',
        'machine': '',
        'host': '',
        'proc': '',
        'events': 'message',
        'perf': 'bpf message machine host events',
        'stream': 'bpf machine perf',
        'preload': 'agent message machine perf stream',
        'result': 'message host',
        'image': 'machine proc result',
        'context': 'machine result',
        'model': 'machine proc perf result image context',
        'states': 'machine perf result model',
        'waits': 'machine proc perf stream result context model',
        'analysis': 'machine perf result context model states waits',
        'tracing': '',
        'recording': 'message machine host perf result context model analysis tracing',
        'options': 'message events analysis',
        'session': 'bpf message machine proc events perf stream preload result model states waits analysis options',
        '': 'message options session',
    },
    'unwind': {
        '': '',
        'elf': '',
        'go': 'elf',
        'frame': 'elf',
        'analysis': 'frame',
        'cfi': 'elf frame',
        'generated': 'frame analysis',
        'x86': 'elf frame cfi',
        'functions': 'elf analysis cfi',
        'module': 'elf go cfi functions',
        'rules': 'elf frame analysis cfi',
        'space': 'generated module rules',
        'step': 'elf go frame analysis cfi x86 functions module rules space',
        'convention': 'frame analysis generated cfi x86 functions module rules space step',
        'walk': 'frame module rules space step convention',
    },
    'tools': {
        'memory': '',
        'text': 'memory',
        'terminal': 'memory',
        'cli': 'memory text terminal',
        'names': 'memory',
        'debuginfo': 'memory',
        'symbols': 'memory text names debuginfo',
        'generated': 'memory text symbols',
        'modules': 'memory text',
        'symbolization': 'memory text names symbols generated modules',
        'functions': 'memory text names',
        'intervals': 'memory',
        'states': 'memory functions',
        'samples': 'memory functions intervals states',
        'stacks': 'memory terminal cli functions samples',
        'csv': '',
        'table': 'memory terminal csv',
        'waits': 'memory text functions samples states',
        'report': 'memory text functions intervals samples states stacks table waits',
        'groups': 'memory text functions intervals samples states stacks table report',
        'code': 'memory text terminal names debuginfo symbols modules functions samples stacks table report',
        'diff': 'memory text terminal cli names functions samples stacks table report',
        'collection': 'memory states samples table report',
        'json': 'memory',
        'perf_data': 'memory',
        'pprof': 'memory',
        'otlp': 'memory pprof',
        'spool': 'memory terminal',
        'timelines': 'memory functions samples stacks spool',
        'lives': 'memory functions states spool waits',
        'page': 'memory text terminal cli functions states samples stacks report code diff collection json pprof timelines lives',
        'export': 'memory text terminal functions samples stacks collection json pprof otlp timelines',
        'perf_export': 'memory functions states samples stacks waits perf_data export',
        'chrome': 'memory functions states samples stacks collection json timelines lives export',
        'firefox': 'memory functions samples stacks collection json pprof spool timelines lives export',
        'csv_export': 'memory csv functions states samples stacks spool export',
        'formats': 'memory samples export perf_export chrome firefox csv_export',
        'import': '',
        'perf_import': 'terminal import',
        'import_stacks': 'memory text terminal names functions samples collection import',
        'external': 'memory text terminal',
        'convert': 'memory text terminal cli names symbols generated modules symbolization functions samples stacks waits export csv_export formats import import_stacks perf_import external',
        'watch': 'memory terminal cli',
        'tb5': 'memory text terminal cli',
        '': 'memory text terminal cli symbolization stacks report code diff page formats convert watch',
    },
}
ROOM_FILES_MAX = 25

# The longest chain of the project's headers that including one brings.
DEPTH_MAX = 6

# Headers of a room that the area's other rooms include.
PUBLIC_MAX = 2

# What an area shows to others, all of its rooms know too.
AREA_PUBLIC = {'unwind/unwind.h', 'profile/profile.h', *TBRW_PUBLIC, *TBRW_INTERNAL}

# In the collector: who may include linux/perf_event.h, and who may touch the ring's control page.
PERF_EVENT_FILES = re.compile(r'collector/(.*/)?(record|event|ring)[^/]*\.[ch]$')
MMAP_PAGE_FILES = re.compile(r'collector/(.*/)?ring[^/]*\.[ch]$')
PRINTING_FILES = re.compile(r'collector/(.*/)?(main|log)[^/]*\.[ch]$')

PRINTING = re.compile(r'\b(printf|fprintf|vprintf|vfprintf|dprintf|vdprintf|puts|fputs|putchar|putc|fputc|'
                      r'perror|psignal|err|errx|verr|warn|warnx|vwarn|syslog)\s*\(')
EXITING = re.compile(r'\b(exit|_exit|_Exit|quick_exit|abort|errx?|error)\s*\(')
INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]', re.MULTILINE)


def library_of(header):
  # The more specific libraries stand before libc in the table, except for linux/perf_event.h.
  for name in ('perf_event', 'libbpf', 'elf'):
    if re.fullmatch(LIBRARIES[name], header):
      return name
  for name, pattern in LIBRARIES.items():
    if re.fullmatch(pattern, header):
      return name
  return None


def folder_of(path):
  prefixes = [folder for folder in RULES if path.startswith(folder + '/')]
  return max(prefixes, key=len) if prefixes else None


def room_of(path):
  area, _, rest = path.partition('/')
  return area, rest.rpartition('/')[0]


def check_room(path, header):
  (area, room), (other_area, other) = room_of(path), room_of(header)
  rooms = ROOMS.get(area)
  if rooms is None or area != other_area or room == other or header in AREA_PUBLIC:
    return None
  if room not in rooms:
    return f'{path}: {area}/{room} is no room of the table in tests/arch/includes.py'
  return None if other in rooms[room].split() else f'{path}: {area}/{room} must not know "{header}"'


def check_rooms(paths):
  problems = []
  for area, rooms in ROOMS.items():
    above = set()
    for room, known in rooms.items():
      problems += [f'{area}/{room} may know {other}, which is not above it' for other in set(known.split()) - above]
      above.add(room)
    counts = collections.Counter(room_of(path)[1] for path in paths if room_of(path)[0] == area)
    problems += [f'{area}/{room}: {count} files, at most {ROOM_FILES_MAX}'
                 for room, count in counts.items() if count > ROOM_FILES_MAX]
    problems += [f'{area}/{room}: in the table, but there is none' for room in set(rooms) - set(counts)]
    problems += [f'{area}/{room}: not in the table' for room in set(counts) - set(rooms)]
  return problems


def includes_of(paths):
  """file -> the project headers that it includes, as paths"""
  known = set(paths)
  # Once installed, TBRW's public headers lie side by side.
  return {path: [header if header in known else 'tbrw/' + header
                 for quote, header in INCLUDE.findall(tree.read(path)) if quote == '"']
          for path in paths}


def check_depths(includes):
  chains = {}

  def chain(header):
    if header not in chains:
      chains[header] = [header]  # of headers that include one another; the compiler finds these
      chains[header] = [header] + max((chain(other) for other in includes.get(header, [])), key=len, default=[])
    return chains[header]

  longest = {}
  for header in includes:
    area = header.partition('/')[0]
    if header.endswith('.h') and len(chain(header)) > len(longest.get(area, [])):
      longest[area] = chain(header)
  problems = []
  for area, found in longest.items():
    if len(found) > DEPTH_MAX:
      problems.append(f'{area}: {len(found)} headers include one another, at most {DEPTH_MAX}: ' + ' > '.join(found))
  return problems


def check_public(includes):
  public = collections.defaultdict(set)
  for path, headers in includes.items():
    area, room = room_of(path)
    for header in headers:
      if room_of(header)[0] == area and room_of(header)[1] != room and header not in AREA_PUBLIC:
        public['/'.join(room_of(header))].add(header)
  problems = []
  for room, headers in public.items():
    if len(headers) > PUBLIC_MAX:
      problems.append(f'{room} shows other rooms {len(headers)} headers, at most {PUBLIC_MAX}: ' + ', '.join(sorted(headers)))
  return problems


def check_include(path, quote, header):
  folder = folder_of(path)
  allowed_headers, allowed_libraries = RULES[folder]
  if quote == '"':
    # Once installed, TBRW's public headers lie side by side.
    if path in TBRW_PUBLIC and f'tbrw/{header}' in TBRW_PUBLIC:
      return None
    if not os.path.isfile(os.path.join(tree.ROOT, header)) and header != 'vmlinux.h':
      return f'{path}: "{header}" is not named from the root'
    allowed = allowed_headers(header) or (header.startswith('containers/') and folder not in ('collector/agent', 'collector/bpf'))
    return check_room(path, header) if allowed else f'{path}: {folder} must not know "{header}"'
  library = library_of(header)
  if library is None:
    return f'{path}: <{header}> belongs to no library of the table in tests/arch/includes.py'
  if library == 'perf_event' and folder == 'collector' and not PERF_EVENT_FILES.match(path):
    return f'{path}: only the record codec, the event opener and the ring include <{header}>'
  if library not in allowed_libraries:
    return f'{path}: {folder} must not use {library} (<{header}>)'
  return None


def check_calls(path, text):
  folder = folder_of(path)
  problems = []
  code = tree.without_comments(text)
  for number, line in enumerate(code.splitlines(), 1):
    library = folder.split('/')[0] in ('containers', 'tbrw', 'profile', 'unwind', 'program')
    silent = library or (folder == 'collector' and not PRINTING_FILES.match(path))
    if silent and PRINTING.search(line):
      problems.append(f'{path}:{number}: prints: {line.strip()}')
    if library and EXITING.search(line):
      problems.append(f'{path}:{number}: a library exits: {line.strip()}')
    if (folder == 'collector' and 'perf_event_mmap_page' in line
        and not MMAP_PAGE_FILES.match(path)):
      problems.append(f'{path}:{number}: only the ring touches the mmap page')
  return problems


def self_test():
  """The rules catch what they are there for: a table that allows everything would pass silently."""
  wrong = [
      ('tbrw/a.c', '"', 'profile/profile.h'), ('tbrw/a.c', '<', 'libelf.h'),
      ('unwind/a.c', '"', 'tbrw/tbrw.h'), ('unwind/a.c', '<', 'linux/perf_event.h'),
      ('profile/a.c', '"', 'unwind/unwind.h'), ('profile/a.c', '"', 'tbrw/file/file.h'), ('collector/a.c', '<', 'linux/perf_event.h'),
      ('tools/report/a.c', '"', 'unwind/unwind.h'), ('collector/a.c', '<', 'elfutils/libdw.h'),
      ('collector/a.c', '<', 'nosuchlibrary.h'), ('program/a.c', '"', 'unwind/unwind.h'), ('unwind/a.c', '"', 'program/a.h'),
      ('collector/perf/a.c', '"', 'collector/stream/drain.h'), ('collector/model/a.c', '"', 'collector/analysis/hotspots.h'),
      ('collector/machine/a.c', '"', 'collector/result/emit.h'), ('collector/image/a.c', '"', 'collector/model/process.h'),
      ('unwind/elf/a.c', '"', 'unwind/cfi/find.h'), ('unwind/rules/a.c', '"', 'unwind/space/space.h'),
      ('unwind/cfi/a.c', '<', 'libelf.h'), ('unwind/module/a.c', '"', 'unwind/rules/table.h'),
      ('tools/samples/a.c', '"', 'tools/report/report.h'), ('tools/cli/a.c', '"', 'tools/functions/functions.h'),
      ('tools/table/a.c', '"', 'tbrw/tbrw.h'), ('tools/report/a.c', '<', 'elfutils/libdw.h'),
      ('tools/nosuchroom/a.c', '"', 'tools/memory/xalloc.h'),
      ('containers/a.h', '"', 'tbrw/tbrw.h'), ('containers/a.h', '<', 'libelf.h'), ('collector/bpf/a.c', '"', 'containers/array.h'),
      ('collector/agent/a.c', '"', 'containers/array.h'), ('collector/agent/a.c', '"', 'profile/profile.h'),
  ]
  problems = [f'self test: the rules allow {path} to include {header}'
              for path, quote, header in wrong if check_include(path, quote, header) is None]
  right = [('unwind/elf/a.c', '"', 'unwind/unwind.h'), ('unwind/walk/a.c', '"', 'unwind/step/step.h'),
           ('collector/perf/ring.c', '<', 'linux/perf_event.h'),
           ('collector/a.c', '"', 'profile/write/writer.h'), ('tbrw/a.c', '<', 'stdint.h'),
           ('collector/analysis/a.c', '"', 'collector/model/tracker.h'), ('collector/main.c', '"', 'collector/session/session.h'),
           ('tools/report/a.c', '"', 'tools/table/table.h'), ('tools/a.c', '"', 'tools/report/report.h'),
           ('tools/symbols/a.c', '<', 'elfutils/libdw.h'), ('tbrw/store/a.c', '"', 'containers/array.h'),
           ('containers/hash_table.h', '"', 'containers/array.h')]
  problems += [f'self test: {check_include(*case)}' for case in right if check_include(*case)]
  if not check_calls('unwind/a.c', '\tprintf("x");\n'):
    problems.append('self test: a printing library passes')
  if check_calls('unwind/a.c', '/* printf("x"); */\n'):
    problems.append('self test: a comment is taken for code')
  if not check_rooms([f'tools/cli/{number}.c' for number in range(ROOM_FILES_MAX + 1)]) or not check_rooms(['tools/new/a.c']):
    problems.append('self test: a room may have any number of files, or be any')
  deep = {f'unwind/{number}.h': [f'unwind/{number + 1}.h'] for number in range(DEPTH_MAX + 1)}
  if not check_depths(deep) or check_depths({'unwind/0.h': ['unwind/1.h']}):
    problems.append('self test: headers may include one another to any depth')
  if not any('shows other rooms' in found for found in check_public(
      {'unwind/walk/a.c': [f'unwind/space/{number}.h' for number in range(PUBLIC_MAX + 1)]})):
    problems.append('self test: a room may show all of its headers')
  return problems


def main():
  paths = tree.sources('.c', '.h')
  includes = includes_of([path for path in paths if folder_of(path) is not None])
  problems = self_test() + check_rooms(paths) + check_depths(includes) + check_public(includes)
  looked_at = 0
  writer_users = set()
  for path in paths:
    if path.startswith('common/') or '/common/' in path:
      problems.append(f'{path}: there is no common/')
    if folder_of(path) is None:
      continue
    looked_at += 1
    text = tree.read(path)
    for quote, header in INCLUDE.findall(text):
      problem = check_include(path, quote, header)
      if problem:
        problems.append(problem)
      if path.startswith('collector/') and path.endswith('.c') and header == 'profile/write/writer.h':
        writer_users.add(path)
    problems += check_calls(path, text)
  if len(writer_users) > 1:
    problems.append('one file of the collector emits to profile, not ' + ', '.join(sorted(writer_users)))
  tree.report('includes', problems, looked_at)


if __name__ == '__main__':
  sys.exit(main())
