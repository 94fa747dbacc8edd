"""External data: tables that programs write about themselves, imported as a collection ends, and by hand; what reports say of them
against the tables, and against what the same result says without them."""

import csv
import os
import platform
import shutil
import subprocess
import sys
import time

import support as s

PYTHON_WORK = '''
import os, subprocess, sys, threading, time
def stamp(ns):
    return time.strftime('%Y-%m-%d %H:%M:%S', time.gmtime(ns // 10**9)) + f'.{ns % 10**9:09}'
folder, host = sys.argv[1:3]
if len(sys.argv) > 3:
    start = time.time_ns()
    sum(i * i for i in range(500000))
    with open(f'{folder}/child{sys.argv[3]}-hostname-{host}.csv', 'w') as file:
        file.write(f'name,start_tsc.UTC,end_tsc,pid,tid\\n')
        file.write(f'child,{stamp(start)},{stamp(time.time_ns())},{os.getpid()},{threading.get_native_id()}\\n')
else:
    for i in range(3):
        subprocess.run([sys.executable, sys.argv[0], folder, host, str(i)])
    sorted(str(i) for i in range(200000))
'''
NODE_WORK = '''
const fs = require('fs'), [folder, host] = process.argv.slice(1);
const stamp = (ms) => new Date(ms).toISOString().replace('T', ' ').replace('Z', '');
function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
let rows = 'name,start_tsc.UTC,end_tsc\\n';
for (let i = 0; i < 3; i++) {
  const start = Date.now();
  fib(29);
  rows += `fib,${stamp(start)},${stamp(Date.now() + 1)}\\n`;
}
fs.writeFileSync(`${folder}/frames-hostname-${host}.csv`, rows);
'''
FORMATS = ('folded', 'perf', 'pprof', 'speedscope', 'callgrind', 'otlp', 'firefox', 'chrome')


def host():
  return platform.node()


def samples(rows, function=None):
  return sum(int(row['Samples']) for row in rows if not function or row['Function'] == function)


def seconds(rows):
  return sum(float(row['CPU Time']) for row in rows)


def tasks_of(result, *options):
  return {(row['Task'], row['Kind']): row for row in s.report(result, 'tasks', *options)}


def check_filter(what, result, task, row):
  """Every report and export has the CPU time and the samples that tasks has."""
  option = ('--filter', f'task={task}')
  expected, count = float(row['CPU Time']), int(row['Samples'])
  for kind in ('hotspots', 'modules', 'threads'):
    rows = s.report(result, kind, *option)
    s.check(abs(seconds(rows) - expected) < 1e-4 and samples(rows) == count, f'{what}: {kind} of a task', f'{seconds(rows)} of {expected}')
  total = s.report(result, 'top-down', *option)[0]
  s.check(abs(float(total['CPU Time:Total']) - expected) < 1e-4, f'{what}: top-down of a task', total)
  folded = s.run_tool('tbconvert', 'export', '--to', 'folded', '-o', '-', *option, result).stdout
  s.check(sum(int(line.rpartition(' ')[2]) for line in folded.splitlines()) == count, f'{what}: folded stacks of a task', f'{count} samples')
  for name in FORMATS:
    path = s.scratch(f'{what}.{name}')
    s.run_tool('tbconvert', 'export', '--to', name, '-o', path, *option, result)
    s.check(os.path.getsize(path) > 0, f'{what}: {name} of a task')


def check_table(result, rows):
  """Counts and times of a table are those of the report, to the nanosecond."""
  found = tasks_of(result)
  for name in ('request', 'inner'):
    times = [int(row['end_tsc']) - int(row['start_tsc.CLOCK_MONOTONIC_RAW']) for row in rows if row['name'] == name]
    row = found[name, 'task']
    seen = [round(float(row[key]) * 1e9) for key in ('Total Time', 'Minimum', 'Maximum')]
    s.check(int(row['Count']) == len(times) == 20, f'{name}: count', row['Count'])
    s.check(seen == [sum(times), min(times), max(times)], f'{name}: total, minimum and maximum', f'{seen}')
  return found


def check_clocks(result):
  """Each task by the other clocks is where it is by CLOCK_MONOTONIC_RAW, within a millisecond."""
  rows = s.report(result, 'tasks', '--slower-than', '0')
  starts = {}
  for row in rows:
    starts.setdefault((row['Task'], row['TID']), []).append(float(row['Start']))
  for name in ('request', 'inner'):
    for clock in ('utc', 'tsc') if platform.machine() == 'x86_64' else ('utc',):
      apart = [abs(a - b) for (task, tid), own in starts.items() if task == name
               for a, b in zip(sorted(own), sorted(starts[f'{name}, {clock}', tid]))]
      s.check(len(apart) == 20 and max(apart) < 0.001, f'{name}: by {clock}', f'{max(apart) * 1e6:.0f} us apart')
  times = [float(row['Time']) for row in rows]
  s.check(times == sorted(times, reverse=True), 'slow ones first')
  middle = sorted(times)[len(times) // 2]
  slow = s.report(result, 'tasks', '--slower-than', f'{middle:.9f}s')
  s.check(len(slow) == sum(time > middle for time in times), 'slower than a time', f'{len(slow)} of {len(times)}')


def native():
  """C, two threads: functions burned inside and outside of tasks."""
  result = s.new_result()
  s.collect_well([s.target('tasks'), result], result=result)
  with open(os.path.join(result, f'raw-hostname-{host()}.csv'), encoding='ascii', newline='') as file:
    rows = list(csv.DictReader(file))
  found = check_table(result, rows)
  check_clocks(result)
  everything, inside, nested = (s.report(result, 'hotspots', *option) for option in ((), ('--filter', 'task=request'), ('--filter', 'task=inner')))
  # A sample at the very border may be on either side of it.
  for function, rows, whole in (('burn_request', inside, True), ('burn_inner', inside, True), ('burn_between', inside, False),
                                ('burn_inner', nested, True), ('burn_request', nested, False), ('burn_between', nested, False)):
    expected = samples(everything, function) if whole else 0
    s.check(samples(everything, function) > 100 and abs(samples(rows, function) - expected) <= 3,
            f'{function} is {"in" if whole else "not in"} the task', f'{samples(rows, function)} of {samples(everything, function)} samples')
  s.check(found['request', 'task']['Top Functions'].startswith('burn_'), 'top functions', found['request', 'task']['Top Functions'])
  check_filter('native', result, 'request', found['request', 'task'])
  rows = s.report(result, 'counters')
  counters = {row['Counter']: row for row in rows if row['TID'] == rows[0]['TID']}
  s.check(len(rows) == 4 and set(counters) == {'done', 'level'} and int(counters['done']['Values']) == 20, 'counters of a thread', counters)
  s.check(counters['done']['Kind'] == 'COUNT' and float(counters['done']['Increase']) == float(counters['done']['Last']) - float(counters['done']['First']),
          'a total went up', counters['done'])
  s.check(counters['level']['Kind'] == 'INST' and counters['level']['Increase'] == '' and 0.5 <= float(counters['level']['Mean']) <= 3.5,
          'a value of the moment', counters['level'])
  return result


def children():
  """python3: a table from each child, by UTC."""
  result, script = s.new_result(), s.scratch('children.py')
  with open(script, 'w', encoding='ascii') as file:
    file.write(PYTHON_WORK)
  s.collect_well([sys.executable, script, result, host()], result=result)
  row = tasks_of(result)['child', 'task']
  s.check(int(row['Count']) == 3 and float(row['CPU Time']) > 0, 'children: three tables, one row', row)
  pids = {row['PID'] for row in s.report(result, 'threads', '--filter', 'task=child')}
  s.check(len(pids) == 3, 'children: three processes', pids)
  check_filter('children', result, 'child', row)


def generated_code():
  """node: frames, by milliseconds of UTC."""
  if not shutil.which('node'):
    s.skip('generated code', 'node is not installed')
    return
  result = s.new_result()
  s.collect_well(['node', '-e', NODE_WORK, result, host()], result=result)
  row = tasks_of(result)['fib', 'frame']
  s.check(int(row['Count']) == 3 and float(row['CPU Time']) > 0, 'generated code: frames', row)
  check_filter('generated', result, 'fib', row)


def run_import(result, *files):
  return s.run_tool('tbconvert', 'import', result, *files, check_status=False)


def write(name, text):
  path = s.scratch(name)
  with open(path, 'w', encoding='utf-8') as file:
    file.write(text)
  return path


def by_hand(result):
  """Twice, changed, of another host, with bad rows, no table: what was there stays."""
  raw = os.path.join(result, f'raw-hostname-{host()}.csv')
  before = s.report(result, 'tasks')
  done = run_import(result, raw)
  s.check(done.returncode == 0 and 'not changed' in done.stderr and s.report(result, 'tasks') == before, 'an unchanged file counts once', done.stderr)
  s.run_tool('tbconvert', 'finalize', result)
  s.check(s.report(result, 'tasks') == before, 'and is left alone by finalization')
  with open(raw, encoding='ascii') as file:
    text = file.read()
  head, *rows = text.splitlines()
  done = run_import(result, write('other-hostname-elsewhere.csv', text))
  s.check(done.returncode == 1 and 'NAME-hostname-HOST.csv' in done.stderr and s.report(result, 'tasks') == before,
          'of threads of another host: not imported', done.stderr)
  foreign = write('other-hostname-elsewhere.csv', '\n'.join([head, *rows, *('their ' + row.rsplit(',', 2)[0] for row in rows)]))
  done = run_import(result, foreign)
  row = tasks_of(result).get(('their request', 'frame'), {})
  s.check(done.returncode == 0 and f'UTC, {len(rows)} rows' in done.stderr and row.get('First Start', '').endswith(' UTC') and row.get('Count') == '20',
          'of another host: frames, dates, a warning', done.stderr)
  before = s.report(result, 'tasks')
  bad = write(f'bad-hostname-{host()}.csv', text.splitlines()[0] + '\n' + 'x,2,1,,\n' * 50 + 'good,1,2,,\n')
  done = run_import(result, bad)
  shown = [line for line in done.stderr.splitlines() if f'{bad}:' in line and ':5: the end is before' in line]
  s.check(done.returncode == 0 and len(shown) == 20 and '50 bad rows left out' in done.stderr and ('good', 'frame') in tasks_of(result),
          'bad rows: 20 shown, all counted', done.stderr[-200:])
  after = s.report(result, 'tasks')
  for name, text in (('none', ''), ('binary', '\0\1\2'), ('header', 'name,start_tsc.UTC\n'), ('rows', 'name,start_tsc.QPC,end_tsc\nx,2,1\n')):
    done = run_import(result, write(f'{name}-hostname-{host()}.csv', text))
    s.check(done.returncode == 1 and 'the result is as before' in done.stderr and s.report(result, 'tasks') == after,
            f'no table: {name}', done.stderr.strip())
  done = run_import(result, s.scratch('nowhere.csv'), bad)
  s.check(done.returncode == 1 and 'nowhere.csv' in done.stderr and 'not changed' in done.stderr, 'the others are imported', done.stderr)


def killed(result):
  """kill -9 in the middle of an import: the result is as before or as after, whole in any case."""
  path = write(f'long-hostname-{host()}.csv', 'name,start_tsc.QPC,end_tsc\n' + 'long,1,2\n' * 300000)
  before = s.report(result, 'tasks')
  for wait in (0.02, 0.1):
    with subprocess.Popen([s.tool('tbconvert'), 'import', result, path], stderr=subprocess.DEVNULL) as process:
      time.sleep(wait)
      process.kill()
    now = s.report(result, 'tasks')
    counts = [row['Count'] for row in now if row['Task'] == 'long']
    s.check([row for row in now if row['Task'] != 'long'] == before and counts in ([], ['300000']), 'killed', counts)
  done = run_import(result, path)
  s.check(done.returncode == 0 and tasks_of(result)['long', 'frame']['Count'] == '300000', 'and once more', done.stderr.strip())


def main():
  s.start()
  results = []
  with s.section('native'):
    results.append(native())
  for part in (children, generated_code):
    with s.section(part.__name__):
      part()
  for part in (by_hand, killed):
    with s.section(part.__name__):
      part(results[0])
  s.finish()


if __name__ == '__main__':
  main()
