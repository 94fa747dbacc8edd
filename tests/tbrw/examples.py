"""print_tb5, tbrw_reader and tbrw_writer on the files of make_sample and of the unit tests, against
naive_reader.py. Usage: examples.py TOOLS_DIRECTORY TESTS_DIRECTORY UNIT_TEST..."""

import concurrent.futures
import hashlib
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile

import naive_reader

TOOLS, TESTS = (os.path.abspath(path) for path in sys.argv[1:3])
problems = []

# What make_sample wrote, as the guide's structures have it.
TRUTH = [
    'complete: yes', 'streams: 5', 'bound: no',
    '  driver=0xffffffff bind=0x1 sample_file=0x10',
    '  node 2: type=0 cpus=1 used=1 memory_mb=32768',
    '    cpu 1: native_arch=3 processor_number=0 mhz=2401 fsb_mhz=0 l2_kb=0 l3_kb=0 tsc_offset=-7 '
    'package=0 core=1 thread=0 threads_per_core=0',
    '        input=0x1 eax=0x906a3 ebx=0x100800 ecx=0x7ffafbff edx=0xbfebfbff',
    '        select=0x3 value=0x1f010504',
    '  host: name="höst \\"quoted\\"\\n\\u202e" ip_address=-',
    '  0: process pid=100 flags=0x5 when=5 name="sh" path=-',
    '  0: thread pid=100 tid=101 flags=0x5 when=6 name="worker \U0001F600"',
    '  1: module pid=100 flags=0x5 address=0x7f0000 length=0x2000 when=7 unload=50 mode=3 cs=0x33 '
    'path="/lib/libc.so.6" name="/lib/libc.so.6" segment=-',
    '  0: event id=2 flags=0x1 sample_after=2000003 name="INST_RETIRED.ANY" arch="arch"',
    '      detail: method=0 access=1 bits=64 address=0x186 value=0x4300c0 command=3',
    '  field offset=32 size=8 type=0x7 subtype=0x20 name="TimeStamp"',
    '  8999: ip=0x402327 flags=0 cs=0x33 cpu=4 mode=3 tid=102 pid=100 event=2 TimeStamp=9009',
    '  "a \\"\\u202e\\"\\n\\x01ä"',
    '  0: value=0100000000000000ffffffff',
    '  2: value=4294967295',
    '  0: 01 02 03 04 05',
]


def check(condition, text):
  if not condition:
    problems.append(text)
    print(text)


def run(program, *arguments, **options):
  done = subprocess.run([os.path.join(TOOLS, program), *arguments], capture_output=True, timeout=120, **options)
  check(done.returncode in (0, 1, 2), f'{program} {arguments}: exit status {done.returncode}: {done.stderr[-2000:]}')
  return done


def compare_readers(path, must_read):
  """Both readers print the same of a file, or both refuse it. (Whether they printed, what is wrong.)"""
  done = subprocess.run([os.path.join(TOOLS, 'print_tb5'), path], capture_output=True, timeout=120, check=False)
  if done.returncode not in (0, 1) or (must_read and done.returncode):
    return False, f'{path}: print_tb5: exit status {done.returncode}: {done.stderr[-2000:]}'
  if done.returncode:
    return False, None
  printed, error = naive_reader.read(path, must_read)
  if printed == done.stdout:
    return True, None
  if error:
    return True, f'{path}: naive reader: {error}'
  for a, b in zip(done.stdout.splitlines(), printed.splitlines()):
    if a != b:
      return True, f'{path}:\n  print_tb5: {a!r}\n  naive:     {b!r}'
  return True, f'{path}: one of the readers prints more lines'


def compare_all(paths, must_read):
  """Compares the readers on all files, each content once. How many were printed."""
  different = {}
  for path in paths:
    with open(path, 'rb') as file:
      different.setdefault(hashlib.sha256(file.read()).digest(), path)
  with concurrent.futures.ProcessPoolExecutor(os.cpu_count()) as pool:
    done = list(pool.map(compare_readers, different.values(), [must_read] * len(different)))
  for _, problem in done:
    check(problem is None, problem)
  return sum(printed for printed, _ in done)


def check_truth(folder):
  printed = run('print_tb5', f'{folder}/sample.tb5').stdout.decode().splitlines()
  for line in TRUTH:
    check(line in printed, f'print_tb5 sample.tb5 does not print {line!r}')
  limited = run('print_tb5', '--limit', '3', f'{folder}/sample.tb5').stdout.decode()
  check('  3: ' not in limited and '(limited to 3 entries)' in limited, '--limit 3 does not limit')
  # The text of a stream has eleven bytes; the last character two of them.
  for limit, text, cut in ((10, rb'  "a \"\u202e\"\n\x01\xc3"', True),
                           (11, '  "a \\"\\u202e\\"\\n\\x01ä"'.encode(), False)):
    lines = run('print_tb5', '--limit', str(limit), f'{folder}/sample.tb5').stdout.splitlines()
    at = [number for number, line in enumerate(lines) if line.startswith(text)]
    check(len(at) == 1 and lines[at[0] + 1].startswith(b'  (limited to 10 entries)') == cut,
          f'--limit {limit} of a text of 11 bytes')


def small_files():
  """No file may grow beyond 1,000 bytes; writing more is an error, no signal."""
  signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
  resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))


def check_full_disk(folder):
  done = run('tbrw_reader', f'{folder}/sample.tb5', f'{folder}/cut.dat', preexec_fn=small_files)
  check(done.returncode == 1 and done.stderr.startswith(b'tbrw_reader: '), 'tbrw_reader takes a full disk for success')
  check(not os.path.exists(f'{folder}/cut.dat'), 'tbrw_reader leaves what it could not write')


def check_failed_output(folder):
  """What was there before stays, whatever it is, when a program fails."""
  old, link = f'{folder}/old.dat', f'{folder}/full'
  with open(old, 'w', encoding='ascii') as file:
    file.write('old')
  os.symlink('/dev/full', link)
  for path, options in ((old, {'preexec_fn': small_files}), (link, {})):
    done = run('tbrw_reader', f'{folder}/sample.tb5', path, **options)
    check(done.returncode == 1 and done.stderr.count(b'\n') == 1, f'tbrw_reader to {path}: {done}')
  with open(old, encoding='ascii') as file:
    check(file.read() == 'old', 'tbrw_reader changes the file that was there')
  check(os.path.islink(link), 'tbrw_reader removes a link to a device')
  check(not os.path.exists(f'{folder}/sample.tb5.dat'), 'tbrw_reader leaves the second file')
  done = run('tbrw_writer', f'{folder}/sample.tb5', link)
  check(done.returncode == 1 and os.path.islink(link), 'tbrw_writer removes a link to a device')


def check_messages(folder):
  """No name of a file steers the terminal."""
  path = f'{folder}/\u202e\x1b[31m.tb5'
  for program, count in (('print_tb5', 1), ('tbrw_reader', 2), ('tbrw_writer', 2)):
    said = run(program, *[path, f'{folder}/out'][:count]).stderr.decode()
    check('\\u202e\\x1b[31m.tb5' in said and said[:-1].isprintable(), f'{program} says {said!r}')
  shutil.copy(f'{folder}/sample.tb5', path)
  printed = run('print_tb5', path).stdout.decode()
  os.unlink(path)
  check(printed.partition('\n')[0].endswith('/\\u202e\\x1b[31m.tb5'), 'print_tb5 prints the name as it is')


def body(path):
  """What print_tb5 prints, but for the file's name."""
  return run('print_tb5', path).stdout.partition(b'\n')[2]


def check_round_trip(folder):
  made = []
  for name in ('empty', 'sample', 'appended'):
    files = f'{folder}/{name}.tb5', f'{folder}/{name}.dat', f'{folder}/{name}-new.tb5'
    for program, source, target in (('tbrw_reader', files[0], files[1]), ('tbrw_writer', files[1], files[2])):
      done = run(program, source, target)
      check(done.returncode == 0 and not done.stderr, f'{program} {name}: {done.stderr.decode()}')
    check(body(files[0]) == body(files[2]) != b'', f'{name}: reader and writer change the file')
    made.append(files[2])
  compare_all(made, True)
  check(os.path.getsize(f'{folder}/sample.tb5.dat') == 9000 * 40, 'the second data file is not the sampling data')
  for name in ('bound', 'incomplete'):
    done = run('tbrw_reader', f'{folder}/{name}.tb5', f'{folder}/{name}.dat')
    check(done.returncode == 1 and done.stderr.startswith(b'tbrw_reader: ') and done.stderr.count(b'\n') == 1,
          f'tbrw_reader takes {name}.tb5')
    check(not os.path.exists(f'{folder}/{name}.dat'), f'tbrw_reader leaves {name}.dat')


def check_usage(folder):
  for program, count in (('print_tb5', 1), ('tbrw_reader', 2), ('tbrw_writer', 2)):
    for arguments in range(4):
      if arguments != count:
        check(run(program, *['x'] * arguments).returncode == 2, f'{program} with {arguments} arguments')
    done = run(program, *[f'{folder}/not-there', f'{folder}/out'][:count])
    check(done.returncode == 1 and done.stderr.count(b'\n') == 1, f'{program}: a file that is not there')
    check(run(program, '--help').stdout.startswith(b'Usage: '), f'{program} --help')


def check_damaged_data(folder):
  """The writer survives any data file; what it refuses leaves no tb5 file."""
  with open(f'{folder}/sample.dat', 'rb') as file:
    whole = file.read()
  chance = random.Random(5)
  made = []
  for number in range(150):
    data = bytearray(whole)
    if number % 3 == 0:
      del data[chance.randrange(len(data)):]
    else:
      for _ in range(number % 3):
        data[chance.randrange(min(len(data), 3000))] ^= 1 << chance.randrange(8)
    with open(f'{folder}/damaged.dat', 'wb') as file:
      file.write(data)
    target = f'{folder}/damaged-{number}.tb5'
    done = run('tbrw_writer', f'{folder}/damaged.dat', target)
    check((done.returncode == 0) == os.path.exists(target), f'writer, damaged input {number}: {done}')
    if done.returncode == 0:
      made.append(target)
  compare_all(made, True)
  return len(made)


def leave_files(program, folder):
  return subprocess.run([os.path.join(TESTS, program)], capture_output=True, timeout=600,
                        env={**os.environ, 'TBRW_TEST_KEEP': folder}, check=False)


def check_unit_files(folder, programs):
  """Every tb5 file that the unit tests leave: damaged ones may be refused."""
  with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    for program, done in zip(programs, pool.map(leave_files, programs, [folder] * len(programs))):
      check(done.returncode == 0, f'{program}: {done.stdout.decode()[-2000:]}')
  paths = [f'{folder}/{name}' for name in sorted(os.listdir(folder))]
  return compare_all([path for path in paths if os.path.isfile(path) and os.path.getsize(path) < 3 << 20], False)


def main():
  with tempfile.TemporaryDirectory() as folder:
    made = subprocess.run([os.path.join(TESTS, 'make_sample'), folder], capture_output=True, check=False)
    check(made.returncode == 0, made.stdout.decode())
    files = sorted(os.listdir(folder))
    check(len(files) == 7, f'make_sample made {files}')
    compare_all([f'{folder}/{name}' for name in files], True)
    check_truth(folder)
    check_full_disk(folder)
    check_failed_output(folder)
    check_messages(folder)
    check_round_trip(folder)
    check_usage(folder)
    written = check_damaged_data(folder)
    check(written >= 20, f'only {written} of the damaged inputs could be written')
  with tempfile.TemporaryDirectory() as folder:
    read = check_unit_files(folder, sys.argv[3:])
    check(read >= 20, f'only {read} files of the unit tests could be read')
  print(f'{len(files)} + {written} + {read} files compared, {len(problems)} problems')
  return 1 if problems else 0


if __name__ == '__main__':
  sys.exit(main())
