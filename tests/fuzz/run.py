"""Builds one fuzz target with clang, libFuzzer and the sanitizers in a build directory of its own, and
runs it. Usage: run.py SOURCE BUILD_DIRECTORY SECONDS TARGET

TARGET is the program's path in the build directory. What it is to start from comes from a function
named in SEEDS. Inputs that fail stay in BUILD_DIRECTORY/failures."""

import fcntl
import gzip
import os
import resource
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib

import recording_seeds

# What a run may take and what an input may be; the issue of a limit is a failure like any other.
LIMITS = ['-rss_limit_mb=1024', '-malloc_limit_mb=256', '-timeout=10', '-print_final_stats=1']


def cpu_seconds():
  """What the commands took that have ended."""
  usage = resource.getrusage(resource.RUSAGE_CHILDREN)
  return usage.ru_utime + usage.ru_stime


def call(*command, **options):
  done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors='replace',
                        check=False, **options)
  if done.returncode:
    print(' '.join(command), done.stdout[-8000:], sep='\n')
    sys.exit(1)
  return done.stdout


def build(source, directory, *targets):
  """Tests run at the same time; one of them builds."""
  os.makedirs(directory, exist_ok=True)
  with open(f'{directory}/lock', 'w', encoding='utf-8') as lock:
    fcntl.flock(lock, fcntl.LOCK_EX)
    if not os.path.exists(f'{directory}/build.ninja'):
      call('meson', 'setup', directory, source, '-Dfuzz=true', '-Db_sanitize=address,undefined', '-Db_lundef=false',
           env={**os.environ, 'CC': 'clang', 'CXX': 'clang++'})
    call('ninja', '-C', directory, *targets)


def tbrw_seeds(source, directory, folder):
  """Scripts that write the files of the example programs' tests."""
  build(source, directory, 'tests/tbrw/make_sample', 'tests/tbrw/fuzz_tbrw_seed')
  with tempfile.TemporaryDirectory() as files:
    call(f'{directory}/tests/tbrw/make_sample', files)
    for name in os.listdir(files):
      call(f'{directory}/tests/tbrw/fuzz_tbrw_seed', f'{files}/{name}', f'{folder}/{name}')


def profile_seeds(source, directory, folder):
  """Results of the profile writer, as scripts (tb5_script.h)."""
  build(source, directory, 'tests/profile/fuzz_profile_seed', 'tests/tbrw/fuzz_tbrw_seed')
  with tempfile.TemporaryDirectory() as files:
    call(f'{directory}/tests/profile/fuzz_profile_seed', files)
    for name in os.listdir(files):
      call(f'{directory}/tests/tbrw/fuzz_tbrw_seed', f'{files}/{name}', f'{folder}/{name}')


def symbols_seeds(_source, _directory, folder):
  """Small programs with and without debug information, of 64 and 32 bits, linked and not."""
  text = ('static inline int twice(int x) { return x * 2 + (x > 5); } int puts(const char *);'
          'int add(int a, int b) { for (int i = 0; i < b; i++) a += twice(a); return a; }'
          'int main(int c, char **v) { (void)v; return puts("x") + add(c, 3); }')
  cases = {'dwarf': ['-g', '-O2'], 'object': ['-g', '-O2', '-c'], 'zipped': ['-g', '-O2', '-gz'],
           'plain': ['-O1', '-s'], 'ibt': ['-O1', '-fcf-protection', '-Wl,-z,ibtplt'], 'old': ['-gdwarf-4', '-O1'],
           'static': ['-O1', '-s', '-static', '-Wl,--no-eh-frame-hdr', '-Wl,-Ttext=0x1000']}
  for name, options in cases.items():
    for target in ([], ['-nostdlib', '-e', 'main', '-Wl,--unresolved-symbols=ignore-all', '-Wl,-z,noseparate-code']):
      if (target and '-c' in options) or (not target and '-static' in options):
        continue
      call('cc', '-x', 'c', '-', '-o', f"{folder}/{name}{'-bare' if target else ''}", *options, *target, input=text)


def tbrw_calls_seeds(_source, _directory, folder):
  """Orders of calls that get far; the numbers are those of fuzz_tbrw_calls.c's table."""
  (open_, close, abort, _, write_section, done_section, *_) = range(24)
  processes, system, software, bind, unbind, samples, read_all = 14, 13, 12, 19, 20, 21, 22
  create, read, change = (open_, 0, 2), (open_, 0, 0), (open_, 0, 1)

  def section(number, step):
    return (write_section, number, 0), (step, 0, 9), (step, 0, 18), (done_section, number, 0)

  whole = [create, *section(0, system), *section(1, software), *section(2, processes), *section(3, processes),
           *section(4, 17), *section(5, software), (samples, 0, 0)]
  everything = [(read_all, 0, 0), (read_all, 8, 0)]
  orders = [
      [*whole, (close, 0, 0), read, *everything, (close, 0, 0)],
      [*whole, (close, 0, 0), change, (bind, 0, 8), *everything, (close, 0, 0), read, *everything, (bind, 0, 8)],
      [*whole, (bind, 0, 8), (unbind, 0, 0), (bind, 0, 8), (close, 0, 0), change, (samples, 8, 1), (close, 0, 0)],
      [*whole, (abort, 0, 0), read, *everything, (bind, 0, 8), *everything],
      [*whole, (close, 0, 0), read, (open_, 0, 225), (bind, 0, 8), (samples, 8, 225), (close, 0, 225), *everything],
  ]
  for number, order in enumerate(orders):
    with open(f'{folder}/{number}', 'wb') as file:
      file.write(bytes(byte for step in order for byte in step))


def unwind_seeds(_source, _directory, folder):
  """A stack of frame records in code with the ordinary rules, for both x86 machines (fuzz_unwind.c)."""
  code, frame_rva, sp = 192, 4288, 0x7ffe0000
  for mode, word, ip_number, sp_number, fp_number in ((1, 8, 16, 7, 6), (0x41, 4, 8, 4, 5)):
    registers = [sp] * 17
    registers[ip_number] = 0x400000 + code + 20
    stack = b''.join((sp + 2 * word * (i + 1)).to_bytes(word, 'little') + (0x400000 + code + 203).to_bytes(word, 'little')
                     for i in range(31)) + bytes(2 * word)
    cie = bytes([20, 0, 0, 0, 0, 0, 0, 0, 1]) + b'zR\0' + bytes(
        [1, 0x80 - word, ip_number, 1, 0x1b, 0x0c, sp_number, word, 0x80 | ip_number, 1, 0, 0])
    rules = bytes([0, 0x41, 0x0e, 2 * word, 0x80 | fp_number, 2, 0x41, 0x0d, fp_number])
    fde = struct.pack('<IIiI', 12 + len(rules), len(cie) + 4, code - (frame_rva + len(cie) + 8), 4096) + rules
    with open(f'{folder}/{word}', 'wb') as file:
      file.write(struct.pack('<B17QH', mode, *registers, len(stack)) + stack + cie + fde)
    # Tables of Go's of the oldest form and of the newest: one function, whose frame has two words from the second byte on.
    sizes = bytes([2, 1, 4 * word, 0xff, 0x1f, 0])
    for form, start, pad in ((0, code, 0), (3, 0, 4)):
      at = 'I' if form or word == 4 else 'Q'
      head = [1, *((0, code, 128, 128, 128, 160, 192) if form else ())]
      table = struct.pack(f'<{len(head)}{"IQ"[word == 8]}', *head)
      index = 192 if form else 8 + len(table)
      record = index + 3 * struct.calcsize(at)
      table = table.ljust(index - 8, b'\0') + struct.pack(f'<3{at}', start, record - (192 if form else 0), start + 4096)
      table += struct.pack(f'<{at}7I', start, 1, 0, 0, 1 if form else 400, 0, 0, 0) + bytes(pad + 8)
      table = table.ljust(392, b'\0') + sizes
      if form:
        table = table[:153] + sizes + table[153 + len(sizes):]
      with open(f'{folder}/go-{form}-{word}', 'wb') as file:
        file.write(struct.pack('<B17QH', mode & 0x40 | 3, *registers, len(stack)) + stack + bytes([form]) + table)


def unwind_debug_seeds(source, directory, folder):
  """Programs and their debug files, and .debug_frame sections, compressed ones too (fuzz_unwind_debug.c)."""
  stamps = ('named', 'unnamed', 'started')
  build(source, directory, *(f'tests/unwind/split_{name}.stamp' for name in stamps))
  for name in stamps:
    with open(f'{directory}/tests/unwind/split_{name}', 'rb') as program, \
         open(f'{directory}/tests/unwind/split_{name}.debug', 'rb') as debug, open(f'{folder}/{name}', 'wb') as file:
      content = program.read()
      file.write(b'\0' + struct.pack('<I', len(content)) + content + debug.read())
  code, frame = 0x1c0, bytearray()
  cie = b'\xff\xff\xff\xff\x03\0\x01\x78\x10\x0c\x07\x08\x90\x01' + bytes(6)
  frame += struct.pack('<I', len(cie)) + cie
  rules = bytes([0x41, 0x0e, 16, 0x86, 2, 0x41, 0x0d, 6])
  for mode, form in ((0, '<IIQQ'), (4, '<IIII')):
    size = struct.calcsize(form) - 4 + len(rules)
    section = bytes(frame) + struct.pack(form, size, 0, code, 1024) + rules
    header = struct.pack('<IIQQ', 1, 0, len(section), 1) if mode == 0 else struct.pack('<III', 1, len(section), 1)
    for own in (0, 8):
      for kind, content in ((1, section), (2, section), (3, header + zlib.compress(section))):
        with open(f'{folder}/{mode}-{own}-{kind}', 'wb') as file:
          file.write(bytes([mode | own | kind]) + content)


def unwind_analysis_seeds(_source, _directory, folder):
  """Code of the interpreter, from entries at several distances (fuzz_unwind_analysis.c)."""
  with open(os.path.realpath(sys.executable), 'rb') as file:
    content = file.read()
  starts = [content.find(b'\x41\x57\x41\x56', len(content) * i // 16) for i in range(2, 10)]
  for number, start in enumerate(starts):
    with open(f'{folder}/{number}', 'wb') as file:
      file.write(bytes([0, 0, number << 5 & 0xff]) + content[start:start + 1024])


def external_seeds(_source, _directory, folder):
  """A table of each clock, of intervals and of values, plain and with quotes."""
  for clock, time in (('QPC', '12'), ('CLOCK_MONOTONIC_RAW', '34'), ('RDTSC', '56'), ('UTC', '2013-08-28 01:02:03.0004')):
    tables = {
      'intervals': f'name,start_tsc.{clock},end_tsc,pid,tid\nframe,{time},{time},,\n"a ""b"", c",{time},{time},1,2\n',
      'values': f'\ufefftsc.{clock},way.COUNT,power.INST,pid,tid\r\n{time},1,-2.5e3,1,2\r\n{time},,7,,\r\n',
    }
    for name, text in tables.items():
      with open(f'{folder}/{clock}-{name}', 'w', encoding='utf-8', newline='') as file:
        file.write(text)


def folded_seeds(_source, _directory, folder):
  """Our own form, with threads, and other tools'."""
  texts = ['app;app-12;main;work 3\napp;app-13;[Skipped frame(s)];work 2\n', 'a;[Guessed frame(s)];b 1\na;c;[Guessed frame(s)];b 2\n',
           '# remark\nmain();f (a.py:3) 7\nx\n', 'a;[System calls and faults] 5\r\na;;b 99999999999999\n']
  for number, text in enumerate(texts):
    with open(f'{folder}/{number}', 'w', encoding='ascii') as file:
      file.write(text)


def jitdump_seeds(_source, _directory, folder):
  """Code that is loaded, moved and replaced, with lines; and V8's mark. Addresses are those that the target asks for."""

  def record(kind, time, fixed, rest=b''):
    body = struct.pack(f'<{len(fixed)}Q', *fixed) + rest
    return struct.pack('<IIQ', kind, 16 + len(body), time) + body

  def load(time, address, size, index, name):
    return record(0, time, (1, address, address, size, index), name + b'\0' + bytes(size))

  for number, mark in enumerate((0, 0xdeadbeef)):
    lines = b''.join(struct.pack('<QII', 0x1000 + at, line, 0) + name + b'\0' for at, line, name in ((0, 3, b'a.c'), (64, 4, b'\xff'), (80, 5, b'b.c')))
    records = (record(2, 1, (0x1000, 3), lines) + load(2, 0x1000, 96, 1, b'first') + record(1, 3, (1, 0xabc0, 0x1000, 0xabc0, 96, 1)) +
               load(4, 0x1000, 96, 2, b'second') + record(4, 5, (8, 8, 8), bytes(8)) + record(3, 6, ()) + load(7, 0, 2, 3, b'null'))
    with open(f'{folder}/{number}', 'wb') as file:
      file.write(struct.pack('<IIIIIIQQ', 0x4a695444, 1, 40, 62, mark, 1, 1, 0) + records)


def pprof_seeds(_source, _directory, folder):
  """A profile with each kind of message, plain and in gzip."""

  def field(number, value):
    if isinstance(value, int):
      return bytes([number << 3, value])
    return bytes([number << 3 | 2, len(value)]) + value

  names = (b'', b'samples', b'count', b'cpu', b'nanoseconds', b'/bin/a', b'00ff', b'f', b'[Skipped frame(s)]', b'[Guessed frame(s)]',
           b'[No sample]', b'pid', b'thread', b'w', b'Command Line: a b', b'[System calls and faults]', b'[No known thread]')
  types = field(1, field(1, 1) + field(2, 2)) + field(1, field(1, 3) + field(2, 4))
  tables = field(3, field(1, 1) + field(3, 127) + field(5, 5) + field(6, 6))
  tables += b''.join(field(5, field(1, i) + field(2, i)) for i in range(7, 17))
  tables += field(4, field(1, 1) + field(2, 1) + field(3, 9) + field(4, field(1, 7) + field(2, 3)) + field(4, field(1, 8)))
  tables += b''.join(field(4, field(1, i) + field(4, field(1, i))) for i in (8, 9, 10, 15, 16))
  labels = field(3, field(1, 11) + field(3, 5)) + field(3, field(1, 12) + field(2, 13))
  samples = b''.join(field(2, field(1, bytes(stack)) + field(2, b'\x02\x64') + labels)
                     for stack in ([1], [1, 8], [1, 9, 1], [10], [15], [16], [1, 3]))
  profile = types + samples + tables + field(13, b'\x0e') + field(10, 99) + field(11, field(1, 3) + field(2, 4)) + field(12, 9)
  profile += b''.join(field(6, name) for name in names)
  for name, content in (('plain', profile), ('zipped', gzip.compress(profile))):
    with open(f'{folder}/{name}', 'wb') as file:
      file.write(content)


def agent_seeds(_source, _directory, folder):
  """Scripts (fuzz_agent.c) of a wait with a stack, one around a ring's end, and a wake."""
  def record(kind, flags, stack):
    registers = bytes(64) if flags & 8 else b''
    return struct.pack('<IBBHQQQQII', 48 + len(registers) + len(stack), kind, 1, flags, 0x1000, 5, 9, 0x77, 0, len(stack)) + registers + stack

  def piece(ring, what, written):
    return bytes([ring, what, len(written)]) + written

  wait, wake = record(1, 8, bytes(range(128))), record(2, 0, b'')
  for name, script in {'wait': piece(0, 1, wait) + piece(1, 33, wake), 'wake': piece(0, 1 + 16, wake) + piece(0, 1, record(3, 0, b'')),
                       'wraps': piece(0, 1, b'') + piece(0, 69, wait) + piece(0, 33, wait)}.items():
    with open(f'{folder}/{name}', 'wb') as file:
      file.write(script)


def look_seeds(_source, _directory, folder):
  """Lines of /proc/PID/task/TID/syscall and stat."""
  texts = ['running\n', '-1 0x7ffc00000010 0x401000\n', '202 0x7f00 0x80 0x2 0x0 0x0 0xffffffff 0x7ffc00000010 0x7f1200000020\n',
           '240 0x8049000 0x80 0x2 0x0 0x0 0x0 0xffff0000 0xf7f00000\n', '61 0xffffffff 0x0 0x0 0x0 0x0 0x0 0x7ffc 0x7f12\n',
           '7 (a) R (b) T 1 7 7 0 -1\n']
  for number, text in enumerate(texts):
    with open(f'{folder}/{number}', 'w', encoding='ascii') as file:
      file.write(text)


def analysis_file_seeds(source, _directory, folder):
  """The examples, and each key of the man page by itself."""
  for name in ('execs', 'faults', 'io', 'locks'):
    shutil.copy(f'{source}/docs/examples/{name}.analysis', folder)
  for number, key in enumerate(('base', 'sampling', 'interval', 'switches', 'waits', 'wait-source', 'stacks')):
    with open(f'{folder}/{number}', 'w', encoding='ascii') as file:
      file.write(f'{key} = on # {number}\n{key}s = off\n')


# Inputs a second of CPU time that must be tried: at most a tenth of what was seen, as inputs grow with the time.
FLOORS = {'fuzz_agent': 50, 'fuzz_external': 100, 'fuzz_folded': 20, 'fuzz_maps': 5000, 'fuzz_perf_map': 2000, 'fuzz_pprof': 20, 'fuzz_profile': 25, 'fuzz_record': 4000, 'fuzz_symbols': 60, 'fuzz_tbrw': 20,
          'fuzz_tbrw_calls': 15, 'fuzz_unwind': 20, 'fuzz_unwind_debug': 100, 'fuzz_unwind_expression': 2000}
# What an input may be long, where it is not 16 KB.
LENGTHS = {'fuzz_symbols': 32768, 'fuzz_unwind_debug': 65536}
SEEDS = {'fuzz_agent': agent_seeds, 'fuzz_external': external_seeds, 'fuzz_folded': folded_seeds, 'fuzz_pprof': pprof_seeds, 'fuzz_profile': profile_seeds, 'fuzz_symbols': symbols_seeds, 'fuzz_tbrw': tbrw_seeds, 'fuzz_tbrw_calls': tbrw_calls_seeds, 'fuzz_unwind': unwind_seeds,
         'fuzz_unwind_debug': unwind_debug_seeds}

# Recordings import at 240 to 640 a second.
FLOORS['fuzz_recording'] = 20
FLOORS['fuzz_look'] = 5000
FLOORS['fuzz_states'] = 700
FLOORS['fuzz_jitdump'] = 1000
FLOORS['fuzz_analysis_file'] = 5000
FLOORS['fuzz_unwind_analysis'] = 100
SEEDS['fuzz_unwind_analysis'] = unwind_analysis_seeds
SEEDS['fuzz_analysis_file'] = analysis_file_seeds
SEEDS['fuzz_look'] = look_seeds
SEEDS['fuzz_jitdump'] = jitdump_seeds
LENGTHS['fuzz_recording'] = recording_seeds.SIZES.stop
SEEDS['fuzz_recording'] = recording_seeds.make


def main():
  source, directory, seconds, target = sys.argv[1:]
  name = os.path.basename(target)
  build(source, directory, target)
  os.makedirs(f'{directory}/failures', exist_ok=True)
  with tempfile.TemporaryDirectory() as corpus:
    if name in SEEDS:
      SEEDS[name](source, directory, corpus)
    before = cpu_seconds()
    printed = call(f'{directory}/{target}', f'-max_total_time={seconds}', f'-max_len={LENGTHS.get(name, 16384)}',
                   f'-artifact_prefix={directory}/failures/{name}-', *LIMITS, corpus,
                   env={**os.environ, 'UBSAN_OPTIONS': 'halt_on_error=1:print_stacktrace=1'})
    used = cpu_seconds() - before
  runs = [int(line.split()[-1]) for line in printed.splitlines() if 'number_of_executed_units' in line]
  rate = sum(runs) / max(used, 0.01)
  print(f'{name}: {sum(runs)} runs in {used:.1f} s of CPU time, {rate:.0f} a second, {FLOORS[name]} at least')
  if not runs or rate < FLOORS[name]:
    print('hardly any input was tried')
    return 1
  return 0


if __name__ == '__main__':
  sys.exit(main())
