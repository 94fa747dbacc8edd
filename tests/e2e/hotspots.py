"""tbreport hotspots: total times, lines and call sites against perf script and addr2line; order, conditions, widths and files."""

import collections
import csv
import io
import os
import platform
import re
import subprocess

import support as s
from support import check

ALL = ('--call-stack-mode', 'all')
NO_TIME = (s.KERNEL, '[No sample]')


class Stack:
  def __init__(self, thread, tid, time_ns, ns):
    self.thread, self.tid, self.time_ns, self.ns, self.frames = thread, tid, time_ns, ns, []

  def has(self, function):
    return any(name == function for _, name, _ in self.frames)


def stacks_of(result, *options):
  """Stacks with their frames [(address, symbol, module)] from the leaf, as perf script shows an export."""
  data = s.scratch('hotspots.data')
  s.run_tool('tbconvert', 'export', '--to', 'perf', '--inline', 'off', '-o', data, *options, result)
  found = []
  for line in subprocess.run(['perf', 'script', '--ns', '-i', data, '-F', 'comm,tid,time,period,ip,sym,dso', '--no-inline'], check=True,
                             capture_output=True, text=True, timeout=120).stdout.splitlines():
    frame = re.match(r'\s+([0-9a-f]+) (.*) \((.*)\)$', line)
    sample = re.match(r'\s*(\S+)\s+(\d+)\s+(\d+)\.(\d{9}):\s+(\d+)\s*$', line)
    if frame:
      found[-1].frames.append((int(frame.group(1), 16), frame.group(2), os.path.basename(frame.group(3))))
    elif sample:
      thread, tid, seconds, rest, ns = sample.groups()
      found.append(Stack(thread, int(tid), int(seconds) * 10**9 + int(rest), int(ns)))
  return [stack for stack in found if stack.frames]


def differing(seen, expected, names):
  """What is off by more than the rounding of rows: perf's periods are whole ns of each sample, ours us of each row."""
  return {name: (seen.get(name), expected.get(name)) for name in names
          if name not in seen or any(abs(a - b / 1e9) > 1e-5 for a, b in zip(seen[name], expected[name]))}


def sums_of(stacks, key):
  """{key: [own ns, total ns]}: a stack counts once in a total. key: of a stack's frames, from the leaf, and a place in them."""
  sums = collections.defaultdict(lambda: [0, 0])
  for stack in stacks:
    keys = [key(stack.frames, i) for i in range(len(stack.frames))]
    sums[keys[0]][0] += stack.ns
    for name in set(keys):
      sums[name][1] += stack.ns
  return sums


def rows_of(result, key, *options):
  return {key(row): [float(row['CPU Time']), float(row['CPU Time:Total'])]
          for row in s.report(result, 'hotspots', *ALL, '--inline', 'off', '--sort', 'cpu_time_total', *options)}


# The main thread starts the others, and may have no sample.
OWN = ('stage_run', 'render_picture', 'mandelbrot_pixel', 'sort_numbers', 'compare_numbers', 'hash_messages', 'hash_bytes')


def check_totals(result, stacks):
  seen = rows_of(result, lambda row: row['Function'])
  expected = sums_of(stacks, lambda frames, i: frames[i][1])
  off = differing(seen, expected, OWN)
  check(not off and seen['stage_run'][1] > 2 * seen['stage_run'][0], 'functions: own and total time are those of perf script', f'off {off}')
  seen = rows_of(result, lambda row: row['Module'], '--group-by', 'module')
  expected = sums_of(stacks, lambda frames, i: frames[i][2])
  off = differing(seen, expected, ('target-demo', 'libc.so.6'))
  check(not off, 'modules: own and total time are those of perf script', f'off {off}')


def lines_of(program, places):
  """{offset: "file:line"} by addr2line."""
  told = subprocess.run(['addr2line', '-e', program, *(hex(place) for place in places)], check=True, capture_output=True, text=True).stdout
  return dict(zip(places, (re.sub(r' \(disc.*', '', os.path.basename(line)) for line in told.splitlines())))


def check_lines(result, stacks):
  """perf shows a caller's address in its call, in the program's own terms."""
  addresses = {address for stack in stacks for address, _, module in stack.frames if module == 'target-demo'}
  lines = lines_of(s.target('demo'), sorted(addresses))

  def line(frames, i):
    return lines[frames[i][0]] if frames[i][2] == 'target-demo' else 'elsewhere'

  expected = sums_of(stacks, line)
  names = [name for name in expected if name.startswith('demo.c:') and name != 'demo.c:0']
  off = differing(rows_of(result, lambda row: row['Source Line'], '--group-by', 'source-line'), expected, names)
  check(len(names) >= 8 and not off, 'lines: own and total time are those of addr2line', f'{len(names)} lines, off {off}')

  def site(frames, i):
    return (line(frames, i + 1), frames[i][1]) if i + 1 < len(frames) else ('', '')

  expected = sums_of(stacks, site)
  names = [name for name in expected if name[0].startswith('demo.c:') and name[1] in OWN]
  off = differing(rows_of(result, lambda row: (row['Call Site'], row['Function']), '--group-by', 'call-site'), expected, names)
  check(len(names) >= 5 and not off, 'call sites: own and total time are those of addr2line', f'{sorted(names)}, off {off}')


def roots(rows):
  return [row for row in rows if not row['Function Stack'].startswith(' ')]


def check_conditions(result):
  """Conditions of every kind together, in reports of one table and in trees."""
  times = ('--from', '0.1s', '--to', f'{s.summary(result)["elapsed_s"] / 2:.6f}s')
  conditions = ('--filter', 'thread=sort', '--filter', 'stack=sort_numbers', '--filter', 'function=~^(compare_numbers|qsort_r|hash_bytes)$',
                '--filter', 'module=target-demo', '--filter', 'process=target-demo', *times)
  wanted = [stack for stack in stacks_of(result, *times)
            if stack.thread == 'sort' and stack.frames[0][1] == 'compare_numbers' and stack.has('sort_numbers')]
  expected = sum(stack.ns for stack in wanted) / 1e9
  for kind in ('hotspots', 'modules', 'threads', 'bottom-up', 'top-down'):
    rows = s.report(result, kind, *ALL, '--inline', 'off', *conditions)
    rows = roots(rows) if kind in ('bottom-up', 'top-down') else rows
    seen = sum(float(row['CPU Time:Total' if kind == 'top-down' else 'CPU Time']) for row in rows)
    check(expected > 0 and abs(seen - expected) < 1e-5, f'{kind}: all conditions hold at once', f'{seen:.6f} of {expected:.6f} s')
  none = s.run_tool('tbreport', 'hotspots', result, *conditions, '--filter', 'thread=hash')
  check(none.stdout.count('\n') == 1 and 'no sample meets all conditions' in none.stderr, 'conditions that exclude each other: a line says so',
        none.stderr.strip())


def check_tasks(result, stacks):
  """A task inside of another, with borders between samples of one thread."""
  refused = s.run_tool('tbreport', 'hotspots', result, '--group-by', 'task', check_status=False)
  check(refused.returncode == 1 and 'has no tasks' in refused.stderr, 'no tasks: a line says so', refused.stderr.strip())
  own = sorted((stack for stack in stacks if stack.thread == 'sort'), key=lambda stack: stack.time_ns)
  borders = [(own[i].time_ns + own[i + 1].time_ns) // 2 for i in (len(own) * part // 5 for part in range(1, 5))]
  table = s.scratch('nested-hostname-' + platform.node() + '.csv')
  with open(table, 'w', encoding='ascii') as file:
    file.write('name,start_tsc.CLOCK_MONOTONIC_RAW,end_tsc,pid,tid\n')
    for name, start, end in (('outer', borders[0], borders[3]), ('inner', borders[1], borders[2])):
      file.write(f'{name},{start},{end},,{own[0].tid}\n')
  s.run_tool('tbconvert', 'import', result, table)
  rows = {row['Task']: row for row in s.report(result, 'hotspots', '--group-by', 'task')}
  inside = {name: [stack for stack in own if start <= stack.time_ns < end]
            for name, start, end in (('outer', borders[0], borders[3]), ('inner', borders[1], borders[2]))}
  counts = {'inner': len(inside['inner']), 'outer': len(inside['outer']) - len(inside['inner'])}
  seen = {name: int(rows[name]['Samples']) for name in counts}
  check(min(counts.values()) > 50 and seen == counts, 'tasks: each sample is the innermost one\'s', f'{seen} of {counts}')
  totals = {name: float(rows[name]['CPU Time:Total']) for name in counts}
  expected = {name: sum(stack.ns for stack in part) / 1e9 for name, part in inside.items()}
  kernel = sum(float(row['CPU Time']) for row in s.report(result, 'hotspots') if row['Function'] in NO_TIME)
  check(all(-1e-5 < totals[name] - expected[name] < kernel + 1e-5 for name in counts), 'tasks: totals have the tasks inside',
        f'{totals} of {expected}, {kernel:.6f} s in the kernel')
  whole = sum(float(row['CPU Time']) for row in rows.values())
  check(abs(whole - sum(float(row['CPU Time']) for row in s.report(result, 'hotspots'))) < 1e-4, 'tasks: rows add up to the run', f'{whole:.6f} s')


def check_order(result):
  for kind, column in (('hotspots', 'Samples'), ('threads', 'TID'), ('modules', 'CPU Time:Total'), ('bottom-up', 'CPU Time'), ('callers', 'CPU Time:Self')):
    name = ('callers', 'sort_numbers') if kind == 'callers' else (kind,)
    for direction in ('asc', 'desc'):
      text = s.run_tool('tbreport', *name, result, '--format', 'csv', '--sort', f'{column}:{direction}').stdout
      rows = [row for row in csv.DictReader(io.StringIO(text)) if not row.get('Function Stack', '').startswith(' ')]
      values = [float(row[column]) for row in rows if row[column]]
      check(len(values) > 1 and values == sorted(values, reverse=direction == 'desc'), f'{kind}: rows by {column}, {direction}', values[:4])
  bad = s.run_tool('tbreport', 'threads', result, '--sort', 'Functions', '-o', s.scratch('bad'), check_status=False)
  check(bad.returncode == 2 and bad.stdout == '' and bad.stderr.count('\n') == 1 and 'Wait Time' in bad.stderr and not os.path.exists(s.scratch('bad')),
        'an unknown column: a line names those of the table', bad.stderr.strip())


def check_widths(result):
  """Figures are whole in any width, and a file has what standard output has."""
  for kind in ('hotspots', 'threads', 'modules', 'top-down', 'bottom-up'):
    wide = s.run_tool('tbreport', kind, result).stdout
    path = s.scratch(f'{kind}.txt')
    s.run_tool('tbreport', kind, result, '-o', path)
    with open(path, encoding='utf-8') as file:
      check(file.read() == wide, f'{kind}: a file has what standard output has', f'{len(wide)} characters')
    os.environ['COLUMNS'] = '80'
    narrow = s.run_tool('tbreport', kind, result).stdout.splitlines()
    del os.environ['COLUMNS']
    figures = [re.findall(r'\d+\.\d+ [s%]', line) for line in wide.splitlines()]
    lost = [line for line, row in zip(narrow, figures) if row[:2] != re.findall(r'\d+\.\d+ [s%]', line)[:2]]
    check(max(map(len, narrow)) <= 80 and not lost, f'{kind}: 80 columns, figures whole', f'{max(map(len, narrow))} columns, {lost[:1]}')


def main():
  s.start()
  got = s.collect_well([s.target('demo'), '1'])
  stacks = stacks_of(got.result)
  with s.section('totals'):
    check_totals(got.result, stacks)
  with s.section('lines'):
    check_lines(got.result, stacks)
  with s.section('conditions'):
    check_conditions(got.result)
  with s.section('order'):
    check_order(got.result)
  with s.section('widths'):
    check_widths(got.result)
  with s.section('tasks'):
    check_tasks(got.result, stacks)
  s.finish()


if __name__ == '__main__':
  main()
