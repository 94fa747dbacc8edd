"""CPU time against what the programs and the kernel count: shares, threads, process trees, system calls."""

import os
import subprocess

import support as s


def split():
  got = s.collect_well([s.target('split'), '6000'], interval='0.5ms')
  facts, stacks = got.truth(), s.folded(got.result)
  hot = s.report(got.result, 'hotspots')
  whole = s.number(facts, 'process_ns')
  known = s.samples_of(stacks) - s.samples_of(stacks, s.KERNEL)
  total = s.summary(got.result)
  for function in ('split_half', 'split_third', 'split_fifth'):
    expected = s.points(s.number(facts, function), whole)
    s.check_share(f'split: {function} by samples',
                  s.points(s.samples_of(stacks, function), known), expected, 2, total['samples'])
    s.check_share(f'split: {function} by CPU time',
                  s.points(s.total_seconds(got.result, function), s.known_seconds(hot)), expected, 2,
                  total['samples'])
  s.check_ratio('split: CPU time of the process', total['cpu_time_s'], whole / 1e9, 1, got.steal)
  kernel = s.seconds(hot, Function=s.KERNEL)
  s.check(kernel <= 0.02 * whole / 1e9 + got.steal, 'split: next to nothing is in the kernel', f'{kernel:.4f} s, {got.steal:.2f} stolen')
  s.check_none_lost('split: nothing lost', total, got.steal)
  s.check(total['complete'] and total['target']['exit_status'] == 0, 'split: complete, status 0')


def threads():
  got = s.collect_well([s.target('threads'), '500'])
  facts, rows = got.truth(), s.report(got.result, 'threads')
  for name, tid, ns in facts['thread']:
    s.check_ratio(f'threads: {name}', s.seconds(rows, Thread=name, TID=tid), int(ns) / 1e9, 3, got.steal)
  s.check_ratio('threads: together', s.seconds(rows), s.number(facts, 'process_ns') / 1e9, 1, got.steal)


def crowd():
  got = s.collect_well([s.target('crowd'), '1000', '3'])
  facts, rows = got.truth(), s.report(got.result, 'threads')
  tids = {row['TID'] for row in rows}
  missing = [tid for _, tid, _ in facts['thread'] if tid not in tids]
  expected = s.number(facts, 'process_ns') / 1e9
  s.check_ratio('crowd: CPU time, with what is said to be in no account',
                s.seconds(rows), expected, 1, got.steal)
  stacks, total = s.folded(got.result), s.summary(got.result)
  # What the first thread takes to make a thousand is apart, and weighs more where most of their samples are lost.
  members = [(frames, count) for frames, count in stacks if 'main' not in frames and s.KERNEL not in frames]
  # Their starts and ends, which come before a first interval ends and after a last one, are in few samples.
  count = s.samples_of(members)
  s.check_least('crowd: crowd_burn in its threads', s.points(s.samples_of(members, 'crowd_burn'), count),
                s.points(s.number(facts, 'burn_ns'), s.number(facts, 'process_ns') - s.number(facts, 'first_ns')), 3, count)
  s.check(len(facts['thread']) == 1000, 'crowd: 1000 threads ran', len(facts['thread']))
  lost = total['samples_lost']
  if os.getuid() == 0:
    s.check(not missing, 'crowd: 1000 threads are all seen', f'{len(missing)} missing')
    s.check_none_lost('crowd: nothing lost', total, got.steal)
  else:
    # An ordinary user's collector gets a thousandth of the CPU like everybody else, and 516 KB for its rings:
    # it cannot keep up, and must say so.
    s.check(lost > 0 or not missing, 'crowd: threads are seen or said to be lost', f'{len(missing)} missing, {lost} lost')


def births():
  """A record that the kernel writes into another CPU's ring when a thread exits can leave that ring stuck
  for good: its count of nested writers is not atomic. Then samples end, and no record says so."""
  got = s.collect_well([s.target('births'), '3000'])
  facts, stacks, total = got.truth(), s.folded(got.result), s.summary(got.result)
  s.note(f'births: {s.number(facts, "born")} threads')
  count, expected = s.samples_of(stacks, 'births_burn'), s.number(facts, 'burn_ns') / 1e6
  # Many intervals end while the thread is being scheduled, where no user code is: perf sees as few (2151 samples here).
  # A ring that stops leaves less than a tenth. Ticks of a CPU's clock that expire while threads are switched hit the one that comes,
  # so there may be more; its time is that of its own account.
  s.check(0.5 * expected <= count, 'births: samples of the thread that burns', f'{count} of {expected:.0f}')
  first = [row for row in s.report(got.result, 'threads') if row['TID'] == row['PID']]
  burn, switches = s.number(facts, 'burn_ns') / 1e9, s.number(facts, 'burn_switches')
  # Until an interrupt from another CPU takes it off, a thread runs on; the scheduler's account, not the event's, gives that time to the
  # next one (rq_clock_skip_update, kernel/sched/core.c). On a virtual machine it was 8 to 23 us of each switch.
  late = 25e-6 * switches if os.geteuid() != 0 else 0
  s.check(0.99 * burn <= s.seconds(first) <= 1.01 * burn + late + got.steal, 'births: CPU time of the thread that burns',
          f'{s.seconds(first):.4f} seen, {burn:.4f} expected, {switches} switches')
  s.check_none_lost('births: nothing lost', total, got.steal)
  ends = s.number(facts, 'born') if os.geteuid() == 0 else 0
  s.check_cpu_time('births: CPU time, with what is said to be in no account', total['cpu_time_s'] + s.unattributed(got.result),
                   s.number(facts, 'process_ns') / 1e9, ends, got.steal)


def tree():
  got = s.collect_well([s.target('tree'), '200', '6'])
  facts, rows = got.truth(), s.report(got.result, 'threads')
  pids = {row['PID'] for row in rows}
  kinds = {kind: [words[1] for words in facts['child'] if words[0] == kind]
           for kind in ('fork', 'exec', 'parent', 'empty', 'grandchild')}
  for kind, children in kinds.items():
    missing = [pid for pid in children if pid not in pids]
    s.check(len(children) == 50 and not missing, f'tree: every child seen ({kind})',
            f'{len(children)} born, {len(missing)} missing')
  ended = {pid: int(us) / 1e6 for pid, us in facts['ended']}
  expected = sum(ended.values()) + s.number(facts, 'process_ns') / 1e9
  s.check_ratio('tree: CPU time of all, with what is said to be in no account',
                s.seconds(rows), expected, 1, got.steal)
  for kind in ('fork', 'exec'):
    seen = sum(s.seconds(rows, PID=pid) for pid in kinds[kind])
    short = sum(ended[pid] for pid in kinds[kind]) - seen
    # What a thread used after its last sample on each CPU is in nobody's account; the sum above has it.
    bound = len(kinds[kind]) * os.cpu_count() * 0.001
    # An ordinary user's accounts are the events', see births: with two children and their parent on two CPUs up to 3.3 % more were seen.
    # Root's are the kernel's own, sent when a thread is freed: that may come after the end where many programs want the CPUs. Those
    # threads' parts are estimates, and the summary says how much they are.
    estimated = s.summary(got.result)['estimated_s'] or 0
    late = 0.001 + min(estimated, 0.05 * sum(ended[pid] for pid in kinds[kind])) if os.geteuid() == 0 else 0.05 * sum(ended[pid] for pid in kinds[kind])
    s.check(-late - got.steal <= short <= bound, f'tree: CPU time of {kind} children, but for less than an interval per CPU each',
            f'{seen:.4f} seen, {short:.4f} less than expected, of {bound:.4f}, {estimated:.4f} estimated, {got.steal:.2f} stolen')
  stacks = s.folded(got.result)
  for function in ('tree_fork_burn', 'tree_exec_burn', 'tree_grandchild_burn'):
    s.check_count(f'tree: samples in {function} (50 children of 6 ms)', s.samples_of(stacks, function), 300, got.steal)
  names = {frames[0] for frames, _ in stacks}
  s.check(names == {'target-tree', 'exe'}, 'tree: processes carry the names that the kernel gives them', names)


def no_children():
  script = f'for ((i = 0; i < 200000; i++)); do :; done; {s.target("tree")} 8 30; :'
  got = s.collect_well(['bash', '-c', script], options=['--no-children'])
  stacks = s.folded(got.result)
  count = s.samples_of(stacks, lambda f: f.startswith('tree_'))
  s.check(count == 0, '--no-children: no samples of children', count)
  s.check(s.samples_of(stacks) >= 50 and {frames[0] for frames, _ in stacks} == {'bash'}, '--no-children: those of the program',
          s.samples_of(stacks))


def system_calls():
  """dd spends most of its time in the kernel: in read and write, or apart where kernel mode may not be sampled."""
  command = 'TIMEFORMAT="cpu %3U %3S"; time dd if=/dev/zero of=/dev/null bs=1 count=4000000 status=none'
  got = s.collect_well(['bash', '-c', command], what='dd')
  user, system = map(float, next(line.split()[1:] for line in got.stderr.splitlines()
                                 if line.startswith('cpu ')))
  rows = s.report(got.result, 'threads')
  s.check_ratio('dd bs=1: CPU time', s.seconds(rows, Process='dd'), user + system, 3, got.steal)
  s.note(f'dd: {user} s user, {system} s system')
  text = s.run_tool('tbreport', 'summary', got.result).stdout
  advice = [line for line in text.splitlines() if line.startswith('Advice:')]
  hot = s.report(got.result, 'hotspots', '--filter', 'process=dd', '--call-stack-mode', 'all')
  calls = s.points(s.seconds(hot, Function='read') + s.seconds(hot, Function='write'), s.seconds(hot))
  apart = s.points(s.seconds(hot, Function=s.KERNEL), s.seconds(hot))
  note = f'{calls:.1f} % in read and write, {apart:.1f} % apart, {100 * system / (user + system):.1f} % system by the kernel'
  where = s.summary(got.result)['kernel_time']['where']
  if where == 'at_calls':
    s.check(calls > 70 and apart < 1 and not advice, 'dd bs=1: its time stands at its calls', f'{note} {advice}')
  else:
    s.check(where == 'apart' and apart > 40 and calls < 50, 'dd bs=1: the kernel\'s time is in no function', note)
    s.check(len(advice) == 1 and '--kernel' in advice[0], 'dd bs=1: the summary says where its time went', advice)


def renamed():
  got = s.collect_well([s.target('rename'), '1000'])
  facts = got.truth()
  rows = [row for row in s.report(got.result, 'threads') if row['TID'] == facts['tid'][0][0]]
  s.check_ratio('rename: the thread keeps one account', sum(float(row['CPU Time']) for row in rows),
                (s.number(facts, 'rename_before') + s.number(facts, 'rename_after')) / 1e9, 3, got.steal)
  s.check(any(row['Thread'] == 'second-name' for row in rows), 'rename: it has the name it ended with',
          [row['Thread'] for row in rows])


def pid_reuse():
  """clone3 with a chosen pid needs a privilege; without it there is no way to make one come again."""
  if subprocess.run([s.target('pidreuse'), '1'], capture_output=True).returncode == 4:
    s.skip('pid reuse', 'this user may not choose pids (CAP_CHECKPOINT_RESTORE)')
    return
  got = s.collect_well([s.target('pidreuse'), '400'])
  facts, stacks = got.truth(), s.folded(got.result)
  s.check(s.number(facts, 'same') == 1, 'pid reuse: the pid came again', facts['pid'][0][0])
  first, second = s.samples_of(stacks, 'reuse_first'), s.samples_of(stacks, 'reuse_second')
  s.check_count('pid reuse: samples of the first life', first, 400, got.steal)
  s.check_count('pid reuse: samples of the second life', second, 800, got.steal)
  names = {frames[0] for frames, _ in stacks if 'reuse_second' in frames}
  s.check(names == {'exe'}, 'pid reuse: the second life has its own name', names)
  names = {frames[0] for frames, _ in stacks if 'reuse_first' in frames}
  s.check(names == {'target-pidreuse'}, 'pid reuse: the first one keeps its own', names)


def intervals():
  for interval in ('10ms', '1ms', '0.1ms'):
    got = s.collect_well([s.target('chain'), '1500'], interval=interval)
    total = s.summary(got.result)
    s.check_samples(f'interval {interval}: samples in 1.5 s, {total["samples_lost"]} lost', total, steal=got.steal)
    s.check_ratio(f'interval {interval}: CPU time', total['cpu_time_s'], s.number(got.truth(), 'process_ns') / 1e9, 1, got.steal)


def kinds():
  """What --sampling chooses is said, and in the result."""
  said = {}
  for kind in ('auto', 'random', 'fixed'):
    got = s.collect_well([s.target('split'), '200'], what=f'--sampling {kind}', options=['-v', '--sampling', kind])
    said[kind] = [line for line in got.stderr.splitlines() if ': samples ' in line]
  s.check(all('at random times: 1 of ' in ''.join(said[kind]) for kind in ('auto', 'random')), '--sampling: random says so',
          said)
  s.check(len(said['fixed']) == 1 and 'each time that an interval is used' in said['fixed'][0], '--sampling fixed: says so',
          said['fixed'])


s.start()
for part in (split, threads, crowd, births, tree, no_children, system_calls, renamed, pid_reuse, intervals, kinds):
  with s.section(part.__name__):
    part()
s.finish()
