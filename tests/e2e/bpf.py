"""Stacks by BPF: those that no copy holds, agreement with copies, who may use it and what is left of it."""

import os
import shutil
import signal
import subprocess

import support as s

DEEP = ['main'] + [f'deep_{i:02}' for i in range(1, 14)]
CHAIN = ['main'] + [f'chain_{i:02}' for i in range(1, 41)]


def is_built():
  done = subprocess.run([s.tool('tbcollect'), '-q', '--unwind', 'bpf', '-r', s.new_result(), '--', 'true'],
                        capture_output=True, text=True, check=False)
  return 'built without BPF' not in done.stderr


def exact_share(stacks, names):
  """(samples whose frames of the given names are all there and in order, samples in the last of them)"""
  inside = [(frames, count) for frames, count in stacks if names[-1] in frames]
  exact = sum(count for frames, count in inside if [f for f in frames if f in names] == names)
  return exact, sum(count for _, count in inside)


def large_stacks():
  least = 150 - s.by_chance(150)
  for touch, what in (('1', 'in memory'), ('0', 'with gaps')):
    got = s.collect_well([s.target('deep_locals'), '1500', touch], interval='10ms', options=['--unwind', 'bpf'])
    total = s.summary(got.result)
    exact, count = exact_share(s.folded(got.result), DEEP)
    s.check(count >= least and exact == count, f'312 KB of stack {what}: 13 functions in order', f'{exact} of {count}')
    s.check(total['stacks']['complete'] >= s.with_stack(total) - 1, f'312 KB of stack {what}: complete', total['stacks'])
    # stacks.py has what copies make of them.
    got = s.collect_well([s.target('deep_locals'), '1500', touch], interval='10ms')
    total = s.summary(got.result)
    s.check(total['stacks']['complete'] >= max(least, s.with_stack(total) - 1),
            f'312 KB of stack {what}: complete by default', total['stacks'])


def pressure():
  """At 10,000 samples a second such stacks are more than a ring holds: some are cut, no sample is lost."""
  got = s.collect_well([s.target('deep_locals'), '1500'], interval='0.1ms',
                       options=['--unwind', 'bpf'])
  total = s.summary(got.result)
  s.check(total['samples'] >= 12000, 'large stacks at 0.1 ms: samples', total['samples'])
  s.check(total['samples_lost'] <= 0.001 * total['samples'], 'large stacks at 0.1 ms: lost samples', total['samples_lost'])
  s.check(total['stacks']['complete'] > 0, 'large stacks at 0.1 ms: some are complete', total['stacks'])
  wrong = s.false_roots(got.result, s.target('deep_locals'))
  s.check(not wrong, 'large stacks at 0.1 ms: no false root', wrong or s.root_seconds(got.result))
  s.check_ratio('large stacks at 0.1 ms: CPU time', total['cpu_time_s'],
                s.number(got.truth(), 'process_ns') / 1e9, 3, got.steal)


def crowded():
  """While nobody reads, a ring takes large stacks in its first half only: some 65 samples of 312 KB in place of 25."""
  result, interval_s = s.new_result(), 0.001
  with subprocess.Popen([s.tool('tbcollect'), '-i', '1ms', '--unwind', 'bpf', '--overhead-limit', '0', '-r', result, '--',
                         s.target('deep_locals'), '1000'], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as collector:
    target = s.child_of(collector)
    s.wait_for(lambda: s.cpu_seconds(target) >= 0.3)
    before = s.cpu_seconds(target)
    os.kill(collector.pid, signal.SIGSTOP)
    try:
      s.wait_for(lambda: s.cpu_seconds(target) >= before + 0.05, step=0.005)
    finally:
      os.kill(collector.pid, signal.SIGCONT)
    meanwhile = (s.cpu_seconds(target) - before) / interval_s
    _, errors = collector.communicate(timeout=s.HANGS_S)
  total = s.summary(result)
  s.check(collector.returncode == 0, 'a crowded ring: collects', errors.strip()[-200:])
  # The program's CPU time is told in steps of 10 ms.
  s.check(total['samples_lost'] <= max(0, meanwhile - 55), 'a crowded ring: samples',
          f'{total["samples_lost"]} lost, {meanwhile:.0f} came meanwhile')
  s.check(total['stacks']['skipped']['truncated'] + total['stacks']['guessed'] >= 10, 'a crowded ring: stacks that were cut', total['stacks'])


def left_out():
  """Stacks that are left out are not copied. The samples have the same weights as ever."""
  bytes_each = {}
  for limit in ('0', '0.01'):
    got = s.collect_well([s.target('chain'), '4000'], interval='0.1ms',
                         options=['--unwind', 'bpf', '--overhead-limit', limit])
    total = s.summary(got.result)
    bytes_each[limit] = total['collector']['stack_copy_bytes'] / total['samples']
    s.check_ratio(f'limit {limit}: CPU time', total['cpu_time_s'], s.number(got.truth(), 'process_ns') / 1e9, 2, got.steal)
  skipped = total['stacks']['skipped']['budget']
  s.check(skipped >= 0.5 * total['samples'] and skipped + total['stacks']['complete'] >= 0.99 * total['samples'],
          'left out: stacks', total['stacks'])
  # Those of the first second, and the kept ones.
  s.check(bytes_each['0.01'] <= 1.1 * bytes_each['0'] * (1 - skipped / total['samples']), 'left out: not copied',
          f'{bytes_each["0.01"]:.0f} bytes a sample of {bytes_each["0"]:.0f}')


def left_out_once():
  """Where BPF copies nothing, as of 32-bit code, a stack is left out as often as elsewhere: one in 64 is kept at the least."""
  program, before = s.target('chain-32'), s.target('chain')
  if not os.path.exists(program):
    s.skip('left out: 32-bit code', 'no 32-bit programs can be built')
    return
  # The other program takes the time in which all are kept, and in which the share falls.
  got = s.collect_well(['sh', '-c', f'{before} 2500; {program} 2500'], what='32-bit code', interval='0.1ms',
                       options=['--unwind', 'bpf', '--overhead-limit', '0.01'])
  stacks = [(frames, n) for frames, n in s.folded(got.result) if frames[0].startswith(os.path.basename(program))]
  count, kept = s.samples_of(stacks), s.samples_of([(frames, n) for frames, n in stacks if not s.marked(frames)])
  s.check(count >= 15000 and 0.6 * count / 64 <= kept <= 1.6 * count / 64, 'left out: 32-bit code as all other',
          f'{kept} of {count}')


# Calls that make the process's memory: the stack may not be there yet. How long they take is the machine's.
NEW_MEMORY = (['execve'], ['fork'], ['_Fork'], ['vfork'])


def agreement():
  for mode in ('bpf', 'copy'):
    got = s.collect_well([s.target('chain'), '1500'], options=['--unwind', mode])
    exact, count = exact_share(s.folded(got.result), CHAIN)
    s.check(count >= 1500 - s.by_chance(1500) and exact >= 0.999 * count, f'{mode}: 40 functions in order', f'{exact} of {count}')
    total = s.summary(got.result)
    s.check_ratio(f'{mode}: CPU time', total['cpu_time_s'], s.number(got.truth(), 'process_ns') / 1e9, 2, got.steal)
    s.note(f'{mode}: {total["collector"]["stack_copy_bytes"] // total["samples"]} bytes of stack a sample')

    got = s.collect_well([s.target('split'), '1500'], options=['--unwind', mode])
    facts, stacks = got.truth(), s.folded(got.result)
    for function in ('split_half', 'split_third', 'split_fifth'):
      s.check_share(f'{mode}: {function}', s.points(s.samples_of(stacks, function), s.samples_of(stacks)),
                    s.points(s.number(facts, function), s.number(facts, 'process_ns')), 3, s.summary(got.result)['samples'])

    # Threads and children have inherited events; their samples come the same way.
    for target in ('threads', 'tree'):
      got = s.collect_well([s.target(target)], options=['--unwind', mode])
      total = s.summary(got.result)
      s.check_none_lost(f'{mode}: {target}: nothing lost', total, got.steal)
      new = s.samples_of([(f, c) for f, c in s.folded(got.result) if f[1:2] == ['[Skipped frame(s)]'] and f[2:] in NEW_MEMORY])
      s.check(0 < 0.99 * (s.with_stack(total) - new) <= total['stacks']['complete'], f'{mode}: {target}: complete stacks',
              f'{total["samples"]}, {total["stacks"]}')


def red_zones():
  """What leads to the caller is kept below the stack pointer, just above a guard page too."""
  if not os.path.exists(s.target('red_zone')):
    s.skip('red zones', 'made for x86-64')
    return
  got = s.collect_well([s.target('red_zone'), '900'], options=['--unwind', 'bpf'])
  stacks = s.folded(got.result)
  for where in ('guard', 'across', 'inside'):
    exact, count = exact_share(stacks, ['run', 'burn', f'red_zone_{where}'])
    s.check(count >= 300 - s.by_chance(300) and exact == count, f'red zone, {where}: it has its callers', f'{exact} of {count}')
  total = s.summary(got.result)
  s.check(total['stacks']['complete'] >= 0.99 * s.with_stack(total), 'red zone: complete', total['stacks'])

  # A copy by the kernel starts at the stack pointer.
  got = s.collect_well([s.target('red_zone'), '300'], options=['--unwind', 'copy'])
  total = s.summary(got.result)
  s.check(total['stacks']['skipped']['red_zone'] >= 0.9 * total['samples'], 'red zone, copy: the reason', total['stacks'])


def privileges():
  got = s.collect([s.target('chain'), '300'], uid=s.NOBODY, options=['--unwind', 'bpf'])
  lines = got.stderr.strip().splitlines()
  s.check(got.status == 1 and len(lines) == 1 and 'CAP_BPF' in lines[0], 'an ordinary user is told why',
          f'{got.status}: {got.stderr.strip()}')
  s.check(not os.path.exists(got.result), 'an ordinary user: no result is left')
  got = s.collect([s.target('chain'), '300'], uid=s.NOBODY, options=['-q'])
  s.check(got.status == 0 and got.stderr == '', 'an ordinary user gets copies without a word',
          f'{got.status}: {got.stderr.strip()}')
  exact, count = exact_share(s.folded(got.result), CHAIN)
  s.check(count > 200 and exact >= 0.99 * count, 'an ordinary user gets whole stacks', f'{exact} of {count}')


def times(result):
  return s.summary(result)['sampling']['times']


def clocks():
  """Threads of 0.1 ms at 10 ms: samples in proportion to their CPU time, and the account of each."""
  got = s.collect_well([s.target('brief'), '2000', '100'], interval='10ms')
  facts, total = got.truth(), s.summary(got.result)
  whole = total['cpu_time_s']
  s.check(times(got.result) == 'cpus', 'short lives: sampled by the clocks of CPUs', total['sampling'])
  s.check_count('short lives: samples of 10 ms', total['samples'], whole / 0.010, got.steal, 0.010)
  s.check_cpu_time('short lives: CPU time', whole, s.number(facts, 'process_ns') / 1e9, s.number(facts, 'lives'), got.steal)
  lives = [float(row['CPU Time']) for row in s.report(got.result, 'threads') if row['TID'] != row['PID']]
  # A life has its work, by its own clock, and what the kernel does to begin and end it; the mean has the first thread's part too.
  # Where an account is missing, its part is an estimate.
  mean = whole / s.number(facts, 'lives')
  good = [life for life in lives if 0.0001 <= life <= 5 * mean]
  s.check(len(lives) == s.number(facts, 'lives') and len(good) >= 0.95 * len(lives), 'short lives: each has its own CPU time',
          f'{len(good)} of {len(lives)}, {min(lives)} to {max(lives)}, {mean:.6f} in the mean')


def clocks_without_copies():
  for mode in ('copy', 'none'):
    got = s.collect_well([s.target('chain'), '800'], interval='1ms', options=['--unwind', mode])
    total = s.summary(got.result)
    s.check(times(got.result) == 'cpus', f'--unwind {mode}: the clocks of CPUs', total['sampling'])
    s.check_count(f'--unwind {mode}: samples', total['samples'], 1000 * total['cpu_time_s'], got.steal)
    s.check_ratio(f'--unwind {mode}: CPU time', total['cpu_time_s'], s.number(got.truth(), 'process_ns') / 1e9, 2, got.steal)


def words():
  """Whose ticks they are, and how many for a sample."""
  for interval, expected in (('0.1ms', 'each time that about an interval is used'), ('1ms', "1 of 3 ticks of each CPU's CPU time")):
    got = s.collect_well(['true'], interval=interval, options=['-v'])
    s.check(expected in got.stderr, f'sampling at {interval}: the words', got.stderr.strip())


def other_namespace():
  """BPF knows processes by other numbers than a collector in a pid namespace of its own."""
  result = s.new_result()
  done = subprocess.run(['unshare', '--pid', '--fork', '--mount-proc', s.tool('tbcollect'), '-q', '-r', result, '--',
                         s.target('chain'), '500'], capture_output=True, text=True, check=False)
  s.check(done.returncode == 0 and done.stderr == '', 'in a pid namespace: no word', f'{done.returncode}: {done.stderr}')
  total = s.summary(result)
  s.check(times(result) == 'threads' and total['samples'] >= 50 - s.by_chance(50), 'in a pid namespace: threads have ticks of their own',
          f'{total["sampling"]}, {total["samples"]}')


def one_cpu():
  """Without the clocks after all, for want of files: on one CPU each thread's last count is told, and none is nobody's."""
  online = s.scratch('online')
  with open(online, 'w', encoding='ascii') as file:
    file.write('0\n')
  for limit in (30, 32, 34):
    result = s.new_result()
    done = subprocess.run(['unshare', '--mount', 'sh', '-c', f'mount --bind {online} /sys/devices/system/cpu/online && exec "$@"',
                           'sh', 'prlimit', f'--nofile={limit}', 'taskset', '--cpu-list', '0', s.tool('tbcollect'), '-r', result,
                           '--', s.target('brief'), '300', '3000'], capture_output=True, text=True, check=False)
    s.check(done.returncode == 0 and times(result) == 'threads', f'one CPU, {limit} files: threads have ticks of their own',
            f'{done.returncode}: {done.stderr.strip()}')
    # The first thread's time since its last tick is known as a sum only; that of all others is told.
    total = s.summary(result)
    known_s, lives_s = total['cpu_time_s'] - total['of_no_known_thread_s'], s.number(s.truth(done.stdout), 'lives_ns') / 1e9
    s.check(known_s >= 0.99 * lives_s, f'one CPU, {limit} files: the threads that lived have their CPU time',
            f'{known_s:.4f} of {lives_s:.4f}')


def drawn_once():
  """Where BPF draws threads' ticks, those that find no stack in memory are drawn by their reader: once, not twice."""
  result = s.new_result()
  with s.Stealing() as host:
    done = subprocess.run(['unshare', '--pid', '--fork', '--mount-proc', s.tool('tbcollect'), '-q', '-i', '1ms', '-r', result,
                           '--', s.target('stack_faults'), '2000'], capture_output=True, text=True, check=False)
  s.check(done.returncode == 0 and times(result) == 'threads', 'faults of stacks: threads have ticks of their own',
          f'{done.returncode}: {done.stderr}')
  total, stacks, facts = s.summary(result), s.folded(result), s.truth(done.stdout)
  s.check_share('faults of stacks: the spin', s.points(s.samples_of(stacks, 'spin'), s.samples_of(stacks)),
                s.points(s.number(facts, 'spin'), s.number(facts, 'process_ns')), 3, total['samples'])
  s.check_samples('faults of stacks: CPU time by samples', total, steal=host.steal)


def loaded_programs(tool):
  done = subprocess.run([tool, 'prog', 'show', 'name', 'sample_stack'], capture_output=True, text=True, check=False)
  return done.stdout.count('sample_stack')


def nothing_is_left():
  tool = shutil.which('bpftool') or shutil.which('bpftool', path='/usr/sbin:/sbin')
  if tool is None:
    s.skip('what is left in the kernel', 'no bpftool')
    return
  # Other collections may run on this machine; this one's program goes with it.
  before = loaded_programs(tool)
  running = subprocess.Popen([s.tool('tbcollect'), '-q', '--unwind', 'bpf', '-r', s.new_result(), '--', 'sleep', '60'])
  try:
    s.check(s.wait_for(lambda: loaded_programs(tool) > before), 'a program is in the kernel while it collects')
  finally:
    running.terminate()
    running.wait(timeout=30)
  s.check(s.wait_for(lambda: loaded_programs(tool) <= before), 'no program is left in the kernel')


s.start()
if os.geteuid() != 0:
  s.skip('stacks by BPF', 'needs root')
elif not is_built():
  s.skip('stacks by BPF', 'built without it (Debian: clang, bpftool, libbpf-dev)')
else:
  for part in (large_stacks, pressure, crowded, left_out, left_out_once, agreement, red_zones, clocks, clocks_without_copies, words,
               other_namespace, drawn_once, one_cpu, privileges, nothing_is_left):
    with s.section(part.__name__):
      part()
s.finish()
