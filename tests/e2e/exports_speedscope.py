"""tbconvert export --to speedscope, read by speedscope's own importer (the npm package, in node): threads, functions and stacks as
in our own reports (suite long)."""

import json
import os
import shutil
import subprocess

import support as s

PACKAGE = os.path.join('npm', 'node_modules', 'speedscope', 'dist', 'release')  # below the build directory, by tools/bootstrap
READER = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'speedscope_import.js')
PYTHON_WORK = '''
import subprocess, sys
if len(sys.argv) > 1:
    sum(i * i for i in range(700000))
else:
    for _ in range(2):
        subprocess.run([sys.executable, sys.argv[0], "child"])
    sorted(str(i) for i in range(200000))
'''
OVER_TIME = ', over time'
NODE_WORK = 'function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); } console.log(process.pid, fib(31));'


def read(path):
  """What speedscope's importer makes of a file: {active, profiles: [{name, unit, total, self: {function: weight}, stacks}]}."""
  done = subprocess.run(['node', READER, os.path.join(s.Run.build, PACKAGE), path], capture_output=True, text=True, check=True)
  return json.loads(done.stdout)


def label(row):
  return f'{row["Thread"]}-{row["TID"]} ({row["Process"]}-{row["PID"]})'


def check_result(what, result):
  path = s.scratch(f'{what}.speedscope.json')
  s.run_tool('tbconvert', 'export', '--to', 'speedscope', '-o', path, result)
  group = read(path)
  profiles = {profile['name']: profile for profile in group['profiles']}
  rows = [row for row in s.report(result, 'threads') if float(row['CPU Time']) > 0 and row['TID']]
  s.check(group['active'] == 0 and group['profiles'][0]['name'] == label(rows[0]), f'{what}: the first thread has the most time',
          group['profiles'][0]['name'])
  off = [label(row) for row in rows if abs(profiles[label(row)]['total'] / 1e9 - float(row['CPU Time'])) > 1e-6]
  s.check(not off and all(profile['unit'] == 'nanoseconds' for profile in group['profiles']),
          f'{what}: times of {len(rows)} threads', off[:3])
  evented = [profile for profile in group['profiles'] if profile['name'].endswith(OVER_TIME)]
  off = [profile['name'] for profile in evented if profile['self'].keys() != profiles[profile['name'][:-len(OVER_TIME)]]['self'].keys() or any(
    abs(weight - profiles[profile['name'][:-len(OVER_TIME)]]['self'][function]) > 1 for function, weight in profile['self'].items())]
  s.check(len(evented) == len(rows) and not off, f'{what}: functions of {len(evented)} threads over time', off[:3])
  group['profiles'] = [profile for profile in group['profiles'] if profile not in evented]
  times = {}
  for profile in group['profiles']:
    for function, weight in profile['self'].items():
      times[function] = times.get(function, 0) + weight / 1e9
  check_functions(what, result, times)
  check_stacks(what, result, group)


def check_functions(what, result, times):
  """Threads share time by their own accounts here, by program in hotspots: short ones differ."""
  expected = {}
  for row in s.report(result, 'hotspots', '--call-stack-mode', 'all'):
    expected[row['Function']] = expected.get(row['Function'], 0) + float(row['CPU Time'])
  total = sum(expected.values())
  worst = max(expected, key=lambda function: abs(expected[function] - times.get(function, 0)))
  s.check(abs(expected[worst] - times.get(worst, 0)) <= 0.01 * total, f'{what}: own times of {len(expected)} functions',
          f'worst {worst}: {times.get(worst, 0):.6f} s, {expected[worst]:.6f} in hotspots')


def check_stacks(what, result, group):
  """Each stack of the folded export has time, and no other stack."""
  folded = {tuple(frames[1:]) for frames, _ in s.folded(result)}
  seen = {tuple(frame.replace(';', ':') for frame in stack) for profile in group['profiles'] for stack in profile['stacks']}
  extra = {('[No sample]',), ('[No known thread]',), (s.KERNEL,)}
  s.check(folded - extra == seen - extra, f'{what}: {len(folded)} stacks', f'{list(folded ^ seen)[:2]}')


def threads():
  check_result('threads', s.collect_well([s.target('demo')], what='threads').result)


def children():
  script = s.scratch('work.py')
  with open(script, 'w', encoding='ascii') as file:
    file.write(PYTHON_WORK)
  check_result('children', s.collect_well(['/usr/bin/python3', script], what='children').result)


def cplusplus():
  check_result('cplusplus', s.collect_well([s.target('shop')], what='cplusplus').result)


def generated_code():
  got = s.collect_well(['node', '--perf-basic-prof', '-e', NODE_WORK], what='generated code', cwd=s.Run.work)
  os.remove(f'/tmp/perf-{got.stdout.split()[0]}.map')
  check_result('generated code', got.result)


s.start()
if os.environ.get('TESTS_NEED_ALL') or (shutil.which('node') and os.path.isdir(os.path.join(s.Run.build, PACKAGE))):
  for part in (threads, children, cplusplus, generated_code):
    with s.section(part.__name__):
      part()
else:
  s.skip('speedscope', 'no node, or no npm package below the build directory; tools/bootstrap long installs them')
s.finish()
