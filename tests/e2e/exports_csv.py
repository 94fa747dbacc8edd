"""tbconvert export --to csv: files as VTune's guide wants them, held to its rules one by one by a checker of our own, and with the
figures of our reports."""

import csv
import os
import re
import sys
import time

import support as s
import timeline_exports

PYTHON_WORK = '''
import subprocess, sys
if len(sys.argv) > 1:
    sum(i * i for i in range(700000))
else:
    for _ in range(2):
        subprocess.run([sys.executable, sys.argv[0], "child"])
    sorted(str(i) for i in range(200000))
'''
NODE_WORK = 'function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); } console.log(process.pid, fib(31));'
CLOCKS = ('QPC', 'CLOCK_MONOTONIC_RAW', 'RDTSC', 'TSC', 'UTC')


class Table:
  """A file by the guide's rules; problems has what breaks them."""

  def __init__(self, path, host):
    self.problems = []
    self.name = os.path.basename(path)
    match = re.fullmatch(r'(.*?)-hostname-(.+)\.csv', self.name)
    self.rule(match and match.group(2) == host, f'the name is [user-defined]-hostname-{host}.csv')
    with open(path, encoding='utf-8', newline='') as file:
      text = file.read()
    self.rule(text.endswith('\n') and '\r' not in text and '\0' not in text, 'lines end with a newline')
    lines = list(csv.reader(text.splitlines(keepends=True), strict=True))
    self.header, self.rows = lines[0], lines[1:]
    self.rule(all(len(row) == len(self.header) for row in self.rows), 'rows have the columns of the head: one table a file')
    self.is_intervals = self.header[0] == 'name'
    if self.is_intervals:
      self.check_intervals()
    else:
      self.check_counters()
    for row in self.rows:
      for field in row[-2:]:
        self.rule(field == '' or re.fullmatch(r'[1-9]\d*', field), f'ids are numbers or empty: {row}')

  def rule(self, holds, what):
    if not holds and len(self.problems) < 5:
      self.problems.append(what)

  def clock(self, column, name):
    self.rule(column.partition('.')[0] == name and column.partition('.')[2] in CLOCKS, f'{column} is {name} with a clock')
    self.rule(column.endswith('.CLOCK_MONOTONIC_RAW'), 'the clock is CLOCK_MONOTONIC_RAW')

  def check_intervals(self):
    self.rule(len(self.header) == 5 and self.header[2:] == ['end_tsc', 'pid', 'tid'], 'an interval has 5 columns in their order')
    self.clock(self.header[1], 'start_tsc')
    for row in self.rows:
      self.rule(row[0] != '' and row[1].isdigit() and row[2].isdigit() and int(row[1]) <= int(row[2]), f'from start to end: {row}')

  def check_counters(self):
    self.clock(self.header[0], 'tsc')
    self.rule(self.header[-2:] == ['pid', 'tid'] and len(self.header) > 3, 'counters, process and thread stand behind the time')
    for name in self.header[1:-2]:
      self.rule(re.fullmatch(r'.+\.(COUNT|INST)', name, re.DOTALL), f'{name} is a total or a value of a moment')
    for row in self.rows:
      self.rule(row[0].isdigit() and all(re.fullmatch(r'|-?\d+(\.\d+)?(e[+-]\d+)?', value) for value in row[1:-2]), f'numbers: {row}')


def export(what, result, *options):
  """{file name before -hostname-: Table}."""
  folder = s.scratch(f'csv-{what}-{len(os.listdir(s.Run.work))}')
  s.run_tool('tbconvert', 'export', '--to', 'csv', '-o', folder, *options, result)
  host = s.summary(result)['host']['name']
  tables = {name.partition('-hostname-')[0]: Table(os.path.join(folder, name), host) for name in os.listdir(folder)}
  for name, table in sorted(tables.items()):
    s.check(not table.problems, f'{what}: {name}: the rules of the format hold', table.problems or f'{len(table.rows)} rows')
  return tables


def sum_by_thread(rows):
  sums = {}
  for row in rows:
    key = row[3], row[4]
    sums[key] = sums.get(key, 0) + int(row[2]) - int(row[1])
  return sums


def check_result(what, result, began, ended):
  tables = export(what, result)
  s.check({'running', 'threads', 'utilization'} <= set(tables), f'{what}: files', sorted(tables))
  running, threads = tables['running'].rows, tables['threads'].rows
  times = [int(row[column]) for row in running + threads for column in (1, 2)] + [int(row[0]) for row in tables['utilization'].rows[:-1]]
  s.check(began <= min(times) and max(times) <= ended, f'{what}: times are of this run\'s clock', f'{min(times)} to {max(times)}')
  check_call_tree(what, result)
  check_running(what, result, running)
  check_lives(what, result, threads, running)
  check_utilization(what, tables['utilization'].rows, running)


def check_running(what, result, running):
  """Of a thread with samples all CPU time but that in no sample; intervals in order, none on another one."""
  sums = sum_by_thread(running)
  rows = {(row['PID'], row['TID']): row for row in s.report(result, 'threads') if row['TID']}
  total = s.summary(result)
  interval = total['interval_s']
  over = {key: (ns / 1e9, rows[key]['CPU Time']) for key, ns in sums.items() if ns / 1e9 > float(rows[key]['CPU Time']) + 1e-6}
  s.check(not over, f'{what}: no thread runs longer than its CPU time', over)
  known = total['cpu_time_s'] - total['in_no_sample_s']
  seen = sum(sums.values()) / 1e9
  # A sample at a thread's very start has no room for its time; slivers of kernel time below an interval are in no sample.
  s.check(known - seen <= 2 * interval * len(rows) and seen <= known + 1e-6, f'{what}: CPU time of the samples',
          f'{seen:.6f} s in {len(running)} intervals, {known:.6f} in samples')
  last, bad = {}, []
  for row in running:
    if int(row[1]) <= last.get((row[3], row[4]), 0):
      bad.append(row)
    last[row[3], row[4]] = int(row[2])
  s.check(not bad, f'{what}: a thread\'s intervals are apart and in order', bad[:2])


def check_lives(what, result, threads, running):
  rows = {(row['PID'], row['TID']): row['Thread'] for row in s.report(result, 'threads') if row['TID']}
  lives = {(row[3], row[4]): row for row in threads}
  missing = set(rows) - set(lives)
  s.check(not missing and len(lives) == len(threads), f'{what}: a task for each thread', missing or len(threads))
  wrong = {key for key in set(rows) & set(lives) if lives[key][0] != f'Thread {rows[key]}'}
  s.check(not wrong, f'{what}: named after it', wrong)
  early = [row for row in running if int(row[1]) < int(lives[row[3], row[4]][1])]
  s.check(not early, f'{what}: none runs before it lives', early[:2])


def check_utilization(what, rows, running):
  """The counter is the sum of the intervals, in percent of the time to its next value."""
  times = [int(row[0]) for row in rows]
  percent = [int(row[1]) for row in rows]
  widths = {later - earlier for earlier, later in zip(times, times[1:])}
  s.check(len(widths) == 1 and percent[-1] == 0, f'{what}: utilization in equal parts', widths)
  width = widths.pop()
  seen, expected = sum(percent) * width / 100, sum(int(row[2]) - int(row[1]) for row in running)
  s.check(abs(seen - expected) <= 0.005 * width * len(rows), f'{what}: utilization is that of the intervals', f'{seen:.0f} ns, {expected}')


def read_call_tree(text):
  """[(functions from the root, self seconds, module)] of VTune's top-down CSV, as its readers take it apart: by lines, the depth by the
  spaces in front of quotes."""
  lines = text.splitlines()
  if lines[0] != 'Function Stack,CPU Time:Self,Module':
    raise ValueError(lines[0])
  tree, stack = [], []
  for line in lines[1:]:
    name = line.lstrip(' ')
    depth = len(line) - len(name)
    if depth > len(stack):
      raise ValueError(f'a level is left out: {line}')
    row = next(csv.reader([name], strict=True))
    stack = stack[:depth] + [row[0]]
    tree.append((tuple(stack), row[1], row[2]))
  return tree


def check_call_tree(what, result):
  seen = read_call_tree(s.run_tool('tbreport', 'top-down', result, '--format', 'vtune').stdout)
  expected, stack = [], []
  for row in s.report(result, 'top-down'):
    name = row['Function Stack'].lstrip(' ')
    stack = stack[:len(row['Function Stack']) - len(name)] + [name]
    expected.append((tuple(stack), row['CPU Time:Self'], row['Module'] or '[Unknown]'))
  off = [pair for pair in zip(seen, expected) if pair[0] != pair[1]]
  s.check(len(seen) == len(expected) and not off, f'{what}: the call tree in VTune\'s columns', off[:1] or f'{len(seen)} rows')
  s.check(seen[0][0] == ('Total',) and seen[0][2] == '[Unknown]', f'{what}: begins with the total', seen[0])


def measure(what, collect):
  began = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
  result = collect()
  check_result(what, result, began, time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW))
  return result


def threads():
  result = measure('threads', lambda: s.collect_well([s.target('demo')], what='threads').result)
  whole, part = export('whole', result), export('part', result, '--from', '0.2s', '--to', '0.5s')
  times = [int(row[column]) for row in part['running'].rows + part['threads'].rows for column in (1, 2)]
  s.check(not times or max(times) - min(times) <= 300000000, 'a part of the time', f'{len(part["running"].rows)} intervals')
  name = whole['threads'].rows[0][0].removeprefix('Thread ')
  one = export('one', result, '--filter', f'thread={name}')
  s.check({row[0] for row in one['threads'].rows} == {f'Thread {name}'} and
          one['running'].rows == [row for row in whole['running'].rows if row[3:] == one['threads'].rows[0][3:]], 'one thread', name)


def cplusplus():
  measure('c++', timeline_exports.collect_cplusplus)


def states():
  """By the threads' switches: what runs and what does not fill each life, with the times of our report; and back as tasks."""
  result = s.collect_well([s.target('waiting'), 'mutex=10x5', 'queue=10x5'], options=['-c', 'concurrency']).result
  tables = export('states', result)
  s.check('waiting' in tables, 'states: files', sorted(tables))
  running, waiting = tables['running'].rows, tables['waiting'].rows
  times = {name: sum_by_thread([row for row in waiting if row[0] == name]) for name in ('Ready', 'Waiting')}
  rows = {(row['PID'], row['TID']): row for row in s.report(result, 'threads') if row['TID']}
  for name, column in (('Ready', 'Ready Time'), ('Waiting', 'Wait Time')):
    off = max(abs(times[name].get(key, 0) / 1e9 - float(row[column])) for key, row in rows.items())
    s.check(off <= 1e-6, f'states: {column} of {len(rows)} threads', f'off by at most {1e6 * off:.1f} us')
  # What a thread does behind its last switch is not known.
  bad = [key for key in rows if not is_whole(sorted([int(row[1]), int(row[2])] for row in running + waiting if (row[3], row[4]) == key))]
  s.check(not bad, 'states: a thread\'s intervals are apart and leave no gap', bad[:2])
  check_lives('states', result, tables['threads'].rows, running)
  check_utilization('states', tables['utilization'].rows, running)
  folder, host = s.scratch('states-again'), s.summary(result)['host']['name']
  s.run_tool('tbconvert', 'export', '--to', 'csv', '-o', folder, result)
  s.run_tool('tbconvert', 'import', result, os.path.join(folder, f'waiting-hostname-{host}.csv'))
  tasks = {row['Task']: row for row in s.report(result, 'tasks')}
  for name in sorted({row[0] for row in waiting}):
    own = [int(row[2]) - int(row[1]) for row in waiting if row[0] == name]
    seen = tasks[name]
    s.check(int(seen['Count']) == len(own) and abs(float(seen['Total Time']) - sum(own) / 1e9) <= 1e-6, f'states: {name} as tasks',
            f'{len(own)}, {sum(own) / 1e9:.6f} s')


def is_whole(intervals):
  return all(one[1] == other[0] for one, other in zip(intervals, intervals[1:]))


def children():
  script = s.scratch('work.py')
  with open(script, 'w', encoding='ascii') as file:
    file.write(PYTHON_WORK)
  measure('children', lambda: s.collect_well([sys.executable, script], what='children').result)


def generated_code():
  if not any(os.access(os.path.join(folder, 'node'), os.X_OK) for folder in os.environ['PATH'].split(':')):
    s.skip('generated code', 'node is not installed')
    return
  measure('generated code', lambda: s.collect_well(['node', '-e', NODE_WORK], what='generated code').result)


def round_trip():
  """What was exported comes in and goes out again to the byte; so does what others wrote, whatever the names."""
  folder, again, result = s.scratch('first'), s.scratch('again'), s.collect_well([s.target('split'), '300']).result
  host = s.summary(result)['host']['name']
  s.run_tool('tbconvert', 'export', '--to', 'csv', '-o', folder, result)
  names = ('plain', 'a, b', 'say "hi"', ' blanks ', 'two\nlines', '=1+1', "it's", '-hostname-', '\u202e\u00e4', 'a, "b"\n' * 15000)
  start = int(Table(os.path.join(folder, f'running-hostname-{host}.csv'), host).rows[0][1])
  hostile = os.path.join(folder, f'hostile-hostname-{host}.csv')
  with open(hostile, 'w', encoding='utf-8', newline='') as file:
    csv.writer(file, lineterminator='\n').writerows(
        [['name', 'start_tsc.CLOCK_MONOTONIC_RAW', 'end_tsc', 'pid', 'tid']] +
        [[name, start + number, start + number * number, 17 if number % 2 else '', 4 if number % 3 else ''] for number, name in enumerate(names, 1)])
  values = os.path.join(folder, f'values-hostname-{host}.csv')
  with open(values, 'w', encoding='utf-8') as file:
    file.write('tsc.CLOCK_MONOTONIC_RAW,"a, b.INST",c.COUNT,pid,tid\n')
    file.writelines(f'{start + number},{number * 0.1!r},{2 ** 62 + number},,{number or ""}\n' for number in range(50))
  with open(os.path.join(folder, 'theirs-hostname-elsewhere.csv'), 'w', encoding='utf-8') as file:
    file.write(f'tsc.CLOCK_MONOTONIC_RAW,c.COUNT,pid,tid\n{start + 5},7,,\n')
  files = sorted(os.listdir(folder))
  for name in files:
    s.run_tool('tbconvert', 'import', result, os.path.join(folder, name))
  s.run_tool('tbconvert', 'export', '--to', 'csv', '-o', again, result)
  for name in files:
    copy = os.path.join(again, '2-' + name)
    if not os.path.exists(copy):  # not one of ours, whose name is taken
      copy = os.path.join(again, name)
    own = 'elsewhere' if 'theirs' in name else host
    table = Table(copy, own)
    expected = Table(os.path.join(folder, name), own)
    if expected.is_intervals:
      expected.rows = [[kept(row[0]), *row[1:]] for row in expected.rows]
    same = [row if table.is_intervals else list(map(float_of, row)) for row in table.rows] == \
           [row if expected.is_intervals else list(map(float_of, row)) for row in expected.rows]
    s.check(same and table.header == expected.header and not table.problems, f'round trip: {name}', table.problems or f'{len(table.rows)} rows')


def kept(name):
  """What a result keeps of a name: 128 KB, with a mark where it is cut."""
  size = len(name.encode())
  return name if size <= 131072 else name.encode()[:131069].decode(errors='ignore') + '...'


def float_of(field):
  return int(field) if re.fullmatch(r'-?\d+', field) else float(field) if field else None


def wrong_uses():
  result = s.collect_well(['true']).result
  for options in ((), ('-o', '-')):
    done = s.run_tool('tbconvert', 'export', '--to', 'csv', *options, result, check_status=False)
    s.check(done.returncode == 2 and '-o DIR' in done.stderr and not done.stdout, f'no folder: {options}', done.stderr.strip())
  file = s.scratch('file')
  open(file, 'w', encoding='ascii').close()
  for path in (file, s.scratch('none/there')):
    done = s.run_tool('tbconvert', 'export', '--to', 'csv', '-o', path, result, check_status=False)
    s.check(done.returncode == 1 and len(done.stderr.splitlines()) == 1 and path in done.stderr, 'a folder that cannot be', done.stderr.strip())
  before = sorted(os.listdir(result))
  done = s.run_tool('tbconvert', 'export', '--to', 'csv', '-o', os.path.join(result, '.'), result, check_status=False)
  s.check(done.returncode == 2 and len(done.stderr.splitlines()) == 1 and 'name another folder' in done.stderr and sorted(os.listdir(result)) == before,
          'not into the result\'s own directory', done.stderr.strip())
  folder = s.scratch('twice')
  for _ in range(2):
    s.run_tool('tbconvert', 'export', '--to', 'csv', '-o', folder, result)
  modes = {oct(os.stat(os.path.join(folder, name)).st_mode & 0o777) for name in os.listdir(folder)}
  s.check(len(os.listdir(folder)) == 3 and modes == {'0o600'}, 'twice into one folder', sorted(os.listdir(folder)))


def main():
  s.start()
  for part in (threads, cplusplus, states, children, generated_code, round_trip, wrong_uses):
    with s.section(part.__name__):
      part()
  s.finish()


if __name__ == '__main__':
  main()
