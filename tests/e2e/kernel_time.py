"""Time in system calls and faults: with privileges it stands at the code that entered the kernel, for an ordinary user
in a row of its own. Both against perf with samples in the kernel. As root, who can see both."""

import os
import signal
import subprocess

import support as s
import unprivileged
from comparison import compare

INTERVAL_US = 200  # shares within 3 points take some thousand samples
USER = s.NOBODY


def both_users(what, command):
  """Runs a command as root and as the ordinary user, and compares each with perf; returns the two collections."""
  with open(s.scratch(f'{what}.truth'), 'w+', encoding='ascii') as file:
    data = s.perf_record(command, interval_us=INTERVAL_US, stdout=file)
    file.seek(0)
    facts = s.truth(file.read())
  collections = []
  for uid in (None, USER):
    got = s.collect_well(command, what=what, interval=f'{INTERVAL_US}us', uid=uid)
    who = 'root' if uid is None else 'ordinary user'
    compare(f'{what}, {who}', got.result, data, apart=uid is not None, stolen=stolen_part(got) if uid is not None else 0,
            drift=drift(facts, got.truth()))
    where = s.summary(got.result)['kernel_time']['where']
    s.check(where == ('at_calls' if uid is None else 'apart'), f'{what}, {who}: says where the time stands', where)
    collections.append(got)
  return collections


PARTS = ('calls_burn', 'calls_pread', 'calls_fault')


def drift(facts, others):
  """Points by which two runs differ by what the program says of itself, at most 5: what a fault takes depends on the machine's memory at
  the time."""
  return min(5, max(abs(s.points(s.number(facts, part), s.number(facts, 'process_ns')) -
                 s.points(s.number(others, part), s.number(others, 'process_ns'))) for part in PARTS))


def stolen_part(got):
  """What the host stole of an ordinary user's run of one thread. Its account is the event's, whose clock runs on meanwhile; what the
  program says of itself, the scheduler's account, does not have it."""
  account = s.seconds(s.report(got.result, 'threads'))
  return min(max(account - s.number(got.truth(), 'process_ns') / 1e9, 0), got.steal) / account


def apart_of(result):
  return s.points(s.seconds(s.report(result, 'hotspots'), Function=s.KERNEL), s.seconds(s.report(result, 'hotspots')))


def calls():
  """pread, faults and its own code, of which the program knows the truth."""
  root, user = both_users('calls', [s.target('calls'), '2000'])
  facts, stacks = root.truth(), s.folded(root.result)
  for function in PARTS:
    s.check_share(f'calls, root: in {function} and what it calls',
                  s.points(s.samples_of(stacks, function), s.samples_of(stacks)),
                  s.points(s.number(facts, function), s.number(facts, 'process_ns')), 3, s.samples_of(stacks))
  facts, stacks = user.truth(), s.folded(user.result)
  whole = s.number(facts, 'process_ns')
  s.check_share('calls, ordinary user: in calls_burn', s.points(s.samples_of(stacks, 'calls_burn'), s.samples_of(stacks)),
                s.points(s.number(facts, 'calls_burn'), whole), 3, s.samples_of(stacks), stolen_part(user))
  s.check_share('calls, ordinary user: the row of the folded stacks is that of the report',
                s.points(s.samples_of(stacks, s.KERNEL), s.samples_of(stacks)), apart_of(user.result), 1)
  s.check_ratio('calls, ordinary user: the thread keeps all of its time', s.seconds(s.report(user.result, 'threads')),
                whole / 1e9, 1, user.steal)
  share = apart_of(root.result)
  s.check(share < 1, 'calls, root: next to nothing is in no function', f'{share:.2f} %')


def used_ns(pid):
  """CPU time of a process's first thread."""
  with open(f'/proc/{pid}/schedstat', encoding='ascii') as file:
    return int(file.read().split()[0])


def while_it_works(what, pid, commands):
  """Runs commands beside a process until it has used 2.5 s of CPU time, and ends them with Ctrl-C."""
  runs = [subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, **s.as_user(uid))
          for command, uid in commands]
  enough = used_ns(pid) + 2500 * 1000000
  s.check(s.wait_for(lambda: used_ns(pid) >= enough, timeout=s.HANGS_S), f'{what}: works')
  for run in runs:
    run.send_signal(signal.SIGINT)
    _, text = run.communicate(timeout=60)
    s.check(run.returncode in (0, -signal.SIGINT), f'{what}: {os.path.basename(run.args[0])} attaches', text.strip()[-300:])


def tbcollect(pid, result):
  return [s.tool('tbcollect'), '-q', '-i', f'{INTERVAL_US}us', '-r', result, '-p', str(pid)]


def attached(what, pid):
  """Attaches perf and root's tbcollect to a process at once, then perf and the ordinary user's; compares, and returns the
  latter's result. The periods of perf and tbcollect differ: of two timers that keep step, one always sees the kernel
  busy with the other. Switching events with their thread is time in the kernel that counts see and ticks do not: of a
  thread that blocks 20,000 times a second it was 1 % with one collector, 4 % with three."""
  for uid in (None, USER):
    who = f'{what}, root' if uid is None else f'{what}, ordinary user'
    data, result = s.scratch(f'{pid}.{uid}.data'), s.new_result()
    perf = ['perf', 'record', '-q', *s.perf_event(True), '-c', str(1000 * INTERVAL_US + 13000), '-o', data, '-p', str(pid)]
    with s.Stealing() as host:
      while_it_works(who, pid, [(perf, None), (tbcollect(pid, result), uid)])
    stolen = host.steal / s.seconds(s.report(result, 'threads')) if uid is not None else 0
    compare(who, result, data, apart=uid is not None, stolen=stolen)
  return result


def dd():
  work = subprocess.Popen(['dd', 'if=/dev/zero', 'of=/dev/null', 'bs=1', 'status=none'], **s.as_user(USER))
  try:
    result = attached('dd bs=1', work.pid)
  finally:
    work.kill()
    work.wait()
  text = s.run_tool('tbreport', 'summary', result).stdout
  advice = [line for line in text.splitlines() if line.startswith('Advice:')]
  s.check(len(advice) == 1 and 'perf_event_paranoid' in advice[0], 'dd bs=1, ordinary user: advice', advice)


def redis():
  socket = s.scratch('redis.sock')
  server = subprocess.Popen(['redis-server', '--port', '0', '--unixsocket', socket, '--save', '', '--appendonly', 'no',
                             '--dir', s.Run.work], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **s.as_user(USER))
  load = None
  try:
    ping = ['redis-cli', '-s', socket, 'ping']
    ready = s.wait_for(lambda: subprocess.run(ping, capture_output=True).stdout == b'PONG\n')
    s.check(ready, 'redis: the server runs')
    # Many requests at once: see attached() for what each switch takes, which is more where others use the CPUs too.
    load = subprocess.Popen(['redis-benchmark', '-s', socket, '-q', '-P', '16', '-n', '100000000', '-r', '10000', '-t', 'set'],
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    attached('redis', server.pid)
  finally:
    for process in (load, server):
      if process is not None:
        process.kill()
        process.wait()


def permissions():
  """What may be is found out: the level alone lets an ordinary user sample kernel mode, where kernel addresses still
  are what --kernel is for."""
  command = [s.target('calls'), '100']
  with unprivileged.paranoid_level('1'):
    got = s.collect_well(command, what='level 1', uid=USER, options=['-v'])
  where = s.summary(got.result)['kernel_time']['where']
  s.check(where == 'at_calls' and 'entered the kernel' in got.stderr, 'level 1, ordinary user: at the calls', where)
  s.check(not any(row['Module'] == '[kernel]' for row in s.report(got.result, 'modules')),
          'level 1, ordinary user: nothing of the kernel itself')
  later = ['sh', '-c', f'{" ".join(command)}; {s.target("chain")} 300']
  got = s.collect_well(later, what='--kernel', options=['--kernel'])
  rows = s.report(got.result, 'hotspots', '--call-stack-mode', 'all')
  kernel = [row for row in rows if row['Module'] == '[kernel]']
  s.check(s.summary(got.result)['kernel_time']['where'] == 'frames' and kernel, '--kernel: its functions', len(kernel))
  chain = sum(int(row['Samples']) for row in s.report(got.result, 'modules') if row['Module'] == 'target-chain')
  s.check(chain >= 20, "--kernel: what runs first after the kernel's first sample keeps its name", f'{chain} samples')


s.start()
if os.getuid() != 0:
  s.skip('time in the kernel', 'perf samples kernel mode for root only')
else:
  with unprivileged.paranoid_level('2'):
    for part in (permissions, calls, dd, redis):
      with s.section(part.__name__):
        part()
s.finish()
