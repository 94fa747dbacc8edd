"""tbconvert export --to callgrind, read by callgrind_annotate: functions, totals and calls as in our own reports."""

import os
import re
import shutil
import subprocess

import support as s

PYTHON_WORK = '''
import subprocess, sys
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)
if len(sys.argv) > 1:
    sum(i * i for i in range(700000))
else:
    for _ in range(2):
        subprocess.run([sys.executable, sys.argv[0], "child"])
    fib(23)
'''
NODE_WORK = 'function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); } console.log(process.pid, fib(31));'
# callgrind_annotate's rows: "1,234 (12.34%)  5 (0.10%)  file:function [object]", with a dot for 0.
ROW = re.compile(r'\s*([\d,.]+)(?: \(\s*[\d.]+%\))?\s+([\d,.]+)(?: \(\s*[\d.]+%\))?\s+(.*)')


def number(text):
  return 0 if text == '.' else int(text.replace(',', ''))


def annotate(path, *options):
  """callgrind_annotate's rows [(ns, samples, name)], all of them."""
  done = subprocess.run(['callgrind_annotate', '--threshold=100', '--auto=no', *options, path], capture_output=True, text=True,
                        errors='replace', check=True, cwd='/')
  s.check('WARNING' not in done.stderr and 'malformed' not in done.stderr, 'callgrind_annotate reads each line',
          done.stderr.strip()[-300:])
  return [(number(match.group(1)), number(match.group(2)), match.group(3))
          for match in map(ROW.fullmatch, done.stdout.splitlines()) if match]


def times_of(rows):
  """{function: ns} of rows "file:function [object]"."""
  times = {}
  for ns, _, name in rows:
    function = name.partition(':')[2].rpartition(' [')[0]
    times[function] = times.get(function, 0) + ns
  return times


def parse(path):
  """The file's own costs {(module, function): ns} and calls {(caller, callee): ns}."""
  names, own, calls = {}, {}, {}
  at = {}
  is_call = False
  for line in open(path, encoding='utf-8').read().split('\n'):
    key = re.match(r'(c?)(ob|fl|fn)=\((\d+)\)(?: (.*))?$', line)
    if key:
      place = (key.group(2), key.group(3))
      names.setdefault(place, key.group(4))
      at[key.group(1) + key.group(2)] = names[place]
    elif line.startswith('calls='):
      is_call = True
    elif re.match(r'\d', line):
      ns = int(line.split()[1])
      if is_call:
        calls[at['fn'], at['cfn']] = calls.get((at['fn'], at['cfn']), 0) + ns
      else:
        own[at['ob'], at['fn']] = own.get((at['ob'], at['fn']), 0) + ns
      is_call = False
  return own, calls


def check_result(what, result, threads=False):
  path = os.path.join(s.Run.work, f'callgrind.out.{what}')
  s.run_tool('tbconvert', 'export', '--to', 'callgrind', '-o', path, *(['--threads'] if threads else []), result)
  rows = annotate(path)
  hotspots = s.report(result, 'hotspots', '--call-stack-mode', 'all')
  threadless = s.unattributed(result)
  total = next(ns for ns, _, name in rows if name == 'PROGRAM TOTALS') / 1e9
  s.check(abs(total - threadless - s.seconds(hotspots)) <= 0.0006 * total, f'{what}: total',
          f'{total:.6f} s, less {threadless:.6f} of no known thread; {s.seconds(hotspots):.6f} in hotspots')
  samples = next(count for _, count, name in rows if name == 'PROGRAM TOTALS')
  s.check(samples == sum(int(row['Samples']) for row in hotspots), f'{what}: samples', samples)
  own, calls = parse(path)
  s.check(sum(own.values()) == round(total * 1e9), f'{what}: own times add up', sum(own.values()))
  check_functions(what, own, rows, hotspots)
  check_calls(what, calls, path, result, total)


def check_functions(what, own, rows, hotspots):
  """Own time by full name and module, from the file, and that callgrind_annotate shows the functions."""
  expected, seen = {}, {}
  for row in hotspots:
    key = row['Module'], row['Function (Full)']
    expected[key] = expected.get(key, 0) + float(row['CPU Time'])
  for (module, function), ns in own.items():
    key = os.path.basename(module), function
    seen[key] = seen.get(key, 0) + ns / 1e9
  total = sum(expected.values())
  # [jit] and the like have a path in place of their name. Short threads share their time by process here, by program there.
  heavy = [key for key in expected if expected[key] > 0.02 * total and not key[0].startswith('[')]
  worst = max(heavy, key=lambda key: abs(seen.get(key, 0) - expected[key]))
  s.check(abs(seen.get(worst, 0) - expected[worst]) <= 0.005 * total, f'{what}: own time of {len(heavy)} functions',
          f'worst {worst}: {seen.get(worst, 0):.6f} s, {expected[worst]:.6f} in hotspots')
  text = '\n'.join(name for _, _, name in rows)
  missing = [function for _, function in heavy if function not in text]
  s.check(not missing, f'{what}: callgrind_annotate shows them', missing[:3])


def inclusive_times(result):
  """{function: seconds with callees}, each stack once, whatever the recursion."""
  times, stack = {}, []
  for row in s.report(result, 'top-down', '--call-stack-mode', 'all')[1:]:
    name = row['Function Stack']
    depth = len(name) - len(name.lstrip()) - 1
    stack = stack[:depth] + [name.strip()]
    for function in set(stack):
      times[function] = times.get(function, 0) + float(row['CPU Time:Self'])
  return times


def is_full_name(full, name):
  """Whether full is the name, or may be with parameters and a type in front."""
  return full == name or re.search(r'(^|[ *&])' + re.escape(name) + r'\(', full) is not None


def check_calls(what, calls, path, result, total):
  """The calls to a function add up to its time with callees, which callgrind_annotate takes them for."""
  expected = inclusive_times(result)
  into = {}
  for (_, callee), ns in calls.items():
    into[callee] = into.get(callee, 0) + ns / 1e9
  full_names = {name: [full for full in into if is_full_name(full, name)] for name in expected if expected[name] > 0.05 * total}
  # Several functions of one short name may be in one stack.
  heavy = {name: full[0] for name, full in full_names.items() if len(full) == 1}
  worst = max(heavy, key=lambda name: abs(into[heavy[name]] - expected[name]))
  s.check(len(heavy) >= 3 and abs(into[heavy[worst]] - expected[worst]) <= 0.01 * total,
          f'{what}: calls to {len(heavy)} functions add up to their time in top-down',
          f'worst {worst}: {into[heavy[worst]]:.6f} s, {expected[worst]:.6f}')
  shown = times_of(annotate(path, '--inclusive=yes'))
  seen = {name: shown.get(full, 0) / 1e9 for name, full in heavy.items()}
  worst = max(heavy, key=lambda name: abs(seen[name] - expected[name]))
  s.check(abs(seen[worst] - expected[worst]) <= 0.01 * total, f'{what}: callgrind_annotate --inclusive',
          f'worst {worst}: {seen[worst]:.6f} s, {expected[worst]:.6f}')


def threads():
  got = s.collect_well([s.target('demo')], what='threads')
  check_result('threads', got.result, threads=True)


def children():
  script = s.scratch('work.py')
  with open(script, 'w', encoding='ascii') as file:
    file.write(PYTHON_WORK)
  got = s.collect_well(['/usr/bin/python3', script], what='children')
  check_result('children', got.result)


def cplusplus():
  got = s.collect_well([s.target('shop')], what='cplusplus')
  check_result('cplusplus', got.result)


def generated_code():
  if not shutil.which('node'):
    s.skip('generated code', 'node is not installed')
    return
  got = s.collect_well(['node', '--perf-basic-prof', '-e', NODE_WORK], what='generated code', cwd=s.Run.work)
  os.remove(f'/tmp/perf-{got.stdout.split()[0]}.map')
  check_result('generated code', got.result)


def waits():
  """Waits and all time of threads are two events more."""
  got = s.collect_well([s.target('waiting'), 'mutex=20x12', 'poll=10x12'], options=('-c', 'locks-and-waits'), what='waits')
  path = os.path.join(s.Run.work, 'callgrind.out.waits')
  s.run_tool('tbconvert', 'export', '--to', 'callgrind', '--weight', 'wait', '-o', path, got.result)
  rows = annotate(path, '--show=Wait_ns,Wall_ns')
  with open(path, encoding='utf-8') as file:
    s.check('\nevents: Wait_ns CPU_ns Samples Wall_ns\n' in file.read(), 'waits: the chosen event comes first')
  wait_ns, wall_ns = next((wait, wall) for wait, wall, name in rows if name == 'PROGRAM TOTALS')
  for weight, ns in (('wait', wait_ns), ('wall', wall_ns)):
    lines = s.run_tool('tbconvert', 'export', '--to', 'folded', '--weight', weight, got.result).stdout.splitlines()
    expected = sum(int(line.rpartition(' ')[2]) for line in lines) * 1000
    s.check(abs(ns - expected) <= 1000 * len(lines) + 1000, f'waits: the sum of {weight} as in folded', f'{ns} {expected}')
  s.check(any('[Mutex contended]' in name and wait > 0 for wait, _, name in rows), 'waits: the lock', len(rows))


s.start()
for part in (threads, children, cplusplus, generated_code, waits):
  with s.section(part.__name__):
    part()
s.finish()
