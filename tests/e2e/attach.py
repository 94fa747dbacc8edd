"""Attaching: all threads and what is born later, detaching without harm, and refusals that say what to do."""

import os
import pty
import resource
import select
import shutil
import signal
import subprocess
import time

import support as s


class Service(subprocess.Popen):
  """A program that runs in rounds of a tenth of a second or more, and writes into a file what it did."""

  def __init__(self):
    self.said = s.scratch(f'service-{time.monotonic_ns()}')
    with open(self.said, 'w', encoding='ascii') as out:
      super().__init__([s.target('serve'), '60'], stdout=out, stdin=subprocess.DEVNULL)
    s.check(s.wait_for(lambda: self.rounds() > 0), 'the service runs')

  def rounds(self):
    with open(self.said, encoding='ascii') as file:
      return sum(line.startswith('round') for line in file)

  def work(self, rounds):
    """Waits for so many whole rounds."""
    last = self.rounds() + 1 + rounds
    s.check(s.wait_for(lambda: self.rounds() >= last, timeout=s.HANGS_S), f'the service works for {rounds} rounds')

  def stop(self):
    """Ends it in order."""
    self.send_signal(signal.SIGTERM)
    self.wait(timeout=30)


def cpu_ns(pid):
  """CPU time of a process's living threads by the scheduler's own account."""
  total = 0
  for tid in os.listdir(f'/proc/{pid}/task'):
    try:
      with open(f'/proc/{pid}/task/{tid}/schedstat', encoding='ascii') as file:
        total += int(file.read().split()[0])
    except OSError:
      continue
  return total


def attach(pids, *options, through=(), quiet=True, **popen):
  result = s.new_result()
  process = subprocess.Popen([*through, s.tool('tbcollect'), *(['-q'] if quiet else []), '-i', '1ms', '--overhead-limit', '0', '-r', result, *options,
                              '-p', ','.join(map(str, pids))], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             text=True, stdin=subprocess.DEVNULL, **popen)
  return process, result


def steady_ns(pid):
  """CPU time of a service's two threads that are there from the start."""
  total = 0
  for tid in sorted(map(int, os.listdir(f'/proc/{pid}/task')))[1:3]:
    with open(f'/proc/{pid}/task/{tid}/schedstat', encoding='ascii') as file:
      total += int(file.read().split()[0])
  return total


def attach_and_detach():
  """For so many rounds of the service, each with a newborn thread and every second one with a child, however long they take."""
  rounds = 16
  service = Service()
  before = steady_ns(service.pid)
  with s.Stealing() as host:
    process, result = attach([service.pid], '-v', quiet=False)
    s.read_line_with(process.stderr, s.COLLECTS)
    inside = steady_ns(service.pid)
    service.work(rounds)
    inside = steady_ns(service.pid) - inside
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
  around = (steady_ns(service.pid) - before) / 1e9
  s.check(process.returncode == 0, 'attach: status 0', f'{process.returncode} {err.strip()[-300:]}')
  total, rows, stacks = s.summary(result), s.report(result, 'threads'), s.folded(result)
  steady = [row for row in rows if row['Thread'] == 'steady']
  s.check(len(steady) == 2, 'attach: both existing threads', len(steady))
  # What an ordinary user's threads use after their last ticks is in no account.
  seen = sum(float(row['CPU Time']) for row in steady)
  least = inside / 1e9 - len(steady) * os.cpu_count() * 0.001
  s.check(0.99 * least <= seen <= 1.01 * around + host.steal, 'attach: CPU time of the existing threads',
          f'{seen:.3f} s, {least:.3f} to {around:.3f} expected, {host.steal:.2f} stolen')
  for what, count, least, function in (
      ('threads', sum(row['Thread'] == 'newborn' for row in rows), rounds - 1, 'serve_newborn'),
      ('children', len({row['PID'] for row in rows} - {str(service.pid), ''}), rounds // 2 - 1, 'serve_child')):
    s.check(count >= least, f'attach: {what} born later', f'{count} of {least}')
    seen, expected = s.samples_of(stacks, function), 20 * least
    s.check(seen >= expected - s.by_chance(expected), f'attach: samples of {what} born later', f'{seen} of {expected}')
  whole = sum(c for f, c in stacks if 'serve_steady' in f and 'steady_run' in f)
  s.check(whole >= 0.99 * s.samples_of(stacks, 'serve_steady'), 'attach: stacks of existing threads', whole)
  s.check(total['target']['pid'] == service.pid and total['complete'], 'attach: the summary names the target')
  runs_on(service, 'attach')
  service.stop()


def runs_on(service, what):
  """The target goes on after the detach: its rounds go up."""
  service.work(3)
  s.check(service.poll() is None, f'{what}: the target runs on', f'{service.rounds()} rounds')


def works_on(collector, target, seconds):
  """Once it is attached to, the target uses so much CPU time."""
  s.read_line_with(collector.stderr, s.COLLECTS)
  enough = s.cpu_seconds(target.pid) + seconds
  s.check(s.wait_for(lambda: s.cpu_seconds(target.pid) >= enough, timeout=s.HANGS_S), f'the target works for {seconds} s')


def attach_until_signal():
  for number in (signal.SIGINT, signal.SIGTERM):
    service = Service()
    process, result = attach([service.pid], '-v', quiet=False)
    works_on(process, service, 1)
    process.send_signal(number)
    _, err = process.communicate(timeout=30)
    s.check(process.returncode == 0, f'{number.name} detaches', f'{process.returncode} {err.strip()[-300:]}')
    total = s.summary(result)
    s.check(total['complete'] and total['samples'] > 100, f'{number.name}: the result is complete', total['samples'])
    runs_on(service, number.name)
    service.stop()


def makes_threads():
  """What the target does after the collection's end is none of it: threads that it made then were of no known thread."""
  with subprocess.Popen([s.target('brief'), '5000', '1000', 'thread'], stdout=subprocess.DEVNULL) as work:
    process, result = attach([work.pid], '-v', quiet=False)
    works_on(process, work, 0.6)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    work.kill()
  s.check(process.returncode == 0, 'makes threads: detaches', f'{process.returncode} {err.strip()[-300:]}')
  lacking, used = s.unattributed(result), s.summary(result)['cpu_time_s']
  bound = 0.01 if os.geteuid() == 0 else 0.1
  s.check(lacking <= bound * used, 'makes threads: CPU time is of known threads', f'{lacking:.4f} s is not, of {used:.4f} s')


def target_dies():
  service = Service()
  process, result = attach([service.pid], '-v', quiet=False)
  works_on(process, service, 0.5)
  service.kill()
  service.wait()
  _, err = process.communicate(timeout=60)
  total = s.summary(result)
  s.check(process.returncode == 0 and total['complete'], 'the target dies: the result is completed',
          f'{process.returncode} {err.strip()[-300:]}')


def two_targets():
  services = [Service(), Service()]
  process, result = attach([service.pid for service in services], '-d', '1')
  _, err = process.communicate(timeout=60)
  pids = {row['PID'] for row in s.report(result, 'threads') if row['Thread'] == 'steady'}
  s.check(process.returncode == 0 and pids == {str(service.pid) for service in services},
          '-p PID,PID: both', f'{pids} {err.strip()[-300:]}')
  elapsed = s.summary(result)['elapsed_s']
  s.check(0.99 <= elapsed <= 4, 'attach -d 1: elapsed', elapsed)  # and what a loaded machine takes
  for service in services:
    service.stop()


def refusals():
  gone = subprocess.Popen(['true'])
  gone.wait()
  process, result = attach([gone.pid])
  _, err = process.communicate(timeout=30)
  lines = err.strip().splitlines()
  s.check(process.returncode == 1 and len(lines) == 1 and str(gone.pid) in err and 'no such' in err.lower(),
          'no such process: one line', f'{process.returncode} {lines}')
  s.check(not os.path.exists(result), 'no such process: no result is left')

  if os.getuid() != 0:
    s.skip('another user\'s process', 'needs two users')
    return
  service = Service()
  process, result = attach([service.pid], user=s.NOBODY, group=s.NOBODY, extra_groups=[])
  _, err = process.communicate(timeout=30)
  lines = err.strip().splitlines()
  s.check(process.returncode == 1 and lines and lines[0].startswith('tbcollect: '),
          'another user\'s process: refused in a clear line', f'{process.returncode} {lines}')
  s.check(any(word in err for word in ('CAP_PERFMON', 'CAP_SYS_PTRACE', 'cap_perfmon', 'sudo', 'root')),
          'another user\'s process: says what lifts the limit', lines)
  s.check(not os.path.exists(result), 'another user\'s process: no result is left')
  service.stop()


def wait_for_threads(process, count):
  """Until the process has made its threads; a minute at most."""
  s.check(s.wait_for(lambda: len(os.listdir(f'/proc/{process.pid}/task')) >= count, 60), f'{count} threads to attach to')


def end_while_attaching():
  """The duration counts from the first event on, however many threads there are to open: a thousand take longer than
  this one on any machine. Standing still, they leave the CPUs to tbcollect."""
  count = 1000
  needed = (count + 1) * 2 * os.cpu_count()
  if resource.getrlimit(resource.RLIMIT_NOFILE)[1] < needed + 100:
    s.skip('the duration ends while attaching', f'needs {needed} files')
    return
  crowd = subprocess.Popen([s.target('crowd'), str(count), '10000'], stdout=subprocess.DEVNULL)
  wait_for_threads(crowd, count + 1)
  crowd.send_signal(signal.SIGSTOP)
  process, result = attach([crowd.pid], '-d', '0.001')
  _, err = process.communicate(timeout=60)
  total = s.summary(result)
  s.check(process.returncode == 0 and total['complete'] and 0 < total['threads'] < count,
          'the duration ends while attaching: some threads', f'{process.returncode} {total["threads"]} {err.strip()[-300:]}')
  text = s.run_tool('tbreport', 'summary', result).stdout
  s.check('before all threads were attached' in text, 'the duration ends while attaching: the summary says so')
  status, text = said_on_a_terminal(crowd.pid, '-d', '0.001')
  s.check(status == 0 and 'before all threads were attached' in text and 'Ctrl-C' not in text,
          'the duration ends while attaching: so does the terminal, and not how to stop', repr(text))
  crowd.kill()
  crowd.wait()


def attach_again():
  """What an earlier attach left with the threads makes them no threads of this one: each is opened, and its account is
  of the time since then. Opening takes long, so that samples could come before it ends."""
  if shutil.which('strace') is None:
    s.skip('attaching again', 'needs strace')
    return
  slowly = ['strace', '-f', '-o', '/dev/null', '-e', 'trace=perf_event_open', '-e',
            'inject=perf_event_open:delay_exit=1000']
  count = 40
  crowd = subprocess.Popen([s.target('crowd'), str(count), '10000'], stdout=subprocess.DEVNULL)
  wait_for_threads(crowd, count + 1)
  used = cpu_ns(crowd.pid)
  s.check(s.wait_for(lambda: cpu_ns(crowd.pid) > used + 2 * 10**9, 60), 'attaching again: the threads worked before')
  for turn in (1, 2):
    before = cpu_ns(crowd.pid)
    with s.Stealing() as host:
      process, result = attach([crowd.pid], '-v', '--no-finalize', through=slowly, quiet=False)
      works_on(process, crowd, 1)
      os.kill(s.child_of(process), signal.SIGINT)
      _, err = process.communicate(timeout=60)
    crowd.send_signal(signal.SIGSTOP)
    around = (cpu_ns(crowd.pid) - before) / 1e9 + host.steal
    total = s.summary(result)
    s.check(process.returncode == 0 and total['threads'] == count + 1, f'attach {turn}: all threads',
            f'{total["threads"]} {err.strip()[-300:]}')
    s.check(0 < total['cpu_time_s'] <= 1.05 * around, f'attach {turn}: the CPU time since then',
            f'{total["cpu_time_s"]:.3f} s of at most {around:.3f} s')
    crowd.send_signal(signal.SIGCONT)
  crowd.kill()
  crowd.wait()


def said_on_a_terminal(pid, *options):
  """What attaching prints on a terminal."""
  here, there = pty.openpty()
  done = subprocess.run([s.tool('tbcollect'), '-r', s.new_result(), *options, '-p', str(pid)],
                        stderr=there, stdout=subprocess.DEVNULL, timeout=60)
  text = os.read(here, 10000).decode() if select.select([here], [], [], 0)[0] else ''
  os.close(there)
  os.close(here)
  return done.returncode, text


def on_a_terminal():
  """Whoever waits sees to what it is attached, and how to end it; a pipe and -q do not."""
  sleeper = subprocess.Popen(['sleep', '60'])
  status, text = said_on_a_terminal(sleeper.pid, '-d', '0.1')
  s.check(status == 0 and text.startswith(f'tbcollect: attached to 1 thread of sleep ({sleeper.pid}); detaches after '
                                          '0.1 s or with Ctrl-C\r\n'),
          'terminal: attached to whom, and how it ends', repr(text))
  status, text = said_on_a_terminal(sleeper.pid, '-d', '0.1', '-q')
  s.check(status == 0 and text == '', 'terminal: -q says nothing', repr(text))
  sleeper.kill()
  sleeper.wait()


def another_namespace():
  """In a pid namespace with the outer /proc, numbers mean two things."""
  if os.getuid() != 0:
    s.skip('another namespace', 'only root can make a pid namespace')
    return
  for what in (['-p', '1', '-d', '0.1'], ['--', 'true']):
    result = s.new_result()
    command = [s.tool('tbcollect'), '-q', '-r', result, *what]
    done = subprocess.run(['unshare', '--pid', '--fork', *command], capture_output=True, text=True, timeout=30)
    lines = done.stderr.splitlines()
    s.check(done.returncode == 1 and len(lines) == 1 and 'pid namespace' in lines[0] and 'mount' in lines[0] and
            not os.path.exists(result), f'outer /proc, {what[0]}: refused in one line', f'{done.returncode} {lines}')
    done = subprocess.run(['unshare', '--pid', '--fork', '--mount-proc', *command], capture_output=True, text=True,
                          timeout=30)
    s.check(done.returncode == 0 and not done.stderr,
            f'its own /proc, {what[0]}: not mixed up', f'{done.returncode} {done.stderr.strip()}')


def file_limit():
  """Each thread takes a file per CPU: the message says how many that would be."""
  crowd = subprocess.Popen([s.target('crowd'), '200', '10000'], stdout=subprocess.DEVNULL)
  wait_for_threads(crowd, 201)
  # Running, they leave tbcollect little of a busy machine's time, and some end before it has counted them.
  crowd.send_signal(signal.SIGSTOP)
  tid = max(map(int, os.listdir(f'/proc/{crowd.pid}/task')))
  process, result = attach([tid])
  _, err = process.communicate(timeout=30)
  s.check(process.returncode == 1 and f'thread of process {crowd.pid}' in err and not os.path.exists(result),
          'a further thread: its process is named', f'{process.returncode} {err.strip()}')
  for limit in (64, 65):  # With one of them no file is free for counting the threads.
    process, result = attach([crowd.pid],
                             preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit)))
    _, err = process.communicate(timeout=30)
    lines = err.strip().splitlines()
    s.check(process.returncode == 1 and len(lines) == 1 and '201 threads' in err and f'limit is {limit}' in err,
            'file limit: threads, CPUs and the limit in one line', f'{process.returncode} {lines}')
    s.check(not os.path.exists(result), 'file limit: no result is left')
  crowd.send_signal(signal.SIGCONT)
  before = cpu_ns(crowd.pid)
  s.check(s.wait_for(lambda: cpu_ns(crowd.pid) > before) and crowd.poll() is None, 'file limit: the target goes on')
  crowd.kill()
  crowd.wait()


s.start()
for part in (attach_and_detach, attach_until_signal, makes_threads, target_dies, two_targets, refusals, end_while_attaching,
             attach_again, on_a_terminal, another_namespace, file_limit):
  with s.section(part.__name__):
    part()
s.finish()
