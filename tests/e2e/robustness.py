"""Bad result directories, a full disk, kill -9: a clear message, no crash, and what was written is readable."""

import ctypes
import os
import re
import resource
import signal
import subprocess
import time

import support as s


def refused(got, what, status=1):
  lines = got.stderr.strip().splitlines()
  s.check(got.status == status and len(lines) == 1 and lines[0].startswith('tbcollect: '),
          f'{what}: one clear line', f'{got.status} {lines}')
  s.check('chain_ns' not in got.stdout, f'{what}: the program was not started')


def bad_directories():
  file = s.scratch('a-file')
  with open(file, 'w', encoding='utf-8') as out:
    out.write('mine\n')
  refused(s.collect([s.target('chain'), '50'], result=file), 'a file where the result should go')
  with open(file, encoding='utf-8') as kept:
    s.check(kept.read() == 'mine\n', 'the file is untouched')
  refused(s.collect([s.target('chain'), '50'], result='/proc/no/such/r000hs'), 'a directory that cannot be made')
  full = s.scratch('occupied')
  os.mkdir(full)
  with open(os.path.join(full, 'precious'), 'w', encoding='utf-8') as out:
    out.write('mine\n')
  got = s.collect([s.target('chain'), '50'], result=full)
  with open(os.path.join(full, 'precious'), encoding='utf-8') as kept:
    s.check(kept.read() == 'mine\n', 'a directory with other files: they stay', sorted(os.listdir(full)))
  s.check(got.status == 0 and sorted(os.listdir(full)) == ['occupied.tb5', 'precious'],
          'a directory with other files: the result goes beside them', f'{got.status} {sorted(os.listdir(full))}')
  if os.getuid() == 0:
    closed = s.scratch('closed')
    os.mkdir(closed, 0o755)
    refused(s.collect([s.target('chain'), '50'], result=os.path.join(closed, 'r000hs'), uid=s.NOBODY),
            'no permission')
  for path in ('/no/such/result', s.Run.work, file):
    done = s.run_tool('tbreport', 'summary', path, check_status=False)
    lines = done.stderr.strip().splitlines()
    s.check(done.returncode == 1 and len(lines) == 1 and lines[0].startswith('tbreport: '),
            f'tbreport {os.path.basename(path)}: one clear line', f'{done.returncode} {lines}')


def full_disk():
  if os.getuid() != 0:
    s.skip('full disk', 'only root can mount a small tmpfs')
    return
  for size in (128, 1024):
    fill_disk(size << 10)


def fill_disk(size):
  disk = s.scratch('disk')
  os.mkdir(disk)
  # A result is some 60 bytes per sample, so 1 MiB does not last for 30,000 samples.
  subprocess.run(['mount', '-t', 'tmpfs', '-o', f'size={size},mode=777', 'none', disk], check=True)
  try:
    result = os.path.join(disk, 'r000hs')
    got = s.collect([s.target('split'), '3000'], interval='0.1ms', result=result)
    s.check('process_ns' in got.stdout, 'full disk: the program ran to its end', repr(got.stdout[-60:]))
    messages = [line for line in got.stderr.splitlines() if line.startswith('tbcollect: ')]
    s.check(any('space' in line.lower() or 'full' in line.lower() for line in messages),
            'full disk: a message says so', got.stderr.strip()[-300:])
    s.check(len(messages) <= 2, 'full disk: it says so once', messages)
    s.check(got.status == 1, 'full disk: status 1', got.status)
    written = os.path.getsize(os.path.join(result, 'r000hs.tb5'))
    s.check(written > size - 5000, 'full disk: the result takes all of it', f'{written} of {size}')
    # Some 20 KB are written before the first sample.
    readable(result, 'full disk', (size - 20000) // 80)
  finally:
    subprocess.run(['umount', disk], check=True)
    os.rmdir(disk)


def readable(result, what, samples):
  """A result that was never completed: everything in it can be used, and it says what it is."""
  done = s.run_tool('tbreport', result, check_status=False)
  s.check(done.returncode == 0, f'{what}: tbreport reads it', f'{done.returncode} {done.stderr.strip()[-300:]}')
  s.check('incomplete' in (done.stdout + done.stderr).lower(), f'{what}: it says that it is incomplete')
  total = s.summary(result)
  s.check(not total['complete'] and total['samples'] >= samples, f'{what}: samples before it', total['samples'])
  # Nobody has looked symbols up yet, so that frames only have addresses.
  stacks = s.folded(result)
  whole = sum(c for f, c in stacks if len(f) >= 6)
  s.check(s.samples_of(stacks) >= samples and whole >= 0.9 * s.samples_of(stacks),
          f'{what}: stacks before it', f'{whole} of {s.samples_of(stacks)}')


def watch(pid, seconds):
  """Until a program has used so much CPU time: [(when, CPU time by then)]."""
  seen = [(time.monotonic(), 0.0)]
  s.wait_for(lambda: seen.append((time.monotonic(), s.cpu_seconds(pid))) or seen[-1][1] >= seconds, timeout=s.HANGS_S)
  return seen


def kill_collector():
  result = s.new_result()
  process = subprocess.Popen([s.tool('tbcollect'), '-q', '-i', '1ms', '--overhead-limit', '0', '-r', result, '--',
                              s.target('split'), '4000'],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
  seen = watch(s.child_of(process), 3)
  process.kill()
  # What is buffered is written each second; a look at the clock may come a moment late.
  written = max(cpu for when, cpu in seen if when <= seen[-1][0] - 2) / 0.001
  expected = 0.95 * written - s.by_chance(written)
  out, _ = process.communicate(timeout=30)  # the target holds the pipe until it ends
  s.check(process.returncode == -signal.SIGKILL, 'kill -9 of tbcollect', process.returncode)
  s.check('process_ns' in out, 'kill -9 of tbcollect: the target runs to its end', repr(out[-100:]))
  s.check(expected > 0, 'kill -9 of tbcollect: the program ran two seconds before', expected)
  readable(result, 'kill -9 of tbcollect', expected)
  done = s.run_tool('tbconvert', 'recover', result, check_status=False)
  s.check(done.returncode == 0, 'kill -9: tbconvert recover', done.stderr.strip()[-300:])
  if done.returncode == 0:
    s.run_tool('tbconvert', 'finalize', result)
    stacks = s.folded(result)
    whole = sum(c for f, c in stacks if 'main' in f)
    s.check(s.samples_of(stacks) >= expected and whole >= 0.99 * s.samples_of(stacks),
            'kill -9: recovered, with symbols', f'{whole} of {s.samples_of(stacks)}, at least {expected:.0f} expected')


def kill_target():
  result = s.new_result()
  process = subprocess.Popen([s.tool('tbcollect'), '-q', '-i', '1ms', '-r', result, '--', 'sh', '-c',
                              f'echo pid $$; exec {s.target("split")} 20000'],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
  with s.Stealing() as host:
    pid = int(s.read_line_with(process.stdout, 'pid').split()[1])
    used = watch(pid, 1)[-1][1]
    os.kill(pid, signal.SIGKILL)
    _, err = process.communicate(timeout=30)
  total = s.summary(result)
  s.check(process.returncode == 137, 'kill -9 of the target: status 137', f'{process.returncode} {err.strip()[-200:]}')
  least = used / 0.001 - s.by_chance(used / 0.001)
  s.check(total['complete'] and total['samples'] >= least and used >= 1, 'kill -9 of the target: the result is complete',
          f'{total["samples"]} samples, {used:.2f} s of CPU time shortly before')
  s.check_samples('kill -9 of the target: CPU time by samples', total, steal=host.steal)


def cut_short(result):
  """Makes the result one whose collection was killed: its index is at the end, before symbols are added."""
  data = tb5_of(result)
  with open(data, 'rb+') as file:
    file.truncate(os.path.getsize(data) - 100)


def tb5_of(result):
  return os.path.join(result, os.path.basename(result) + '.tb5')


def modes(*paths):
  return [oct(os.stat(path).st_mode & 0o777) for path in paths]


def for_the_owner_only():
  """Whatever the umask, nobody else reads what was collected, and what it is made into."""
  for mask in (0, 0o777):
    got = s.collect([s.target('chain'), '50'], options=['--no-finalize'], preexec_fn=lambda: os.umask(mask))
    data, text = tb5_of(got.result), s.scratch(f'text-{mask}')
    before = os.umask(mask)
    made = modes(got.result, data)
    cut_short(got.result)
    s.run_tool('tbconvert', 'recover', got.result)
    s.run_tool('tbconvert', 'finalize', got.result)
    s.run_tool('tbconvert', 'export', '--to', 'folded', '-o', text, got.result)
    s.run_tool('tbreport', '-o', text + '.report', got.result)
    os.umask(before)
    made += modes(data, text, text + '.report')
    s.check(made == ['0o700', '0o600', '0o600', '0o600', '0o600'], f'umask {mask:03o}: for the owner only', made)
  os.chmod(text, 0o640)
  s.run_tool('tbconvert', 'export', '--to', 'folded', '-o', text, got.result)
  s.check(modes(text) == ['0o640'], 'an export that was there keeps its permissions', modes(text))


def planted():
  """Links and results of another user: nothing is written through them, nor into them."""
  if os.getuid() != 0:
    s.skip('planted', 'needs two users')
    return
  got = s.collect_well([s.target('chain'), '50'])
  link, empty, text = s.scratch('a-link'), s.scratch('empty'), s.scratch('text-link')
  os.mkdir(empty)
  for name, to in ((link, got.result), (s.scratch('b-link'), empty), (text, s.scratch('text-real'))):
    os.symlink(to, name)
    os.lchown(name, s.NOBODY, s.NOBODY)
  refused(s.collect([s.target('chain'), '50'], result=s.scratch('b-link')), 'a link that another user made')
  s.check(not os.listdir(empty), 'nothing went through the link', os.listdir(empty))
  theirs = s.collect([s.target('chain'), '50'], uid=s.NOBODY).result
  cut = s.collect([s.target('chain'), '50'], options=['--no-finalize'], uid=s.NOBODY).result
  cut_short(cut)
  for command, result in (('finalize', link), ('recover', link), ('finalize', theirs), ('recover', cut)):
    before = os.path.getsize(tb5_of(os.path.realpath(result)))
    done = s.run_tool('tbconvert', command, result, check_status=False)
    s.check(done.returncode == 1 and 'another user' in done.stderr and len(done.stderr.splitlines()) == 1 and
            os.path.getsize(tb5_of(os.path.realpath(result))) == before,
            f'tbconvert {command} {os.path.basename(result)}: refused', f'{done.returncode} {done.stderr.strip()}')
  done = s.run_tool('tbconvert', 'finalize', '--any-owner', theirs, check_status=False)
  s.check(done.returncode == 0, 'tbconvert finalize --any-owner', done.stderr.strip())
  done = s.run_tool('tbreport', '-o', text, got.result, check_status=False)
  s.check(done.returncode == 1 and not os.path.exists(s.scratch('text-real')), 'tbreport -o: not through the link',
          f'{done.returncode} {done.stderr.strip()}')


def gone():
  """The result is deleted, moved, or unmounted while the program runs."""
  result = s.new_result()
  got = s.collect(['sh', '-c', f'rm -r {result}; sleep 0.1; echo done'], result=result)
  lines = got.stderr.splitlines()
  s.check(got.status == 1 and got.stdout == 'done\n' and len(lines) == 1 and 'was deleted' in lines[0],
          'deleted: status 1, one line', f'{got.status} {lines}')
  result = s.new_result()
  got = s.collect(['sh', '-c', f'mv {result} {result}.kept'], result=result)
  s.check(got.status == 0 and got.stderr.strip().endswith(f'result in {result}.kept') and
          s.summary(result + '.kept')['complete'], 'moved: named where it is', f'{got.status} {got.stderr.strip()}')
  if os.getuid() != 0:
    s.skip('unmounted', 'only root can mount')
    return
  disk = s.scratch('taken')
  os.mkdir(disk)
  subprocess.run(['mount', '-t', 'tmpfs', 'none', disk], check=True)
  got = s.collect(['umount', '--lazy', disk], result=os.path.join(disk, 'r000hs'))
  s.check(got.status == 1 and 'cannot be reached' in got.stderr, 'unmounted: status 1, said', got.stderr.strip())


def with_files(limit, *arguments):
  """A collection that may open so many files: the status, and what it says."""
  done = subprocess.run([s.tool('tbcollect'), '-q', '--no-finalize', '-r', s.new_result(), *arguments],
                        capture_output=True, text=True, timeout=30, check=False,
                        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit)))
  return done.returncode, done.stderr


def few_files():
  """Too few files at any moment of the start: it collects, or says which limit it met. What fewer are enough for, more are too."""
  cpus = os.cpu_count()
  with subprocess.Popen(['sleep', '100']) as service:
    said, first, above = [], {}, []
    for limit in range(5, 34 + 5 * cpus):
      # Much more of the start is the same for both.
      attach = [['-d', '0.01', '-p', str(service.pid)]] if limit < 24 or limit % 5 == 0 else []
      for what in [['--', 'true'], *attach]:
        status, text = with_files(limit, *what)
        if status == 0:
          first.setdefault(what[0], limit)
        else:
          said.append(text)
          above += [(limit, text)] if what[0] in first else []
    service.kill()
  wrong = [text for text in said if len(text.splitlines()) != 1 or not re.search(
      r'^tbcollect: cannot .*: Too many open files; the limit is \d+, raise it with ulimit', text)]
  s.check(len(said) > 10 and not wrong, f'too few files: {len(said)} starts say so', wrong[:2] or said[:1])
  s.check(len(first) == 2 and not above, f'too few files: enough from {first} on', above[:2])
  numbers = [(limit, re.search(r'which take some (\d+) files', with_files(limit, '--unwind', 'bpf', '--', 'true')[1]))
             for limit in range(20 + 2 * cpus, 32 + 5 * cpus, 3)]
  numbers = [(limit, int(found.group(1))) for limit, found in numbers if found]
  if numbers:
    s.check(all(number > limit for limit, number in numbers), 'too few files: more are named than there may be', numbers)
  else:
    s.skip('too few files for BPF', 'it is not there, or needs root')
  done = s.collect(['true'], preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (60 << 20, 60 << 20)))
  s.check(done.status == 1 and 'out of memory; the limit of address space' in done.stderr, 'too little address space',
          done.stderr.strip())


PTRACE_CONT, PTRACE_SEIZE, PTRACE_INTERRUPT, PTRACE_DETACH, WALL = 7, 0x4206, 0x4207, 17, 0x40000000
POLLS = {7, 271} if os.uname().machine == 'x86_64' else {73}


def ptrace(request, tid):
  libc = ctypes.CDLL(None, use_errno=True)
  if libc.ptrace(request, tid, None, None) < 0:
    raise OSError(ctypes.get_errno(), 'ptrace')


def stop_thread(tid, until):
  """Stops one thread for a while, as a disk that does not take data does: in a system call, not in code that holds a lock."""
  def is_stopped_in_poll():
    ptrace(PTRACE_INTERRUPT, tid)
    os.waitpid(tid, WALL)
    with open(f'/proc/{tid}/syscall', encoding='ascii') as file:
      number = int(file.read().split()[0])
    if number not in POLLS:
      ptrace(PTRACE_CONT, tid)
    return number in POLLS
  ptrace(PTRACE_SEIZE, tid)
  s.check(s.wait_for(is_stopped_in_poll, timeout=s.HANGS_S), 'stalled: the thread is stopped where it waits')
  s.wait_for(until, timeout=s.HANGS_S)
  ptrace(PTRACE_DETACH, tid)


def stalled(interval, seconds):
  """A collection whose main thread stands still for so much of the program's CPU time: the summary, and how many
  records waited. The stacks are of 10 KB and more: what lies above main alone is 1 to 9 KB, by chance."""
  result = s.new_result()
  with s.Stealing() as host:
    process = subprocess.Popen([s.tool('tbcollect'), '-v', '-i', interval, '--unwind', 'copy', '--overhead-limit', '0',
                                '-r', result, '--', s.target('recurse'), '5000'],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    target = s.child_of(process)
    before = watch(target, 0.5)[-1][1]
    stop_thread(process.pid, lambda: s.cpu_seconds(target) >= before + seconds)
    _, err = process.communicate(timeout=60)
  s.check(process.returncode == 0, f'stalled for {seconds} s: status', f'{process.returncode} {err.strip()[-200:]}')
  waited = re.search(r'(\d+) records were copied', err)
  return s.summary(result), int(waited.group(1)) if waited else 0, host.steal


def stalled_collector():
  total, waited, _ = stalled('1ms', 0.4)
  stacks = total['stacks']
  s.check(total['samples_lost'] == 0 and waited > 100, 'stalled for 0.4 s: nothing is lost',
          f'{total["samples_lost"]} lost, {waited} waited')
  s.check(stacks['complete'] >= 0.99 * total['samples'], 'stalled for 0.4 s: nor is any stack', stacks)
  # More than the queue may hold of stacks: those are left out, samples are not.
  total, waited, steal = stalled('0.1ms', 2)
  stacks = total['stacks']
  skipped = stacks['skipped'].get('budget', 0)
  s.check(total['samples_lost'] == 0 and waited > 5000, 'stalled for 2 s at 0.1 ms: no sample is lost',
          f'{total["samples_lost"]} lost, {waited} waited')
  s.check(1000 < skipped < waited, 'stalled for 2 s at 0.1 ms: stacks are left out, and counted', stacks)
  s.check_samples('stalled for 2 s at 0.1 ms: CPU time by samples', total, steal=steal)


def slow_disk():
  """A write that takes a second of the program's CPU time, in the middle of a record: nothing is lost for as long as the queue has room."""
  result = s.new_result()
  preload = os.path.join(os.path.dirname(s.target('split')), 'slow_write.so')
  done = subprocess.run([s.tool('tbcollect'), '-v', '-i', '0.1ms', '--unwind', 'copy', '--overhead-limit', '0', '-r', result,
                         '--', s.target('split'), '3000'],
                        capture_output=True, text=True, timeout=120, check=False, env={**os.environ, 'LD_PRELOAD': preload})
  waited = re.search(r'(\d+) records were copied', done.stderr)
  total = s.summary(result)
  # Of those a fraction of a ring is taken where it is, once the disk goes on.
  meanwhile = total['samples'] / total['cpu_time_s']
  s.check(done.returncode == 0 and waited is not None and int(waited.group(1)) > 0.8 * meanwhile,
          'slow disk: what came meanwhile waited', f'{meanwhile:.0f} expected, {done.returncode} {done.stderr.strip()[-200:]}')
  s.check(total['samples_lost'] == 0, 'slow disk: nothing is lost', (total['samples'], total['samples_lost']))


def no_threads():
  """A limit of processes that leaves room for the program only."""
  if os.getuid() != 0:
    s.skip('no threads', 'only root can become a user that has no other process')
    return
  lonely = 54321
  # It has an ordinary user's rings, and looks at them when it is its turn: at 10 ms they hold what comes meanwhile.
  got = s.collect([s.target('chain'), '1000'], interval='10ms', options=['-v'], uid=lonely, cwd='/',
                  preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NPROC, (2, 2)))
  s.check(got.status == 0 and 'no thread to watch the rings' in got.stderr, 'no threads: collects all the same',
          f'{got.status} {got.stderr.strip()[-300:]}')
  total = s.summary(got.result)
  s.check(total['complete'] and total['samples_lost'] == 0 and total['samples'] >= 100 - s.by_chance(100), 'no threads: samples',
          f'{total["samples"]}, {total["samples_lost"]} lost')


def hung_target():
  """A process of another user whose arguments (and before Linux 6.17 maps) keep whoever reads them waiting for ever:
  collecting goes on without, ends when it is to, and says so."""
  if os.getuid() != 0:
    s.skip('hung target', 'needs two users')
    return
  place = s.scratch('hung')
  os.mkdir(place)
  target = subprocess.Popen([s.target('hung'), place, str(s.NOBODY)], stdout=subprocess.PIPE, text=True)
  try:
    if target.stdout.readline().split()[:1] != ['ready']:
      s.check(target.wait(timeout=10) == 4, 'hung target: starts', target.returncode)
      s.skip('hung target', 'no /dev/fuse')
      return
    s.check(s.wait_for(lambda: keeps_waiting(target.pid)), 'hung target: keeps a reader waiting')
    result = s.new_result()
    collector = subprocess.Popen([s.tool('tbcollect'), '-v', '-i', '1ms', '-r', result, '-p', str(target.pid)],
                                 stderr=subprocess.PIPE, text=True)
    s.read_line_with(collector.stderr, s.COLLECTS)
    enough = s.cpu_seconds(target.pid) + 0.5
    s.check(s.wait_for(lambda: s.cpu_seconds(target.pid) >= enough, timeout=s.HANGS_S), 'hung target: works')
    collector.send_signal(signal.SIGINT)
    status, said = ends_in_time(collector)
    s.check(status == 0, 'hung target: the collection ends', f'{status} {said[-300:]}')
    total, text = s.summary(result), s.run_tool('tbreport', 'summary', result).stdout
    s.check(total['complete'] and total['samples'] > 100, 'hung target: its samples', total['samples'])
    s.check('did not answer about 1 process' in text, 'hung target: the summary says so',
            [line for line in text.splitlines() if line.startswith('Warning')])
  finally:
    target.kill()
    target.wait()
    subprocess.run(['umount', '--lazy', place], check=False, capture_output=True)


def keeps_waiting(pid):
  """Whether somebody who reads the arguments of a process has to be killed."""
  return subprocess.run(['timeout', '-s', 'KILL', '0.5', 'cat', f'/proc/{pid}/cmdline'],
                        stdout=subprocess.DEVNULL).returncode != 0


def ends_in_time(process):
  """Exit status, or None if it had to be killed after 30 s; and what it said."""
  try:
    said = process.communicate(timeout=30)[1]
    return process.returncode, said
  except subprocess.TimeoutExpired:
    process.kill()
    return None, process.communicate()[1]


def damaged_results():
  """Truncated and overwritten files never crash a reader."""
  got = s.collect_well([s.target('chain'), '300'])
  file = os.path.join(got.result, os.path.basename(got.result) + '.tb5')
  with open(file, 'rb') as whole:
    data = whole.read()
  bad = 0
  cases = [data[:size] for size in range(0, len(data), max(1, len(data) // 40))]
  for place in range(0, len(data), max(1, len(data) // 40)):
    cases.append(data[:place] + b'\xff' * 16 + data[place + 16:])
  for number, content in enumerate(cases):
    broken = s.scratch('broken.tb5')
    with open(broken, 'wb') as out:
      out.write(content)
    done = s.run_tool('tbreport', 'summary', broken, check_status=False)
    if done.returncode not in (0, 1):
      bad += 1
      s.note(f'case {number}: status {done.returncode} {done.stderr.strip()[-200:]}')
  s.check(bad == 0, 'damaged files: read or refused, never a crash', f'{bad} of {len(cases)}')


s.start()
for part in (bad_directories, full_disk, kill_collector, kill_target, stalled_collector, slow_disk, no_threads,
             for_the_owner_only, planted, gone, few_files, hung_target, damaged_results):
  with s.section(part.__name__):
    part()
s.finish()
