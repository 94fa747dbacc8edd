"""All formats of tbconvert export at once: hostile names come out valid, times are those of the filter, a failed or stopped
export leaves nothing. A format needs a row in FORMATS."""

import csv
import glob
import gzip
import io
import json
import os
import pty
import re
import resource
import shutil
import subprocess

import halted
import support as s

PYTHON = '''
import threading
threads = [threading.Thread(target=lambda: sum(i * i for i in range(1000000))) for _ in range(3)]
for thread in threads: thread.start()
for thread in threads: thread.join()
'''
PROTOS = os.path.join(os.path.dirname(os.path.abspath(__file__)), '../../tools')
MS = 1_000_000


def refuse(constant):
  raise ValueError(f'{constant} is no JSON')


def load(data):
  """JSON by its standard: UTF-8, no NaN, no control characters in texts."""
  return json.loads(data.decode('utf-8'), parse_constant=refuse)


def read(path):
  with open(path, 'rb') as file:
    return file.read()


def folded_ns(path):
  lines = read(path).decode('utf-8').split('\n')
  assert lines.pop() == '' and all(re.fullmatch(r'[^\x00-\x1f\x7f]+ \d+', line) for line in lines)
  return sum(int(line.rpartition(' ')[2]) for line in lines) * 1000  # --weight cpu: us


def perf_ns(path):
  done = subprocess.run(['perf', 'script', '-i', path, '-F', 'tid,period'], capture_output=True, check=True, timeout=60)
  assert not done.stderr, done.stderr
  return sum(int(period) for period in re.findall(rb'^ *\d+ +(\d+) *$', done.stdout, re.MULTILINE))


def decode(data, proto, message):
  path = os.path.join(PROTOS, proto)
  return subprocess.run(['protoc', f'--proto_path={os.path.dirname(path)}', f'--decode={message}', path], input=data, capture_output=True,
                        check=True, timeout=60).stdout.decode('ascii')


def pprof_ns(path):
  samples = re.findall(r'^sample \{\n(.*?)^\}', decode(gzip.decompress(read(path)), 'pprof/pprof.proto', 'pprof.Profile'),
                       re.MULTILINE | re.DOTALL)
  return sum(int(re.findall(r'^  value: (\d+)', sample, re.MULTILINE)[1]) for sample in samples)


def otlp_ns(path):
  """Of the two profiles of each process, samples and CPU time, the one in nanoseconds."""
  text = decode(read(path), 'otlp/otlp.proto', 'otlp.ProfilesData')
  texts = re.findall(r'^  string_table: "(.*)"', text, re.MULTILINE)
  sums = {}
  for profile in re.split(r'^ *profiles \{', text, flags=re.MULTILINE)[1:]:
    unit = re.search(r'sample_type \{[^}]*unit_strindex: (\d+)', profile).group(1)
    values = sum(int(value) for value in re.findall(r'^ *values: (\d+)', profile, re.MULTILINE))
    sums[texts[int(unit)]] = sums.get(texts[int(unit)], 0) + values
  return sums.get('nanoseconds', 0)


def speedscope_ns(path):
  return sum(sum(profile['weights']) for profile in load(read(path))['profiles'] if profile['type'] == 'sampled')


def firefox_ns(path):
  profile = load(gzip.decompress(read(path)))
  unit_ns = {'ns': 1, 'µs': 1000}[profile['meta']['sampleUnits']['threadCPUDelta']]
  return round(unit_ns * sum(delta or 0 for thread in profile['threads'] for delta in thread['samples']['threadCPUDelta']))


def chrome_ns(path):
  return round(1000 * sum(event['tdur'] for event in load(read(path))['traceEvents'] if event['ph'] == 'X'))


def callgrind_ns(path):
  done = subprocess.run(['callgrind_annotate', path], capture_output=True, check=True, timeout=60)
  assert not done.stderr, done.stderr
  return int(re.search(rb'^totals: (\d+)', read(path), re.MULTILINE).group(1))


def csv_ns(path):
  """Its rows are intervals of threads, not times: only its form is looked at."""
  files = glob.glob(os.path.join(path, '*.csv'))
  assert files
  for name in files:
    rows = list(csv.reader(io.StringIO(read(name).decode('utf-8'), newline=''), strict=True))
    assert len({len(row) for row in rows}) == 1, name


# Format: its reader, which fails on anything invalid and returns the CPU time (None: it has none); options that it needs for this.
FORMATS = {
    'folded': (folded_ns, ['--weight', 'cpu']),
    'perf': (perf_ns, []),
    'pprof': (pprof_ns, []),
    'otlp': (otlp_ns, []),
    'speedscope': (speedscope_ns, []),
    'firefox': (firefox_ns, []),
    'chrome': (chrome_ns, []),
    'callgrind': (callgrind_ns, []),
    'csv': (csv_ns, []),
}
# Of the hostile result: 13 threads, each of a process, with one sample of 10 ms at 0, 10, ... ms.
FILTERS = [
    ([], 130),
    (['--filter', 'pid=103'], 10),
    (['--filter', 'tid=204'], 10),
    (['--filter', 'process=plain'], 10),
    (['--filter', 'function=plain'], 10),
    (['--filter', 'module=~quoted'], 10),
    (['--filter', 'function=none'], 0),
    (['--from', '20ms', '--to', '50ms'], 30),
    (['--filter', 'pid=103', '--from', '1s'], 0),
    (['--inline', 'off'], 130),
    (['--threads'], 130),
]


def export(name, result, *options, check_status=True):
  path = s.scratch('export.' + name)
  return path, s.run_tool('tbconvert', 'export', '--to', name, '-o', path, *options, result, check_status=check_status)


def remove(path):
  if os.path.isdir(path):
    shutil.rmtree(path)
  elif os.path.exists(path):
    os.unlink(path)


def names():
  """The formats, as the help lists them."""
  return re.findall(r'^  ([a-z0-9-]+) ', s.run_tool('tbconvert', 'export', '--help').stdout.split('\nFormats:\n')[1], re.MULTILINE)


def content(path):
  """The bytes of an export, unpacked; of the files of a folder, one behind the other."""
  data = b''.join(map(read, sorted(glob.glob(os.path.join(path, '*'))))) if os.path.isdir(path) else read(path)
  return gzip.decompress(data) if data.startswith(b'\x1f\x8b') else data


def check_long_names(result):
  """100 kB are whole, more than a result keeps ends in a mark behind a whole character. Names in perf.data have the kernel's limits."""
  for name in set(names()) - {'csv'}:  # which has ids in their place
    path, _ = export(name, result)
    data = content(path).replace(b'\\u00e4', 'ä'.encode())
    if name == 'perf':
      s.check(b'x' * 255 + b'\0' in data and 'ä'.encode() * 127 + b'\0' in data, f'{name}: long names', len(data))
    else:
      s.check(re.search(b'(?<!x)x{100000}(?!x)', data) and re.search(('(?<!ä)' + 'ä' * 65534 + r'\.\.\.(?!\.)').encode(), data),
              f'{name}: names of 100 and 200 kB', len(data))
    remove(path)


def check_hostile(result):
  listed = names()
  s.check(set(listed) == set(FORMATS), 'each format has a row here', listed)
  unknown = s.run_tool('tbconvert', 'export', '--to', 'nothing', result, check_status=False)
  s.check(unknown.returncode == 2 and unknown.stderr.count('\n') == 1 and all(name in unknown.stderr for name in listed),
          'an unknown format names all', unknown.stderr.strip())
  other = s.run_tool('tbconvert', 'export', '--to', 'folded', '--event', 'other', result, check_status=False)
  s.check(other.returncode == 1 and 'leave out --event other' in other.stderr, 'an event that is not there', other.stderr.strip())
  for name in listed:
    reader, needed = FORMATS[name]
    wrong = []
    for options, expected_ms in FILTERS:
      path, _ = export(name, result, *needed, *options)
      seen = reader(path)
      if seen is not None and seen != expected_ms * MS:
        wrong.append((options, seen / MS, expected_ms))
      remove(path)
    s.check(not wrong, f'{name}: valid with hostile names, and times by the filter', wrong or '')


def check_real(result):
  """Times of a real run: those of tbreport, but for rows that folded stacks do not have."""
  tid = max(s.report(result, 'threads'), key=lambda row: float(row['CPU Time']))['TID']
  for options in ([], ['--filter', f'tid={tid}']):
    threads = s.report(result, 'threads', *options)
    found = s.report(result, 'hotspots', '--call-stack-mode', 'all', *options)
    known = sum(float(row['CPU Time']) for row in threads if row['TID'])
    whole = known + (0 if options else s.unattributed(result))
    sampled = sum(float(row['CPU Time']) for row in found if row['Function'] not in ('[No sample]', '[No known thread]'))
    for name in names():
      reader, needed = FORMATS[name]
      path, _ = export(name, result, *needed, *options)
      seen = reader(path)
      remove(path)
      if seen is None:
        continue
      # Rows of the report are rounded to us, as lines of folded stacks are. A perf.data has no task for the time of no thread.
      expected = {'folded': sampled, 'perf': known}.get(name, whole)
      count = len(found) + 2000 * (name == 'folded')
      s.check(abs(seen / 1e9 - expected) <= 1e-6 * count, f'{name}: CPU time {options}', f'{seen / 1e9:.6f} s, {expected:.6f} s expected')


def check_failures(result):
  """One line, status 1, and nothing left where a file is written to a full disk."""
  for name in names():
    if name == 'csv':
      continue  # a folder
    full = s.run_tool('tbconvert', 'export', '--to', name, '-o', '/dev/full', result, check_status=False)
    gone = s.run_tool('tbconvert', 'export', '--to', name, '-o', s.scratch('nowhere/file'), result, check_status=False)
    good = all(done.returncode == 1 and done.stderr.count('\n') == 1 for done in (full, gone))
    s.check(good and 'No space left' in full.stderr, f'{name}: a full disk', full.stderr.strip())
    with subprocess.Popen([s.tool('tbconvert'), 'export', '--to', name, '-o', '-', result], stdout=subprocess.PIPE) as process:
      streamed = process.stdout.read()
    s.check(process.returncode == 0 and streamed, f'{name}: -o - streams', f'{len(streamed)} bytes')


def check_small_disk(result):
  folder = s.scratch('small')
  os.mkdir(folder)
  if os.getuid() != 0 or subprocess.run(['mount', '-t', 'tmpfs', '-o', 'size=4k', 'none', folder], capture_output=True).returncode != 0:
    s.skip('a small disk', 'no right to mount a tmpfs')
    return
  try:
    for name in ('folded', 'csv'):
      path = os.path.join(folder, 'file')
      done = s.run_tool('tbconvert', 'export', '--to', name, '-o', path, result, check_status=False)
      s.check(done.returncode == 1 and done.stderr.count('\n') == 1 and 'No space left' in done.stderr and not os.listdir(folder),
              f'{name}: a small disk', f'{done.stderr.strip()} {os.listdir(folder)}')
  finally:
    subprocess.run(['umount', folder], check=True)


def check_small_files(result):
  """The limit of a file's size, of which the kernel would kill."""
  folder = s.scratch('limited')
  os.mkdir(folder)
  for name in names():
    done = subprocess.run([s.tool('tbconvert'), 'export', '--to', name, '-o', os.path.join(folder, 'file'), result], capture_output=True,
                          text=True, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10)))
    s.check(done.returncode == 1 and done.stderr.count('\n') == 1 and 'File too large' in done.stderr and not os.listdir(folder),
            f'{name}: a limit of file sizes', f'{done.returncode} {done.stderr.strip()} {os.listdir(folder)}')


def check_stop_of_folder(result):
  """Of several files: the folder, if it was not there before, or the files so far."""
  folder = s.scratch('stopped.csv')
  os.mkdir(folder)
  for made_before in (False, True):
    place = os.path.join(folder, 'files')
    if made_before:
      os.mkdir(place)
    halted.check_stop(f'csv{made_before * ", into a folder"}', [s.tool('tbconvert'), 'export', '--to', 'csv', '-o', place, result],
                      place if made_before else folder, lambda threads: len(glob.glob(os.path.join(place, '.partial.*', '*.csv'))) == 2)


def check_stop(result):
  """A stopped export leaves nothing: it stands still while its file is there, not whole."""
  folder = s.scratch('stopped')
  os.mkdir(folder)
  for name in names():
    if name == 'csv':
      continue  # check_stop_of_folder
    # The result is read under the eyes of one thread, the file is written under those of the next.
    halted.check_stop(name, [s.tool('tbconvert'), 'export', '--to', name, '-o', os.path.join(folder, 'file'), result], folder,
                      lambda threads: threads == 2 and os.listdir(folder))


def check_stopped_import(result):
  text, folder = s.scratch('whole.folded'), s.scratch('imports')
  os.mkdir(folder)
  for name in ('folded', 'pprof', 'perf'):
    s.run_tool('tbconvert', 'export', '--to', name, '-o', text, result)
    for made_before in (False, True):
      place = os.path.join(folder, 'r000hs')
      if made_before:
        os.mkdir(place)
      halted.check_stop(f'import of {name}{made_before * ", into a folder"}', [s.tool('tbconvert'), 'import', '-r', place, text],
                        place if made_before else folder, lambda threads: threads == 1 and os.path.isdir(place) and os.listdir(place))
      if made_before:
        os.rmdir(place)


def check_progress(result):
  controller, terminal = pty.openpty()
  command = [s.tool('tbconvert'), 'export', '--to', 'folded', '-o', s.scratch('text'), result]
  subprocess.run(command, stderr=terminal, check=True)
  os.close(terminal)
  shown = s.read_to_end(controller)
  s.check(b'Exporting [' in shown and shown.endswith(b'\r\x1b[K'), 'a terminal shows a bar, and then none', shown[-30:])
  controller, terminal = pty.openpty()
  subprocess.run([*command[:-2], s.scratch('nowhere/text'), result], stderr=terminal, check=False)
  os.close(terminal)
  shown = s.read_to_end(controller)
  s.check(b'\r\x1b[Ktbconvert: cannot write ' in shown, 'a message stands on its own', shown[-90:])
  s.check(subprocess.run(command, capture_output=True, check=True).stderr == b'', 'a pipe shows none')


def main():
  s.start()
  hostile = s.scratch('hostile.tb5')
  subprocess.run([os.path.join(s.Run.build, 'tests/tools/export/write_hostile'), hostile], check=True, stdout=subprocess.DEVNULL)
  for part in (check_hostile, check_long_names, check_failures, check_small_disk, check_small_files, check_progress):
    with s.section(part.__name__):
      part(hostile)
  with s.section('a real run'):
    real = s.collect_well(['/usr/bin/python3', '-c', PYTHON]).result
    check_real(real)
    check_stop(real)
    check_stop_of_folder(real)
    check_stopped_import(real)
  s.finish()


main()
