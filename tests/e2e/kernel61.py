"""The tools on Linux 6.1, booted in qemu: BPF loads there, and CPU time without counts in the samples is honest.

Usage: kernel61.py BUILD_DIRECTORY [KERNEL IMAGE]
Without an image: the newest of /boot/vmlinuz-6.1.*, else that of Debian's package, downloaded and not installed. The machine
is emulated, so that it runs where there is no KVM, or one that is of no use; nothing of it is kept.
"""

import csv
import glob
import io
import json
import os
import re
import shutil
import stat
import subprocess
import sys

import support as s

QEMU = 'qemu-system-x86_64'
TIME_LIMIT_S = 600  # half a minute where nothing else runs
CHAIN = ['main'] + [f'chain_{i:02}' for i in range(1, 41)]
DEEP = ['main'] + [f'deep_{i:02}' for i in range(1, 14)]
TARGETS = ('chain', 'deep_locals', 'untouched', 'threads', 'births', 'waiting')
PROGRAMS = ('sh', 'mount', 'cat', 'setpriv', 'true')


def downloaded_kernel():
  """The image in Debian's package of the kernel; None without apt, network or such a kernel."""
  place = s.scratch('kernel')
  os.mkdir(place)
  shown = subprocess.run(['apt-cache', 'depends', 'linux-image-amd64'], capture_output=True, text=True, check=False).stdout
  names = re.findall(r'Depends: (linux-image-6\.1\.\S+)', shown)
  if not names or subprocess.run(['apt-get', 'download', '-q', names[0]], cwd=place, capture_output=True,
                                 check=False).returncode != 0:
    return None
  for package in glob.glob(place + '/*.deb'):
    subprocess.run(['dpkg-deb', '-x', package, place], check=True)
  return next(iter(glob.glob(place + '/boot/vmlinuz-6.1.*')), None)


def kernel_image():
  if len(sys.argv) > 2:
    return sys.argv[2]
  images = sorted(glob.glob('/boot/vmlinuz-6.1.*'), key=os.path.getmtime)
  if images:
    return images[-1]
  return downloaded_kernel() if shutil.which('apt-get') and shutil.which('dpkg-deb') else None


class Archive:
  """An initial file system, in the kernel's "new ASCII" cpio format (Documentation/driver-api/early-userspace/
  buffer-format.rst)."""

  def __init__(self, path):
    self.file = open(path, 'wb')
    self.names = set()

  def _add(self, name, mode, data=b'', device=(0, 0)):
    text = name.encode() + b'\0'
    fields = (len(self.names) + 1, mode, 0, 0, 1, 0, len(data), 0, 0, *device, len(text), 0)
    head = b'070701' + b''.join(b'%08x' % field for field in fields) + text
    self.file.write(head + b'\0' * (-len(head) % 4) + data + b'\0' * (-len(data) % 4))
    self.names.add(name)

  def directory(self, name):
    name = name.strip('/')
    if name and name not in self.names:
      self.directory(os.path.dirname(name))
      self._add(name, stat.S_IFDIR | 0o755)

  def program(self, source, name):
    """A file, and the libraries that it is linked with, at their own paths."""
    self.plain(source, name)
    linked = subprocess.run(['ldd', source], capture_output=True, text=True, check=False).stdout
    for library in re.findall(r'(/\S+) \(0x', linked):
      self.plain(library, library)

  def plain(self, source, name):
    name = name.strip('/')
    if name not in self.names:
      self.directory(os.path.dirname(name))
      with open(source, 'rb') as file:
        self._add(name, stat.S_IFREG | 0o755, file.read())

  def console(self):
    self.directory('dev')
    self._add('dev/console', stat.S_IFCHR | 0o600, device=(5, 1))

  def close(self):
    self._add('TRAILER!!!', 0)
    self.file.close()


def pack(path):
  archive = Archive(path)
  for name in ('proc', 'sys', 'dev', 'tmp'):
    archive.directory(name)
  archive.console()
  archive.plain(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'support', 'kernel61.sh'), 'init')
  for name in PROGRAMS:
    archive.program(os.path.realpath(shutil.which(name)), '/usr/bin/' + name)
  archive.plain('/bin/sh', '/bin/sh')
  archive.program(s.tool('tbcollect'), '/build/collector/tbcollect')
  for name in ('tbreport', 'tbconvert'):
    archive.program(s.tool(name), '/build/tools/' + name)
  for path in glob.glob('/lib/*-linux-gnu/libgcc_s.so.1'):
    archive.plain(path, path)  # nothing is linked with it: pthread_cancel opens it when it is called
  for name in TARGETS:
    archive.program(s.target(name), '/build/tests/targets/target-' + name)
  archive.close()


def boot(image, archive):
  """Boots until the machine ends; returns {what was run: (status, what it said)}."""
  console, answers = s.scratch('console'), s.scratch('answers')
  command = [QEMU, '-machine', 'pc', '-accel', 'tcg', '-cpu', 'max', '-smp', '2', '-m', '1024',
             '-no-reboot', '-nodefaults', '-display', 'none', '-serial', 'file:' + console, '-serial', 'file:' + answers,
             '-kernel', image, '-initrd', archive, '-append', 'console=ttyS0 loglevel=4 panic=-1']
  try:
    subprocess.run(command, timeout=TIME_LIMIT_S, check=False, stdin=subprocess.DEVNULL)
  except subprocess.TimeoutExpired:
    s.check(False, 'the machine ends', f'not within {TIME_LIMIT_S} s')
  with open(answers, encoding='utf-8', errors='replace') as file:
    text = file.read().replace('\r', '')
  found = re.findall(r'^== (\D.*)\n((?:(?!== ).*\n)*)== (\d+)$', text, re.MULTILINE)
  if not any(name == 'end' for name, _, _ in found):
    with open(console, encoding='utf-8', errors='replace') as file:
      s.check(False, 'the machine ran everything', file.read()[-2000:] + text[-2000:])
  return {name: (int(status), said) for name, said, status in found}


class Answers:
  """What the machine said, in the shapes that the tools' readers know."""

  def __init__(self, answers):
    self.answers = answers

  def status(self, name):
    return self.answers.get(name, (None, ''))[0]

  def text(self, name):
    return self.answers.get(name, (None, ''))[1]

  def summary(self, name):
    return json.loads(self.text(name + ' summary'))

  def threads(self, name):
    return list(csv.DictReader(io.StringIO(self.text(name + ' threads').strip())))

  def stacks(self, name):
    lines = [line.rpartition(' ') for line in self.text(name + ' folded').splitlines() if line]
    return [(frames.split(';'), int(count)) for frames, _, count in lines]

  def unattributed(self, name):
    found = re.search(r"of no known thread:\s+([0-9.]+) s", self.text(name + ' text'))
    return float(found.group(1)) if found else 0.0


def stacks(got):
  for name, by_bpf, names in (('bpf', True, CHAIN), ('auto', True, CHAIN), ('copy', False, CHAIN), ('deep', True, DEEP)):
    said, total = got.text(name), got.summary(name)
    s.check(got.status(name) == 0 and 'tbcollect: cannot' not in said, f'{name}: collects', said.strip().splitlines()[-1:])
    s.check(('by BPF' in said) == by_bpf, f'{name}: {"by BPF" if by_bpf else "by copies"}')
    # Ticks that an emulated timer brings late are fewer.
    s.check(total['samples'] >= 30 and total['samples_lost'] == 0, f'{name}: samples', total['samples'])
    # A page of a stack may have been touched by nobody yet.
    s.check(total['stacks']['complete'] >= total['samples'] - max(1, 0.01 * total['samples']), f'{name}: complete stacks',
            total['stacks'])
    inside = [(frames, count) for frames, count in got.stacks(name) if names[-1] in frames]
    exact = sum(count for frames, count in inside if [f for f in frames if f in names] == names)
    seen = sum(count for _, count in inside)
    s.check(seen >= 0.8 * total['samples'] and exact >= 0.99 * seen, f'{name}: {len(names) - 1} functions in order',
            f'{exact} of {seen}')
  s.check(got.status('refused') == 1 and 'CAP_BPF' in got.text('refused'), 'an ordinary user is told why there is no BPF',
          got.text('refused').strip())


def untouched(got):
  """Debian's kernels map a page of zeros where a page is read that nobody has touched: copies go past it from then on."""
  total = got.summary('untouched')
  s.check(got.status('untouched') == 0 and total['samples'] >= 30, 'untouched: samples', total['samples'])
  # How many come before the first reading is the emulation's; without one, not a single stack is whole there.
  whole = [(f, c) for f, c in got.stacks('untouched') if 'untouched_burn' in f and not s.marked(f)]
  exact = sum(c for f, c in whole if f.count('untouched_down') == 2 and 'live' in f)
  s.check(exact == s.samples_of(whole) > 0, 'untouched: copies go past the pages', f'{exact} whole, {total["stacks"]}')
  alone, collected = (s.number(s.truth(got.text(name)), 'stack_kb') for name in ('apart', 'untouched'))
  s.check(alone == collected, 'untouched: the stacks take as much memory as without tbcollect', f'{collected} of {alone} KB')


def accounts(got):
  """Threads' own samples count a tick each there: what was used besides is told. With samples by the CPUs' clocks the kernel
  tells the accounts. Together they are what the kernel counted."""
  for name, alone in (('bpf', True), ('copy', True), ('deep', True), ('threads', False), ('births', False)):
    total = got.summary(name)
    expected = s.number(s.truth(got.text(name)), 'process_ns') / 1e9
    s.check_ratio(f'{name}: CPU time, with what is said to be in no account',
                  total['cpu_time_s'] + got.unattributed(name), expected, 2)
    is_told = 'gives no CPU time with the samples' in got.text(name + ' text')
    s.check(is_told == (total['sampling']['times'] == 'threads'), f'{name}: the report says so where it is so',
            f'{is_told}, {total["sampling"]["times"]}')
    if alone:
      s.check_ratio(f'{name}: CPU time of the one thread', float(got.threads(name)[0]['CPU Time']), expected, 3)
  # A program that is mostly in the kernel; the first line is what it used itself.
  minutes = re.search(r'^(\d+)m([0-9.]+)s (\d+)m([0-9.]+)s$', got.text('opens'), re.MULTILINE).groups()
  total = got.summary('opens')
  s.check_ratio('system calls: CPU time of the one thread', float(got.threads('opens')[0]['CPU Time']),
                60 * (int(minutes[0]) + int(minutes[2])) + float(minutes[1]) + float(minutes[3]), 5)
  # Samples come in the kernel too, as many as an emulated timer gives.
  s.check(total['kernel_time']['where'] == 'at_calls', 'system calls: the time is in samples at the calls', total['kernel_time'])
  truth = {words[0]: int(words[2]) / 1e9 for words in s.truth(got.text('threads'))['thread']}
  for row in got.threads('threads'):
    if row['Thread'] in truth:
      seen = float(row['CPU Time'])
      # Of several expired intervals an emulated timer that comes late makes one: how much less depends on the host.
      s.check(0 < seen <= 1.02 * truth[row['Thread']], f'threads: {row["Thread"]}: never too much',
              f'{seen:.3f} of {truth[row["Thread"]]:.3f} s')
  s.check(truth.keys() <= {row['Thread'] for row in got.threads('threads')}, 'threads: all are seen', sorted(truth))
  s.check(len(got.threads('births')) >= 3, 'births: threads', len(got.threads('births')))


def waits(got):
  """Who waits for whom, by BPF. Emulated, a call of the program takes its time."""
  s.check(got.status('waits') == 0 and 'by BPF' in got.text('waits'), 'waits: by BPF', got.text('waits').strip().splitlines()[:4])
  rows = list(csv.DictReader(io.StringIO(got.text('waits report').strip())))
  for line in got.text('waits').splitlines():
    if not line.startswith('{'):
      continue
    fact = json.loads(line)
    seen = [row for row in rows if row['Sync Object'] == f'{fact["type"]} {fact["object"]}' and row['Function'] == fact['function']]
    count = sum(int(row['Wait Count']) for row in seen)
    s.check(count == fact['count'] and all(row['Waker Function'] == fact['waker_function'] for row in seen),
            f'waits: {fact["mode"]}: all, and their waker', f'{count} of {fact["count"]}')
    s.check_ratio(f'waits: {fact["mode"]}: time', sum(float(row['Wait Time']) + float(row['Ready Time']) for row in seen),
                  fact['time_s'], 10)


s.start()
kernel = kernel_image() if shutil.which(QEMU) is not None else None
if kernel is None:
  s.skip('Linux 6.1', f'no {QEMU}' if shutil.which(QEMU) is None else 'no image of such a kernel')
  s.finish()
s.note(f'kernel image {kernel}')
pack(s.scratch('initrd'))
machine = Answers(boot(kernel, s.scratch('initrd')))
s.check(machine.text('kernel').startswith('6.1.'), 'the kernel', machine.text('kernel').strip())
for part in (stacks, untouched, accounts, waits):
  with s.section(part.__name__):
    part(machine)
s.finish()
