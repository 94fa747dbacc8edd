"""Exports of perf.data files, read by perf itself: same times, functions, stacks and threads as in our own reports."""

import collections
import os
import re
import shutil
import subprocess

import support as s
import timeline_exports

SPECIAL = {s.KERNEL, '[No sample]', '[Unknown frame(s)]', '[Skipped frame(s)]', '[Guessed frame(s)]'}


def perf(what, *arguments, stdin=subprocess.DEVNULL):
  """Output of a perf command, which must have nothing to complain of."""
  done = subprocess.run(['perf', *arguments], capture_output=True, text=True, errors='replace', timeout=120, stdin=stdin)
  # Rows and frames are indented.
  problems = [line for line in done.stdout.splitlines()
              if re.match(r'\S.*(warning|failed|error|out of order|corrupt|cannot|unexpected)', line, re.IGNORECASE)]
  s.check(done.returncode == 0 and not done.stderr.strip() and not problems, f'{what}: perf {arguments[0]} has no complaint',
          f'status {done.returncode} {done.stderr.strip()[-300:]} {problems[:2]}')
  return done.stdout


def export(result, name, *options):
  path = s.scratch(name)
  s.run_tool('tbconvert', 'export', '--to', 'perf', '-o', path, *options, result)
  return path


def samples_of(what, data, event='.*'):
  """[(thread name, tid, ns, [(function, module)] from the leaf)] as perf script shows them, of an event."""
  found = []
  for line in perf(what, 'script', '-i', data, '-F', 'comm,tid,period,event,ip,sym,dso', '--no-inline', '--max-stack', '8000').splitlines():
    frame = re.match(r'\s+[0-9a-f]+ (.*) \((.*)\)$', line)
    head = re.match(r'\s*(.*?)\s+(\d+)\s+(\d+)\s+(\S+):\s*$', line)
    if frame:
      found[-1][1][3].append((frame.group(1), os.path.basename(frame.group(2))))
    elif head:
      found.append((head.group(4), (head.group(1), int(head.group(2)), int(head.group(3)), [])))
  return [sample for name, sample in found if re.fullmatch(event, name)]


def shares(pairs):
  sums = collections.Counter()
  for key, weight in pairs:
    sums[key] += weight
  total = sum(sums.values())
  return {key: s.points(weight, total) for key, weight in sums.items()}


def check_periods(what, samples, rows):
  """perf's periods are the threads' CPU time."""
  seen, expected = collections.Counter(), collections.Counter()
  for _, tid, ns, _ in samples:
    seen[tid] += ns / 1e9
  for row in rows:
    if not row['TID']:
      continue
    expected[int(row['TID'])] += float(row['CPU Time'])
  off = max((abs(seen[tid] - expected[tid]) for tid in seen | expected), default=0)
  s.check(samples and off <= 2e-6, f'{what}: CPU time of {len(expected)} threads', f'off by at most {1e6 * off:.1f} us')


def plain(name):
  """A function's name without what tells its aliases and its import stub apart, of which perf may show another one."""
  name = re.sub(r'^\[Import thunk (.*)\]$', r'\1', name).split('@')[0]
  return name.replace('__GI_', '').lstrip('_').replace('memmove', 'memcpy')


def rows_by_thread(result, kind, *options):
  """A report of each thread, whose own account the report then spreads over its own samples, as the export does."""
  return [row for thread in s.report(result, 'threads') if thread['TID']  # else the time of no known thread
          for row in s.report(result, kind, '--call-stack-mode', 'all', '--filter', f'tid={thread["TID"]}', *options)]


def check_modules(what, result, samples):
  """Shares of modules in the samples' own time."""
  # Generated code has a name of perf's own.
  seen = shares(('[jit]' if '[JIT]' in frames[0][1] or 'perf-' in frames[0][1] or frames[0][1] == 'anon' else frames[0][1], ns)
                for _, _, ns, frames in samples if frames[0][0] != '[No sample]')
  rows = rows_by_thread(result, 'modules')
  expected = shares((row['Module'], float(row['CPU Time'])) for row in rows if '[No sample]' not in row.values())
  for module, share in sorted(expected.items(), key=lambda item: -item[1])[:5]:
    if share >= 1 and module != '[Unknown]':
      s.check_share(f'{what}: share of {module}', seen.get(module, 0), share, 0.1)


def check_functions(what, result, samples, names):
  seen = shares((frames[0][0], ns) for _, _, ns, frames in samples)
  rows = rows_by_thread(result, 'hotspots', '--inline', 'off')
  expected = shares((row['Function'], float(row['CPU Time'])) for row in rows)
  for name in names(expected):
    s.check_share(f'{what}: share of {name}', seen.get(name, 0), expected.get(name, 0), 0.1)


def check_stacks(what, result, samples):
  """One record a sample, with as many frames; and where both name all functions, the same stacks."""
  seen = collections.Counter(tuple(name for name, _ in reversed(frames)) for _, _, _, frames in samples
                             if frames[0][0] not in (s.KERNEL, '[No sample]'))
  expected = collections.Counter()
  for frames, count in s.folded(result, '--inline', 'off'):
    if frames[1:] != [s.KERNEL]:
      expected[tuple(frames[1:])] += count
  depths = [collections.Counter(), collections.Counter()]
  for depth, stacks in zip(depths, (seen, expected)):
    for stack, count in stacks.items():
      depth[len(stack)] += count
  s.check(depths[0] == depths[1], f'{what}: samples by depth', f'{sum(depths[0].values())} samples, {sum(depths[1].values())} expected')
  for name in SPECIAL:
    counts = [sum(count for stack, count in stacks.items() if name in stack) for stacks in (seen, expected)]
    s.check(counts[0] == counts[1], f'{what}: samples with {name}', f'{counts[0]}, {counts[1]} expected')
  named = [collections.Counter(), collections.Counter()]
  for of, stacks in zip(named, (seen, expected)):
    for stack, count in stacks.items():
      of[tuple(plain(name) for name in stack)] += count
  return s.points(sum((named[0] & named[1]).values()), sum(expected.values()))


def check_result(what, result, names):
  data = export(result, what + '.perf')
  samples = samples_of(what, data)
  check_periods(what, samples, s.report(result, 'threads'))
  check_modules(what, result, samples)
  check_functions(what, result, samples, names)
  same = check_stacks(what, result, samples)
  s.note(f'{what}: {same:.1f} % of the samples have stacks of the same names')
  report = perf(what, 'report', '--stdio', '--no-children', '-g', 'none', '-i', data)
  count = re.search(r'Event count \(approx.\): (\d+)', report)
  s.check(count and int(count.group(1)) == sum(ns for _, _, ns, _ in samples), f'{what}: the event count of perf report',
          count and count.group(1))
  perf(what, 'diff', data, data)
  stats = perf(what, 'report', '--stats', '-i', data)
  s.check(re.search(rf'SAMPLE events:\s+{len(samples)}\b', stats), f'{what}: perf report --stats', stats.split('\n', 2)[1:2])
  return data, samples, same


def threads():
  """The demo target: threads with names; perf.data's other forms."""
  got = s.collect_well([s.target('demo')])
  data, samples, same = check_result('demo', got.result, lambda _: ('mandelbrot_pixel', 'hash_bytes', 'compare_numbers'))
  s.check_least('demo: stacks of the same names', same, 100, 5)
  names = {(row['Thread'], int(row['TID'])) for row in s.report(got.result, 'threads')}
  s.check({(name, tid) for name, tid, _, _ in samples} <= names, 'demo: threads', sorted(names))
  header = perf('demo', 'report', '--header-only', '-i', data)
  host = s.summary(got.result)['host']
  s.check(f'hostname : {host["name"]}\n' in header and f'os release : {os.uname().release}\n' in header
          and f'nrcpus online : {host["logical_cpus"]}\n' in header and f'cpudesc : {host["cpu"]}\n' in header
          and 'arch : x86_64\n' in header and 'target-demo' in header, 'demo: the header', header.splitlines()[6:14])
  identity = subprocess.run(['readelf', '-n', s.target('demo')], capture_output=True, text=True, check=True).stdout
  build_id = re.search(r'Build ID: ([0-9a-f]+)', identity)
  listed = perf('demo', 'buildid-list', '-i', data)
  s.check(build_id and f'{build_id.group(1)} ' in listed, 'demo: the build-id', listed.splitlines()[:1])
  cycles = export(got.result, 'cycles.perf', '--event', 'cpu-cycles')
  s.check("of event 'cpu-cycles'" in perf('cycles', 'report', '--stdio', '-g', 'none', '-i', cycles), '--event names the event')
  part = export(got.result, 'part.perf', '--filter', 'thread=hash')
  rows = [row for row in s.report(got.result, 'threads') if row['Thread'] == 'hash']
  check_periods('demo, one thread', samples_of('part', part), rows)
  diff = perf('demo', 'diff', data, cycles)
  row = next((line for line in diff.splitlines() if line.endswith(' mandelbrot_pixel')), '')
  s.check(re.match(r'\s+\d+\.\d+%\s+(\+0\.00%)?\s+target-demo', row), 'perf diff finds no difference', row)
  with subprocess.Popen([s.tool('tbconvert'), 'export', '--to', 'perf', got.result], stdout=subprocess.PIPE) as pipe:
    piped = perf('pipe', 'report', '--stdio', '--no-children', '-g', 'none', '-i', '-', stdin=pipe.stdout)
  rows = [line for line in piped.splitlines() if line.endswith((' mandelbrot_pixel', ' hash_bytes'))]
  s.check(len(rows) == 2, 'a pipe gets the pipe form', rows)


def cplusplus():
  """Threads of C++, with templates and inlined functions."""
  largest = lambda expected: [name for name, share in expected.items() if share >= 5 and name.startswith('work<')]
  data, samples, _ = check_result('c++', timeline_exports.collect_cplusplus(), largest)
  s.check({'work<int>', 'work<char>'} <= {frames[0][0] for _, _, _, frames in samples} and len({tid for _, tid, _, _ in samples}) >= 4,
          'c++: threads and templates', os.path.basename(data))


def processes():
  """An interpreter and its children, which exec."""
  program = 'import subprocess, sys\nfor i in range(3): subprocess.run([sys.executable, "-c", "sum(i * i for i in range(1500000))"])\n'
  got = s.collect_well(['/usr/bin/python3', '-c', program])
  largest = lambda expected: [name for name, share in expected.items() if share >= 5 and name.startswith(('_Py', 'Py'))]
  data, samples, _ = check_result('python3', got.result, largest)
  tasks = perf('python3', 'script', '-i', data, '--show-task-events')
  processes = {tid for _, tid, _, _ in samples}
  s.check(len(processes) >= 4 and all(f':({0}:{0})' in tasks and f'PERF_RECORD_EXIT({tid}:{tid})' in tasks for tid in processes),
          'python3: each process begins and ends', sorted(processes))


def module_copies():
  """Modules go with the export: the mapped files, byte by byte, by the build-ids in the export."""
  program = s.scratch('copied-demo')
  shutil.copy(s.target('demo'), program)
  got = s.collect_well([program])
  command = [s.tool('tbconvert'), 'export', '--to', 'perf', '-o', s.scratch('copied.perf'), '--with-modules']
  folder = s.scratch('modules')
  done = subprocess.run([*command, folder, got.result], capture_output=True, text=True)
  copies = sorted(os.listdir(folder + '/all'))
  s.check(done.returncode == 0 and re.search(rf'copied {len(copies)} of \d+ modules to ', done.stderr)
          and {'copied-demo', 'libc.so.6'} <= set(copies), 'modules are copied', done.stderr.strip())
  listed = {os.path.basename(path): (identity, path)
            for identity, path in re.findall(r'^([0-9a-f]+) (/.*)$', perf('modules', 'buildid-list', '-i', s.scratch('copied.perf')), re.M)}
  for name in copies:
    copy = f'{folder}/all/{name}'
    identity, path = listed[name]
    notes = subprocess.run(['readelf', '-n', copy], capture_output=True, text=True, check=True).stdout
    with open(copy, 'rb') as one, open(path, 'rb') as other:
      same = one.read() == other.read()
    s.check(same and f'Build ID: {identity}\n' in notes, f'{name}: a copy of the mapped file', path)
  shutil.copy(s.target('calls'), program + '.new')
  os.rename(program + '.new', program)
  others = s.scratch('other-modules')
  done = subprocess.run([*command, others, got.result], capture_output=True, text=True)
  s.check(done.returncode == 0 and 'copied-demo (another file by now)' in done.stderr and sorted(os.listdir(others + '/all')) ==
          [name for name in copies if name != 'copied-demo'], 'another file is not copied', done.stderr.strip())
  planted = s.scratch('planted-modules')
  os.mkdir(planted)
  os.symlink(folder, planted + '/all')
  before = sorted(os.listdir(folder))
  done = subprocess.run([*command, planted, got.result], capture_output=True, text=True)
  s.check(done.returncode == 1 and 'remove it' in done.stderr and sorted(os.listdir(folder)) == before, 'a planted link is refused',
          done.stderr.strip())
  done = subprocess.run([s.tool('tbconvert'), 'export', '--to', 'pprof', '--with-modules', folder, got.result], capture_output=True, text=True)
  s.check(done.returncode == 2 and '--with-modules goes with --to perf' in done.stderr, 'no other format takes modules', done.stderr.strip())


def generated_code():
  if not shutil.which('node'):
    s.skip('generated code', 'there is no node')
    return
  program = 'function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2) } fib(34)'
  got = s.collect_well(['node', '--perf-basic-prof', '-e', program], cwd=s.Run.work)
  largest = lambda expected: [name for name, share in expected.items() if share >= 5 and 'fib' in name]
  check_result('node', got.result, largest)


def kernel_frames():
  """The kernel's functions have their names in the file."""
  if os.getuid() != 0:
    s.skip('kernel frames', 'only root may sample kernel mode')
    return
  got = s.collect_well(['dd', 'if=/dev/zero', 'of=/dev/null', 'bs=1', 'count=500000'], options=['--kernel'])
  largest = lambda expected: [name for name, share in expected.items() if share >= 3 and not name.startswith(('func@', '['))
                              and name in ('do_syscall_64', 'read_zero', 'vfs_read', 'vfs_write')]
  data = export(got.result, 'dd.perf')
  check_functions('dd', got.result, samples_of('dd', data), largest)


def moments_of(what, data):
  """{tid: [ns on CPUs, ns ready, ns waiting]} by the switches and {tid: [ns]} by the waits that perf script shows."""
  states, waits, last = collections.defaultdict(lambda: [0, 0, 0]), collections.defaultdict(list), {}
  text = perf(what, 'script', '-i', data, '--show-switch-events', '--show-task-events', '--ns', '-F', 'tid,time,event,period')
  times = []
  for line in text.splitlines():
    # Periods have no colon behind, a switch has no period.
    found = re.match(r'\s*(\d+)\s+(\d+)\.(\d{9}):\s+(?:(\d+)\s+(\S+):|PERF_RECORD_(?:SWITCH\s+(IN|OUT)(\s+preempt)?|(FORK|EXIT|COMM).*))\s*$',
                     line)
    if not found:
      s.check(not line.strip(), f'{what}: a line of perf script', line)
      continue
    tid, now = int(found.group(1)), int(found.group(2) + found.group(3))
    times.append(now)
    if found.group(5) == 'offcpu-time':
      waits[tid].append(int(found.group(4)))
    elif found.group(6) or found.group(8) in ('FORK', 'EXIT'):
      # A new thread could run.
      state = 0 if found.group(6) == 'IN' else 1 if found.group(7) or found.group(8) == 'FORK' else 2
      if tid in last:
        states[tid][last[tid][0]] += now - last[tid][1]
      last[tid] = (state, now)
  s.check(times == sorted(times), f'{what}: records by time', f'{len(times)} records')
  return states, waits


ROUNDED_S = 2e-6  # two columns of 6 digits


def off_cpu(result):
  """{tid: seconds ready or waiting}; of the first thread they begin before the exec, when there is no such process."""
  return {int(row['TID']): float(row['Ready Time']) + float(row['Wait Time']) for row in s.report(result, 'threads')
          if row['TID'] and row['TID'] != row['PID']}


def largest_gap(one, other):
  return max(abs(one.get(tid, 0) - other.get(tid, 0)) for tid in {*one, *other})


def states_and_waits():
  """Switches and waits, read by perf; and back: an import has the same."""
  program = [s.target('waiting'), 'mutex=10x5', 'queue=10x5', 'pipe=10x5']
  for analysis in ('concurrency', 'locks-and-waits'):
    got = s.collect_well(program, options=['-c', analysis])
    data = export(got.result, f'{analysis}.perf')
    states, waits = moments_of(analysis, data)
    expected = off_cpu(got.result)
    # A wake is no switch: the time until the thread runs is one of waiting.
    off = largest_gap({tid: (ns[1] + ns[2]) / 1e9 for tid, ns in states.items() if tid in expected}, expected)
    s.check(len(expected) > 1 and min(expected.values()) > 0.01 and off <= ROUNDED_S, f'{analysis}: times off the CPU',
            f'{len(expected)} threads, off by at most {1e6 * off:.1f} us')
    check_periods(analysis, [sample for sample in samples_of(analysis, data, 'cpu-clock')], s.report(got.result, 'threads'))
    back = s.new_result()
    s.run_tool('tbconvert', 'import', '-r', back, data)
    off = largest_gap(off_cpu(back), expected)
    s.check(off <= ROUNDED_S, f'{analysis}: the same after an import', f'off by at most {1e6 * off:.1f} us')
    if analysis == 'concurrency':
      s.check(not waits, 'states alone have no waits')
      continue
    check_waits(got.result, back, data, waits)


def check_waits(result, back, data, waits):
  ours = s.report(result, 'waits', '--group-by', 'thread')
  total = sum(float(row['Wait Time']) for row in ours)
  seen = sum(map(sum, waits.values())) / 1e9
  s.check(seen > 0.1 and abs(seen - total) <= ROUNDED_S * len(ours), 'waits: perf\'s periods', f'{seen:.6f} s, {total:.6f} expected')
  report = perf('waits', 'report', '--stdio', '--no-children', '-g', 'none', '-i', data)
  s.check(re.search(r"of event 'cpu-clock'.*of event 'offcpu-time'", report, re.S) is not None, 'waits: two events', report.splitlines()[:8])
  known = [[row for row in s.report(path, 'waits', '--group-by', 'function') if '[Short waits]' not in row.values()] for path in (result, back)]
  times = [collections.Counter() for _ in known]
  for of, rows in zip(times, known):
    for row in rows:
      of[row['Function']] += round(float(row['Wait Time']) * 1e6)
  s.check(times[0] == times[1], 'waits: functions after an import', f'{times[0].most_common(3)} {times[1].most_common(3)}')
  with subprocess.Popen([s.tool('tbconvert'), 'export', '--to', 'perf', result], stdout=subprocess.PIPE) as pipe:
    piped = perf('pipe', 'report', '--stdio', '--no-children', '-g', 'none', '-i', '-', stdin=pipe.stdout)
  rows = [[line for line in text.splitlines() if '%' in line] for text in (report, piped)]
  s.check(rows[0] and rows[0] == rows[1], 'waits: a pipe says the same', f'{rows[0][:2]} {rows[1][:2]}')


s.start()
for part in (threads, cplusplus, processes, module_copies, generated_code, kernel_frames, states_and_waits):
  with s.section(part.__name__):
    part()
s.finish()
